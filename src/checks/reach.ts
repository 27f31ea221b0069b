import { isIP } from 'node:net';
import { transportError } from '../client/transport/transport-error.ts';
import { race } from '../process/deadline.ts';
import { exitCodes } from '../process/errors.ts';
import { counted, dayOf } from '../process/text.ts';
import { type Check, type Finding, fail, pass, skip, warn } from './check.ts';
import { checkHttp } from './first-answer.ts';
import type { CheckContext } from './round.ts';
import type { Handshake, Sockets } from './sockets.ts';
import { versionCheck } from './version-check.ts';

const exitCode = exitCodes.unavailable;

/** All other checks need these, because without them no request is answered. */
export const gates = [
  'reach/dns',
  'reach/connect',
  'tls/valid',
  'tls/protocol',
  'reach/http',
  'reach/version',
];

/**
 * The checks from the host name to an answer. Each needs those before it.
 *
 * @param hasTls whether the service is reached over TLS.
 * @param isVersioned whether `--wait-for` names a deployment.
 */
export function reachChecks(hasTls: boolean, isVersioned: boolean): Check<CheckContext>[] {
  const checks: Check<CheckContext>[] = [
    { id: 'reach/dns', run: (context) => checkSockets(context, checkDns) },
    { id: 'reach/connect', run: (context) => checkSockets(context, checkConnection) },
    ...(hasTls ? tlsNames : []).map((name) => ({
      id: `tls/${name}`,
      run: (context: CheckContext) =>
        checkSockets(context, (sockets) => checkTls(sockets, name, context.round.now())),
    })),
    { id: 'reach/http', run: checkHttp },
    ...(isVersioned ? [versionCheck] : []),
  ];
  return checks.map((check, at) => {
    const earlierIds = checks.slice(0, at).map(({ id }) => id);
    return { ...check, needs: gates.filter((id) => earlierIds.includes(id)) };
  });
}

/** Checks the sockets. A signal ends the check, because a lookup or a handshake would end only at its deadline. */
async function checkSockets(
  { signal, round }: CheckContext,
  check: (sockets: Sockets) => Promise<Finding>,
): Promise<Finding[]> {
  return [await race({ signals: [signal] }, () => check(round.sockets))];
}

export async function checkDns(sockets: Sockets): Promise<Finding> {
  const { absence, host } = sockets;
  if (absence) return skip(absence);
  if (isIP(host)) return pass(`${host} is an address`);
  try {
    const addresses = await sockets.resolve();
    return pass(`${host} is ${addresses.slice(0, 4).join(', ')}${addresses.length > 4 ? ', …' : ''}`);
  } catch (error) {
    const { message, details } = transportError(error as Error);
    const hint = details.hint ?? 'is the host of the base URL right?';
    return fail(`${host} has no address: ${message}`, { hint, exitCode });
  }
}

export async function checkConnection(sockets: Sockets): Promise<Finding> {
  const { absence, host, port } = sockets;
  if (absence) return skip(absence);
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  try {
    await sockets.connect();
    return pass(`${place} accepts connections`);
  } catch (error) {
    const { message, details } = transportError(error as Error);
    const hint =
      details.reason === 'timeout'
        ? 'is there a firewall, or a proxy that is not configured, in between?'
        : 'is the service running, and the port of the base URL right?';
    return fail(`${place}: ${withoutPlace(message)}`, { hint, exitCode });
  }
}

/** Removes the address from the message of a refused connection, because the check names it already. */
function withoutPlace(message: string): string {
  return message.replace(/^\S+:\d+: /, '');
}

/** In this order, because the date of a certificate that is not trusted means nothing. */
const tlsNames = ['valid', 'protocol', 'expiry'] as const;

export async function checkTls(
  sockets: Sockets,
  name: (typeof tlsNames)[number],
  now: Date,
): Promise<Finding> {
  try {
    const handshake = await sockets.handshake();
    if (name === 'expiry') return judgeExpiry(handshake, now);
    return name === 'valid' ? judgeTrust(handshake, sockets) : judgeProtocol(handshake);
  } catch (error) {
    const { message, details } = transportError(error as Error);
    const hint =
      details.hint ?? (/plain http/.test(message) ? 'is the base URL http:// instead?' : undefined);
    return fail(`the TLS handshake failed: ${message.replace(/^TLS: /, '')}`, { hint, exitCode });
  }
}

function judgeTrust({ problem, hint }: Handshake, { host }: Sockets): Finding {
  if (!problem) return pass('trusted');
  return fail(problem, { expected: `a certificate for ${host} that is trusted`, hint, exitCode });
}

/** A certificate that expires in fewer days is a warning. */
const warnDays = 30;
/** A certificate that expires in fewer days is a failure. */
const failDays = 7;

function judgeExpiry({ validTo }: Handshake, now: Date): Finding {
  if (!validTo) return fail('the service showed no certificate');
  const days = Math.floor((validTo.getTime() - now.getTime()) / 86_400_000);
  const reason = `expires on ${dayOf(validTo)}, in ${counted(days, 'day', 'days')}`;
  if (days >= warnDays) return pass(reason);
  const isLate = days < failDays;
  const details = {
    expected: `at least ${isLate ? failDays : warnDays} days`,
    hint: 'renew the certificate',
  };
  return isLate ? fail(reason, details) : warn(reason, details);
}

function judgeProtocol({ protocol }: Handshake): Finding {
  if (protocol === 'TLSv1.2' || protocol === 'TLSv1.3') return pass(protocol);
  return fail(`the service speaks ${protocol}`, { expected: 'TLSv1.2 or later', exitCode });
}

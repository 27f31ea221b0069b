import { isIP } from 'node:net';
import { toUnavailable } from '../client/transport/answer.ts';
import { race } from '../process/deadline.ts';
import { exitCodes } from '../process/errors.ts';
import { counted, dayOf } from '../process/text.ts';
import type { CheckRun } from './ask.ts';
import { type Check, fail, pass, skip, type Verdict, warn } from './check.ts';
import { reachHttp } from './reach-http.ts';
import type { Handshake, Sockets } from './sockets.ts';
import type { Waited } from './wait.ts';

const exitCode = exitCodes.unavailable;

/** Without these no request can be answered, so all other checks need them. */
export const gates = [
  'reach/dns',
  'reach/connect',
  'tls/valid',
  'tls/protocol',
  'reach/http',
  'reach/version',
];

/**
 * From the host name to an answer; each check needs the ones before.
 *
 * @param hasTls false if the service is not reached over TLS.
 * @param waited what the wait came to, so that it is not asked again; undefined if there was none.
 */
export function reachChecks(hasTls: boolean, isVersioned: boolean, waited?: Waited): Check<CheckRun>[] {
  const tls = hasTls ? tlsNames : [];
  const checks: Check<CheckRun>[] = [
    { id: 'reach/dns', run: (run) => untilStopped(run, checkDns(run.sockets)) },
    { id: 'reach/connect', run: (run) => untilStopped(run, checkConnection(run.sockets)) },
    ...tls.map((name) => ({
      id: `tls/${name}`,
      run: (run: CheckRun) => untilStopped(run, checkTls(run.sockets, name, run.now())),
    })),
    { id: 'reach/http', run: async (run) => waited?.http ?? (await reachHttp(run)).verdict },
  ];
  if (isVersioned)
    checks.push({
      id: 'reach/version',
      run: async () => waited?.version ?? pass('it held when the run began'),
    });
  return checks.map((check, at) => {
    const before = checks.slice(0, at).map(({ id }) => id);
    return { ...check, needs: gates.filter((id) => before.includes(id)) };
  });
}

/** A lookup or a handshake ends only at its deadline, so a signal does not wait for it. */
function untilStopped({ signal }: CheckRun, check: Promise<Verdict>): Promise<Verdict> {
  return race({ signals: [signal] }, () => check);
}

export async function checkDns(sockets: Sockets): Promise<Verdict> {
  const { absence, host } = sockets;
  if (absence) return skip(absence);
  if (isIP(host)) return pass(`${host} is an address`);
  try {
    const addresses = await sockets.resolve();
    return pass(`${host} is ${addresses.slice(0, 4).join(', ')}${addresses.length > 4 ? ', …' : ''}`);
  } catch (error) {
    const { message, details } = toUnavailable(error as Error, { sent: false });
    const hint = details.hint ?? 'is the host of the base URL right?';
    return fail(`${host} has no address: ${message}`, { hint, exitCode });
  }
}

export async function checkConnection(sockets: Sockets): Promise<Verdict> {
  const { absence, host, port } = sockets;
  if (absence) return skip(absence);
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  try {
    await sockets.connect();
    return pass(`${place} accepts connections`);
  } catch (error) {
    const { message, reason } = toUnavailable(error as Error, { sent: false });
    const hint =
      reason === 'timeout'
        ? 'is there a firewall, or a proxy that is not configured, in between?'
        : 'is the service running, and the port of the base URL right?';
    return fail(`${place}: ${withoutPlace(message)}`, { hint, exitCode });
  }
}

/** Removes the address from the message of a refused connection, because the check names it already. */
function withoutPlace(message: string): string {
  return message.replace(/^\S+:\d+: /, '');
}

/** In the order in which they run: a certificate that is not trusted says nothing by its date. */
const tlsNames = ['valid', 'protocol', 'expiry'] as const;

export async function checkTls(
  sockets: Sockets,
  name: (typeof tlsNames)[number],
  now: Date,
): Promise<Verdict> {
  try {
    const handshake = await sockets.handshake();
    if (name === 'expiry') return judgeExpiry(handshake, now);
    return name === 'valid' ? judgeTrust(handshake, sockets) : judgeProtocol(handshake);
  } catch (error) {
    const { message, details } = toUnavailable(error as Error, { sent: false });
    const hint =
      details.hint ?? (/plain http/.test(message) ? 'is the base URL http:// instead?' : undefined);
    return fail(`the TLS handshake failed: ${message.replace(/^TLS: /, '')}`, { hint, exitCode });
  }
}

function judgeTrust({ problem, hint }: Handshake, { host }: Sockets): Verdict {
  if (!problem) return pass('trusted');
  return fail(problem, { expected: `a certificate for ${host} that is trusted`, hint, exitCode });
}

/** A certificate that expires in fewer days gives a warning, or fails. */
const soonDays = 30;
const minDays = 7;

function judgeExpiry({ validTo }: Handshake, now: Date): Verdict {
  if (!validTo) return fail('the service showed no certificate');
  const days = Math.floor((validTo.getTime() - now.getTime()) / 86_400_000);
  const reason = `expires on ${dayOf(validTo)}, in ${counted(days, 'day', 'days')}`;
  if (days >= soonDays) return pass(reason);
  const isLate = days < minDays;
  const details = { expected: `at least ${isLate ? minDays : soonDays} days`, hint: 'renew the certificate' };
  return isLate ? fail(reason, details) : warn(reason, details);
}

function judgeProtocol({ protocol }: Handshake): Verdict {
  if (protocol === 'TLSv1.2' || protocol === 'TLSv1.3') return pass(protocol);
  return fail(`the service speaks ${protocol}`, { expected: 'TLSv1.2 or later', exitCode });
}

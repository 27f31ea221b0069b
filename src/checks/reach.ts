import { isIP } from 'node:net';
import { hintOf } from '../client/hints.ts';
import {
  type Handshake,
  openConnection,
  performHandshake,
  resolveHost,
} from '../client/transport/sockets.ts';
import { transportError } from '../client/transport/transport-error.ts';
import { type CliError, exitCodes } from '../process/errors.ts';
import { counted, dayOf } from '../process/text.ts';
import type { Check, CheckContext } from './check.ts';
import { type Finding, fail, pass, skip, warn } from './finding.ts';

// The checks that send no request: of the host name, the connection and the TLS handshake.

/** The part of a context that these checks use. */
type SocketContext = Pick<CheckContext, 'address' | 'signal' | 'now'>;

const { unavailable: exitCode } = exitCodes;

/** Does what a check of a socket does. @param explain makes the finding of an error */
async function probe(
  { address, signal }: SocketContext,
  work: () => Finding | Promise<Finding>,
  explain: (error: CliError) => Finding,
): Promise<Finding> {
  if (address.skipReason) return skip(address.skipReason);
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    return explain(transportError(error as Error, { namesPlace: false }));
  }
}

export function checkDns(context: SocketContext): Promise<Finding> {
  const { address, signal } = context;
  const { host } = address;
  const resolve = async () => {
    if (isIP(host)) return pass(`${host} is an address`);
    const addresses = await resolveHost(address, signal);
    return pass(`${host} is ${addresses.slice(0, 4).join(', ')}${addresses.length > 4 ? ', …' : ''}`);
  };
  return probe(context, resolve, ({ message }) =>
    fail(`${host} has no address: ${message}`, { hint: 'is the host of the base URL right?', exitCode }),
  );
}

export function checkConnection(context: SocketContext): Promise<Finding> {
  const { address, signal } = context;
  const { host, port } = address;
  const endpoint = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const connect = async () => {
    await openConnection(address, signal);
    return pass(`${endpoint} accepts connections`);
  };
  const hint = 'is the service running behind this port, and no firewall in between?';
  return probe(context, connect, ({ message }) => fail(`${endpoint}: ${message}`, { hint, exitCode }));
}

type JudgeHandshake = (handshake: Handshake, context: SocketContext) => Finding;

/** Performs a handshake and judges its result. */
function checkTls(context: SocketContext, judge: JudgeHandshake): Promise<Finding> {
  const { address, signal } = context;
  return probe(
    context,
    async () => judge(await performHandshake(address, signal), context),
    (error) =>
      fail(`the TLS handshake failed: ${error.message}`, {
        expected: `a certificate for ${address.host} that is trusted`,
        hint: hintOf({ error }),
        exitCode,
        isLasting: true,
      }),
  );
}

/** The checks of a handshake, in their order: the date of a certificate means nothing without trust. */
export const tlsChecks: readonly Check[] = [
  { id: 'tls/valid', isPrerequisite: true, run: (context) => checkTls(context, () => pass('trusted')) },
  { id: 'tls/protocol', isPrerequisite: true, run: (context) => checkTls(context, judgeProtocol) },
  { id: 'tls/expiry', run: (context) => checkTls(context, judgeExpiry) },
];

function judgeProtocol({ protocol }: Handshake): Finding {
  if (protocol === 'TLSv1.2' || protocol === 'TLSv1.3') return pass(protocol);
  return fail(`the service speaks ${protocol}`, { expected: 'TLSv1.2 or later', exitCode, isLasting: true });
}

/** A certificate that expires in fewer days is a warning. */
const warnDays = 30;
/** A certificate that expires in fewer days is a failure. */
const failDays = 7;

function judgeExpiry({ validTo }: Handshake, { now }: SocketContext): Finding {
  if (!validTo) return fail('the service showed no certificate');
  const days = Math.floor((validTo.getTime() - now().getTime()) / 86_400_000);
  const reason = `expires on ${dayOf(validTo)}, in ${counted(days, 'day', 'days')}`;
  if (days >= warnDays) return pass(reason);
  const [judge, leastDays] = days < failDays ? [fail, failDays] : [warn, warnDays];
  return judge(reason, {
    expected: `at least ${leastDays} days`,
    hint: 'renew the certificate',
    isLasting: true,
  });
}

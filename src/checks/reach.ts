import { isIP } from 'node:net';
import { hintOf } from '../client/hints.ts';
import {
  type Handshake,
  openConnection,
  performHandshake,
  resolveHost,
} from '../client/transport/sockets.ts';
import { transportError } from '../client/transport/transport-error.ts';
import { exitCodes } from '../process/errors.ts';
import { counted, dayOf } from '../process/text.ts';
import type { Check, CheckContext } from './check.ts';
import { type Finding, fail, pass, skip, warn } from './finding.ts';

// The checks that send no request: of the host name, the connection and the TLS handshake.

/** The part of a context that these checks use. */
type SocketContext = Pick<CheckContext, 'address' | 'signal' | 'now'>;

const exitCode = exitCodes.unavailable;

export async function checkDns({ address, signal }: SocketContext): Promise<Finding> {
  const { skipReason, host } = address;
  if (skipReason) return skip(skipReason);
  if (isIP(host)) return pass(`${host} is an address`);
  try {
    const addresses = await resolveHost(address, signal);
    return pass(`${host} is ${addresses.slice(0, 4).join(', ')}${addresses.length > 4 ? ', …' : ''}`);
  } catch (error) {
    signal.throwIfAborted();
    const { message } = transportError(error as Error);
    return fail(`${host} has no address: ${message}`, {
      hint: 'is the host of the base URL right?',
      exitCode,
    });
  }
}

export async function checkConnection({ address, signal }: SocketContext): Promise<Finding> {
  const { skipReason, host, port } = address;
  if (skipReason) return skip(skipReason);
  const endpoint = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  try {
    await openConnection(address, signal);
    return pass(`${endpoint} accepts connections`);
  } catch (error) {
    signal.throwIfAborted();
    const { message, details } = transportError(error as Error, { namesPlace: false });
    const hint =
      details.reason === 'timeout'
        ? 'is there a firewall, or a proxy that is not configured, in between?'
        : 'is the service running, and the port of the base URL right?';
    return fail(`${endpoint}: ${message}`, { hint, exitCode });
  }
}

type JudgeHandshake = (handshake: Handshake, context: SocketContext) => Finding;

/** Performs a handshake and judges its result. */
async function checkTls(context: SocketContext, judge: JudgeHandshake): Promise<Finding> {
  const { address, signal } = context;
  if (address.skipReason) return skip(address.skipReason);
  try {
    return judge(await performHandshake(address, signal), context);
  } catch (error) {
    signal.throwIfAborted();
    const failure = transportError(error as Error, { namesPlace: false });
    return fail(`the TLS handshake failed: ${failure.message}`, {
      expected: `a certificate for ${address.host} that is trusted`,
      hint: hintOf({ error: failure }),
      exitCode,
      isLasting: true,
    });
  }
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

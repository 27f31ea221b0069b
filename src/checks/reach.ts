import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP, connect as openSocket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { reachableHost } from '../api/http.ts';
import { hintOf } from '../client/hints.ts';
import { createTlsContext, type TlsFiles } from '../client/transport/tls.ts';
import { transportError } from '../client/transport/transport-error.ts';
import { type Cancellation, withinLimits } from '../process/deadline.ts';
import { type CliError, exitCodes, unansweredError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { counted, dayOf, durationText } from '../process/text.ts';
import type { Check, CheckContext } from './check.ts';
import { type Finding, fail, pass, skip, warn } from './finding.ts';

// The checks that send no request: of the host name, the connection and the TLS handshake.

const { unavailable: exitCode } = exitCodes;

/** Does what a check of a socket does, within the time of a call. @param explain makes the finding of an error */
async function probe(
  { address: { skipReason }, signal, timeoutMs }: CheckContext,
  work: (cancellation: Cancellation) => Promise<Finding>,
  explain: (error: CliError) => Finding,
): Promise<Finding> {
  if (skipReason) return skip(skipReason);
  const timedOut = () => unansweredError('timeout', `no answer within ${durationText(timeoutMs)}`);
  try {
    // A lookup takes no signal.
    return await withinLimits({ limitMs: timeoutMs, timedOut, signals: [signal] }, work);
  } catch (error) {
    signal.throwIfAborted();
    return explain(transportError(error as Error, { namesPlace: false }));
  }
}

export function checkDns(context: CheckContext): Promise<Finding> {
  const { host } = context.address;
  const hint = 'is the host of the base URL right?';
  const resolve = async () => {
    if (isIP(host)) return pass(`${host} is an address`);
    const found = await lookup(reachableHost(host), { all: true });
    const addresses = found.slice(0, 4).map(({ address }) => address);
    return pass(`${host} is ${addresses.join(', ')}${found.length > 4 ? ', …' : ''}`);
  };
  return probe(context, resolve, ({ message }) =>
    fail(`${host} has no address: ${message}`, { hint, exitCode }),
  );
}

export function checkConnection(context: CheckContext): Promise<Finding> {
  const { host, port } = context.address;
  const endpoint = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const hint = 'is the service running behind this port, and no firewall in between?';
  const connect = async (cancellation: Cancellation) => {
    const socket = openSocket({ host: reachableHost(host), port });
    cancellation.onCancel(() => socket.destroy());
    await once(socket, 'connect').finally(() => socket.destroy());
    return pass(`${endpoint} accepts connections`);
  };
  return probe(context, connect, ({ message }) => fail(`${endpoint}: ${message}`, { hint, exitCode }));
}

/** The result of a TLS handshake whose certificate is trusted. */
interface Handshake {
  /** The date when the certificate expires; undefined if the service sent none. */
  readonly validTo: Date | undefined;
  /** Such as `TLSv1.3`. */
  readonly protocol: string;
  readonly now: Date;
}

/** Performs a handshake and judges its result. It offers old versions of TLS too, to see which one the service speaks. */
function checkTls(context: CheckContext, judge: (handshake: Handshake) => Finding): Promise<Finding> {
  const { host, port, tls, env } = context.address;
  const shake = async (cancellation: Cancellation) => {
    const socket = connectTls({
      host: reachableHost(host),
      port,
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      secureContext: createProbeContext(tls, env),
    });
    const close = () => socket.on('error', () => {}).destroy();
    cancellation.onCancel(close);
    try {
      await once(socket, 'secureConnect');
      const { valid_to: validTo } = socket.getPeerCertificate();
      const protocol = socket.getProtocol() ?? 'an unknown protocol';
      return judge({ validTo: validTo ? new Date(validTo) : undefined, protocol, now: context.now() });
    } finally {
      close();
    }
  };
  return probe(context, shake, (error) =>
    fail(`the TLS handshake failed: ${error.message}`, {
      expected: `a certificate for ${host} that is trusted`,
      hint: hintOf({ error }),
      exitCode,
      isLasting: true,
    }),
  );
}

/** Creates the context of a handshake that offers every version of TLS. */
function createProbeContext(tls: TlsFiles, env: Io['env']): SecureContext {
  try {
    return createTlsContext(tls, env, { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' });
  } catch {
    // The library of another runtime, such as BoringSSL in bun, does not know the level.
    return createTlsContext(tls, env);
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

function judgeExpiry({ validTo, now }: Handshake): Finding {
  if (!validTo) return fail('the service showed no certificate');
  const days = Math.floor((validTo.getTime() - now.getTime()) / 86_400_000);
  const reason = `expires on ${dayOf(validTo)}, in ${counted(days, 'day', 'days')}`;
  if (days >= warnDays) return pass(reason);
  const [judge, leastDays] = days < failDays ? [fail, failDays] : [warn, warnDays];
  return judge(reason, {
    expected: `at least ${leastDays} days`,
    hint: 'renew the certificate',
    isLasting: true,
  });
}

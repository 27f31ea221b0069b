import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP, connect as openSocket, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type TLSSocket } from 'node:tls';
import { bareHost } from '../api/http.ts';
import { hintOf } from '../client/call-error.ts';
import { socketTarget } from '../client/transport/node-http.ts';
import { timeoutError, transportError } from '../client/transport/response.ts';
import type { TlsFiles } from '../client/transport/tls.ts';
import { type Cancellation, withinLimits } from '../process/deadline.ts';
import { type CliError, exitCodes } from '../process/errors.ts';
import { countText, dayOf } from '../process/text.ts';
import { type CheckContext, type Finding, fail, pass, skip, warn } from './check.ts';

// The checks that send no request: of the host name, the connection and the TLS handshake.

const { unavailable: exitCode } = exitCodes;

/** Does the work of a socket check within the time limit of a call. @param explain turns an error into a finding */
async function checkSocket(
  { tls, signal, client }: CheckContext,
  work: (cancellation: Cancellation, tls: TlsFiles) => Promise<Finding>,
  explain: (error: CliError) => Finding,
): Promise<Finding> {
  if (typeof tls === 'string') return skip(tls);
  const { timeoutMs } = client.limits;
  const createTimeoutError = () => timeoutError(timeoutMs);
  try {
    // A lookup cannot be cancelled, so its result is ignored.
    return await withinLimits({ limitMs: timeoutMs, createTimeoutError, signals: [signal] }, (cancellation) =>
      work(cancellation, tls),
    );
  } catch (error) {
    signal.throwIfAborted();
    return explain(transportError(error as Error));
  }
}

/** Waits until a socket is open, judges it and closes it. */
async function judgeOpen(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  cancellation: Cancellation,
  toFinding: () => Finding,
): Promise<Finding> {
  const close = () => socket.on('error', () => {}).destroy();
  cancellation.onCancel(close);
  return once(socket, event).then(toFinding).finally(close);
}

/** Returns the host of the service for people, and where its sockets lead. */
function endpointOf({ client }: CheckContext) {
  const url = new URL(client.baseUrl);
  return { host: bareHost(url.hostname), target: socketTarget(url) };
}

export function checkDns(context: CheckContext): Promise<Finding> {
  const { host, target } = endpointOf(context);
  const hint = 'check the host of the base URL';
  const resolve = async () => {
    if (isIP(host)) return pass(`${host} is an address`);
    const { address } = await lookup(target.host);
    return pass(`${host} is ${address}`);
  };
  return checkSocket(context, resolve, ({ message }) => fail(message, { hint, exitCode }));
}

export function checkConnection(context: CheckContext): Promise<Finding> {
  const { host, target } = endpointOf(context);
  const endpoint = `${host.includes(':') ? `[${host}]` : host}:${target.port}`;
  const hint = 'check that the service listens on this port, and that no firewall is in between';
  const connect = (cancellation: Cancellation) => {
    const socket = openSocket(target);
    return judgeOpen(socket, 'connect', cancellation, () => pass(`${endpoint} accepts connections`));
  };
  return checkSocket(context, connect, ({ message }) => fail(`${endpoint}: ${message}`, { hint, exitCode }));
}

/** Performs a TLS handshake, which fails if the certificate is not trusted, and judges the socket. Node offers TLS 1.2 and later. */
export function checkTls(
  context: CheckContext,
  judgeSocket: (socket: TLSSocket) => Finding,
): Promise<Finding> {
  const { host, target } = endpointOf(context);
  const handshake = async (cancellation: Cancellation, tls: TlsFiles) => {
    const socket = connectTls({ ...target, secureContext: createSecureContext(tls) });
    return judgeOpen(socket, 'secureConnect', cancellation, () => judgeSocket(socket));
  };
  return checkSocket(context, handshake, (error) =>
    fail(error.message, {
      expected: `TLS 1.2 or later, and a certificate for ${host} that is trusted`,
      hint: hintOf({ error }),
      exitCode,
      endsWait: true,
    }),
  );
}

export function judgeProtocol(socket: TLSSocket): Finding {
  return pass(String(socket.getProtocol()));
}

/** A certificate that expires in fewer days is a warning. */
const warnDays = 30;
/** A certificate that expires in fewer days is a failure. */
const failDays = 7;

export function judgeExpiry(socket: TLSSocket): Finding {
  const validTo = new Date(socket.getPeerCertificate().valid_to);
  const days = Math.floor((validTo.getTime() - Date.now()) / 86_400_000);
  const reason = `expires on ${dayOf(validTo)}, in ${countText(days, 'day', 'days')}`;
  if (days >= warnDays) return pass(reason);
  const [toFinding, leastDays] = days < failDays ? [fail, failDays] : [warn, warnDays];
  return toFinding(reason, {
    expected: `at least ${leastDays} days`,
    hint: 'renew the certificate',
    endsWait: true,
  });
}

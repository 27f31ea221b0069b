import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP, connect as openSocket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { bareHost, embeddedOrigin, reachableHost } from '../../api/http.ts';
import { withinLimits } from '../../process/deadline.ts';
import { unansweredError } from '../../process/errors.ts';
import type { Io } from '../../process/io.ts';
import { durationText } from '../../process/text.ts';
import { findProxy, portOf } from './proxy.ts';
import { createTlsContext, type TlsFiles } from './tls.ts';

/** The address of a service, and how its sockets are opened. */
export interface SocketAddress {
  readonly host: string;
  readonly port: number;
  /** Whether the service is reached over TLS. */
  readonly isEncrypted: boolean;
  /** The reason why the host and the port cannot be checked, a clause; undefined if they can. */
  readonly skipReason: string | undefined;
  readonly tls: TlsFiles;
  readonly env: Io['env'];
  /** The time limit of a lookup, of a connection and of a handshake. */
  readonly timeoutMs: number;
}

/** Reads the address from a base URL, which may be the origin of the embedded store. */
export function toAddress(
  baseUrl: string,
  options: Pick<SocketAddress, 'tls' | 'env' | 'timeoutMs'>,
): SocketAddress {
  const url = new URL(baseUrl);
  const isEmbedded = url.origin === embeddedOrigin;
  const proxy = isEmbedded ? undefined : findProxy(url, options.env);
  return {
    ...options,
    host: bareHost(url.hostname),
    port: portOf(url),
    isEncrypted: url.protocol === 'https:' && !isEmbedded,
    skipReason: isEmbedded
      ? 'the embedded store has no socket'
      : proxy && `requests go through the proxy ${proxy.label}`,
  };
}

/** Looks up the IP addresses of the host. */
export async function resolveHost(address: SocketAddress, signal: AbortSignal): Promise<string[]> {
  const addresses = await within(address, signal, lookup(reachableHost(address.host), { all: true }));
  return addresses.map(({ address: text }) => text);
}

/** Opens a connection and closes it. */
export async function openConnection(address: SocketAddress, signal: AbortSignal): Promise<void> {
  const socket = openSocket({ host: reachableHost(address.host), port: address.port });
  await within(address, signal, once(socket, 'connect')).finally(() => socket.destroy());
}

/** The result of a TLS handshake whose certificate is trusted. */
export interface Handshake {
  /** The date when the certificate expires; undefined if the service sent none. */
  readonly validTo: Date | undefined;
  /** Such as `TLSv1.3`. */
  readonly protocol: string;
}

/** Performs a TLS handshake. Offers old versions of TLS too, so that it sees which one the service speaks. */
export async function performHandshake(address: SocketAddress, signal: AbortSignal): Promise<Handshake> {
  const { host, port, tls, env } = address;
  const socket = connectTls({
    host: reachableHost(host),
    port,
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    secureContext: createProbeContext(tls, env),
  });
  try {
    await within(address, signal, once(socket, 'secureConnect'));
    const { valid_to: validTo } = socket.getPeerCertificate();
    const protocol = socket.getProtocol() ?? 'an unknown protocol';
    return { validTo: validTo ? new Date(validTo) : undefined, protocol };
  } finally {
    socket.on('error', () => {}).destroy();
  }
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

/** Waits for work until the time limit or the signal, because a lookup takes no signal. */
function within<Value>(
  { timeoutMs }: SocketAddress,
  signal: AbortSignal,
  work: Promise<Value>,
): Promise<Value> {
  const timedOut = () => unansweredError('timeout', `no answer within ${durationText(timeoutMs)}`);
  return withinLimits({ limitMs: timeoutMs, timedOut, signals: [signal] }, () => work);
}

import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP, connect as openSocket } from 'node:net';
import { type DetailedPeerCertificate, connect as openTls, type TLSSocket } from 'node:tls';
import { bareHost } from '../api/http.ts';
import { createDialer } from '../client/transport/dial.ts';
import { findProxy, portOf } from '../client/transport/proxy.ts';
import { createContext, type TlsFiles } from '../client/transport/tls.ts';
import { withDeadline } from '../deadline.ts';
import type { Io } from '../io.ts';
import { durationText } from './text.ts';

/** The result of a TLS handshake, whether the certificate is trusted or not. */
export interface Handshake {
  /** Why the certificate is not trusted; undefined if it is. */
  readonly problem: string | undefined;
  /** When the first certificate of the chain expires; undefined if the service showed none. */
  readonly validTo: Date | undefined;
  /** Such as `TLSv1.3`. */
  readonly protocol: string;
}

/** Access to the service below HTTP; sends only what opening a connection needs. */
export interface Sockets {
  /** Why the service's own socket cannot be checked; undefined if it can. */
  readonly absence?: string | undefined;
  /** Why TLS is not checked; undefined if it is. */
  readonly plain?: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly encrypted: boolean;
  /** Addresses of the host. */
  resolve(): Promise<string[]>;
  /** Resolves when the service has accepted a connection. */
  connect(): Promise<void>;
  /** Performed once in a run. */
  handshake(): Promise<Handshake>;
}

interface SocketOptions {
  readonly baseUrl: string;
  /** True if the service runs in this process. */
  readonly embedded: boolean;
  readonly tls: TlsFiles;
  readonly env: Io['env'];
  readonly timeoutMs: number;
}

export function createSockets(options: SocketOptions): Sockets {
  const url = new URL(options.baseUrl);
  const address = { host: bareHost(url.hostname), port: portOf(url) };
  const encrypted = url.protocol === 'https:';
  const none = options.embedded ? 'the embedded store has no socket' : undefined;
  const proxy = options.embedded ? undefined : findProxy(url, options.env);
  let handshake: Promise<Handshake> | undefined;
  return {
    ...address,
    absence: none ?? (proxy && `requests go through the proxy ${proxy.shown}`),
    plain: none ?? (encrypted ? undefined : 'the base URL is http'),
    encrypted,
    resolve: () => within(options.timeoutMs, resolve(address.host)),
    connect: () => connect(address, options.timeoutMs),
    handshake() {
      handshake ??= proxy ? shakeHandsThrough(url, options) : shakeHands(address, options);
      return handshake;
    },
  };
}

interface Address {
  readonly host: string;
  readonly port: number;
}

async function resolve(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}

async function connect(address: Address, timeoutMs: number): Promise<void> {
  const socket = openSocket(address);
  await within(timeoutMs, once(socket, 'connect')).finally(() => socket.destroy());
}

/** Also offers old versions of TLS and accepts any certificate, to find out what the service offers. */
async function shakeHands(address: Address, { tls, env, timeoutMs }: SocketOptions): Promise<Handshake> {
  const socket = openTls({
    ...address,
    ...(isIP(address.host) ? {} : { servername: address.host }),
    secureContext: createContext(tls, env, { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
    rejectUnauthorized: false,
  });
  const closed = once(socket, 'close').then(() => {
    throw new Error('the connection was closed during the TLS handshake');
  });
  try {
    await within(timeoutMs, Promise.race([once(socket, 'secureConnect'), closed]));
    return look(socket);
  } finally {
    socket.destroy();
  }
}

/** A proxy tunnel uses the client's own code, so an untrusted certificate is an error. */
async function shakeHandsThrough(url: URL, { tls, env, timeoutMs }: SocketOptions): Promise<Handshake> {
  const dialer = createDialer({ tls, env, connectTimeoutMs: timeoutMs });
  try {
    return look((await dialer.dial(dialer.route(url))) as TLSSocket);
  } finally {
    dialer.close();
  }
}

function look(socket: TLSSocket): Handshake {
  const { authorized, authorizationError } = socket;
  const chain = chainOf(socket.getPeerCertificate(true));
  const ends = chain.map(({ valid_to }) => Date.parse(valid_to)).filter((ms) => !Number.isNaN(ms));
  return {
    problem: authorized ? undefined : describeProblem(authorizationError),
    validTo: ends.length > 0 ? new Date(Math.min(...ends)) : undefined,
    protocol: socket.getProtocol() ?? 'an unknown protocol',
  };
}

/** The certificates from the service's own up to the root authority, without the root itself. */
function chainOf(leaf: DetailedPeerCertificate): DetailedPeerCertificate[] {
  if (!leaf.valid_to) return [];
  const chain = [leaf];
  let next = leaf.issuerCertificate;
  while (next?.valid_to && next.issuerCertificate !== next && !chain.includes(next)) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  return chain;
}

const problems: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the chain ends in an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the authority that signed the certificate is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the authority that signed the certificate is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
};

function describeProblem(reason: Error | string | undefined): string {
  const code = String(
    reason instanceof Error ? ((reason as NodeJS.ErrnoException).code ?? reason.message) : reason,
  );
  const text = problems[code];
  return text ? `${text} (${code})` : code;
}

function within<Value>(timeoutMs: number, work: Promise<Value>): Promise<Value> {
  return withDeadline(work, timeoutMs, () => {
    throw new Error(`no answer within ${durationText(timeoutMs)}`);
  });
}

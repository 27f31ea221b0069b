import { lookup } from 'node:dns/promises';
import { isIP, connect as openSocket } from 'node:net';
import { type DetailedPeerCertificate, connect as openTls, type TLSSocket } from 'node:tls';
import type { TlsFiles } from '../client/transport/dial.ts';
import { createContext } from '../client/transport/tls.ts';
import type { Io } from '../io.ts';

/** What a TLS handshake showed, whether or not a client should trust it. */
export interface Handshake {
  /** Why the certificate is not to be trusted; undefined where it is. */
  readonly problem: string | undefined;
  /** When the first certificate of the chain runs out; undefined where the service showed none. */
  readonly validTo: Date | undefined;
  /** As `TLSv1.3`. */
  readonly protocol: string;
}

/** The checks that look below HTTP; nothing is sent but what opening a connection needs. */
export interface Sockets {
  /** Why there is no socket to look at. */
  readonly absence?: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly encrypted: boolean;
  /** Addresses of the host. */
  resolve(): Promise<string[]>;
  /** Resolves when the service has accepted a connection. */
  connect(): Promise<void>;
  /** Made once in a run. */
  handshake(): Promise<Handshake>;
}

export interface SocketOptions {
  readonly baseUrl: string;
  readonly absence?: string | undefined;
  readonly tls: TlsFiles;
  readonly env: Io['env'];
  readonly timeoutMs: number;
}

export function createSockets(options: SocketOptions): Sockets {
  const { protocol, hostname, port } = new URL(options.baseUrl);
  const host = hostname.replace(/^\[|\]$/g, '');
  const encrypted = protocol === 'https:';
  const address = { host, port: Number(port) || (encrypted ? 443 : 80) };
  let handshake: Promise<Handshake> | undefined;
  return {
    ...address,
    absence: options.absence,
    encrypted,
    resolve: () => within(options.timeoutMs, resolve(host)),
    connect: () => connect(address, options.timeoutMs),
    handshake() {
      handshake ??= shakeHands(address, options);
      return handshake;
    },
  };
}

interface Address {
  readonly host: string;
  readonly port: number;
}

async function resolve(host: string): Promise<string[]> {
  if (isIP(host)) return [host];
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}

function connect(address: Address, timeoutMs: number): Promise<void> {
  const socket = openSocket(address);
  const connected = new Promise<void>((done, reject) => {
    socket.once('connect', done);
    socket.once('error', reject);
  });
  return within(timeoutMs, connected).finally(() => socket.destroy());
}

/**
 * Old versions of TLS are offered too, and an untrusted certificate is looked at all the same: what the service speaks is
 * what is asked here.
 */
function shakeHands(address: Address, { tls, env, timeoutMs }: SocketOptions): Promise<Handshake> {
  const socket = openTls({
    ...address,
    ...(isIP(address.host) ? {} : { servername: address.host }),
    secureContext: createContext(tls, env, { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
    rejectUnauthorized: false,
  });
  const secured = new Promise<void>((done, reject) => {
    socket.once('secureConnect', done);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed during the TLS handshake')));
  });
  return within(timeoutMs, secured)
    .then(() => look(socket))
    .finally(() => socket.destroy());
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

/** The certificates from the service's own up to, and without, the authority that signed itself. */
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
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is signed by itself',
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

/** The outcome of work, or an error once so many milliseconds have passed. */
async function within<Value>(timeoutMs: number, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  work.catch(() => {});
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP, connect as openSocket } from 'node:net';
import { connect as connectTls, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { bareHost, reachableHost } from '../api/http.ts';
import { findProxy, portOf } from '../client/transport/proxy.ts';
import { createTlsContext, type TlsFiles } from '../client/transport/tls.ts';
import { trustHint } from '../client/transport/transport-error.ts';
import { withDeadline } from '../process/deadline.ts';
import { unansweredError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { systemCode } from '../process/system-error.ts';
import { durationText } from '../process/text.ts';

/** The result of a TLS handshake, whether the certificate is trusted or not. */
export interface Handshake {
  /** Why the certificate is not trusted; undefined if it is. */
  readonly problem: string | undefined;
  /** A remedy for the problem, one clause. */
  readonly hint: string | undefined;
  /** When the certificate expires; undefined if the service showed none. */
  readonly validTo: Date | undefined;
  /** Such as `TLSv1.3`. */
  readonly protocol: string;
}

interface SocketOptions {
  readonly baseUrl: string;
  /** True if the service runs in this process. */
  readonly embedded: boolean;
  readonly tls: TlsFiles;
  readonly env: Io['env'];
  readonly timeoutMs: number;
}

/** Opens connections to the service without sending a request. */
export class Sockets {
  readonly host: string;
  readonly port: number;
  readonly encrypted: boolean;
  /** Why the service's own socket cannot be checked; undefined if it can. */
  readonly absence: string | undefined;
  private readonly options: SocketOptions;
  private tls: Promise<Handshake> | undefined;

  constructor(options: SocketOptions) {
    const url = new URL(options.baseUrl);
    const proxy = options.embedded ? undefined : findProxy(url, options.env);
    this.host = bareHost(url.hostname);
    this.port = portOf(url);
    this.encrypted = url.protocol === 'https:' && !options.embedded;
    this.absence = options.embedded
      ? 'the embedded store has no socket'
      : proxy && `requests go through the proxy ${proxy.label}`;
    this.options = options;
  }

  /** Sockets of the same service that perform their own handshake, for another run. */
  again(): Sockets {
    return new Sockets(this.options);
  }

  /** Looks up the addresses of the host. */
  async resolve(): Promise<string[]> {
    const addresses = await this.within(lookup(reachableHost(this.host), { all: true }));
    return addresses.map(({ address }) => address);
  }

  /** Resolves when the service has accepted a connection. */
  async connect(): Promise<void> {
    const socket = openSocket({ host: reachableHost(this.host), port: this.port });
    await this.within(once(socket, 'connect')).finally(() => socket.destroy());
  }

  /** Performs a TLS handshake, once. */
  handshake(): Promise<Handshake> {
    this.tls ??= this.openTls();
    return this.tls;
  }

  /** Also offers old versions of TLS and accepts any certificate, to find out what the service offers. */
  private async openTls(): Promise<Handshake> {
    const { host, port } = this;
    const { tls, env } = this.options;
    const socket = connectTls({
      host: reachableHost(host),
      port,
      ...(isIP(host) ? {} : { servername: host }),
      secureContext: createTlsContext(tls, env, { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
      rejectUnauthorized: false,
    });
    try {
      await this.within(once(socket, 'secureConnect'));
      return describeHandshake(socket);
    } finally {
      socket.destroy();
    }
  }

  private within<Value>(work: Promise<Value>): Promise<Value> {
    return withDeadline(work, this.options.timeoutMs, () => {
      const message = `no answer within ${durationText(this.options.timeoutMs)}`;
      throw unansweredError('timeout', message);
    });
  }
}

function describeHandshake(socket: TLSSocket): Handshake {
  const { authorized, authorizationError: error } = socket;
  const { valid_to: validTo } = socket.getPeerCertificate();
  return {
    ...(authorized ? { problem: undefined, hint: undefined } : describeProblem(socket, error)),
    validTo: validTo ? new Date(validTo) : undefined,
    protocol: socket.getProtocol() ?? 'an unknown protocol',
  };
}

const problems: Readonly<Record<string, readonly [problem: string, hint?: string]>> = {
  CERT_HAS_EXPIRED: ['the certificate has expired', 'renew the certificate'],
  CERT_NOT_YET_VALID: ['the certificate is not valid yet'],
  CERT_REVOKED: ['the certificate was revoked'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['the certificate is self-signed', trustHint],
  ERR_TLS_CERT_ALTNAME_INVALID: ['the certificate is for another host'],
};

function describeProblem(
  socket: TLSSocket,
  error: Error | string | undefined,
): Pick<Handshake, 'problem' | 'hint'> {
  const code = String(error instanceof Error ? (systemCode(error) ?? error.message) : error);
  if (/^UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)|^SELF_SIGNED_CERT_IN_CHAIN/.test(code))
    return {
      problem: `the chain ends at "${endOfChain(socket.getPeerCertificate(true))}", which this machine does not trust (${code})`,
      hint: `let the service send the whole chain; ${trustHint}`,
    };
  const [problem, hint] = problems[code] ?? [];
  return { problem: problem === undefined ? code : `${problem} (${code})`, hint };
}

/** The name of the authority that signed the last certificate that the service sends. */
function endOfChain(certificate: DetailedPeerCertificate): string {
  const { issuer, issuerCertificate } = certificate;
  if (issuerCertificate && issuerCertificate !== certificate) return endOfChain(issuerCertificate);
  return [issuer?.CN ?? issuer?.O ?? 'an authority without a name'].flat().join(', ');
}

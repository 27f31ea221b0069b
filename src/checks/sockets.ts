import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP, connect as openSocket } from 'node:net';
import { connect as openTls, type TLSSocket } from 'node:tls';
import { bareHost, reachableHost } from '../api/http.ts';
import { createDialer } from '../client/transport/dial.ts';
import { findProxy, portOf } from '../client/transport/proxy.ts';
import { createContext, type TlsFiles } from '../client/transport/tls.ts';
import { withDeadline } from '../process/deadline.ts';
import { UnavailableError } from '../process/errors.ts';
import type { Io } from '../process/io.ts';
import { systemCode } from '../process/system-error.ts';
import { durationText } from './text.ts';

/** The result of a TLS handshake, whether the certificate is trusted or not. */
export interface Handshake {
  /** Why the certificate is not trusted; undefined if it is. */
  readonly problem: string | undefined;
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

/** Access to the service below HTTP; sends only what opening a connection needs. */
export class Sockets {
  readonly host: string;
  readonly port: number;
  readonly encrypted: boolean;
  /** Why the service's own socket cannot be checked; undefined if it can. */
  readonly absence: string | undefined;
  /** Why TLS is not checked; undefined if it is. */
  readonly plain: string | undefined;
  private readonly url: URL;
  private readonly options: SocketOptions;
  private shaken: Promise<Handshake> | undefined;

  constructor(options: SocketOptions) {
    const url = new URL(options.baseUrl);
    const none = options.embedded ? 'the embedded store has no socket' : undefined;
    const proxy = options.embedded ? undefined : findProxy(url, options.env);
    this.host = bareHost(url.hostname);
    this.port = portOf(url);
    this.encrypted = url.protocol === 'https:';
    this.absence = none ?? (proxy && `requests go through the proxy ${proxy.shown}`);
    this.plain = none ?? (this.encrypted ? undefined : 'the base URL is http');
    this.url = url;
    this.options = options;
  }

  /** Addresses of the host. */
  async resolve(): Promise<string[]> {
    const found = await this.within(lookup(reachableHost(this.host), { all: true }));
    return found.map(({ address }) => address);
  }

  /** Resolves when the service has accepted a connection. */
  async connect(): Promise<void> {
    const socket = openSocket({ host: reachableHost(this.host), port: this.port });
    await this.within(once(socket, 'connect')).finally(() => socket.destroy());
  }

  /** Performed once. A proxy tunnel uses the client's own code, so an untrusted certificate is an error there. */
  handshake(): Promise<Handshake> {
    this.shaken ??= this.absence === undefined ? this.shakeHands() : this.shakeHandsThroughProxy();
    return this.shaken;
  }

  /** Also offers old versions of TLS and accepts any certificate, to find out what the service offers. */
  private async shakeHands(): Promise<Handshake> {
    const { host, port } = this;
    const { tls, env } = this.options;
    const socket = openTls({
      host: reachableHost(host),
      port,
      ...(isIP(host) ? {} : { servername: host }),
      secureContext: createContext(tls, env, { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
      rejectUnauthorized: false,
    });
    try {
      await this.within(once(socket, 'secureConnect'));
      return look(socket);
    } finally {
      socket.destroy();
    }
  }

  private async shakeHandsThroughProxy(): Promise<Handshake> {
    const { tls, env, timeoutMs } = this.options;
    const dialer = createDialer({ tls, env, connectTimeoutMs: timeoutMs });
    try {
      return look((await dialer.dial(dialer.route(this.url))) as TLSSocket);
    } finally {
      dialer.close();
    }
  }

  private within<Value>(work: Promise<Value>): Promise<Value> {
    return withDeadline(work, this.options.timeoutMs, () => {
      const message = `no answer within ${durationText(this.options.timeoutMs)}`;
      throw new UnavailableError(message, { reason: 'timeout', sent: false });
    });
  }
}

function look(socket: TLSSocket): Handshake {
  const { authorized, authorizationError } = socket;
  const { valid_to } = socket.getPeerCertificate();
  return {
    problem: authorized ? undefined : describeProblem(authorizationError),
    validTo: valid_to ? new Date(valid_to) : undefined,
    protocol: socket.getProtocol() ?? 'an unknown protocol',
  };
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
  const code = String(reason instanceof Error ? (systemCode(reason) ?? reason.message) : reason);
  const text = problems[code];
  return text ? `${text} (${code})` : code;
}

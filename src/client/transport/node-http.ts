import type { Transport } from '../../api/http.ts';

/** How to reach a service, whichever transport does it. */
export interface TransportOptions {
  /** PEM texts. */
  readonly tls: {
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
  };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Most sockets at a time. */
  readonly connections: number;
}

export function createNodeHttpTransport(_options: TransportOptions): Transport {
  throw new Error('node-http: still to come');
}

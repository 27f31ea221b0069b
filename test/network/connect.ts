import { builtInContract } from '../../src/api/contract.ts';
import type { Transport } from '../../src/api/http.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { createNodeHttpTransport, type TransportOptions } from '../../src/client/transport/node-http.ts';
import { findProxy } from '../../src/client/transport/proxy.ts';
import { createUndiciTransport } from '../../src/client/transport/undici.ts';
import { createSecrets } from '../../src/process/secrets.ts';

type OpenOptions = TransportOptions & { readonly env: Readonly<Record<string, string>> };
type Open = (options: OpenOptions) => Promise<Transport>;

/** Both ways to send: for few requests, and for many or through a proxy. */
export const transports: Readonly<Record<string, Open>> = {
  'node:http': (options) => open(createNodeHttpTransport, options),
  undici: (options) => open(createUndiciTransport, options),
};

function open(direct: typeof createUndiciTransport, options: OpenOptions): Promise<Transport> {
  const proxy = findProxy(new URL(options.baseUrl), options.env);
  return proxy ? createUndiciTransport(options, proxy) : direct(options);
}

interface Options {
  readonly tls?: TransportOptions['tls'];
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The most sockets that may be open. */
  readonly connections?: number;
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly signal?: AbortSignal;
}

/** A client of the built-in contract over a transport. */
export async function connect(open: Open, baseUrl: string, options: Options = {}): Promise<Client> {
  const { tls = {}, env = {}, connections = 4, timeoutMs = 30_000, retries = 4 } = options;
  return createClient({
    contract: builtInContract,
    baseUrl,
    transport: await open({ baseUrl, tls, env, connections }),
    headers: { accept: 'application/json' },
    usesEtags: true,
    limits: { timeoutMs, retries, retriesUnreachable: false, concurrency: 4 },
    signal: options.signal ?? new AbortController().signal,
    secrets: createSecrets(),
    observe: () => {},
    notify: () => {},
  });
}

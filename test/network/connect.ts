import { builtInContract } from '../../src/api/contract.ts';
import type { Client } from '../../src/client/client.ts';
import { createClient } from '../../src/client/client.ts';
import { createNodeHttpTransport } from '../../src/client/transport/node-http.ts';
import { createUndiciTransport } from '../../src/client/transport/undici.ts';
import { createSecrets } from '../../src/process/secrets.ts';

/** Both ways to send: for few requests, and for many. */
export const transports = { 'node:http': createNodeHttpTransport, undici: createUndiciTransport };

type Open = (typeof transports)[keyof typeof transports];
type Tls = Parameters<Open>[0]['tls'];

interface Options {
  readonly tls?: Tls;
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
    transport: await open({ baseUrl, tls, env, connections, connectTimeoutMs: timeoutMs }),
    headers: { accept: 'application/json' },
    timeoutMs,
    retries,
    signal: options.signal ?? new AbortController().signal,
    secrets: createSecrets(),
  });
}

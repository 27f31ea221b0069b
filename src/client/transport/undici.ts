import type { Dispatcher } from 'undici';
import type { HttpResponse, SendOptions, Transport } from '../../api/http.ts';
import { Collector, toFields } from './collect.ts';
import { toUnavailable } from './failure.ts';
import type { TransportOptions } from './node-http.ts';

/** The transport for many requests: slower to load, and much faster than node:http once it runs. */
export async function createUndiciTransport({ tls, connections }: TransportOptions): Promise<Transport> {
  const { Pool } = await import('undici');
  const pools = new Map<string, Dispatcher>();
  const poolOf = (origin: string) => {
    const pool =
      pools.get(origin) ??
      // The caller has a deadline of its own for the whole call; undici's have a resolution of a second.
      new Pool(origin, {
        connections,
        pipelining: 1,
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: { ...tls, timeout: 0 },
      });
    pools.set(origin, pool);
    return pool;
  };
  return {
    send(request, options) {
      const { origin, path } = split(request.url);
      return new Promise((resolve, reject) => {
        poolOf(origin).dispatch(
          {
            path,
            method: request.method,
            headers: request.fields as Record<string, string | string[]>,
            body: (request.body as string | undefined) ?? null,
          },
          new Exchange(options, resolve, reject),
        );
      });
    },
    async close() {
      // Not awaited: undici waits for connections that are still being made.
      for (const pool of pools.values()) pool.destroy().catch(() => {});
    },
  };
}

/** What undici calls for one request, by the interface that it uses inside, so that nothing is wrapped. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: SendOptions;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (error: unknown) => void;
  #collector: Collector | undefined;
  #sent = false;
  #abort: ((reason: Error) => void) | undefined;

  constructor(
    options: SendOptions,
    resolve: (response: HttpResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    options.signal.addEventListener('abort', () => {
      this.#abort?.(options.signal.reason);
      reject(options.signal.reason);
    });
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort;
    // undici connects for a request that nobody waits for any more; it must not send it.
    if (this.#options.signal.aborted) {
      abort(this.#options.signal.reason);
      return;
    }
    this.#sent = true;
    this.#options.onSending?.();
  }

  onHeaders(status: number, raw: Buffer[]): boolean {
    if (status >= 200) this.#collector = new Collector(status, toFields(raw), this.#options);
    return true;
  }

  onData(chunk: Buffer): boolean {
    const collector = this.#collector;
    if (!collector || collector.add(chunk)) return true;
    if (collector.isError) this.#resolve(collector.response());
    else this.#reject(collector.tooLong());
    this.#abort?.(new Error('the rest is not wanted'));
    return true;
  }

  onComplete(): void {
    if (this.#collector) this.#resolve(this.#collector.response());
  }

  onError(error: Error): void {
    if (this.#collector?.isError) this.#resolve(this.#collector.response());
    else this.#reject(toUnavailable(error, this.#sent));
  }
}

function split(url: string): { origin: string; path: string } {
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  return slash === -1 ? { origin: url, path: '/' } : { origin: url.slice(0, slash), path: url.slice(slash) };
}

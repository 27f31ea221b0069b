import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import type { HttpResponse, SendOptions, Transport } from '../../api/http.ts';
import { Collector, toFields } from './collect.ts';
import { createDialer, type Dialer, type Route, type TransportOptions } from './dial.ts';
import { toUnavailable } from './failure.ts';
import { toTarget } from './target.ts';

/** The transport for many requests: slower to load, and much faster than node:http once it runs. */
export async function createUndiciTransport(options: TransportOptions): Promise<Transport> {
  // The pool alone loads three times as fast as the whole of undici.
  const { default: Pool } = await import('undici/lib/dispatcher/pool.js');
  const dialer = createDialer(options);
  const origins = new Map<string, Origin>();
  const originOf = (name: string) => {
    const known = origins.get(name);
    if (known) return known;
    const route = dialer.route(new URL(name));
    const pool = new Pool(route.url.origin, {
      connections: options.connections,
      pipelining: 1,
      // The caller has a deadline for the whole call; undici's own have a resolution of a second.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: connector(dialer, route),
    });
    const made = { route, pool };
    origins.set(name, made);
    return made;
  };
  return {
    send: (request, sendOptions) =>
      new Promise((resolve, reject) => {
        const { name, rest } = split(request.url);
        const { route, pool } = originOf(name);
        const target = route.isForwarded
          ? toTarget(route, new URL(request.url), request.fields)
          : { path: rest, fields: request.fields };
        pool.dispatch(
          {
            path: target.path,
            method: request.method,
            headers: target.fields as Record<string, string | string[]>,
            body: (request.body as string | undefined) ?? null,
          },
          new Exchange(sendOptions, resolve, reject),
        );
      }),
    async close() {
      // Not awaited: undici waits for connections that are still being made.
      for (const { pool } of origins.values()) pool.destroy().catch(() => {});
      dialer.close();
    },
  };
}

interface Origin {
  readonly route: Route;
  readonly pool: Dispatcher;
}

/** undici's own connector drops what a proxy says, and retries for ever where one hangs up. */
function connector(dialer: Dialer, route: Route) {
  return (_options: unknown, callback: (...result: [Error, null] | [null, Socket]) => void): void => {
    dialer.dial(route).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
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
    options.cancellation.onCancel((reason) => {
      this.#abort?.(new Error('cancelled'));
      reject(reason);
    });
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort;
    // undici connects for a request that nobody waits for any more; it must not send it.
    if (this.#options.cancellation.isCancelled) {
      abort(new Error('cancelled'));
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

/** Origin and the rest of an absolute URL; parsing it costs ten times as much, in each of many requests. */
function split(url: string): { name: string; rest: string } {
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  return slash === -1 ? { name: url, rest: '/' } : { name: url.slice(0, slash), rest: url.slice(slash) };
}

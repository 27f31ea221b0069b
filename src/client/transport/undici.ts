import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import type { Dispatcher } from 'undici';
import type { HttpResponse, SendOptions, Transport } from '../../api/http.ts';
import { v8Version } from '../../io.ts';
import { Collector, FieldReader } from './collect.ts';
import { createDialer, type Dialer, type Route, type TransportOptions, toTarget } from './dial.ts';
import { toUnavailable } from './failure.ts';

/** The transport for many requests: slower to load, and much faster than node:http once it runs. */
export async function createUndiciTransport(options: TransportOptions): Promise<Transport> {
  // The pool alone loads three times as fast as the whole of undici.
  const { default: Pool } = await import('undici/lib/dispatcher/pool.js');
  const dialer = createDialer(options);
  const waiting = new Waiting();
  const fieldReader = new FieldReader();
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
      connect: connector(dialer, route, waiting),
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
            body: request.body ?? null,
          },
          new Exchange({ options: sendOptions, waiting, fieldReader, resolve, reject }),
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

/**
 * undici's own connector drops what a proxy says, and retries for ever if one hangs up. And undici connects anew for a
 * request that was cancelled: if nobody waits for a connection, none is made.
 */
function connector(dialer: Dialer, route: Route, waiting: Waiting) {
  return (_options: unknown, callback: (...result: [Error, null] | [null, Socket]) => void): void => {
    if (waiting.count === 0) {
      callback(new Error('nobody waits for a connection'), null);
      return;
    }
    dialer.dial(route).then(
      (socket) => withLateTier(() => callback(null, socket)),
      (error: Error) => callback(error, null),
    );
  };
}

/** Origin and the rest of an absolute URL; parsing it costs ten times as much, in each of many requests. */
function split(url: string): { name: string; rest: string } {
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  return slash === -1 ? { name: url, rest: '/' } : { name: url.slice(0, slash), rest: url.slice(slash) };
}

/** How many exchanges have no connection yet. */
class Waiting {
  count = 0;
}

interface Parts {
  readonly options: SendOptions;
  readonly waiting: Waiting;
  readonly fieldReader: FieldReader;
  resolve(response: HttpResponse): void;
  reject(error: unknown): void;
}

/** The handler of one request, by the interface that undici uses inside, so that nothing is wrapped. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly parts: Parts;
  private collector: Collector | undefined;
  private isWaiting = true;
  private sent = false;
  private abort: ((reason: Error) => void) | undefined;

  constructor(parts: Parts) {
    this.parts = parts;
    parts.waiting.count += 1;
    parts.options.cancellation.onCancel((reason) => {
      this.leaveQueue();
      this.abort?.(new Error('cancelled'));
      parts.reject(reason);
    });
  }

  onConnect(abort: (reason?: Error) => void): void {
    const { options } = this.parts;
    this.leaveQueue();
    this.abort = abort;
    // undici would send a request that waited for its connection longer than anybody waits for its answer.
    if (options.cancellation.isCancelled) {
      abort(new Error('cancelled'));
      return;
    }
    this.sent = true;
    options.onSending?.();
  }

  onHeaders(status: number, raw: Buffer[]): boolean {
    const { options, fieldReader } = this.parts;
    if (status >= 200) this.collector = new Collector(status, fieldReader.read(raw), options);
    return true;
  }

  onData(chunk: Buffer): boolean {
    const collector = this.collector;
    if (!collector || collector.add(chunk)) return true;
    if (collector.isError) this.parts.resolve(collector.response());
    else this.parts.reject(collector.tooLong());
    this.abort?.(new Error('the rest is not wanted'));
    return true;
  }

  onComplete(): void {
    if (this.collector) this.parts.resolve(this.collector.response());
  }

  onError(error: Error): void {
    this.leaveQueue();
    if (this.collector?.isError) this.parts.resolve(this.collector.response());
    else this.parts.reject(toUnavailable(error, { sent: this.sent }));
  }

  private leaveQueue(): void {
    if (this.isWaiting) this.parts.waiting.count -= 1;
    this.isWaiting = false;
  }
}

/** V8 11's default, in about bytes of code that were run. */
const usualBudget = 1_800_000;
/** About a thousand answers. */
const lateBudget = 2_000_000_000;

/**
 * Does what makes undici's parser, which is WebAssembly, so that V8 optimises it late. V8 11, which Node 20 has, would do
 * that after the first answer already, and the process cannot end before it is done: 130 ms, for a run of ten rows too.
 * The flag is put back at once, because V8 refuses code caches that were made under other flags.
 */
function withLateTier(makeParser: () => void): void {
  if (!v8Version().startsWith('11.')) {
    makeParser();
    return;
  }
  setFlagsFromString(`--wasm-tiering-budget=${lateBudget}`);
  try {
    makeParser();
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${usualBudget}`);
  }
}

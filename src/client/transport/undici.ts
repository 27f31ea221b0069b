import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import type { Dispatcher } from 'undici';
import type { HttpResponse, SendOptions, Transport } from '../../api/http.ts';
import { v8Version } from '../../io.ts';
import { Collector } from './body.ts';
import { createDialer, type Dialer, type Route, type TransportOptions, toTarget } from './dial.ts';
import { FieldReader } from './fields.ts';
import { toUnavailable } from './socket-error.ts';

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
      // The caller has a deadline for the whole call; undici's timeouts have a resolution of a second.
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
          new Handler({ options: sendOptions, waiting, fieldReader, resolve, reject }),
        );
      }),
    async close() {
      // Not awaited: undici waits for connections that are still being opened.
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
 * undici's own connector drops a proxy's message, and retries forever if a proxy closes the connection. undici also
 * opens a connection for a request that was cancelled; this one opens none if no request waits for it.
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

/** Origin and rest of an absolute URL; parsing it as a URL takes ten times as long, in each of many requests. */
function split(url: string): { name: string; rest: string } {
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  return slash === -1 ? { name: url, rest: '/' } : { name: url.slice(0, slash), rest: url.slice(slash) };
}

/** The number of requests that wait for a connection. */
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

/** The handler of one request. It implements undici's internal interface, so that nothing is wrapped. */
class Handler implements Dispatcher.DispatchHandler {
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
    // Otherwise undici would send a request that waited for its connection until after its deadline.
    if (options.cancellation.isCancelled) {
      abort(new Error('cancelled'));
      return;
    }
    this.sent = true;
    options.onSending();
  }

  onHeaders(status: number, raw: Buffer[]): boolean {
    const { fieldReader } = this.parts;
    if (status >= 200) this.collector = new Collector(status, fieldReader.read(raw));
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

/** The default of V8 11, roughly in bytes of executed code. */
const usualBudget = 1_800_000;
/** About a thousand answers. */
const lateBudget = 2_000_000_000;

/**
 * Creates undici's parser, which is WebAssembly, so that V8 optimises it late. V8 11 (Node 20) would otherwise do that
 * after the first answer, and the process could not end before it is done: 130 ms even for a run of ten rows. The flag
 * is reset at once, because V8 refuses code caches created under other flags.
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

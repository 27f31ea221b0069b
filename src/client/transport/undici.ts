import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import type { Dispatcher } from 'undici';
import type { HttpRequest, HttpResponse, SendOptions, Transport } from '../../api/http.ts';
import { v8Version } from '../../process/io.ts';
import { Dialer } from './dialer.ts';
import { ResponseCollector } from './response.ts';
import { createTransport, type Sender, type TransportOptions } from './transport.ts';

/** The transport for many requests: slower to load, and much faster than node:http once it runs. */
export async function createUndiciTransport(options: TransportOptions): Promise<Transport> {
  // The pool alone loads much faster than the whole of undici.
  const { default: Pool } = await import('undici/lib/dispatcher/pool.js');
  const dialer = new Dialer(options);
  const sender: UndiciSender = new UndiciSender(
    new Pool(dialer.origin.origin, {
      connections: options.connections,
      pipelining: 1,
      // The caller has a deadline for the whole call; undici's timeouts have a resolution of a second.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_, callback) => sender.connect(dialer, callback),
    }),
  );
  return createTransport(dialer, sender);
}

class UndiciSender implements Sender {
  /** The number of requests that wait for a connection. */
  waiting = 0;
  private readonly pool: Dispatcher;

  constructor(pool: Dispatcher) {
    this.pool = pool;
  }

  /**
   * undici's own connector drops a proxy's message, and retries forever if a proxy closes the connection. undici also
   * opens a connection for a request that was cancelled; this one opens none if no request waits for it.
   */
  connect(dialer: Dialer, callback: (...result: [Error, null] | [null, Socket]) => void): void {
    if (this.waiting === 0) {
      callback(new Error('no request waits for a connection'), null);
      return;
    }
    dialer.dial().then(
      (socket) => withLateTier(() => callback(null, socket)),
      (error: Error) => callback(error, null),
    );
  }

  send(requestTarget: string, request: HttpRequest, options: SendOptions): Promise<HttpResponse> {
    const handler = new Handler(this, options);
    this.pool.dispatch(
      {
        path: requestTarget,
        method: request.method,
        headers: request.headers as Record<string, string | string[]>,
        body: request.body ?? null,
      },
      handler,
    );
    return handler.collector.response;
  }

  close(): void {
    // Not awaited: undici waits for connections that are still being opened.
    this.pool.destroy().catch(() => {});
  }
}

/** The handler of one request. It implements undici's internal interface, so that nothing is wrapped. */
class Handler implements Dispatcher.DispatchHandler {
  readonly collector = new ResponseCollector();
  private readonly sender: UndiciSender;
  private readonly options: SendOptions;
  private isWaiting = true;
  private abort: ((reason: Error) => void) | undefined;

  constructor(sender: UndiciSender, options: SendOptions) {
    this.sender = sender;
    this.options = options;
    sender.waiting += 1;
    options.cancellation.onCancel(() => {
      this.leaveQueue();
      this.abort?.(new Error('cancelled'));
    });
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.leaveQueue();
    this.abort = abort;
    // Otherwise undici would send a request that waited for its connection until after its deadline.
    if (this.options.cancellation.isCancelled) abort(new Error('cancelled'));
    else this.options.onSending();
  }

  onHeaders(status: number, raw: Buffer[]): boolean {
    if (status >= 200)
      this.collector.begin(
        status,
        raw.map((bytes) => bytes.toString('latin1')),
      );
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (!this.collector.add(chunk)) this.abort?.(new Error('the rest is not wanted'));
    return true;
  }

  onComplete(): void {
    this.collector.end();
  }

  onError(error: Error): void {
    this.leaveQueue();
    this.collector.fail(error);
  }

  private leaveQueue(): void {
    if (this.isWaiting) this.sender.waiting -= 1;
    this.isWaiting = false;
  }
}

/** The default of V8 11, roughly in bytes of executed code. */
const usualBudget = 1_800_000;
/** Enough for about a thousand responses. */
const lateBudget = 2_000_000_000;

/**
 * Creates undici's parser, which is WebAssembly, with a high budget, so that V8 optimises it late. V8 11 (Node 20) would
 * otherwise optimise it after the first response, and the process could not end meanwhile (`bench/README.md`). The flag is
 * reset at once, because V8 refuses code caches that were created under other flags.
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

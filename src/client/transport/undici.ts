import { setFlagsFromString } from 'node:v8';
import type { buildConnector, Dispatcher } from 'undici';
import type { SendOptions, Transport } from '../../api/http.ts';
import { v8Version } from '../../process/io.ts';
import { pathOf, socketTarget, type TransportOptions } from './node-http.ts';
import { type HttpProxy, proxyError, statusOfProxy } from './proxy.ts';
import { ResponseCollector } from './response.ts';

/** The transport for many requests, and for all that go through a proxy. It loads slowly, but is much faster than node:http. */
export async function createUndiciTransport(
  options: TransportOptions,
  proxy?: HttpProxy,
): Promise<Transport> {
  const dispatcher = await openDispatcher(options, proxy);
  const { origin, protocol } = new URL(options.baseUrl);
  // A proxy such as tinyproxy closes idle connections, and the next request on one would be lost.
  const isForwarded = proxy !== undefined && protocol === 'http:';
  return {
    forwardProxy: isForwarded ? proxy.label : undefined,
    send(request, sendOptions) {
      const handler = new ResponseHandler(sendOptions, proxy);
      const { method, url, body = null } = request;
      // undici's proxy agent adds a header to the object.
      const headers = proxy ? { ...request.headers } : request.headers;
      dispatcher.dispatch({ origin, path: pathOf(url), method, headers, body, reset: isForwarded }, handler);
      return handler.response;
    },
  };
}

async function openDispatcher(
  { baseUrl, tls, connections }: TransportOptions,
  proxy: HttpProxy | undefined,
): Promise<Dispatcher> {
  const { buildConnector, Pool, ProxyAgent } = await import('undici');
  const url = new URL(baseUrl);
  const { origin, protocol } = url;
  const { host, servername } = socketTarget(url);
  // The caller has a deadline for the whole call; undici's timeouts have a resolution of a second.
  const requestTls: buildConnector.BuildOptions = { timeout: 0 };
  const proxyTls: buildConnector.BuildOptions = { timeout: 0 };
  if (protocol === 'https:' || proxy?.origin.startsWith('https:')) {
    const { createSecureContext } = await import('node:tls');
    Object.assign(requestTls, { servername, secureContext: createSecureContext(tls) });
    // The client certificate is for the service alone.
    Object.assign(proxyTls, { secureContext: createSecureContext({ ca: tls.ca }) });
  }
  const openPool = (target: string | URL, connect: Connector) =>
    new Pool(target, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0, connect });
  if (proxy === undefined) {
    const connect = buildConnector(requestTls);
    return openPool(origin, (target, callback) =>
      connect({ ...target, hostname: host, servername }, withoutOptimising(callback)),
    );
  }
  return new ProxyAgent({
    uri: proxy.origin,
    ...(proxy.authorization && { token: proxy.authorization }),
    proxyTunnel: false,
    requestTls,
    proxyTls,
    // Otherwise errors would not name the proxy, and undici would retry forever if the proxy drops its connections.
    factory: (url, { connect }: { connect: Connector }) =>
      openPool(url, (target, callback) =>
        connect(target, (...[error, socket]) =>
          error ? callback(proxyError(proxy, error), null) : withoutOptimising(callback)(null, socket),
        ),
      ),
  });
}

type Connector = buildConnector.connector;

/** The handler of one request. It implements undici's internal interface, which saves a wrapper. */
class ResponseHandler extends ResponseCollector implements Dispatcher.DispatchHandler {
  private readonly options: SendOptions;
  private readonly proxy: HttpProxy | undefined;
  private abort: ((reason: Error) => void) | undefined;

  constructor(options: SendOptions, proxy: HttpProxy | undefined) {
    super();
    this.options = options;
    this.proxy = proxy;
    options.cancellation.onCancel(() => this.abort?.(new Error('cancelled')));
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.abort = abort;
    // Otherwise undici would send a request that got its connection only after the deadline.
    if (this.options.cancellation.isCancelled) abort(new Error('cancelled'));
    else this.options.onSending();
  }

  onHeaders(status: number, raw: Buffer[]): boolean {
    if (status >= 200) this.begin(status, raw);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (!this.add(chunk)) this.abort?.(new Error('the rest is not wanted'));
    return true;
  }

  onComplete(): void {
    this.end();
  }

  onError(error: Error): void {
    const isOfProxy = this.proxy && statusOfProxy(error) !== undefined;
    this.fail(isOfProxy ? proxyError(this.proxy, error) : error);
  }
}

const optimisingFlags = ['wasm-tier-up', 'wasm-dynamic-tiering', 'wasm-lazy-compilation'];

/**
 * Stops V8 11 (Node 20) from optimising undici's parser, which is WebAssembly. To do so takes 28 MB after the first response, the
 * process could not end meanwhile, and the parser gets no faster (`bench/README.md`). The flags are reset at once, because V8
 * rejects code caches that were created under other flags.
 */
function withoutOptimising(connected: buildConnector.Callback): buildConnector.Callback {
  if (!v8Version().startsWith('11.')) return connected;
  return (...result) => {
    for (const flag of optimisingFlags) setFlagsFromString(`--no-${flag}`);
    try {
      connected(...result);
    } finally {
      for (const flag of optimisingFlags) setFlagsFromString(`--${flag}`);
    }
  };
}

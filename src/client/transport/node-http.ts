import type { OutgoingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { HttpRequest, HttpResponse, SendOptions, Transport } from '../../api/http.ts';
import { bareHost, portOf } from '../../api/http.ts';
import { ResponseCollector } from './response.ts';
import type { TlsFiles } from './tls.ts';

export interface TransportOptions {
  /** A URL of the origin. */
  readonly baseUrl: string;
  readonly tls: TlsFiles;
  /** The most sockets at the same time. */
  readonly connections: number;
}

/** The transport for few requests without a proxy. It loads fast, and keeps connections for the next page or record. */
export async function createNodeHttpTransport({
  baseUrl,
  tls,
  connections,
}: TransportOptions): Promise<Transport> {
  const origin = new URL(baseUrl);
  const isSecure = origin.protocol === 'https:';
  const { Agent, request: open } = isSecure ? await import('node:https') : await import('node:http');
  // An idle connection is closed before the server closes it, because that would fail the next request.
  const agent = new Agent({ keepAlive: true, maxSockets: connections, timeout: 4000 });
  const target = {
    agent,
    ...socketTarget(origin),
    ...(isSecure && { secureContext: (await import('node:tls')).createSecureContext(tls) }),
  };
  const send = (
    { method, url, headers, body }: HttpRequest,
    { cancellation, onSending }: SendOptions,
  ): Promise<HttpResponse> => {
    const collector = new ResponseCollector();
    const allHeaders: OutgoingHttpHeaders = { host: origin.host, ...headers };
    // Node sends no length with a DELETE, so the server would read the body as the next request.
    if (body !== undefined) allHeaders['content-length'] = Buffer.byteLength(body);
    // A POST is never repeated, so it does not use a connection that the server may be closing.
    const connection = method === 'POST' ? { agent: false } : {};
    const message = open({ ...target, ...connection, method, path: pathOf(url), headers: allHeaders });
    message.on('socket', (socket) => {
      if (message.reusedSocket) onSending();
      else socket.once(isSecure ? 'secureConnect' : 'connect', onSending);
    });
    cancellation.onCancel(() => message.destroy());
    message.on('error', (error) => collector.fail(error));
    message.on('response', (incoming) => {
      collector.begin(incoming.statusCode ?? 0, incoming.rawHeaders);
      incoming.on('data', (chunk: Buffer) => collector.add(chunk) || message.destroy());
      incoming.on('end', () => collector.end());
      incoming.on('error', (error) => collector.fail(error));
    });
    message.end(body);
    return collector.response;
  };
  return { send };
}

/** Returns where the sockets to an origin lead, and which name its certificate must have. */
export function socketTarget(origin: URL) {
  const host = bareHost(origin.hostname);
  return {
    // Every name below localhost means this machine, even if a name server disagrees (RFC 6761, 6.3).
    host: host.endsWith('.localhost') ? 'localhost' : host,
    port: portOf(origin),
    // Not the name in a Host header of the user: the certificate must name the host of the base URL.
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
  };
}

/** Returns the path and the query of a URL, without the URL parser, which is slow. */
export function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3));
}

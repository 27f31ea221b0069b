import { Agent, type OutgoingHttpHeaders, request as open } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpRequest, HttpResponse, SendOptions, Transport } from '../../api/http.ts';
import { Dialer } from './dialer.ts';
import { ResponseCollector } from './response.ts';
import { createTransport, type Sender, type TransportOptions } from './transport.ts';

/** The transport for few requests, which needs no time to load. Connections are kept for the next page or record. */
export function createNodeHttpTransport(options: TransportOptions): Transport {
  const dialer = new Dialer(options);
  return createTransport(dialer, new NodeHttpSender(dialer, options.connections));
}

/** Keeps the connections to one origin; the dialer opens them. */
class NodeHttpSender extends Agent implements Sender {
  private readonly dialer: Dialer;
  /** How many more requests may begin: Node's own limit ignores connections that are still being opened. */
  private free: number;
  /** The requests that wait for their turn, in order. */
  private readonly waiting: (() => void)[] = [];

  constructor(dialer: Dialer, connections: number) {
    // Close an idle connection before the server does, because that would cost the next request.
    super({ keepAlive: true, maxSockets: connections, timeout: 4000 });
    this.dialer = dialer;
    this.free = connections;
  }

  createConnection(_options: unknown, callback: (error: Error | null, socket?: Socket) => void): undefined {
    this.dialer.dial().then(
      (socket) => callback(null, socket),
      (error) => callback(error),
    );
  }

  /** Node would use a connection again on which it has sent `Connection: close`, unless the answer says so too. */
  override keepSocketAlive(socket: Socket): boolean {
    return !this.dialer.isForwarded && super.keepSocketAlive(socket);
  }

  async send(requestTarget: string, request: HttpRequest, options: SendOptions): Promise<HttpResponse> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      if (options.cancellation.isCancelled) throw options.cancellation.reason;
      return await this.sendNow(requestTarget, request, options);
    } finally {
      // Calls that reach their deadline together end before the next in turn begins.
      setImmediate(() => this.admitNext());
    }
  }

  close(): void {
    this.destroy();
  }

  private admitNext(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free += 1;
  }

  private sendNow(requestTarget: string, request: HttpRequest, options: SendOptions): Promise<HttpResponse> {
    const collector = new ResponseCollector();
    const { method, body } = request;
    const headers: OutgoingHttpHeaders = {
      host: this.dialer.origin.host,
      ...(request.headers as OutgoingHttpHeaders),
    };
    // Node leaves the length out of a DELETE, and the server would read the body as the next request.
    if (body !== undefined) headers['content-length'] = Buffer.byteLength(body);
    // Plain http to node:http, because the dialer handles TLS.
    const message = open({ agent: this, method, path: requestTarget, headers });
    // The agent returns a socket that is connected and secured, so the request is sent at once.
    message.on('socket', () => options.onSending());
    options.cancellation.onCancel(() => message.destroy());
    message.on('error', (error) => collector.fail(error));
    // Node closes such a connection without an event.
    message.on('upgrade', (_, socket) => {
      socket.destroy();
      collector.fail(new Error('unasked upgrade'));
    });
    message.on('response', (incoming) => {
      collector.begin(incoming.statusCode ?? 0, incoming.rawHeaders);
      incoming.on('data', (chunk: Buffer) => collector.add(chunk) || message.destroy());
      incoming.on('end', () => collector.end());
      incoming.on('error', (error) => collector.fail(error));
    });
    message.end(body);
    return collector.response;
  }
}

import { Agent, type ClientRequest, type IncomingMessage, request as open } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpFields, HttpRequest, HttpResponse, SendOptions, Transport } from '../../api/http.ts';
import type { Cancellation } from '../../deadline.ts';
import { Collector } from './body.ts';
import { createDialer, type Dialer, type Route, type TransportOptions, toTarget } from './dial.ts';
import { readFields } from './fields.ts';
import { toUnavailable } from './socket-error.ts';

/** The transport for few requests, which needs no time to load. Connections are kept for the next page or record. */
export function createNodeHttpTransport(options: TransportOptions): Transport {
  const dialer = createDialer(options);
  const agents = new Map<string, DialingAgent>();
  const agentOf = (url: URL) => {
    const agent = agents.get(url.origin) ?? new DialingAgent(dialer, dialer.route(url), options.connections);
    agents.set(url.origin, agent);
    return agent;
  };
  return {
    async send(request, sendOptions) {
      const url = new URL(request.url);
      const agent = agentOf(url);
      const { cancellation } = sendOptions;
      return agent.slots.use(cancellation, () => exchange({ agent, url }, request, sendOptions));
    },
    async close() {
      for (const agent of agents.values()) agent.destroy();
      dialer.close();
    },
  };
}

/** Keeps the connections to one origin; the dialer opens them. */
class DialingAgent extends Agent {
  readonly route: Route;
  readonly protocol: string;
  /** Node's own limit ignores connections that are still being opened. */
  readonly slots: Slots;
  private readonly dialer: Dialer;

  constructor(dialer: Dialer, route: Route, maxSockets: number) {
    // Close an idle connection before the server does, because that would cost the next request.
    super({ keepAlive: true, maxSockets, timeout: 4000 });
    this.slots = createSlots(maxSockets);
    this.route = route;
    // node:http compares the agent's protocol with that of the URL; the dialer handles TLS.
    this.protocol = route.url.protocol;
    this.dialer = dialer;
  }

  createConnection(_options: unknown, callback: (error: Error | null, socket?: Socket) => void): undefined {
    this.dialer.dial(this.route).then(
      (socket) => callback(null, socket),
      (error) => callback(error),
    );
  }
}

function exchange(
  { agent, url }: { readonly agent: DialingAgent; readonly url: URL },
  request: HttpRequest,
  options: SendOptions,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let sent = false;
    const { method, body } = request;
    const { path, fields } = toTarget(agent.route, url, request.fields);
    const message = open(url, { agent, method, path, headers: mutable(fields) });
    // The agent returns a socket that is connected and secured, so the request is sent at once.
    message.on('socket', () => {
      sent = true;
      options.onSending();
    });
    options.cancellation.onCancel((reason) => {
      message.destroy();
      reject(reason);
    });
    message.on('error', (error) => reject(toUnavailable(error, { sent })));
    // Node closes such a connection without an event.
    message.on('upgrade', (_, socket) => {
      socket.destroy();
      reject(toUnavailable(Object.assign(new Error('unasked upgrade'), { code: 'ECONNRESET' }), { sent }));
    });
    message.on('response', (incoming) => read(incoming, message).then(resolve, reject));
    message.end(body);
  });
}

function read(incoming: IncomingMessage, message: ClientRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const collector = new Collector(incoming.statusCode ?? 0, readFields(incoming.rawHeaders));
    incoming.on('data', (chunk: Buffer) => {
      if (collector.add(chunk)) return;
      message.destroy();
      if (collector.isError) resolve(collector.response());
      else reject(collector.tooLong());
    });
    incoming.on('end', () => resolve(collector.response()));
    incoming.on('error', (error) => {
      if (collector.isError) resolve(collector.response());
      else reject(toUnavailable(error, { sent: true }));
    });
  });
}

function mutable(fields: HttpFields): Record<string, string | string[]> {
  return fields as Record<string, string | string[]>;
}

/** Limits the exchanges at the same time; the others wait in turn. */
interface Slots {
  /** Does the work as soon as a slot is free; if it is cancelled before that, it does not begin. */
  use<Value>(cancellation: Cancellation, work: () => Promise<Value>): Promise<Value>;
}

function createSlots(count: number): Slots {
  const waiting = new Set<() => void>();
  let free = count;
  const admit = () => {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  };
  // Calls that started together reach their deadline together, so the next in turn may have little time left, or none.
  const leave = () => (waiting.size === 0 ? admit() : setImmediate(admit));
  const enter = (cancellation: Cancellation) =>
    new Promise<void>((resolve, reject) => {
      waiting.add(resolve);
      cancellation.onCancel((reason) => {
        if (waiting.delete(resolve)) reject(reason);
      });
    });
  return {
    async use(cancellation, work) {
      if (free > 0) free -= 1;
      else await enter(cancellation);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}

import {
  type Agent,
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as openHttp,
} from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { HttpRequest, HttpResponse, SendOptions, Transport } from '../../api/http.ts';
import { Collector, toFields } from './collect.ts';
import { toUnavailable } from './failure.ts';

/** How to reach a service, whichever transport does it. */
export interface TransportOptions {
  /** PEM texts. */
  readonly tls: {
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
  };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Most sockets at a time. */
  readonly connections: number;
}

/** The transport for few requests: it costs no time to load. Connections are kept for the next page or record. */
export function createNodeHttpTransport({ tls, connections }: TransportOptions): Transport {
  const agents = new Map<string, Promise<Opener>>();
  const options = { keepAlive: true, maxSockets: connections };
  const openerOf = (protocol: string) => {
    const opener =
      agents.get(protocol) ??
      (protocol === 'https:' ? openHttps({ ...options, ...tls }) : openPlain(options));
    agents.set(protocol, opener);
    return opener;
  };
  return {
    async send(request, sendOptions) {
      const url = new URL(request.url);
      const opener = await openerOf(url.protocol);
      sendOptions.signal.throwIfAborted();
      return exchange(opener, url, request, sendOptions);
    },
    async close() {
      for (const opener of agents.values()) (await opener).agent.destroy();
    },
  };
}

interface Opener {
  readonly agent: Agent;
  readonly open: typeof openHttp;
}

async function openPlain(options: object): Promise<Opener> {
  return { agent: new HttpAgent(options), open: openHttp };
}

async function openHttps(options: object): Promise<Opener> {
  const https = await import('node:https');
  return { agent: new https.Agent(options), open: https.request };
}

function exchange(
  opener: Opener,
  url: URL,
  request: HttpRequest,
  options: SendOptions,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let sent = false;
    const { method, fields, body } = request;
    const message = opener.open(url, {
      agent: opener.agent,
      method,
      headers: fields as Record<string, string | string[]>,
    });
    whenSending(message, () => {
      sent = true;
      options.onSending?.();
    });
    options.signal.addEventListener('abort', () => {
      message.destroy();
      reject(options.signal.reason);
    });
    message.on('error', (error) => reject(toUnavailable(error, sent)));
    message.on('response', (incoming) => read(incoming, options).then(resolve, reject));
    message.end(body);
  });
}

/** Node buffers a request until its socket is connected, and for TLS secured: only then do bytes leave. */
function whenSending(message: ClientRequest, onSending: () => void): void {
  message.on('socket', (socket: Socket | TLSSocket) => {
    if ('encrypted' in socket && (socket as { secureConnecting?: boolean }).secureConnecting)
      socket.once('secureConnect', onSending);
    else if (socket.connecting) socket.once('connect', onSending);
    else onSending();
  });
}

function read(incoming: IncomingMessage, options: SendOptions): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const collector = new Collector(incoming.statusCode ?? 0, toFields(incoming.rawHeaders), options);
    const cutShort = (error: Error) => {
      if (collector.isError) resolve(collector.response());
      else reject(toUnavailable(error, true));
    };
    incoming.on('data', (chunk: Buffer) => {
      if (collector.add(chunk)) return;
      incoming.destroy();
      if (collector.isError) resolve(collector.response());
      else reject(collector.tooLong());
    });
    incoming.on('end', () => resolve(collector.response()));
    incoming.on('error', cutShort);
  });
}

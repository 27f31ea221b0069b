import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import { listenHere } from './listen.ts';

export interface ReceivedRequest {
  readonly method: string;
  /** The path and the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Reply {
  readonly status?: number | undefined;
  /** By default, a body has the content type of JSON. A header that is undefined is not sent. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  /** Text and bytes are sent as they are, any other value as JSON. */
  readonly body?: unknown;
}

/** An error of the service itself: its body is that of the specification. */
export function refusal(status: number, headers: Reply['headers'] = {}): Reply {
  return { status, headers, body: { code: 'no', message: 'it says no', status } };
}

/** An answer, a broken connection, or no answer at all. */
export type Reaction = Reply | 'reset' | 'hang';

interface ServerOptions {
  readonly tls?: TlsOptions | undefined;
  /** By default a free port. */
  readonly port?: number | undefined;
}

export interface RecordingServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** Returns the requests as `METHOD path`, without those for documents. */
  calls(): string[];
  /** Returns the requests of a method, by default all but those of GET. */
  writes(method?: string): ReceivedRequest[];
}

/**
 * Starts a service that keeps every request. It answers the path of a document, with any query, with the
 * document, and every other request with the result of a function.
 */
export async function recordingServer(
  documents: Readonly<Record<string, unknown>>,
  answer: (request: ReceivedRequest) => Reaction | Promise<Reaction> = () => refusal(404),
  { tls, port }: ServerOptions = {},
): Promise<RecordingServer> {
  const requests: ReceivedRequest[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: path = '', headers } = request;
    const recorded = { method, path, headers, body: Buffer.concat(chunks).toString() };
    requests.push(recorded);
    const document = documents[path] ?? documents[pathOf(recorded)];
    const reaction = document === undefined ? await answer(recorded) : { body: document };
    if (reaction === 'reset') request.socket.destroy();
    else if (reaction !== 'hang') send(response, reaction);
  };
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void respond(request, response).catch(() => response.destroy());
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  const listeningPort = await listenHere(server, port);
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${listeningPort}`,
    requests,
    calls: () =>
      requests
        .filter((request) => !(request.path in documents || pathOf(request) in documents))
        .map(({ method, path }) => `${method} ${path}`),
    writes: (wanted) =>
      requests.filter(({ method }) => (wanted === undefined ? method !== 'GET' : method === wanted)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pathOf({ path }: ReceivedRequest): string {
  return path.split('?', 1)[0] ?? '';
}

function send(response: ServerResponse, { status = 200, headers, body }: Reply): void {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = Object.entries({ ...type, ...headers }).filter(([, value]) => value !== undefined);
  const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  response.writeHead(status, Object.fromEntries(sent) as OutgoingHttpHeaders);
  response.end(isRaw ? body : JSON.stringify(body));
}

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import { listenHere } from './listen.ts';

/** A request that the server has received. */
export interface Seen {
  readonly method: string;
  /** The path and the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, any other value as JSON. */
  readonly body?: unknown;
}

export interface RecordingServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: Seen[];
  /** Returns the requests as `METHOD path`, without those for documents. */
  calls(): string[];
}

/**
 * Starts a service on a free port that keeps every request. It answers the path of a document, with any query, with the
 * document, and every other request with the result of a function.
 */
export async function recordingServer(
  documents: Readonly<Record<string, unknown>>,
  answer: (seen: Seen) => Reply = () => ({
    status: 404,
    body: { code: 'not_found', message: 'no', status: 404 },
  }),
  tls?: TlsOptions,
): Promise<RecordingServer> {
  const seen: Seen[] = [];
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const recorded = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
    };
    seen.push(recorded);
    const document = documents[recorded.path] ?? documents[pathOf(recorded)];
    const reply = document === undefined ? answer(recorded) : { body: document };
    const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? '');
    const type = reply.body === undefined ? {} : { 'content-type': 'application/json' };
    response.writeHead(reply.status ?? 200, { ...type, ...reply.headers });
    response.end(reply.body === undefined ? undefined : text);
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  const port = await listenHere(server);
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    seen,
    calls: () =>
      seen
        .filter((request) => !(request.path in documents || pathOf(request) in documents))
        .map(({ method, path }) => `${method} ${path}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pathOf({ path }: Seen): string {
  return path.split('?', 1)[0] ?? '';
}

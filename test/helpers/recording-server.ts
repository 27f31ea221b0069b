import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import { listenHere } from './listen.ts';

/** A request as the server saw it. */
export interface Seen {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface RecordingServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: Seen[];
  /** What was asked for as `METHOD path`, requests for documents left out. */
  calls(): string[];
}

/** A service on a free port that answers documents by their path, with any query, everything else by a function, and keeps what it saw. */
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
    const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
    seen.push(one);
    const document = documents[one.path] ?? documents[pathOf(one)];
    const reply = document === undefined ? answer(one) : { body: document };
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
        .filter((one) => !(one.path in documents || pathOf(one) in documents))
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

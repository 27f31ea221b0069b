import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { HttpRequest, HttpResponse } from '../../src/api/http.ts';
import { createApp } from '../../src/server/app.ts';
import { seedStore } from '../../src/server/seed.ts';
import type { Store } from '../../src/server/store.ts';

/** A request as the service saw it. */
export interface Seen {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly fields: HttpRequest['fields'];
}

interface ServiceOptions {
  /** Makes the service wrong: returns another answer, or breaks the connection. */
  spoil?(seen: Seen, answer: HttpResponse): HttpResponse | Promise<HttpResponse> | 'reset';
  readonly tls?: TlsOptions;
  readonly store?: Store;
  readonly sunset?: string;
  /** The path and query of the table for one of the service. */
  route?(target: string): string;
  /** By default a free one. */
  readonly port?: number;
}

export interface Service extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly seen: readonly Seen[];
  readonly store: Store;
  close(): Promise<void>;
}

/** The local server's app behind a real socket, correct except for the changes by `spoil`. */
export async function startService({
  spoil,
  tls,
  sunset,
  ...options
}: ServiceOptions = {}): Promise<Service> {
  const store = options.store ?? seedStore();
  const app = await createApp({ store: () => store, ...(sunset && { sunset }) });
  const seen: Seen[] = [];
  let origin = '';
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const fields = headers as HttpRequest['fields'];
    const one = { method, target: url, fields };
    seen.push(one);
    const body = Buffer.concat(chunks);
    const target = options.route?.(url) ?? url;
    const right = app({ method, url: `${origin}${target}`, fields, ...(body.length > 0 && { body }) });
    const given = (await spoil?.(one, right)) ?? right;
    if (given === 'reset') request.socket.destroy();
    else send(response, given);
  };
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void answer(request, response).catch(() => response.destroy());
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  origin = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  return { url: origin, port, seen, store, close, [Symbol.asyncDispose]: close };
}

/** An answer with another body. */
export function withBody(answer: HttpResponse, body: unknown): HttpResponse {
  return { ...answer, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** An answer with other fields; undefined removes a field. */
export function withFields(
  answer: HttpResponse,
  fields: Readonly<Record<string, string | undefined>>,
): HttpResponse {
  const merged = Object.entries({ ...answer.fields, ...fields }).filter(([, value]) => value !== undefined);
  return { ...answer, fields: Object.fromEntries(merged) as HttpResponse['fields'] };
}

function send(response: ServerResponse, { status, fields, body }: HttpResponse): void {
  response.writeHead(status, { ...fields } as Record<string, string>).end(body);
}

import type { TlsOptions } from 'node:tls';
import type { HttpHeaders, HttpResponse } from '../../src/api/http.ts';
import { createApp } from '../../src/server/app.ts';
import { seedStore } from '../../src/server/seed.ts';
import type { Store } from '../../src/server/store.ts';
import {
  type Reaction,
  type ReceivedRequest,
  type RecordingServer,
  recordingServer,
} from '../helpers/recording-server.ts';

/** Changes the correct answer, breaks the connection, or never answers. */
export type Change = (answer: HttpResponse, request: ReceivedRequest) => Reaction | Promise<Reaction>;

export interface ServiceOptions {
  /** Returns the status with which a request is refused before it has an effect; undefined if it is not refused. */
  refuse?(request: ReceivedRequest): number | undefined;
  readonly spoil?: Change;
  readonly tls?: TlsOptions;
  readonly store?: Store;
  /** Turns the path and query of a request into those of the local server. */
  route?(path: string): string;
  /** By default a free port. */
  readonly port?: number;
}

export interface Service extends RecordingServer {
  readonly store: Store;
}

/** The local server's app behind a real socket, correct except for the changes by `spoil`. */
export async function startService({ spoil, tls, port, ...options }: ServiceOptions = {}): Promise<Service> {
  const store = options.store ?? seedStore();
  const app = createApp(() => store);
  const server = await recordingServer(
    {},
    async (request) => {
      const status = options.refuse?.(request);
      if (status !== undefined) return withRefusal({ status, headers: {}, body: '' }, status);
      const { method, path, body } = request;
      const url = `${tls ? 'https' : 'http'}://${request.headers.host}${options.route?.(path) ?? path}`;
      const headers = request.headers as HttpHeaders;
      const answer = app({ method, url, headers, ...(body !== '' && { body }) });
      const reaction = (await spoil?.(answer, request)) ?? answer;
      if (typeof reaction === 'string') return reaction;
      return { ...reaction, headers: { 'content-type': undefined, ...reaction.headers } };
    },
    { tls, port },
  );
  return { ...server, store };
}

/** Changes only the answers to a method, at a path with any query, or at every path that matches an expression. */
export function on(place: string | RegExp, change: Change, method = 'GET'): Change {
  const isHit = (path: string) =>
    typeof place === 'string' ? path.split('?')[0] === place : place.test(path);
  return (answer, request) =>
    request.method === method && isHit(request.path) ? change(answer, request) : answer;
}

/** Changes only the answers whose number, from 1, is chosen. */
export function counting(isChosen: (count: number) => boolean, change: Change): Change {
  let answers = 0;
  return (answer, request) => {
    answers += 1;
    return isChosen(answers) ? change(answer, request) : answer;
  };
}

/** Changes the JSON of each success. */
export function changing(change: (json: never) => unknown): (answer: HttpResponse) => HttpResponse {
  return (answer) =>
    answer.status < 300 && answer.body.length > 0
      ? withBody(answer, change(JSON.parse(String(answer.body)) as never))
      : answer;
}

export function refusing(status: number): (answer: HttpResponse) => HttpResponse {
  return (answer) => withRefusal(answer, status);
}

/** An error with the body of the service's specification. */
export function withRefusal(answer: HttpResponse, status: number): HttpResponse {
  const error = { code: 'refused', message: 'no', status };
  return { ...withBody(withHeaders(answer, { 'content-type': 'application/json' }), error), status };
}

export function withBody(answer: HttpResponse, body: unknown): HttpResponse {
  return { ...answer, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** An answer with other headers; undefined removes a header. */
export function withHeaders(
  answer: HttpResponse,
  headers: Readonly<Record<string, string | undefined>>,
): HttpResponse {
  return { ...answer, headers: { ...answer.headers, ...headers } as HttpHeaders };
}

export function asPage(answer: HttpResponse, text: string): HttpResponse {
  return withBody(withHeaders(answer, { 'content-type': 'text/html' }), text);
}

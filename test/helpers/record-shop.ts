import { createServer, type ServerResponse } from 'node:http';
import { listenHere } from './listen.ts';
import { type StockDesk, stockDesk } from './stock-desk.ts';

export type Entry = Record<string, unknown> & { id?: number; petId?: number };

export interface RecordRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Carries the request out as a healthy service does, and returns the answer. */
  perform(): Answer;
}

type Answer = readonly [status: number, body: unknown, headers?: Record<string, string>];

/** A service of records with strong ETags, and a person at work on it. */
export interface RecordShop extends StockDesk, AsyncDisposable {
  readonly url: string;
  /** By path, as in `/pets/1`. */
  readonly stored: Map<string, Entry>;
  readonly writes: string[];
  /** Is called before each request is served; returns a status to answer instead. */
  before: (method: string, path: string) => number | undefined;
  /** Answers a request itself and returns true, or leaves it to the service. */
  misbehave: ((request: RecordRequest, response: ServerResponse) => true | undefined) | undefined;
  field(path: string, name: string): unknown;
}

/** Starts a service of the records below `/pets`, `/categories`, `/store/orders` or `/store/inventory`. */
export async function recordShop(records: Readonly<Record<string, readonly Entry[]>>): Promise<RecordShop> {
  const stored = new Map<string, Entry>();
  let last = 0;
  for (const [path, entries] of Object.entries(records))
    for (const entry of entries) {
      const id = (path === '/store/inventory' ? entry.petId : entry.id) ?? 0;
      last = Math.max(last, id);
      stored.set(`${path}/${id}`, entry);
    }
  const shop = {
    stored,
    writes: [] as string[],
    before: (() => undefined) as RecordShop['before'],
    misbehave: undefined as RecordShop['misbehave'],
  };
  const etagOf = (entry: Entry) => `"${Buffer.from(JSON.stringify(entry)).toString('base64')}"`;
  const make = (path: string, fields: Entry): Answer => {
    last += 1;
    const made = fields.petId !== undefined && path === '/store/inventory' ? fields : { ...fields, id: last };
    const place = `${path}/${made.id ?? made.petId}`;
    stored.set(place, made);
    return [201, made, { location: place, etag: etagOf(made) }];
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { method = '', url = '', headers } = request;
    const path = url.replace(/\?.*/, '');
    const refusal = (code: number): Answer => [code, { code: `no_${code}`, message: 'no', status: code }];
    if (method !== 'GET') shop.writes.push(path);
    const perform = (): Answer => {
      const entry = stored.get(path);
      if (method === 'GET' && records[path]) {
        const all = [...stored].filter(([key]) => key.startsWith(`${path}/`)).map(([, value]) => value);
        return [200, url.includes('after=') ? [] : all];
      }
      if (method === 'POST') return make(path, JSON.parse(text));
      if (!entry) return refusal(404);
      if (method === 'GET') return [200, entry, { etag: etagOf(entry) }];
      if (headers['if-match'] !== undefined && headers['if-match'] !== etagOf(entry)) return refusal(412);
      if (method === 'DELETE') {
        stored.delete(path);
        return [204, undefined];
      }
      // What identifies an entry, and the status of a count, are no part of the body.
      const { id, petId, status } = entry;
      const kept = id === undefined ? { petId, status } : { id };
      const after: Entry = { ...JSON.parse(text), ...kept };
      stored.set(path, after);
      return [200, after, { etag: etagOf(after) }];
    };
    const status = shop.before(method, path);
    if (status === undefined && shop.misbehave?.({ method, path, headers, perform }, response)) return;
    const [code, body, more] = status === undefined ? perform() : refusal(status);
    response.writeHead(code, { 'content-type': 'application/json', ...more });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  });
  const url = `http://127.0.0.1:${await listenHere(server)}`;
  return Object.assign(shop, stockDesk({ url }), {
    url,
    field: (path: string, name: string) => stored.get(path)?.[name],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

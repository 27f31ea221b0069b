import {
  type Reaction,
  type RecordingServer,
  type Reply,
  recordingServer,
  refusal,
} from './recording-server.ts';
import { openWorkspace, type Workspace } from './stock-shop.ts';

export type Entry = Record<string, unknown> & { id?: number; petId?: number };

export interface RecordRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Carries the request out as a healthy service does, and returns the answer. */
  perform(): Reply;
}

/** A service of records with strong ETags, and a folder for it. */
export interface RecordShop extends Workspace, RecordingServer {
  /** By path, as in `/pets/1`. */
  readonly stored: Map<string, Entry>;
  readonly writes: string[];
  /** Reacts to a request in place of the service; undefined leaves it to the service. */
  misbehave: ((request: RecordRequest) => Reaction | undefined) | undefined;
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
  const shop = { stored, writes: [] as string[], misbehave: undefined as RecordShop['misbehave'] };
  const etagOf = (entry: Entry) => `"${Buffer.from(JSON.stringify(entry)).toString('base64')}"`;
  const make = (path: string, fields: Entry): Reply => {
    last += 1;
    const made = fields.petId !== undefined && path === '/store/inventory' ? fields : { ...fields, id: last };
    const place = `${path}/${made.id ?? made.petId}`;
    stored.set(place, made);
    return { status: 201, body: made, headers: { location: place, etag: etagOf(made) } };
  };
  const server = await recordingServer({}, ({ method, path: target, headers, body }) => {
    const path = target.replace(/\?.*/, '');
    if (method !== 'GET') shop.writes.push(path);
    const perform = (): Reply => {
      const entry = stored.get(path);
      if (method === 'GET' && records[path]) {
        const all = [...stored].filter(([key]) => key.startsWith(`${path}/`)).map(([, value]) => value);
        return { body: all };
      }
      if (method === 'POST') return make(path, JSON.parse(body));
      if (!entry) return refusal(404);
      if (method === 'GET') return { body: entry, headers: { etag: etagOf(entry) } };
      if (headers['if-match'] !== undefined && headers['if-match'] !== etagOf(entry)) return refusal(412);
      if (method === 'DELETE') {
        stored.delete(path);
        return { status: 204 };
      }
      // The body has neither the ids of an entry nor the status of a count.
      const { id, petId, status } = entry;
      const kept = id === undefined ? { petId, status } : { id };
      const after: Entry = { ...JSON.parse(body), ...kept };
      stored.set(path, after);
      return { body: after, headers: { etag: etagOf(after) } };
    };
    return shop.misbehave?.({ method, path, headers, perform }) ?? perform();
  });
  return Object.assign(shop, openWorkspace(server), server, {
    field: (path: string, name: string) => stored.get(path)?.[name],
  });
}

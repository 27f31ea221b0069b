import type { IncomingHttpHeaders } from 'node:http';
import { errorBody } from './simulator-faults.ts';
import type { Random } from './simulator-random.ts';
import type { Change, Entry, Reading, ReadingKind, Store } from './simulator-store.ts';

export interface ServiceShape {
  readonly noun: 'inventory' | 'pets';
  /**
   * A `version` is never used again; `content` has one tag for one value. Random ones are new in every answer, and match
   * nothing. Nobody checks `unchecked` ones.
   */
  readonly etags: 'version' | 'content' | 'weak' | 'random' | 'unchecked' | 'none';
  /** Whether a PUT creates a missing entry; else it is answered 404, and a POST creates it. */
  readonly putCreates: boolean;
  /** Whether lists lack a record now and then. */
  readonly hasGaps: boolean;
  readonly records: ReadingKind;
  readonly lists: ReadingKind;
  /** How far the readings are behind, in requests. */
  readonly lag: number;
  /** Whether an answer to a POST has `Location`. */
  readonly hasLocation: boolean;
  /** The service adds what it is told to set. */
  readonly adds: boolean;
  /** The stores behind one address, told apart by the token. */
  readonly tenants: readonly string[];
}

/** What a command was shown of records, and when, in its requests. */
export interface Reader {
  readonly read: Map<string, Reading & { readonly nth: number }>;
  /** The records for which nothing answered a reading: a list may have shown them, without a tag. */
  readonly unread: Set<string>;
  requests: number;
}

export interface Request {
  readonly number: number;
  readonly command: number;
  readonly visitor: Reader;
  readonly store: Store;
  readonly method: string;
  /** Undefined for a list, and for a create that leaves the id to the service. */
  readonly id: string | undefined;
  readonly url: string;
  readonly query: URLSearchParams;
  /** What a write sets. */
  readonly entry: Entry | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly isOfNoun: boolean;
  readonly reading: Reading | undefined;
  /** How many requests of the command came since that reading. */
  readonly distance: number;
  readonly random: Random;
}

/** The service's own answer. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

/** A service that does what it is asked for; its readings may be old. */
export class HealthyService {
  /** From now on all readings are current. */
  isWell = false;
  private readonly shape: ServiceShape;
  private readonly clock: { received: number; changes: Change[] };
  private lastId = 1000;

  constructor(shape: ServiceShape, clock: HealthyService['clock']) {
    this.shape = shape;
    this.clock = clock;
  }

  /** Whether a write with If-Match never replaces another version than it names. */
  get isGuarded(): boolean {
    return this.shape.etags === 'version' || this.shape.etags === 'content';
  }

  /** Why the service refuses a write now. */
  refusal(
    method: string,
    id: string | undefined,
    headers: IncomingHttpHeaders,
    store: Store,
  ): number | undefined {
    const { etags, noun, putCreates } = this.shape;
    const entry = store.entries.get(id ?? '');
    const checks = etags === 'version' || etags === 'content' || etags === 'weak' || etags === 'random';
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
    if (method === 'POST') return id !== undefined && entry ? 409 : undefined;
    const isMade = !entry && method === 'PUT' && putCreates && noun === 'inventory';
    if (!entry && !isMade) return 404;
    if (checks && ifNoneMatch === '*' && entry) return 412;
    if (!checks || ifMatch === undefined) return undefined;
    return this.isGuarded && entry && ifMatch === this.etag(store, id ?? '') ? undefined : 412;
  }

  /** Carries out a request as a healthy service does. */
  perform(request: Request): Answer {
    const { method, id, store, headers, entry, number, command, reading, distance } = request;
    if (method === 'GET') return id === undefined ? this.list(request) : this.read(request, id);
    const status = this.refusal(method, id, headers, store);
    if (status !== undefined) return { status, body: errorBody(status) };
    const isNew = id === undefined || !store.entries.has(id);
    if (id === undefined) this.lastId += 1;
    const key = id ?? String(this.lastId);
    const sum = this.shape.adds ? (store.entries.get(key)?.value ?? 0) + (entry?.value ?? 0) : entry?.value;
    const after = method === 'DELETE' || !entry ? undefined : { ...entry, value: sum ?? entry.value };
    const isConditional = this.isGuarded && (headers['if-match'] ?? headers['if-none-match']) !== undefined;
    const isListed = request.visitor.unread.has(key);
    const change = store.change(key, after, {
      command,
      request: number,
      method,
      reading,
      distance,
      isConditional,
      isListed,
    });
    if (!after) return { status: 204, body: '' };
    const location: Record<string, string> =
      isNew && this.shape.hasLocation ? { location: `${request.url}/${id === undefined ? key : id}` } : {};
    return this.record(key, after, isNew ? 201 : 200, change.number, location);
  }

  private read({ store, visitor, url, random }: Request, id: string): Answer {
    const { records, lag } = this.shape;
    const reading = store.readingAt(id, store.moment(this.isWell ? 'current' : records, lag, url, random));
    visitor.read.set(id, { ...reading, nth: visitor.requests });
    const { entry, change } = reading;
    return entry ? this.record(id, entry, 200, change?.number ?? 0) : { status: 404, body: errorBody(404) };
  }

  private etag(store: Store, id: string): string {
    const { change, entry } = store.readingAt(id, this.clock.received);
    return this.tagOf(change?.number ?? 0, entry);
  }

  private tagOf(version: number, entry: Entry | undefined): string {
    const { etags } = this.shape;
    if (etags === 'random') return `"${this.clock.received}"`;
    const text = etags === 'version' ? `"v${version}"` : `"${entry?.value}.${entry?.rest}"`;
    return etags === 'weak' ? `W/${text}` : text;
  }

  private record(
    id: string,
    entry: Entry,
    status: number,
    version: number,
    more: Record<string, string> = {},
  ): Answer {
    const headers = this.shape.etags === 'none' ? more : { ...more, etag: this.tagOf(version, entry) };
    return { status, body: this.item(id, entry), headers };
  }

  private list({ query, visitor, store, url, random }: Request): Answer {
    const { lists, lag } = this.shape;
    const at = store.moment(this.isWell ? 'current' : lists, lag, `${url}?${query}`, random);
    const [limit, after] = [Number(query.get('limit') ?? 100), Number(query.get('after') ?? 0)];
    const rest = store
      .ids()
      .map((id) => ({ id, reading: store.readingAt(id, at) }))
      .filter(({ id, reading }) => Number(id) > after && reading.entry)
      .sort((one, other) => Number(one.id) - Number(other.id));
    const page = rest.slice(0, limit);
    const next = `<?limit=${limit}&after=${page.at(-1)?.id}>; rel="next"`;
    const gap = this.shape.hasGaps && random.chance(0.5) ? random.below(page.length + 1) : -1;
    const items = page.filter((_, index) => index !== gap);
    for (const { id, reading } of items) visitor.read.set(id, { ...reading, nth: visitor.requests });
    const texts = items.map(({ id, reading }) => this.item(id, reading.entry as Entry));
    return { status: 200, body: `[${texts}]`, headers: rest.length > limit ? { link: next } : {} };
  }

  item(id: string, { value, rest }: Entry): string {
    return this.shape.noun === 'pets'
      ? `{"id":${id},"name":"Pet ${value}","categoryId":${rest},"status":"available"}`
      : `{"petId":${id},"quantity":${value},"status":"available"}`;
  }
}

/** The first number in a text. */
export function numberIn(text: unknown): number {
  return Number(/-?\d+/.exec(String(text))?.[0]);
}

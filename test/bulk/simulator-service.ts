import type { IncomingHttpHeaders } from 'node:http';
import type { Random } from '../helpers/random.ts';
import { errorBody } from './simulator-faults.ts';

/** A record at a moment: a count, or the number in a name, and a field that no file names. */
export interface Entry {
  readonly value: number;
  readonly rest: number;
}

/** A write that was carried out, by the program or by somebody else: a version of a record. */
export interface Change {
  /** The number of the change, from 1. */
  readonly number: number;
  readonly id: string;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
  /** The version that this one replaces. */
  readonly replaces: Change | undefined;
  /** Undefined for somebody else. */
  readonly cause: Request | undefined;
}

/** `change` is undefined for a record that was there from the beginning, or never. */
interface Version {
  readonly change: Change | undefined;
  readonly entry: Entry | undefined;
}

/** A version that a command was shown. */
export interface Reading extends Version {
  readonly command: number;
  readonly id: string;
  /** Whether it was shown in a list, without a tag. */
  readonly isListed: boolean;
  /** The number of the request. */
  readonly at: number;
}

export interface ServiceShape {
  readonly noun: 'inventory' | 'pets';
  /**
   * A `version` is never used again; `content` has one tag for one value. Random ones are new in every answer, and match
   * nothing.
   */
  readonly etags: 'version' | 'content' | 'random' | 'none';
  /** Whether a PUT creates a missing entry; else it is answered 404, and a POST creates it. */
  readonly putCreates: boolean;
}

export interface Request {
  readonly number: number;
  readonly command: number;
  readonly method: string;
  /** Undefined for a list, and for a create that leaves the id to the service. */
  readonly id: string | undefined;
  readonly url: string;
  readonly query: URLSearchParams;
  /** What a write sets. */
  readonly entry: Entry | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly isOfNoun: boolean;
  /** The last version that the command was shown of this record. */
  readonly reading: Reading | undefined;
  readonly random: Random;
}

/** The service's own answer. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

/** A service that does what it is asked for, with all versions of its records. */
export class Service {
  /** How many requests there were. */
  received = 0;
  readonly changes: Change[] = [];
  /** What commands were shown of records. */
  readonly shown: Reading[] = [];
  readonly entries: Map<string, Entry>;
  private readonly shape: ServiceShape;
  private readonly first: ReadonlyMap<string, Entry>;
  private lastId = 1000;

  constructor(shape: ServiceShape, stock: ReadonlyMap<string, number>) {
    this.shape = shape;
    this.first = new Map([...stock].map(([id, value]) => [id, { value, rest: 0 }]));
    this.entries = new Map(this.first);
  }

  /** Whether a write with If-Match never replaces another version than it names. */
  get isGuarded(): boolean {
    return this.shape.etags === 'version' || this.shape.etags === 'content';
  }

  /** All ids that there ever were. */
  ids(): string[] {
    return [...new Set([...this.first.keys(), ...this.changes.map(({ id }) => id)])];
  }

  change(id: string, after: Entry | undefined, cause?: Request): Change {
    const { changes, entries } = this;
    const replaces = changes.findLast((change) => change.id === id);
    const before = entries.get(id);
    const change: Change = { number: changes.length + 1, id, before, after, replaces, cause };
    changes.push(change);
    if (after) entries.set(id, after);
    else entries.delete(id);
    return change;
  }

  private versionOf(id: string): Version {
    const change = this.changes.findLast((version) => version.id === id);
    return { change, entry: change ? change.after : this.first.get(id) };
  }

  /** Why the service refuses a write now. */
  refusal({ method, id = '', headers }: Request): number | undefined {
    const { etags, noun, putCreates } = this.shape;
    const entry = this.entries.get(id);
    const checks = etags !== 'none';
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
    if (method === 'POST') return entry ? 409 : undefined;
    const isMade = !entry && method === 'PUT' && putCreates && noun === 'inventory';
    if (!entry && !isMade) return 404;
    if (checks && ifNoneMatch === '*' && entry) return 412;
    if (!checks || ifMatch === undefined) return undefined;
    return this.isGuarded && entry && ifMatch === this.tagOf(this.versionOf(id)) ? undefined : 412;
  }

  /** Carries out a request as a healthy service does. */
  perform(request: Request): Answer {
    const { method, id, entry, url } = request;
    if (method === 'GET') return id === undefined ? this.list(request) : this.read(request, id);
    const status = this.refusal(request);
    // Such an answer says that nothing is there, like a reading.
    if (status === 404 && id !== undefined) this.show(request, id, this.versionOf(id));
    if (status !== undefined) return { status, body: errorBody(status) };
    const isNew = id === undefined || !this.entries.has(id);
    if (id === undefined) this.lastId += 1;
    const key = id ?? String(this.lastId);
    const after = method === 'DELETE' ? undefined : entry;
    this.change(key, after, request);
    if (!after) return { status: 204, body: '' };
    const answer = this.recordAnswer(key, this.versionOf(key));
    if (!isNew) return answer;
    return { ...answer, status: 201, headers: { ...answer.headers, location: `${url}/${key}` } };
  }

  private read(request: Request, id: string): Answer {
    const version = this.versionOf(id);
    this.show(request, id, version);
    return version.entry ? this.recordAnswer(id, version) : { status: 404, body: errorBody(404) };
  }

  private list(request: Request): Answer {
    const { query } = request;
    const [limit, after] = [Number(query.get('limit') ?? 100), Number(query.get('after') ?? 0)];
    const all = this.ids().map((id) => ({ id, version: this.versionOf(id) }));
    // What a list lacks is not there.
    for (const { id, version } of all) if (!version.entry) this.show(request, id, version);
    const rest = all
      .filter(({ id, version }) => Number(id) > after && version.entry)
      .sort((one, other) => Number(one.id) - Number(other.id));
    const page = rest.slice(0, limit);
    for (const { id, version } of page) this.show(request, id, version);
    const texts = page.map(({ id, version }) => this.text(id, version.entry as Entry));
    const next = `<?limit=${limit}&after=${page.at(-1)?.id}>; rel="next"`;
    return { status: 200, body: `[${texts}]`, headers: rest.length > limit ? { link: next } : {} };
  }

  private show(request: Request, id: string, version: Version): void {
    const { command, number } = request;
    this.shown.push({ ...version, command, id, isListed: request.id === undefined, at: number });
  }

  private tagOf({ change, entry }: Version): string {
    const { etags } = this.shape;
    if (etags === 'random') return `"${this.received}"`;
    return etags === 'content' ? `"${entry?.value}.${entry?.rest}"` : `"v${change?.number ?? 0}"`;
  }

  private recordAnswer(id: string, version: Version): Answer {
    const headers: Record<string, string> = this.shape.etags === 'none' ? {} : { etag: this.tagOf(version) };
    return { status: 200, body: this.text(id, version.entry as Entry), headers };
  }

  /** A record as JSON. */
  text(id: string, { value, rest }: Entry): string {
    return this.shape.noun === 'pets'
      ? `{"id":${id},"name":"Pet ${value}","categoryId":${rest},"status":"available"}`
      : `{"petId":${id},"quantity":${value},"status":"available"}`;
  }
}

export function numberIn(text: unknown): number {
  return Number(/-?\d+/.exec(String(text))?.[0]);
}

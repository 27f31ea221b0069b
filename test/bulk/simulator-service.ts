import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { listenHere } from '../helpers/listen.ts';
import { die, type SimulatedProcess } from './simulator-disk.ts';
import { type Random, randomOf } from './simulator-random.ts';

// The service of the simulator: it misbehaves as a command's conduct says, others write to it between any two requests,
// and it records every change. It does nothing that the limits of runs (`help bulk`) exclude:
//
//   late request: what is carried out is carried out at once.
//   same count: others always write a new value.
//   no ETags: the model compares a write with the reading.
//   proxy: nobody writes after a 412 of a proxy that sends twice.
//   false answer: a success that shows the value is always carried out.

/** How the service treats one command. */
export interface Conduct {
  readonly seed: string;
  /** The shares of writes and of reads that meet a fault. */
  readonly writeFaults: number;
  readonly readFaults: number;
  /** The only fault of writes; undefined for all kinds in turn. */
  readonly only: Fault | undefined;
  /** The share of requests after which somebody else writes. */
  readonly edits: number;
  /** The request at which the process dies, and whether that request is still carried out; 0 for none. */
  readonly dieAt: number;
  readonly diesAfter: boolean;
  /** The requests at which the process gets a first and a second Ctrl-C; 0 for none. */
  readonly signals: readonly number[];
}

const bodies = {
  failure: '{"success":false,"error":"the record is locked"}',
  problem: '{"type":"about:blank","title":"locked","status":423}',
  error: '{"code":"internal","message":"it broke","status":500}',
  array: '[]',
  null: 'null',
  text: '"locked"',
  object: '{}',
};

/** What goes wrong with a request. */
export interface Fault {
  /** Undefined if there is no answer. */
  readonly status?: number;
  /** Whether the request is carried out; undefined: either. */
  readonly applied?: boolean;
  readonly retryAfter?: string;
  readonly body?: keyof typeof bodies | 'other record' | 'other value' | 'cut' | 'nothing' | 'html';
  /** The request stays without an answer until the client gives up. */
  readonly hangs?: boolean;
}

/** A proxy sends the write twice and passes on the answer to the second one. */
const isTwice = { applied: true };

export const writeFaults: readonly Fault[] = [
  ...[307, 308, 400, 401, 403, 404, 405, 409, 410, 412, 422, 425, 429, 501, 505].map((status) => ({
    ...{ status, applied: false },
  })),
  ...[301, 302, 303, 304, 408, 500, 502, 503, 504, 507, 202, 206, 207].map((status) => ({ status })),
  ...[429, 503].map((status) => ({ status, applied: false, retryAfter: '0' })),
  { status: 429, applied: false, retryAfter: '300' },
  ...[409, 412, 429].map((status) => ({ status, ...isTwice })),
  { status: 503, retryAfter: '0', ...isTwice },
  ...(Object.keys(bodies) as (keyof typeof bodies)[]).map((body) => ({ status: 200, body })),
  ...(['other record', 'other value', 'cut', 'html'] as const).map((body) => ({ status: 200, body })),
  ...[200, 201, 204].map((status) => ({ status, applied: true, body: 'nothing' as const })),
  {},
  {},
  {},
  { hangs: true },
];

const readFaults: readonly Fault[] = [
  ...[400, 401, 403, 408, 429, 500, 502, 503, 504].map((status) => ({ status })),
  { status: 503, retryAfter: '0' },
  { status: 503, retryAfter: '300' },
  ...(['other record', 'failure', 'array', 'null', 'cut', 'html'] as const).map((body) => ({
    ...{ status: 200, body },
  })),
  {},
  {},
  { hangs: true },
];

/** A record: a count, or the number in a name, and a field that no file names. */
interface Entry {
  readonly value: number;
  readonly rest: number;
}

/** A change of a value, by the program or by somebody else. */
export interface Change {
  /** The command; undefined for somebody else. */
  readonly command: number | undefined;
  /** The number of the request; a proxy may make two changes of one. */
  readonly request: number;
  readonly id: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
  /** What the command last read of the record. */
  readonly read: number | undefined;
  /** Whether the field that no file names was changed too. */
  readonly isWider: boolean;
  /** Whether If-Match protects others: tags are strong, and the command met no 412 that makes it distrust them. */
  readonly isBound: boolean;
}

export interface ServiceShape {
  readonly noun: 'inventory' | 'pets';
  /** Random ones are new in every answer, and match nothing. */
  readonly etags: 'strong' | 'weak' | 'random' | 'none';
  /** Whether a PUT creates a missing entry; else it is answered 404, and a POST creates it. */
  readonly putCreates: boolean;
  /** Whether lists lack a record now and then. */
  readonly hasGaps: boolean;
}

/** A command as the service knows it: its process, and how its requests are treated. */
interface Visitor {
  readonly process: SimulatedProcess;
  readonly conduct: Conduct;
  /** How many requests there were, by method and record. */
  readonly seen: Map<string, number>;
  readonly read: Map<string, number | undefined>;
  requests: number;
  writes: number;
  hasFalse412: boolean;
  raise(): void;
}

interface Request {
  readonly number: number;
  readonly command: number;
  readonly visitor: Visitor;
  readonly method: string;
  /** Undefined for a list. */
  readonly id: string | undefined;
  readonly query: URLSearchParams;
  /** What a write sets. */
  readonly entry: Entry | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly isOfNoun: boolean;
  readonly nth: number;
}

export class SimulatedService {
  /** The header that names the command of a request. */
  static readonly tag = 'x-command';
  readonly entries = new Map<string, Entry>();
  readonly changes: Change[] = [];
  /** What must not happen: two requests of one command for one record at once. */
  readonly breaches: string[] = [];
  /** Records of which a write was carried out and then refused: whether it was this one, nobody can know. */
  readonly disputed = new Set<string>();
  private readonly shape: ServiceShape;
  private readonly visitors = new Map<number, Visitor>();
  private readonly open = new Set<string>();
  private readonly quiet = new Set<string>();
  private readonly server = createServer((message, response) => void this.receive(message, response));
  private port = 0;
  private received = 0;
  private pending = 0;
  private fresh = 1_000_000;

  constructor(shape: ServiceShape) {
    this.shape = shape;
  }

  async listen(): Promise<void> {
    this.port = await listenHere(this.server);
  }

  /** The same service by different addresses. */
  address(alias: number): string {
    const { port } = this;
    return [
      `http://127.0.0.1:${port}/v1`,
      `http://127.0.0.1:${port}//v1/`,
      `http://localhost:${port}/%761`,
      `http://LOCALHOST:${port}/v1/`,
    ][alias % 4] as string;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  admit(command: number, visitor: Pick<Visitor, 'process' | 'conduct' | 'raise'>): void {
    const counts = { requests: 0, writes: 0, hasFalse412: false };
    this.visitors.set(command, { ...visitor, ...counts, seen: new Map(), read: new Map() });
  }

  /** How many requests of a command would change something, carried out or not. */
  writesOf(command: number): number {
    return this.visitors.get(command)?.writes ?? 0;
  }

  /** Somebody else sets the value of a record, or its other field, or removes it. */
  edit(id: string, random: Random): void {
    const entry = this.entries.get(id);
    if (!entry || this.quiet.has(id)) return;
    this.fresh += 1000;
    if (this.shape.noun === 'pets' && random.chance(0.3))
      this.entries.set(id, { ...entry, rest: this.fresh });
    else if (this.shape.noun === 'inventory' && random.chance(0.03)) this.change(id, undefined);
    else this.change(id, { ...entry, value: this.fresh });
  }

  /** Returns when no request is in flight. */
  async idle(): Promise<void> {
    do await sleep(1);
    while (this.pending > 0);
  }

  private change(id: string, entry: Entry | undefined, request?: Request): void {
    const before = this.entries.get(id);
    this.changes.push({
      command: request?.command,
      request: request?.number ?? 0,
      id,
      before: before?.value,
      after: entry?.value,
      read: request?.visitor.read.get(id),
      isWider: before !== undefined && entry !== undefined && before.rest !== entry.rest,
      isBound: this.shape.etags === 'strong' && !request?.visitor.hasFalse412,
    });
    if (entry) this.entries.set(id, entry);
    else this.entries.delete(id);
  }

  private async receive(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    try {
      for await (const chunk of message) text += chunk;
    } catch {
      // The client has gone away.
      return;
    }
    const command = Number(message.headers[SimulatedService.tag]);
    const visitor = this.visitors.get(command);
    if (!visitor || visitor.process.isDead) {
      response.destroy();
      return;
    }
    visitor.requests += 1;
    this.received += 1;
    for (const at of visitor.conduct.signals) if (at === visitor.requests) visitor.raise();
    const isLast = visitor.requests === visitor.conduct.dieAt;
    if (isLast && !visitor.conduct.diesAfter) die(visitor.process);
    if (visitor.process.isDead) {
      response.destroy();
      return;
    }
    const request = this.toRequest(message, text, command, visitor);
    const key = `${command} ${request.id}`;
    if (request.isOfNoun && request.id !== undefined && this.open.has(key))
      this.breaches.push(`two requests of command ${command} for record ${request.id} at once`);
    this.open.add(key);
    this.pending += 1;
    // Others arrive meanwhile. Not a timer: then a client that gave up might read the value before this write.
    await setImmediate();
    await setImmediate();
    this.pending -= 1;
    this.open.delete(key);
    if (visitor.process.isDead) this.serveTheDead(request, response);
    else this.serve(request, response);
    if (!isLast) return;
    die(visitor.process);
    response.destroy();
  }

  private toRequest(
    { method = '', url = '', headers }: IncomingMessage,
    text: string,
    command: number,
    visitor: Visitor,
  ): Request {
    const { pathname, searchParams } = new URL(decodeURI(url).replace(/\/{2,}/g, '/'), 'http://x');
    const base = this.shape.noun === 'pets' ? '/v1/pets' : '/v1/store/inventory';
    const isOfNoun = pathname.startsWith(base);
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    const id = isOfNoun ? (pathname.slice(base.length + 1) || body.petId)?.toString() : undefined;
    const entry =
      this.shape.noun === 'pets'
        ? { value: numberIn(body.name), rest: Number(body.categoryId) }
        : { value: Number(body.quantity), rest: 0 };
    if (method !== 'GET') visitor.writes += 1;
    const key = `${method} ${pathname}`;
    const nth = (visitor.seen.get(key) ?? 0) + 1;
    visitor.seen.set(key, nth);
    const facts = { number: this.received, command, visitor, method, id, headers, isOfNoun, nth };
    return { ...facts, query: searchParams, entry: text === '' ? undefined : entry };
  }

  /** A request that was in flight when its process died may still be carried out; nobody hears the answer. */
  private serveTheDead(request: Request, response: ServerResponse): void {
    const { visitor, method, id, nth } = request;
    const random = randomOf(visitor.conduct.seed, 'dead', method, id ?? '', nth);
    if (this.isPossible(request) && random.chance(0.5)) this.carryOut(request);
    response.destroy();
  }

  private carryOut(request: Request): void {
    const { method, id = '', entry } = request;
    this.change(id, method === 'DELETE' ? undefined : entry, request);
  }

  private serve(request: Request, response: ServerResponse): void {
    const { visitor, method, id, nth, isOfNoun } = request;
    const { conduct } = visitor;
    if (!isOfNoun) {
      reply(response, 200, '[]');
      return;
    }
    const random = randomOf(conduct.seed, method, id ?? 'list', nth);
    const isRead = method === 'GET';
    const kinds = isRead ? readFaults : conduct.only ? [conduct.only] : writeFaults;
    const fault = random.chance(isRead ? conduct.readFaults : conduct.writeFaults)
      ? random.pick(kinds)
      : undefined;
    if (fault) this.misbehave(request, response, fault, random);
    else this.answer(request, response, random);
    if (!random.chance(conduct.edits)) return;
    const ids = [...this.entries.keys()];
    if (ids.length > 0) this.edit(id !== undefined && random.chance(0.6) ? id : random.pick(ids), random);
  }

  private misbehave(request: Request, response: ServerResponse, fault: Fault, random: Random): void {
    const { method, id = '0' } = request;
    const isPossible = this.isPossible(request);
    if (fault.applied === true && !isPossible) {
      this.answer(request, response, random);
      return;
    }
    if ((fault.applied ?? random.chance(0.5)) && isPossible) {
      this.carryOut(request);
      const isRefused = fault.applied === true && (fault.status ?? 0) >= 400;
      if (isRefused) this.disputed.add(id);
      if (fault.status === 412) this.quiet.add(id);
    }
    const { status, body, retryAfter, hangs } = fault;
    if (status === 412) request.visitor.hasFalse412 = true;
    if (hangs) return;
    if (status === undefined) {
      response.destroy();
      return;
    }
    const record = method === 'DELETE' ? this.entries.get(id) : (request.entry ?? this.entries.get(id));
    const entry = record ?? { value: 0, rest: 0 };
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    if (status >= 300 && status < 400)
      reply(response, status, '', { location: `http://127.0.0.1:${this.port}/elsewhere` });
    else if (status >= 400) reply(response, status, errorBody(status), headers);
    else if (body === undefined) reply(response, status, this.item(id, entry));
    else if (body === 'nothing') response.writeHead(status).end();
    else if (body === 'other record') reply(response, status, this.item('999999', entry));
    else if (body === 'other value')
      reply(response, status, this.item(id, { ...entry, value: entry.value + 1 }));
    else if (body === 'html')
      response.writeHead(status, { 'content-type': 'text/html' }).end('<html>please log in</html>');
    else if (body === 'cut') {
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': '500' });
      response.write('{"petId":', () => response.destroy());
    } else reply(response, status, bodies[body]);
  }

  /** Whether a healthy service would carry the write out. */
  private isPossible(request: Request): boolean {
    const { method, id } = request;
    if (method === 'GET' || id === undefined || this.isStale(request)) return false;
    if (method === 'POST') return !this.entries.has(id);
    const isUpsert = method === 'PUT' && this.shape.putCreates && this.shape.noun === 'inventory';
    return this.entries.has(id) || isUpsert;
  }

  private isStale({ id = '', headers }: Request): boolean {
    const ifMatch = headers['if-match'];
    if (ifMatch === undefined || this.shape.etags === 'none') return false;
    return this.shape.etags !== 'strong' || ifMatch !== this.etag(id);
  }

  private etag(id: string): string {
    const entry = this.entries.get(id);
    const version = `"${entry?.value}.${entry?.rest}"`;
    if (this.shape.etags === 'random') return `"${this.received}"`;
    return this.shape.etags === 'weak' ? `W/${version}` : version;
  }

  private answer(request: Request, response: ServerResponse, random: Random): void {
    const { method, id, visitor } = request;
    if (method === 'GET' && id === undefined) {
      this.list(request, response, random);
      return;
    }
    const entry = this.entries.get(id ?? '');
    if (method === 'GET') visitor.read.set(id ?? '', entry?.value);
    if (method !== 'GET' && this.isPossible(request)) {
      this.carryOut(request);
      if (method === 'DELETE') response.writeHead(204).end();
      else this.show(response, entry ? 200 : 201, id ?? '');
      return;
    }
    if (method === 'POST') {
      reply(response, 409, errorBody(409));
      return;
    }
    if (!entry) {
      reply(response, 404, errorBody(404));
      return;
    }
    if (method !== 'GET') {
      reply(response, 412, errorBody(412));
      return;
    }
    this.show(response, 200, id ?? '');
  }

  private show(response: ServerResponse, status: number, id: string): void {
    const headers = this.shape.etags === 'none' ? {} : { etag: this.etag(id) };
    reply(response, status, this.item(id, this.entries.get(id) as Entry), headers);
  }

  private list({ query, visitor }: Request, response: ServerResponse, random: Random): void {
    const [limit, after] = [Number(query.get('limit') ?? 100), Number(query.get('after') ?? 0)];
    const rest = [...this.entries].filter(([id]) => Number(id) > after);
    rest.sort(([id], [other]) => Number(id) - Number(other));
    const page = rest.slice(0, limit);
    const next = `<?limit=${limit}&after=${page.at(-1)?.[0]}>; rel="next"`;
    const gap = this.shape.hasGaps && random.chance(0.5) ? random.below(page.length + 1) : -1;
    const items = page.filter((_, at) => at !== gap);
    for (const [id, entry] of items) visitor.read.set(id, entry.value);
    const texts = items.map(([id, entry]) => this.item(id, entry));
    reply(response, 200, `[${texts}]`, rest.length > limit ? { link: next } : {});
  }

  private item(id: string, { value, rest }: Entry): string {
    return this.shape.noun === 'pets'
      ? `{"id":${id},"name":"Pet ${value}","categoryId":${rest},"status":"available"}`
      : `{"petId":${id},"quantity":${value},"status":"available"}`;
  }
}

/** The first number in a text. */
export function numberIn(text: unknown): number {
  return Number(/-?\d+/.exec(String(text))?.[0]);
}

function reply(response: ServerResponse, status: number, body: string, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body);
}

function errorBody(status: number): string {
  return `{"code":"fault_${status}","message":"the service says ${status}","status":${status}}`;
}

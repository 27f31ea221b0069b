import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { listenHere } from '../helpers/listen.ts';
import { die, type SimulatedProcess } from './simulator-disk.ts';
import { type Random, randomOf } from './simulator-random.ts';

/** How the service treats one command. */
export interface Conduct {
  readonly seed: string;
  /** The shares of writes and of reads that meet a fault. */
  readonly writeFaults: number;
  readonly readFaults: number;
  /** The only fault of writes; undefined for all kinds in turn. */
  readonly only: Fault | undefined;
  /** The share of readings of a pet before which somebody else changes its count. */
  readonly edits: number;
  /** The request at which the process dies, and whether that request is still carried out. */
  readonly dieAt: number;
  readonly diesAfter: boolean;
  /** The requests at which the process gets a first and a second Ctrl-C; 0 for none. */
  readonly signals: readonly number[];
}

export interface Fault {
  /** Undefined if there is no answer. */
  readonly status?: number;
  /** Whether the request is carried out; undefined: either. Never true where the answer proves a refusal. */
  readonly applied?: boolean;
  readonly retryAfter?: string;
  readonly body?: 'other pet' | 'other quantity' | 'error' | 'cut' | 'nothing' | 'html';
  /** The request stays without an answer until the client gives up. */
  readonly hangs?: boolean;
}

const refusals = [
  ...[300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 409, 410, 412, 422, 425, 429, 501, 505],
];

/** Each status, carried out or not where the answer leaves that open. */
export const writeFaults: readonly Fault[] = [
  ...refusals.filter((status) => status !== 300).map((status) => ({ status, applied: false })),
  ...[300, 304, 408, 500, 502, 503, 504, 507].map((status) => ({ status })),
  ...[429, 503, 503].map((status) => ({ status, applied: false, retryAfter: '0' })),
  { status: 429, applied: false, retryAfter: '300' },
  { status: 500, retryAfter: '0' },
  ...[202, 206, 207].map((status) => ({ status })),
  ...(['other pet', 'other quantity', 'error', 'cut', 'html'] as const).map((body) => ({
    status: 200,
    body,
  })),
  { status: 204, applied: true, body: 'nothing' },
  { status: 201, applied: true },
  {},
  {},
  {},
  { hangs: true },
];

const readFaultKinds: readonly Fault[] = [
  ...[400, 401, 403, 408, 429, 500, 502, 503, 504].map((status) => ({ status })),
  ...[429, 503].map((status) => ({ status, retryAfter: '0' })),
  { status: 503, retryAfter: '300' },
  ...(['other pet', 'cut', 'html'] as const).map((body) => ({ status: 200, body })),
  {},
  {},
  { hangs: true },
];

/** A change of a count, by the program or by somebody else. */
export interface Change {
  /** The command; undefined for somebody else. */
  readonly command: number | undefined;
  readonly petId: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** A command as the service knows it: its process, and how its requests are treated. */
interface Visitor {
  readonly process: SimulatedProcess;
  readonly conduct: Conduct;
  /** The number of requests so far, by method and pet, and of all. */
  readonly seen: Map<string, number>;
  requests: number;
  writes: number;
  raise(): void;
}

interface Request {
  readonly visitor: Visitor;
  readonly command: number;
  readonly method: string;
  readonly path: string;
  readonly petId: string | undefined;
  readonly quantity: number | undefined;
  readonly ifMatch: string | undefined;
  readonly nth: number;
}

interface Stock {
  count: number;
  version: number;
}

export interface ServiceShape {
  readonly sendsETags: boolean;
  /** Whether a PUT creates a missing entry; else it is answered 404, and a POST creates it. */
  readonly putCreates: boolean;
  /** Counts that others set are new ones, or those that the count had before: the second of the *Limits*. */
  readonly movesBack: boolean;
  /** Requests without an answer may be carried out much later: the first of the *Limits*. */
  readonly arrivesLate: boolean;
}

/** An inventory on a loopback socket that misbehaves as it is told to, and records every change. */
export class SimulatedService {
  url = '';
  readonly stock = new Map<string, Stock>();
  readonly changes: Change[] = [];
  /** What must not happen: two requests of one command for one pet at once. */
  readonly breaches: string[] = [];
  /** The tag of a command in its requests. */
  static readonly tag = 'x-command';
  private readonly shape: ServiceShape;
  private readonly visitors = new Map<number, Visitor>();
  private readonly open = new Set<string>();
  private readonly server: Server;
  /** Requests whose answers were given up, and the number of requests at which they arrive. */
  private late: { readonly at: number; readonly request: Request }[] = [];
  private received = 0;
  private pending = 0;
  private versions = 0;
  private fresh = 1_000_000;

  constructor(shape: ServiceShape) {
    this.shape = shape;
    this.server = createServer((request, response) => void this.receive(request, response));
  }

  async listen(): Promise<void> {
    this.url = `http://127.0.0.1:${await listenHere(this.server)}`;
  }

  close(): Promise<unknown> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }

  admit(command: number, visitor: Pick<Visitor, 'process' | 'conduct' | 'raise'>): void {
    this.visitors.set(command, { ...visitor, seen: new Map(), requests: 0, writes: 0 });
  }

  /** The number of requests of a command that would change something, carried out or not. */
  writesOf(command: number): number {
    return this.visitors.get(command)?.writes ?? 0;
  }

  count(petId: string): number | undefined {
    return this.stock.get(petId)?.count;
  }

  set(petId: string, after: number | undefined, command?: number): void {
    const before = this.count(petId);
    this.versions += 1;
    if (after === undefined) this.stock.delete(petId);
    else this.stock.set(petId, { count: after, version: this.versions });
    this.changes.push({ command, petId, before, after });
  }

  /** Somebody else changes the count of a pet. */
  edit(petId: string, random: Random): void {
    if (!this.stock.has(petId)) return;
    this.fresh += 1000;
    const earlier = this.changes
      .filter((change) => change.petId === petId)
      .flatMap(({ before, after }) => [before, after])
      .filter((count) => count !== undefined);
    this.set(petId, this.shape.movesBack && earlier.length > 0 ? random.pick(earlier) : this.fresh);
  }

  private async receive(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    try {
      for await (const chunk of message) text += chunk;
    } catch {
      return;
    }
    const command = Number(message.headers[SimulatedService.tag]);
    const visitor = this.visitors.get(command);
    if (!visitor || visitor.process.isDead) return void message.destroy();
    visitor.requests += 1;
    this.received += 1;
    this.letArrive();
    for (const at of visitor.conduct.signals) if (at === visitor.requests) visitor.raise();
    const isLast = visitor.requests === visitor.conduct.dieAt;
    if (isLast && !visitor.conduct.diesAfter) die(visitor.process);
    if (visitor.process.isDead) return void message.destroy();
    const request = this.parse(message, text, command, visitor);
    const key = `${command} ${request.petId}`;
    if (request.petId !== undefined && this.open.has(key))
      this.breaches.push(`two requests of command ${command} for pet ${request.petId} at once`);
    this.open.add(key);
    this.pending += 1;
    // Others arrive meanwhile. Not a timer: then a client that gave up might read the count before this write.
    await setImmediate();
    await setImmediate();
    this.pending -= 1;
    this.open.delete(key);
    if (visitor.process.isDead) this.serveTheDead(request, response);
    else this.serve(request, response);
    if (!isLast) return;
    die(visitor.process);
    message.destroy();
  }

  /** A request that was in flight when its process died may still be carried out; nobody hears the answer. */
  private serveTheDead(request: Request, response: ServerResponse): void {
    const { visitor, method, petId, nth, quantity, command } = request;
    const random = randomOf(visitor.conduct.seed, 'dead', method, petId ?? '', nth);
    if (method !== 'GET' && petId !== undefined && this.isPossible(request) && random.chance(0.5))
      this.set(petId, method === 'DELETE' ? undefined : quantity, command);
    response.destroy();
  }

  /** Returns when no request is in flight. */
  async idle(): Promise<void> {
    do await sleep(1);
    while (this.pending > 0);
  }

  private parse(
    { method = '', url = '', headers }: IncomingMessage,
    text: string,
    command: number,
    visitor: Visitor,
  ): Request {
    const body = text === '' ? {} : (JSON.parse(text) as { petId?: number; quantity?: number });
    const petId = /^\/store\/inventory\/(\d+)$/.exec(url)?.[1] ?? body.petId?.toString();
    if (method !== 'GET') visitor.writes += 1;
    const key = `${method} ${petId ?? url}`;
    const nth = (visitor.seen.get(key) ?? 0) + 1;
    visitor.seen.set(key, nth);
    const ifMatch = headers['if-match'];
    return { visitor, command, method, path: url, petId, quantity: body.quantity, ifMatch, nth };
  }

  private serve(request: Request, response: ServerResponse): void {
    const { visitor, method, petId, nth } = request;
    const { conduct } = visitor;
    if (petId !== undefined && method === 'GET') {
      const chance = randomOf(conduct.seed, 'edit', petId, nth);
      if (chance.chance(conduct.edits)) this.edit(petId, chance);
    }
    const random = randomOf(conduct.seed, method, petId ?? request.path, nth);
    const share = method === 'GET' ? conduct.readFaults : conduct.writeFaults;
    const kinds = method === 'GET' ? readFaultKinds : conduct.only ? [conduct.only] : writeFaults;
    const drawn = random.chance(share) ? random.pick(kinds) : undefined;
    // These would say that an entry is gone, and it is not.
    const isLie =
      method === 'DELETE' && /^(404|410|200)$/.test(String(drawn?.status)) && drawn?.body !== 'cut';
    const fault = isLie ? undefined : drawn;
    if (fault) {
      this.misbehave(request, response, fault, random);
      // Before the program tries again.
      if (method !== 'GET' && petId !== undefined && random.chance(conduct.edits)) this.edit(petId, random);
    } else this.answer(request, response);
  }

  private misbehave(request: Request, response: ServerResponse, fault: Fault, random: Random): void {
    const { method, petId = '0', quantity } = request;
    const isApplied = method !== 'GET' && (fault.applied ?? random.chance(0.5)) && this.isPossible(request);
    if (fault.applied === true && !isApplied) {
      this.answer(request, response);
      return;
    }
    if (isApplied) this.set(petId, method === 'DELETE' ? undefined : quantity, request.command);
    else if (this.shape.arrivesLate && fault.applied === undefined && method !== 'GET')
      this.late.push({ at: this.received + 1 + random.below(12), request });
    const { status, body, retryAfter, hangs } = fault;
    if (hangs) return;
    if (status === undefined) {
      response.destroy();
      return;
    }
    const fields = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    const item = (id: string, count: number | undefined) =>
      `{"petId":${id},"quantity":${count ?? 0},"status":"available"}`;
    const count = quantity ?? this.count(petId);
    if (status >= 300 && status < 400) reply(response, status, '', { location: `${this.url}/elsewhere` });
    else if (status >= 400) reply(response, status, errorBody(status), fields);
    else if (body === 'nothing') response.writeHead(status).end();
    else if (body === 'other pet') reply(response, status, item('999999', count));
    else if (body === 'other quantity') reply(response, status, item(petId, (count ?? 0) + 1));
    else if (body === 'error') reply(response, status, errorBody(500));
    else if (body === 'html')
      response.writeHead(status, { 'content-type': 'text/html' }).end('<html>please log in</html>');
    else if (body === 'cut') {
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': '500' });
      response.write('{"petId":', () => response.destroy());
    } else reply(response, status, item(petId, count));
  }

  private letArrive(): void {
    const due = this.late.filter(({ at }) => at <= this.received);
    this.late = this.late.filter(({ at }) => at > this.received);
    for (const { request } of due) {
      const { method, petId = '', quantity, command } = request;
      if (this.isPossible(request)) this.set(petId, method === 'DELETE' ? undefined : quantity, command);
    }
  }

  /** Whether a healthy service would carry the write out. */
  private isPossible({ method, petId = '', ifMatch }: Request): boolean {
    const entry = this.stock.get(petId);
    if (this.shape.sendsETags && ifMatch !== undefined && ifMatch !== etagOf(entry)) return false;
    if (method === 'POST') return !entry;
    return entry !== undefined || (method === 'PUT' && this.shape.putCreates);
  }

  private answer(request: Request, response: ServerResponse): void {
    const { method, path, petId, quantity, command } = request;
    if (path.startsWith('/pets/'))
      reply(response, 200, `{"id":${path.slice(6)},"name":"Rex","categoryId":1,"status":"available"}`);
    else if (path.startsWith('/store/inventory') && petId === undefined) this.list(path, response);
    else if (petId === undefined) reply(response, 200, '[]');
    else if (method !== 'GET' && !this.isPossible(request)) {
      const entry = this.stock.get(petId);
      const status = method === 'POST' ? 409 : entry ? 412 : 404;
      reply(response, status, errorBody(status));
    } else if (method === 'GET' && !this.stock.has(petId)) reply(response, 404, errorBody(404));
    else {
      if (method !== 'GET') this.set(petId, method === 'DELETE' ? undefined : quantity, command);
      if (method === 'DELETE') response.writeHead(204).end();
      else reply(response, method === 'POST' ? 201 : 200, this.itemOf(petId), this.fieldsOf(petId));
    }
  }

  private list(path: string, response: ServerResponse): void {
    const query = new URL(path, this.url).searchParams;
    const [limit, after] = [Number(query.get('limit') ?? 100), Number(query.get('after') ?? 0)];
    const ids = [...this.stock.keys()].map(Number).sort((one, other) => one - other);
    const rest = ids.filter((id) => id > after);
    const page = rest.slice(0, limit);
    const next = `${this.url}/store/inventory?limit=${limit}&after=${page.at(-1)}`;
    const fields = rest.length > limit ? { link: `<${next}>; rel="next"` } : {};
    reply(response, 200, `[${page.map((id) => this.itemOf(String(id))).join()}]`, fields);
  }

  private itemOf(petId: string): string {
    return `{"petId":${petId},"quantity":${this.count(petId)},"status":"available"}`;
  }

  private fieldsOf(petId: string): Record<string, string> {
    const etag = this.shape.sendsETags ? etagOf(this.stock.get(petId)) : undefined;
    return etag === undefined ? {} : { etag };
  }
}

function etagOf(entry: Stock | undefined): string | undefined {
  return entry && `"v${entry.version}"`;
}

function errorBody(status: number): string {
  return `{"code":"fault_${status}","message":"the service says ${status}","status":${status}}`;
}

function reply(response: ServerResponse, status: number, body: string, fields = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...fields }).end(body);
}

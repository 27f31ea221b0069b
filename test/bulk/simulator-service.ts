import type { ServerResponse } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { answer, reply, type StockRequest, type StockServer, stockServer } from '../helpers/stock-server.ts';
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

interface Request extends StockRequest {
  readonly visitor: Visitor;
  readonly command: number;
  readonly nth: number;
}

/** Counts that remember each change. */
class Shelves extends Map<string, number> {
  /** The command that changes them now; undefined for somebody else. */
  writer: number | undefined;
  readonly changes: Change[] = [];
  /** The number of the last change of each pet. */
  readonly versions = new Map<string, number>();

  override set(petId: string, count: number): this {
    this.record(petId, count);
    return super.set(petId, count);
  }

  override delete(petId: string): boolean {
    this.record(petId, undefined);
    return super.delete(petId);
  }

  private record(petId: string, after: number | undefined): void {
    this.changes.push({ command: this.writer, petId, before: this.get(petId), after });
    this.versions.set(petId, this.changes.length);
  }
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
  readonly stock = new Shelves();
  /** What must not happen: two requests of one command for one pet at once. */
  readonly breaches: string[] = [];
  /** The tag of a command in its requests. */
  static readonly tag = 'x-command';
  private readonly shape: ServiceShape;
  private readonly visitors = new Map<number, Visitor>();
  private readonly open = new Set<string>();
  private server!: StockServer;
  /** Requests whose answers were given up, and the number of requests at which they arrive. */
  private late: { readonly at: number; readonly request: Request }[] = [];
  private received = 0;
  private pending = 0;
  private fresh = 1_000_000;

  constructor(shape: ServiceShape) {
    this.shape = shape;
  }

  async listen(): Promise<void> {
    this.server = await stockServer(this.stock);
    this.server.sendsETags = this.shape.sendsETags;
    this.server.versionOf = (petId) => this.stock.versions.get(petId);
    this.server.misbehave = async (request, response) => {
      await this.receive(request, response);
      return true as const;
    };
  }

  get url(): string {
    return this.server.url;
  }

  get changes(): readonly Change[] {
    return this.stock.changes;
  }

  async close(): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }

  admit(command: number, visitor: Pick<Visitor, 'process' | 'conduct' | 'raise'>): void {
    this.visitors.set(command, { ...visitor, seen: new Map(), requests: 0, writes: 0 });
  }

  /** The number of requests of a command that would change something, carried out or not. */
  writesOf(command: number): number {
    return this.visitors.get(command)?.writes ?? 0;
  }

  /** Somebody else changes the count of a pet. */
  edit(petId: string, random: Random): void {
    if (!this.stock.has(petId)) return;
    this.fresh += 1000;
    const earlier = this.changes
      .filter((change) => change.petId === petId)
      .flatMap(({ before, after }) => [before, after])
      .filter((count) => count !== undefined);
    this.stock.writer = undefined;
    this.stock.set(petId, this.shape.movesBack && earlier.length > 0 ? random.pick(earlier) : this.fresh);
  }

  private async receive(given: StockRequest, response: ServerResponse): Promise<void> {
    const command = Number(given.headers[SimulatedService.tag]);
    const visitor = this.visitors.get(command);
    if (!visitor || visitor.process.isDead) return void response.destroy();
    visitor.requests += 1;
    this.received += 1;
    this.letArrive();
    for (const at of visitor.conduct.signals) if (at === visitor.requests) visitor.raise();
    const isLast = visitor.requests === visitor.conduct.dieAt;
    if (isLast && !visitor.conduct.diesAfter) die(visitor.process);
    if (visitor.process.isDead) return void response.destroy();
    const request = toRequest(given, command, visitor);
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
    response.destroy();
  }

  /** A request that was in flight when its process died may still be carried out; nobody hears the answer. */
  private serveTheDead(request: Request, response: ServerResponse): void {
    const { visitor, method, petId, nth } = request;
    const random = randomOf(visitor.conduct.seed, 'dead', method, petId ?? '', nth);
    if (this.isPossible(request) && random.chance(0.5)) this.carryOut(request);
    response.destroy();
  }

  private carryOut({ method, petId = '', quantity = 0, command }: Request): void {
    this.stock.writer = command;
    if (method === 'DELETE') this.stock.delete(petId);
    else this.stock.set(petId, quantity);
  }

  /** Returns when no request is in flight. */
  async idle(): Promise<void> {
    do await sleep(1);
    while (this.pending > 0);
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
    const isApplied = (fault.applied ?? random.chance(0.5)) && this.isPossible(request);
    if (fault.applied === true && !isApplied) {
      this.answer(request, response);
      return;
    }
    if (isApplied) this.carryOut(request);
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
    const count = quantity ?? this.stock.get(petId);
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
    for (const { request } of due) if (this.isPossible(request)) this.carryOut(request);
  }

  /** Whether a healthy service would carry the write out. */
  private isPossible({ method, petId, headers }: Request): boolean {
    if (method === 'GET' || petId === undefined) return false;
    const ifMatch = headers['if-match'];
    const isStale = ifMatch !== undefined && ifMatch !== `"${this.stock.versions.get(petId)}"`;
    if (this.shape.sendsETags && isStale) return false;
    if (method === 'POST') return !this.stock.has(petId);
    return this.stock.has(petId) || (method === 'PUT' && this.shape.putCreates);
  }

  private answer(request: Request, response: ServerResponse): void {
    const { method, path, command, petId = '' } = request;
    if (path.startsWith('/pets?')) reply(response, 200, []);
    else if (method === 'PUT' && !this.stock.has(petId) && this.isPossible(request)) {
      this.carryOut(request);
      reply(response, 201, { petId: Number(petId), quantity: request.quantity, status: 'available' });
    } else {
      this.stock.writer = command;
      answer(this.server, request, response);
    }
  }
}

function toRequest(request: StockRequest, command: number, visitor: Visitor): Request {
  const { method, path, newPetId } = request;
  const petId = request.petId ?? newPetId;
  if (method !== 'GET') visitor.writes += 1;
  const key = `${method} ${petId ?? path}`;
  const nth = (visitor.seen.get(key) ?? 0) + 1;
  visitor.seen.set(key, nth);
  return { ...request, petId, visitor, command, nth };
}

function errorBody(status: number): string {
  return `{"code":"fault_${status}","message":"the service says ${status}","status":${status}}`;
}

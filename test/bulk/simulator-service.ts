import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { listenHere } from '../helpers/listen.ts';
import { die, type SimulatedProcess } from './simulator-disk.ts';
import { errorBody, type Fault, faultBody, isDisputed, readFaults, writeFaults } from './simulator-faults.ts';
import {
  type Answer,
  HealthyService,
  numberIn,
  type Reader,
  type Request,
  type ServiceShape,
} from './simulator-healthy.ts';
import { type Random, randomOf } from './simulator-random.ts';
import { type Change, Store } from './simulator-store.ts';

// The service of the simulator, with the gateway and the cache before it: it misbehaves as a command's conduct says, others
// write to it between any two requests, and it records every change. It does nothing that the limits of runs (`help limits`)
// exclude. Each exception is marked with its word:
//
//   late:      a request that reaches the service while or after its run is undone, or a late copy of a plain set after a
//              later run of one's own; a late write to a service without ETags.
//   same count: a count that others moved away and back, or by exactly the same change: others always write a new value.
//   no ETags:  a service without ETags, or one that does not check If-Match, has a moment between reading and write.
//   twice:     a gateway that passes a write on twice with a sale in between, or with an older reading; a POST or a DELETE
//              that is passed on twice.
//   no write:  a success that wrote nothing and an old reading.
//   old value: a cache or replica that shows old values where the service has no ETags.
//   answer:    an answer that shows what was sent is believed.

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

/** A command as the service knows it: its process, and how its requests are treated. */
interface Visitor extends Reader {
  readonly process: SimulatedProcess;
  readonly conduct: Conduct;
  /** How many requests there were, by method and record. */
  readonly seen: Map<string, number>;
  writes: number;
  raise(): void;
}

export class SimulatedService {
  /** The header that names the command of a request. */
  static readonly tag = 'x-command';
  /** The token of a tenant. */
  static tokenOf(tenant: string): string {
    return Buffer.from(`the token of ${tenant}`).toString('hex');
  }

  readonly changes: Change[] = [];
  /** What must not happen: two requests of one command for one record at once. */
  readonly breaches: string[] = [];
  /** Each request with its answer, for a person who looks into a failure. */
  readonly log: string[] = [];
  /** Records of which a write was carried out and then refused: whether it was this one, nobody can know. */
  readonly disputed = new Set<string>();
  /** The writes that a command cannot know to be refused, as `command record`; of a create, the record is its value. */
  readonly doubtful = new Set<string>();
  readonly stores: readonly Store[];
  private readonly shape: ServiceShape;
  private readonly healthy: HealthyService;
  private readonly clock: { received: number; changes: Change[] };
  private readonly visitors = new Map<number, Visitor>();
  private readonly open = new Set<string>();
  private readonly quiet = new Set<string>();
  private readonly server = createServer((message, response) => void this.receive(message, response));
  private readonly late: { readonly request: Request; readonly due: number }[] = [];
  private port = 0;
  private pending = 0;
  private fresh = 1_000_000;

  constructor(shape: ServiceShape) {
    this.shape = shape;
    this.clock = { received: 0, changes: this.changes };
    this.healthy = new HealthyService(shape, this.clock);
    const { tenants } = shape;
    this.stores = (tenants.length > 0 ? tenants : [undefined]).map((name) => new Store(name, this.clock));
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

  /** Whether a write with If-Match never replaces another version than it names. */
  get isGuarded(): boolean {
    return this.healthy.isGuarded;
  }

  admit(command: number, visitor: Pick<Visitor, 'process' | 'conduct' | 'raise'>): void {
    const counts = { requests: 0, writes: 0, seen: new Map(), read: new Map(), unread: new Set<string>() };
    this.visitors.set(command, { ...visitor, ...counts });
  }

  /** How many requests of a command would change something, carried out or not. */
  writesOf(command: number): number {
    return this.visitors.get(command)?.writes ?? 0;
  }

  /** From now on nothing goes wrong, and all readings are current. */
  recover(): void {
    this.healthy.isWell = true;
    this.landLate();
  }

  /** Carries out the writes that are late. @param canWait those that may still wait, because If-Match guards them. */
  landLate({ canWait = false } = {}): void {
    for (const item of this.late.splice(0))
      if (canWait && this.isGuarded && item.request.headers['if-match'] !== undefined) this.late.push(item);
      else this.healthy.perform(item.request);
  }

  /** Somebody else sets the value of a record, or its other field, or removes it, or makes it. */
  edit(store: Store, id: string, random: Random): void {
    const entry = store.entries.get(id);
    if (this.quiet.has(id)) return;
    this.fresh += 1000;
    if (!entry) {
      if (this.isGuarded && this.shape.noun === 'inventory' && random.chance(0.2))
        store.change(id, { value: this.fresh, rest: 0 });
    } else if (this.shape.noun === 'pets' && random.chance(0.3))
      store.change(id, { ...entry, rest: this.fresh });
    else if (random.chance(0.03)) store.change(id, undefined);
    else store.change(id, { ...entry, value: this.fresh });
  }

  /** Returns when no request is in flight. */
  async idle(): Promise<void> {
    do await sleep(1);
    while (this.pending > 0);
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
    this.clock.received += 1;
    const { received } = this.clock;
    const due = this.late.filter((item) => item.due <= received);
    for (const item of due) {
      this.late.splice(this.late.indexOf(item), 1);
      this.healthy.perform(item.request);
    }
    for (const at of visitor.conduct.signals) if (at === visitor.requests) visitor.raise();
    const isLast = visitor.requests === visitor.conduct.dieAt;
    if (isLast && !visitor.conduct.diesAfter) die(visitor.process);
    if (visitor.process.isDead) {
      response.destroy();
      return;
    }
    const request = this.toRequest(message, text, command, visitor);
    if (!request) {
      reply(response, { status: 401, body: errorBody(401) });
      return;
    }
    const key = `${command} ${request.id ?? request.entry?.value}`;
    const isWatched = request.isOfNoun && key !== `${command} undefined`;
    if (isWatched && this.open.has(key))
      this.breaches.push(`two requests of command ${command} for record ${request.id} at once`);
    if (isWatched) this.open.add(key);
    this.pending += 1;
    // Others arrive meanwhile. Not a timer: then a client that gave up might read the value before this write.
    await setImmediate();
    await setImmediate();
    this.pending -= 1;
    this.open.delete(key);
    if (visitor.process.isDead) this.serveTheDead(request, response);
    else this.serve(request, response, visitor);
    if (!isLast) return;
    die(visitor.process);
    response.destroy();
  }

  private toRequest(
    { method = '', url = '', headers }: IncomingMessage,
    text: string,
    command: number,
    visitor: Visitor,
  ): Request | undefined {
    const { pathname, searchParams: query } = new URL(decodeURI(url).replace(/\/{2,}/g, '/'), 'http://x');
    const store = this.storeOf(headers);
    if (!store) return undefined;
    const base = this.shape.noun === 'pets' ? '/v1/pets' : '/v1/store/inventory';
    const isOfNoun = pathname.startsWith(base);
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    const id = isOfNoun ? (pathname.slice(base.length + 1) || body.petId)?.toString() : undefined;
    const sent =
      this.shape.noun === 'pets'
        ? { value: numberIn(body.name), rest: Number(body.categoryId) }
        : { value: Number(body.quantity), rest: 0 };
    const entry = text === '' ? undefined : sent;
    if (method !== 'GET') visitor.writes += 1;
    const reading = visitor.read.get(id ?? '');
    const key = `${method} ${id === undefined && entry ? entry.value : pathname}`;
    const nth = (visitor.seen.get(key) ?? 0) + 1;
    visitor.seen.set(key, nth);
    return {
      ...{
        number: this.clock.received,
        command,
        visitor,
        store,
        method,
        id,
        url: pathname,
        query,
        entry,
        headers,
      },
      ...{ isOfNoun, reading, distance: visitor.requests - (reading?.nth ?? 0) },
      random: randomOf(visitor.conduct.seed, key, nth),
    };
  }

  private storeOf({ authorization }: IncomingHttpHeaders): Store | undefined {
    const isSame = ({ tenant }: Store) =>
      tenant === undefined || authorization === `Bearer ${SimulatedService.tokenOf(tenant)}`;
    return this.stores.find(isSame);
  }

  /** A request that was in flight when its process died may still be carried out; nobody hears the answer. */
  private serveTheDead(request: Request, response: ServerResponse): void {
    this.doubt(request);
    if (request.method !== 'GET' && request.isOfNoun) {
      const fate = request.random.next();
      if (fate < 0.4) this.healthy.perform(request);
      else if (fate < 0.6) this.delay(request);
    }
    response.destroy();
  }

  private delay(request: Request): void {
    this.late.push({ request, due: this.clock.received + 1 + request.random.below(12) });
  }

  private serve(request: Request, response: ServerResponse, { conduct }: Visitor): void {
    const { method, id, isOfNoun, random, store } = request;
    if (!isOfNoun) {
      reply(response, { status: 200, body: '[]' });
      return;
    }
    const isRead = method === 'GET';
    const kinds = isRead ? readFaults : conduct.only ? [conduct.only] : writeFaults;
    const share = this.healthy.isWell ? 0 : isRead ? conduct.readFaults : conduct.writeFaults;
    const fault = random.chance(share) ? random.pick(kinds) : undefined;
    if (fault && this.isPossible(fault, request)) {
      if (fault.fate !== 'refused' || !isCertain(fault.status)) this.doubt(request);
      this.note(request, JSON.stringify(fault));
      this.misbehave(request, response, fault);
    } else {
      const answer = this.healthy.perform(request);
      this.note(request, String(answer.status));
      if (!isCertain(answer.status)) this.doubt(request);
      reply(response, answer);
    }
    if (this.healthy.isWell || !random.chance(conduct.edits)) return;
    const ids = store.ids();
    if (ids.length > 0)
      this.edit(store, id !== undefined && random.chance(0.6) ? id : random.pick(ids), random);
  }

  private note({ number, command, method, id, url, headers, entry }: Request, answer: string): void {
    const conditions = `${headers['if-match'] ?? ''} ${headers['if-none-match'] ?? ''}`.trim();
    this.log.push(
      `${number}: ${command} ${method} ${id ?? url} ${entry?.value ?? ''} ${conditions} -> ${answer}`,
    );
  }

  private doubt({ method, command, id, entry }: Request): void {
    if (method !== 'GET') this.doubtful.add(`${command} ${id ?? entry?.value}`);
  }

  private get isOld(): boolean {
    return this.shape.records !== 'current' || this.shape.lists !== 'current';
  }

  /** Whether no limit of runs excludes the fault. */
  private isPossible(fault: Fault, { method, headers, store, id = '' }: Request): boolean {
    if (method === 'GET') return true;
    // twice
    const isRefused = this.healthy.refusal(method, id, headers, store) !== undefined;
    if (isDisputed(fault)) return method === 'PUT' && !this.isOld && !isRefused && !this.shape.adds;
    // answer
    const showsRecord =
      fault.body === (method === 'POST' ? 'other record' : 'other value') && method !== 'PUT';
    // The service itself says of no record that is there that it is gone.
    const isGone = fault.body === undefined && [404, 410].includes(fault.status ?? 0);
    if (isGone && method === 'DELETE') return false;
    if ((fault.fate === 'done' && isRefused) || showsRecord) return false;
    // no write
    return !this.isOld || fault.status === undefined || fault.status >= 300 || fault.fate === 'done';
  }

  private misbehave(request: Request, response: ServerResponse, fault: Fault): void {
    // A create that was not done is answered with an id that no record has.
    const { method, id = String(900_000 + request.number), random, store, visitor } = request;
    const { status, retryAfter, hangs = false, isTwice = false } = fault;
    const fate = fault.fate === 'open' ? random.pick(['done', 'refused', 'late'] as const) : fault.fate;
    let own: Answer | undefined;
    if (method === 'GET' && [404, 405, 410].includes(status ?? 0)) visitor.unread.add(id);
    if (method !== 'GET') {
      if (fate === 'late') this.delay(request);
      else if (fate === 'done') own = this.healthy.perform(request);
      if (isDisputed(fault)) {
        this.disputed.add(id);
        // twice
        this.quiet.add(id);
      }
    }
    if (isTwice) {
      reply(response, this.healthy.perform(request));
      return;
    }
    if (hangs) return;
    if (status === undefined) {
      response.destroy();
      return;
    }
    const made = own ? idOf(own.body) : undefined;
    const entry = request.entry ?? store.entries.get(id) ?? { value: 0, rest: 0 };
    const { text, type } = faultBody(fault, (other) =>
      this.healthy.item(other === 'id' ? '999999' : (made ?? id), {
        ...entry,
        value: entry.value + (other === 'value' ? 1000 : 0),
      }),
    );
    const headers: Record<string, string> = { 'content-type': type };
    if (retryAfter !== undefined) headers['retry-after'] = retryAfter;
    if (status >= 300 && status < 400) headers.location = `http://127.0.0.1:${this.port}/elsewhere`;
    if (fault.body === 'cut') {
      response.writeHead(status, { ...headers, 'content-length': '500' });
      response.write(text, () => response.destroy());
    } else if (text === '') response.writeHead(status, retryAfter === undefined ? {} : headers).end();
    else response.writeHead(status, headers).end(text);
  }
}

/** Whether nobody doubts that a write with this answer of the service itself was refused. */
function isCertain(status = 0): boolean {
  return (
    status >= 307 && ![408, 409, 412].includes(status) && (status < 500 || status === 501 || status === 505)
  );
}

function reply(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  if (body === '') response.writeHead(status, headers).end();
  else response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

function idOf(body: string): string | undefined {
  return /"(?:petId|id)":(\d+)/.exec(body)?.[1];
}

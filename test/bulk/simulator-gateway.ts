import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { listenHere } from '../helpers/listen.ts';
import { type Random, randomOf } from '../helpers/random.ts';
import type { SimulatedProcess } from './simulator-disk.ts';
import * as faults from './simulator-faults.ts';
import { type Answer, numberIn, type Request, Service, type ServiceShape } from './simulator-service.ts';

// The gateway before the service: it misbehaves as a command's conduct says, and others write to the service between any
// two requests. It does nothing that the limits of runs (`help limits`) exclude. Each exception is marked with its word:
//
//   late:    a request that is carried out while or after its run is undone or settled, or after a later run of one's own;
//            a late write to a service that does not check tags.
//   old:     an old reading.
//   twice:   a gateway that passes a write on twice with a sale in between; a POST that is passed on twice.
//   gone:    a service that says in JSON of a record that is there that it is gone.
//   answer:  an answer that shows what was sent is believed.
//
// Others always write a value that was never there: a count that moves away and back is a limit too.

/** How the service treats one command. */
export interface Conduct {
  readonly seed: string;
  /** The shares of writes and of reads that meet a fault. */
  readonly writeFaults: number;
  readonly readFaults: number;
  readonly only: faults.Fault | undefined;
  /** The share of requests after which somebody else writes. */
  readonly edits: number;
  /** The requests at which the process gets a first and a second Ctrl-C; 0 for none. */
  readonly signals: readonly number[];
}

/** A command as the gateway knows it. */
interface Visitor {
  readonly command: number;
  readonly process: SimulatedProcess;
  readonly conduct: Conduct;
  /** How many requests there were, by method and record. */
  readonly seen: Map<string, number>;
  requests: number;
  raise(): void;
}

/** A request, and the number of the request before which it is carried out. */
type LateRequest = readonly [request: Request, due: number];

/** The header that names the command of a request. */
export const commandHeader = 'x-command';

export class Gateway {
  /** All writes that arrived, carried out or not. */
  readonly writes: Request[] = [];
  /** What happened, for a person who looks into a failure. */
  readonly trace: string[] = [];
  /** Records of which a write was carried out and then refused: whether it was this one, nobody can know. */
  readonly disputed = new Set<string>();
  /** The writes that a command cannot know to be refused, as `command record`; of a create, the record is its value. */
  readonly doubtful = new Set<string>();
  readonly service: Service;
  private readonly shape: ServiceShape;
  private readonly server = createServer((message, response) => void this.receive(message, response));
  private visitor: Visitor | undefined;
  private late: LateRequest[] = [];
  private port = 0;
  private pending = 0;
  private fresh = 1_000_000;
  private isWell = false;
  /** The writes of the last command that came after a write to its disk had failed. */
  unkept = 0;

  constructor(shape: ServiceShape, stock: ReadonlyMap<string, number>) {
    this.shape = shape;
    this.service = new Service(shape, stock);
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  async listen(): Promise<void> {
    this.port = await listenHere(this.server);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** The command whose requests come from now on. */
  admit(visitor: Pick<Visitor, 'command' | 'process' | 'conduct' | 'raise'>): void {
    this.unkept = 0;
    this.visitor = { ...visitor, requests: 0, seen: new Map() };
  }

  /** From now on nothing goes wrong. */
  recover(): void {
    this.isWell = true;
    this.landLate();
  }

  /** Carries out the writes that are late. */
  landLate(isDue: (late: LateRequest) => boolean = () => true): void {
    const due = this.late.filter(isDue);
    this.late = this.late.filter((each) => !due.includes(each));
    for (const [request] of due) this.note(request, `late ${this.service.perform(request).status}`);
  }

  /** Somebody else sets the value of a record, or its other field, or removes it, or makes it. */
  edit(id: string, random: Random): void {
    const { service } = this;
    const entry = service.entries.get(id);
    // twice
    if (this.disputed.has(id)) return;
    this.fresh += 1000;
    if (!entry) {
      if (service.isGuarded && this.shape.noun === 'inventory' && random.chance(0.6))
        service.change(id, { value: this.fresh, rest: 0 });
    } else if (this.shape.noun === 'pets' && random.chance(0.3))
      service.change(id, { ...entry, rest: this.fresh });
    else service.change(id, random.chance(0.03) ? undefined : { ...entry, value: this.fresh });
    this.trace.push(`   somebody sets record ${id} to ${service.entries.get(id)?.value}`);
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
    const { visitor, service } = this;
    if (!visitor || visitor.process.isDead || Number(message.headers[commandHeader]) !== visitor.command) {
      response.destroy();
      return;
    }
    visitor.requests += 1;
    service.received += 1;
    this.landLate(([, due]) => due <= service.received);
    for (const at of visitor.conduct.signals) if (at === visitor.requests) visitor.raise();
    const request = this.toRequest(message, text, visitor);
    this.pending += 1;
    // Others arrive meanwhile. Not a timer: then a client that gave up might read the value before this write.
    await setImmediate();
    await setImmediate();
    this.pending -= 1;
    if (visitor.process.isDead) this.serveTheDead(request, response);
    else this.serve(request, response, visitor);
  }

  private toRequest(
    { method = '', url = '', headers }: IncomingMessage,
    text: string,
    { command, seen, conduct }: Visitor,
  ): Request {
    const { pathname, searchParams: query } = new URL(url, 'http://x');
    const arePets = this.shape.noun === 'pets';
    const base = arePets ? '/v1/pets' : '/v1/store/inventory';
    const isOfNoun = pathname.startsWith(base);
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    const id = isOfNoun ? (pathname.slice(base.length + 1) || body.petId)?.toString() : undefined;
    const sent = { value: numberIn(arePets ? body.name : body.quantity), rest: Number(body.categoryId ?? 0) };
    const entry = text === '' ? undefined : sent;
    const key = `${method} ${id === undefined && entry ? entry.value : pathname}`;
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    const { received: number, shown } = this.service;
    const readings = shown.filter((each) => each.command === command && each.id === id);
    // A list that is read later, for another record, is no reading of a record that was read by itself.
    const reading = readings.findLast(({ isListed }) => !isListed) ?? readings.at(-1);
    const random = randomOf(conduct.seed, key, count);
    const facts = { number, command, method, id, url: pathname, query, entry, headers };
    const request = { ...facts, isOfNoun, reading, random };
    if (method !== 'GET') this.writes.push(request);
    if (method !== 'GET' && this.visitor?.process.failedWrites) this.unkept += 1;
    return request;
  }

  /** A request that was in flight when its process died may still be carried out; nobody hears the answer. */
  private serveTheDead(request: Request, response: ServerResponse): void {
    this.doubt(request);
    const fate = request.random.next();
    if (request.method !== 'GET' && fate < 0.4) this.service.perform(request);
    else if (request.method !== 'GET' && fate < 0.6) this.delay(request);
    response.destroy();
  }

  private delay(request: Request): void {
    this.late.push([request, this.service.received + 1 + request.random.below(12)]);
  }

  private serve(request: Request, response: ServerResponse, { conduct }: Visitor): void {
    const { method, id, isOfNoun, random } = request;
    const { service } = this;
    if (!isOfNoun) {
      reply(response, { status: 200, body: '[]' });
      return;
    }
    const isRead = method === 'GET';
    const kinds = isRead ? faults.readFaults : conduct.only ? [conduct.only] : faults.writeFaults;
    const share = this.isWell ? 0 : isRead ? conduct.readFaults : conduct.writeFaults;
    const fault = random.chance(share) ? random.pick(kinds) : undefined;
    if (fault && (isRead || this.isPossible(fault, request))) {
      if (fault.fate !== 'refused' || !faults.isCertain(method, fault.status)) this.doubt(request);
      this.misbehave(request, response, fault);
      this.note(request, JSON.stringify(fault));
    } else {
      const answer = service.perform(request);
      if (!faults.isCertain(method, answer.status)) this.doubt(request);
      this.note(request, String(answer.status));
      reply(response, answer);
    }
    if (this.isWell || !random.chance(conduct.edits)) return;
    const ids = service.ids();
    if (ids.length > 0) this.edit(id !== undefined && random.chance(0.6) ? id : random.pick(ids), random);
  }

  private note({ number, command, method, id, url, headers, entry }: Request, answer: string): void {
    const words = [method, id ?? url, entry?.value, headers['if-match'], headers['if-none-match']];
    const sent = words.filter((word) => word !== undefined && word !== '').join(' ');
    const now = id === undefined ? '' : `, now ${this.service.entries.get(id)?.value ?? 'gone'}`;
    this.trace.push(`   ${command}, request ${number}: ${sent} -> ${answer}${now}`);
  }

  private doubt({ method, command, id, entry }: Request): void {
    if (method !== 'GET') this.doubtful.add(`${command} ${id ?? entry?.value}`);
  }

  /** Whether no limit of runs excludes a fault of a write. */
  private isPossible(fault: faults.Fault, request: Request): boolean {
    const { method } = request;
    const { status = 0, fate, body } = fault;
    const isRefused = this.service.refusal(request) !== undefined;
    // twice
    if (faults.isDisputed(fault)) return method !== 'POST' && !isRefused;
    // answer
    if (body === (method === 'POST' ? 'other record' : 'other value') && method !== 'PUT') return false;
    // gone
    if (method === 'DELETE' && body === undefined && [404, 410].includes(status)) return false;
    return fate !== 'done' || !isRefused;
  }

  private misbehave(request: Request, response: ServerResponse, fault: faults.Fault): void {
    // A create that was not done is answered with an id that no record has.
    const { method, id = String(900_000 + request.number), random } = request;
    const { status, retryAfter } = fault;
    const { service } = this;
    const fate = fault.fate === 'open' ? random.pick(['done', 'refused', 'late'] as const) : fault.fate;
    let own: Answer | undefined;
    if (method !== 'GET') {
      if (fate === 'late') this.delay(request);
      else if (fate === 'done') own = service.perform(request);
      if (faults.isDisputed(fault)) this.disputed.add(id);
    }
    if (status === undefined) {
      response.destroy();
      return;
    }
    const made = /"(?:petId|id)":(\d+)/.exec(own?.body ?? '')?.[1];
    const entry = request.entry ?? service.entries.get(id) ?? { value: 0, rest: 0 };
    const { text, type } = faults.faultBody(fault, (other) =>
      service.text(other === 'id' ? '999999' : (made ?? id), {
        ...entry,
        value: entry.value + (other === 'value' ? 1000 : 0),
      }),
    );
    const headers: Record<string, string> = text === '' ? {} : { 'content-type': type };
    if (retryAfter !== undefined) headers['retry-after'] = retryAfter;
    if (status >= 300 && status < 400) headers.location = `${this.address}/elsewhere`;
    if (fault.body === 'cut') {
      response.writeHead(status, { ...headers, 'content-length': '500' });
      response.write(text, () => response.destroy());
    } else response.writeHead(status, headers).end(text);
  }
}

function reply(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  const type: Record<string, string> = body === '' ? {} : { 'content-type': 'application/json' };
  response.writeHead(status, { ...type, ...headers }).end(body);
}

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Reaction,
  type ReceivedRequest,
  type Reply,
  recordingServer,
  refusal,
} from './recording-server.ts';

interface StockRequest extends ReceivedRequest {
  /** Undefined for the list. */
  readonly petId: string | undefined;
  readonly quantity: number | undefined;
  /** The time in milliseconds, by performance.now. */
  readonly at: number;
}

/** Reacts to a request in place of the service; undefined leaves it to the service. */
type Misbehave = (request: StockRequest) => Reaction | undefined | Promise<Reaction | undefined>;

export interface StockServer extends AsyncDisposable {
  readonly url: string;
  /** Counts by pet. */
  readonly stock: Map<string, number>;
  readonly requests: StockRequest[];
  mostForOnePet: number;
  /** The most requests that were open at the same time. */
  mostAtOnce: number;
  misbehave: Misbehave | undefined;
  /** Whether an entry has an ETag, and the server checks If-Match. */
  sendsETags: boolean;
  /** Makes the ETag of an entry from its count. A weak ETag matches nothing. */
  etagOf: (petId: string) => string;
  writes(): StockRequest[];
}

/** The counts of pets 1, 2, …, or pairs of a pet and its count. */
export type Counts = readonly number[] | readonly (readonly [petId: number | string, count: number])[];

function entriesOf(counts: Counts): [string, number][] {
  return counts.map((each, at) => (typeof each === 'number' ? [`${at + 1}`, each] : [`${each[0]}`, each[1]]));
}

/** Starts an inventory service on a free port that keeps its requests, and counts those that are open. */
export async function stockServer(counts: Counts): Promise<StockServer> {
  const stock = new Map(entriesOf(counts));
  /** The pets of the open requests. */
  const open: (string | undefined)[] = [];
  const server = await recordingServer({}, async (recorded) => {
    const request = toRequest(recorded);
    const { petId } = request;
    self.requests.push(request);
    open.push(petId);
    self.mostAtOnce = Math.max(self.mostAtOnce, open.length);
    if (petId !== undefined)
      self.mostForOnePet = Math.max(self.mostForOnePet, open.filter((each) => each === petId).length);
    const reaction = (await self.misbehave?.(request)) ?? answer(self, request);
    open.splice(open.indexOf(petId), 1);
    return reaction;
  });
  const self: StockServer = {
    url: server.url,
    stock,
    requests: [],
    mostForOnePet: 0,
    mostAtOnce: 0,
    misbehave: undefined,
    sendsETags: false,
    etagOf: (petId) => `"${stock.get(petId)}"`,
    writes: () => self.requests.filter(({ method }) => method !== 'GET'),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return self;
}

/** The failure of a write: the status of its answer, or a connection that is closed. */
type Trouble = number | 'lost';

/**
 * Lets writes fail.
 *
 * @param troubles the trouble of each pet; or a function of the pet, the number of its writes, and the number of all writes.
 */
export function trouble(
  server: StockServer,
  troubles:
    | Readonly<Record<string, Trouble>>
    | ((petId: number, nth: number, all: number) => Trouble | undefined),
  { headers = {} } = {},
): void {
  server.misbehave = ({ method, petId = '' }) => {
    if (method === 'GET') return undefined;
    const writes = server.writes();
    const nth = writes.filter((each) => each.petId === petId).length;
    const failure =
      typeof troubles === 'function' ? troubles(Number(petId), nth, writes.length) : troubles[petId];
    if (failure === undefined) return undefined;
    if (failure === 'lost') return 'reset';
    return refusal(failure, { ...headers, ...(failure < 400 && { location: 'http://127.0.0.1:1/' }) });
  };
}

/** Answers every PUT late. */
export function delayWrites(server: StockServer, ms: number): void {
  server.misbehave = async ({ method }) => {
    if (method === 'PUT') await sleep(ms);
    return undefined;
  };
}

/** Leaves every PUT unanswered until the returned function is called. */
export function holdWrites(server: StockServer): () => void {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  server.misbehave = async ({ method }) => {
    if (method === 'PUT') await released;
    return undefined;
  };
  return release;
}

/** Returns the counts of pets 1 to `count`: all the same, or by the id of the pet. */
export function shelves(
  count: number,
  quantity: number | ((petId: number) => number),
): [petId: number, quantity: number][] {
  return Array.from({ length: count }, (_, at) => [
    at + 1,
    typeof quantity === 'number' ? quantity : quantity(at + 1),
  ]);
}

export function toCsv(rows: Counts): string {
  return `petId,quantity\n${entriesOf(rows)
    .map((row) => `${row}\n`)
    .join('')}`;
}

function toRequest(received: ReceivedRequest): StockRequest {
  const petId = /^\/store\/inventory\/(\d+)$/.exec(received.path)?.[1];
  const { quantity } = received.body === '' ? {} : JSON.parse(received.body);
  return { ...received, petId, quantity, at: performance.now() };
}

/** Answers as a healthy service does. */
function answer(server: StockServer, request: StockRequest): Reply {
  const { method, petId, path, body, quantity = 0 } = request;
  const { stock } = server;
  if (method === 'POST') {
    // An id may have more digits than a number can hold.
    const newPetId = /"petId":(\d+)/.exec(body)?.[1];
    if (newPetId === undefined || stock.has(newPetId)) return refusal(409);
    stock.set(newPetId, quantity);
    return { status: 201, body: printItem(server, newPetId) };
  }
  const [, id] = /^\/pets\/(\d+)$/.exec(path) ?? [];
  if (id !== undefined) return { body: `{"id":${id},"name":"Rex","categoryId":1,"status":"available"}` };
  if (/^\/store\/inventory(\?|$)/.test(path)) return list(server, path);
  if (petId === undefined || !stock.has(petId)) return refusal(404);
  if (method !== 'GET' && isStale(server, request, petId)) return refusal(412);
  if (method === 'DELETE') {
    stock.delete(petId);
    return { status: 204 };
  }
  if (method === 'PUT') stock.set(petId, quantity);
  const headers = server.sendsETags ? { etag: server.etagOf(petId) } : {};
  return { headers, body: printItem(server, petId) };
}

function isStale(server: StockServer, { headers }: StockRequest, petId: string): boolean {
  const expected = headers['if-match'];
  if (!server.sendsETags || expected === undefined) return false;
  return expected.startsWith('W/') || expected !== server.etagOf(petId);
}

function list(server: StockServer, path: string): Reply {
  const query = new URL(path, server.url).searchParams;
  const [limit, after] = [Number(query.get('limit') ?? 100), Number(query.get('after') ?? 0)];
  const ids = [...server.stock.keys()].sort((left, right) => Number(left) - Number(right));
  const rest = ids.filter((petId) => Number(petId) > after);
  const page = rest.slice(0, limit);
  const next = `${server.url}/store/inventory?limit=${limit}&after=${page.at(-1)}`;
  const headers = rest.length > limit ? { link: `<${next}>; rel="next"` } : {};
  return { headers, body: `[${page.map((petId) => printItem(server, petId)).join()}]` };
}

function printItem({ stock }: StockServer, petId: string): string {
  return `{"petId":${petId},"quantity":${stock.get(petId)},"status":"available"}`;
}

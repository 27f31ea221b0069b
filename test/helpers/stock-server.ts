import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenHere } from './listen.ts';

/** A request that the server has received. */
interface StockRequest {
  readonly method: string;
  readonly path: string;
  /** Undefined for the list. */
  readonly petId: string | undefined;
  /** The pet that the body of a POST names. */
  readonly newPetId: string | undefined;
  readonly quantity: number | undefined;
  readonly headers: IncomingMessage['headers'];
  /** The time in milliseconds, by performance.now. */
  readonly at: number;
}

/** Answers a request itself and returns true, or leaves it to the server. */
type Misbehave = (
  request: StockRequest,
  response: ServerResponse,
) => true | undefined | Promise<true | undefined>;

export interface StockServer extends AsyncDisposable {
  readonly url: string;
  /** Counts by pet. */
  readonly stock: Map<string, number>;
  readonly seen: StockRequest[];
  /** The most requests for the same pet that were open at the same time. */
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
export async function stockServer(counts: Counts | Map<string, number>): Promise<StockServer> {
  const stock = counts instanceof Map ? counts : new Map(entriesOf(counts));
  const openByPet = new Map<string, number>();
  let openCount = 0;
  const server = createServer(async (request, response) => {
    let text = '';
    try {
      for await (const chunk of request) text += chunk;
    } catch {
      // The client has closed the connection.
      return;
    }
    const seen = toRequest(request, text);
    self.seen.push(seen);
    const { petId = '' } = seen;
    openByPet.set(petId, (openByPet.get(petId) ?? 0) + 1);
    openCount += 1;
    if (petId !== '') self.mostForOnePet = Math.max(self.mostForOnePet, openByPet.get(petId) ?? 0);
    self.mostAtOnce = Math.max(self.mostAtOnce, openCount);
    response.on('close', () => {
      openByPet.set(petId, (openByPet.get(petId) ?? 1) - 1);
      openCount -= 1;
    });
    if ((await self.misbehave?.(seen, response)) !== true) answer(self, seen, response);
  });
  const port = await listenHere(server);
  const self: StockServer = {
    url: `http://127.0.0.1:${port}`,
    stock,
    seen: [],
    mostForOnePet: 0,
    mostAtOnce: 0,
    misbehave: undefined,
    sendsETags: false,
    etagOf: (petId) => `"${stock.get(petId)}"`,
    writes: () => self.seen.filter(({ method }) => method !== 'GET'),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
}

/** Sends an answer. @param body a text is sent as it is, any other value as JSON. */
export function reply(response: ServerResponse, status: number, body: unknown, headers = {}): true {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
  return true;
}

export function refuse(response: ServerResponse, status: number, code: string, headers = {}): true {
  return reply(response, status, { code, message: `it says ${code}`, status }, headers);
}

/** The failure of a write: the status of its answer, a connection that is closed, or no answer. */
type Trouble = number | 'lost' | 'silent';

/**
 * Lets writes fail.
 *
 * @param troubles the trouble of each pet; or a function of the pet, the number of its writes, and the number of all writes.
 * @param isApplied whether the server carries out the write although it fails.
 */
export function trouble(
  server: StockServer,
  troubles:
    | Readonly<Record<string, Trouble>>
    | ((petId: number, nth: number, all: number) => Trouble | undefined),
  { isApplied = false, headers = {} } = {},
): void {
  server.misbehave = ({ method, petId = '', quantity }, response) => {
    if (method === 'GET') return undefined;
    const writes = server.writes();
    const nth = writes.filter((each) => each.petId === petId).length;
    const failure =
      typeof troubles === 'function' ? troubles(Number(petId), nth, writes.length) : troubles[petId];
    if (failure === undefined) return undefined;
    if (isApplied && method === 'DELETE') server.stock.delete(petId);
    else if (isApplied) server.stock.set(petId, quantity ?? 0);
    if (failure === 'lost') response.destroy();
    if (typeof failure !== 'number') return true;
    return refuse(response, failure, 'no', {
      ...headers,
      ...(failure < 400 && { location: 'http://127.0.0.1:1/' }),
    });
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

/** Prints pets and counts as a CSV file. */
export function toCsv(rows: Counts): string {
  return `petId,quantity\n${entriesOf(rows)
    .map((row) => `${row}\n`)
    .join('')}`;
}

function toRequest({ method = '', url = '', headers }: IncomingMessage, text: string): StockRequest {
  const petId = /^\/store\/inventory\/(\d+)$/.exec(url)?.[1];
  const quantity = text === '' ? undefined : (JSON.parse(text) as { quantity: number }).quantity;
  const newPetId = /"petId":(\d+)/.exec(text)?.[1];
  return { method, path: url, petId, newPetId, quantity, headers, at: performance.now() };
}

/** Answers as a healthy service does. */
export function answer(server: StockServer, request: StockRequest, response: ServerResponse): void {
  const { method, petId, path, quantity } = request;
  if (method === 'POST') create(server, request, response);
  else if (path.startsWith('/pets/')) reply(response, 200, toPet(path));
  else if (path.startsWith('/store/inventory?') || path === '/store/inventory') list(server, path, response);
  else if (petId === undefined || !server.stock.has(petId)) refuse(response, 404, 'not_found');
  else if (isStale(server, request, petId)) refuse(response, 412, 'precondition_failed');
  else if (method === 'PUT') put(server, { ...request, petId, quantity: quantity ?? 0 }, response);
  else if (method === 'DELETE') remove(server, petId, response);
  else reply(response, 200, toItem(server, petId), etagHeaders(server, petId));
}

function put(
  server: StockServer,
  { petId, quantity }: StockRequest & { petId: string; quantity: number },
  response: ServerResponse,
): void {
  server.stock.set(petId, quantity);
  reply(response, 200, toItem(server, petId), etagHeaders(server, petId));
}

function isStale(server: StockServer, { method, headers }: StockRequest, petId: string): boolean {
  const expected = headers['if-match'];
  return (
    method !== 'GET' &&
    server.sendsETags &&
    expected !== undefined &&
    (expected.startsWith('W/') || expected !== server.etagOf(petId))
  );
}

function remove(server: StockServer, petId: string, response: ServerResponse): void {
  server.stock.delete(petId);
  response.writeHead(204).end();
}

function create(server: StockServer, { newPetId, quantity }: StockRequest, response: ServerResponse): void {
  if (newPetId === undefined || server.stock.has(newPetId)) refuse(response, 409, 'already_exists');
  else {
    server.stock.set(newPetId, quantity ?? 0);
    reply(response, 201, toItem(server, newPetId));
  }
}

function toPet(path: string): string {
  return `{"id":${path.slice('/pets/'.length)},"name":"Rex","categoryId":1,"status":"available"}`;
}

function list(server: StockServer, path: string, response: ServerResponse): void {
  const query = new URL(path, server.url).searchParams;
  const [limit, after] = [Number(query.get('limit') ?? 100), Number(query.get('after') ?? 0)];
  const ids = [...server.stock.keys()].sort((left, right) => Number(left) - Number(right));
  const rest = ids.filter((petId) => Number(petId) > after);
  const page = rest.slice(0, limit);
  const next = `${server.url}/store/inventory?limit=${limit}&after=${page.at(-1)}`;
  const headers = rest.length > limit ? { link: `<${next}>; rel="next"` } : {};
  reply(response, 200, `[${page.map((petId) => toItem(server, petId)).join()}]`, headers);
}

/** Prints an entry by hand, because an id may have more digits than a number can hold. */
function toItem({ stock }: StockServer, petId: string): string {
  return `{"petId":${petId},"quantity":${stock.get(petId)},"status":"available"}`;
}

function etagHeaders(server: StockServer, petId: string) {
  return server.sendsETags ? { etag: server.etagOf(petId) } : {};
}

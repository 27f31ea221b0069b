import { json } from './descriptions.ts';
import { type RecordingServer, type Reply, recordingServer, refusal } from './recording-server.ts';
import { type Fields, storeRecords } from './stored-records.ts';

// A small pet store whose records have our fields. A shape says how it writes them in its description, its answers and the
// bodies of requests. It shares no code with the program.

type Noun = 'pets' | 'categories' | 'orders' | 'inventory';

export interface Shape {
  list?(records: Fields[], noun: string, url: URL, all: Fields[]): unknown;
  /** Makes the body of one record. */
  wrap?(record: Fields, noun: string): unknown;
  /** Turns a record into the form of the service. `read` turns it back. */
  write?(record: Fields, noun: string): Fields;
  read?(record: Fields, noun: string): Fields;
  /** Makes the form of bodies, if it is not that of answers. A body with other fields is refused. */
  takes?(record: Fields, noun: string): Fields;
  /** Picks the part of a list that a request gets. */
  page?(records: Fields[], url: URL): Fields[];
  /** Answers a list in place of its records. */
  refuses?(url: URL): Reply | undefined;
  headers?(records: Fields[], url: URL): Record<string, string>;
  /** The parameters of every list. */
  readonly parameters?: readonly object[];
  /** The names of the headers in the description. */
  readonly documented?: readonly string[];
  /** Whether an update goes to the path of the list, with the id in its body. */
  readonly hasIdInBody?: boolean;
  /** What a create answers in place of its record: no body, or only the id. */
  readonly creates?: 'nothing' | 'id';
  /** The values of `--map` that the binding needs. */
  readonly maps?: readonly string[];
}

/** A parameter in the query, as a description has it. */
export function inQuery(name: string, schema: object, more: object = {}) {
  return { name, in: 'query', schema, ...more };
}

/** Pages of two records by the parameter `page`, whatever size is asked for. */
export function pagesOfTwo(records: Fields[], url: URL): Fields[] {
  const start = (Number(url.searchParams.get('page') ?? 1) - 1) * 2;
  return records.slice(start, start + 2);
}

const shop = (): Record<Noun, Fields[]> => ({
  pets: [1, 2, 3, 4, 5].map((id) => ({
    id,
    name: `Pet${id}`,
    categoryId: 1 + (id % 2),
    status: ['available', 'pending', 'sold'][id % 3] ?? '',
  })),
  categories: [
    { id: 1, name: 'Dogs', description: 'large' },
    { id: 2, name: 'Cats', description: 'small' },
  ],
  orders: [1, 2, 3].map((id) => ({
    id,
    petId: id,
    quantity: id,
    shipDate: '2027-01-15T09:00:00Z',
    complete: id > 1,
  })),
  inventory: [1, 2, 3, 4, 5].map((petId) => ({ petId, quantity: petId * 10, status: 'sold' })),
});

export const names: Readonly<Record<string, string>> = {
  pets: 'Pet',
  categories: 'Category',
  orders: 'Order',
  inventory: 'InventoryItem',
};

interface ShapedService extends RecordingServer {
  /** Returns the records as they are now, with our names. */
  records(noun: Noun): Fields[];
  readonly description: object;
}

export async function shapedService(shape: Shape): Promise<ShapedService> {
  const lists = shop();
  const description = describe(shape, lists);
  const { write = (record) => record, wrap = (record) => record } = shape;
  const { recordsOf, answer } = storeRecords(
    Object.fromEntries(Object.entries(lists).map(([noun, records]) => [`/${noun}`, records])),
    {
      show: (record, noun) => wrap(write(record, noun), noun),
      list(records, noun, url) {
        const refused = shape.refuses?.(url);
        if (refused) return refused;
        const printed = (shape.page?.(records, url) ?? records).map((record) => write(record, noun));
        const body = shape.list?.(printed, noun, url, records) ?? printed;
        return { headers: shape.headers?.(records, url), body };
      },
      ...(shape.read && { read: shape.read }),
      sendsLocation: shape.creates === 'nothing',
    },
  );
  const server = await recordingServer({ '/openapi.json': description }, (request) => {
    const noun = request.path.split('/')[1] ?? '';
    const taken = shape.takes && { petId: 0, ...shape.takes(lists[noun as Noun]?.[0] ?? {}, noun) };
    const isTaken = Object.keys(JSON.parse(request.body || '{}')).every((name) => !taken || name in taken);
    if (!isTaken) return refusal(400);
    const { body, ...reply } = answer(request);
    if (request.method !== 'POST' || !shape.creates) return { ...reply, body };
    const { id, petId } = body as Fields;
    return shape.creates === 'id' ? { ...reply, body: noun === 'inventory' ? { petId } : { id } } : reply;
  });
  return Object.assign(server, { description, records: (noun: Noun) => recordsOf(`/${noun}`) });
}

function describe(shape: Shape, all: Record<Noun, Fields[]>): object {
  const {
    write = (record) => record,
    wrap = (record) => record,
    list = (records: Fields[]) => records,
  } = shape;
  const paths: Record<string, object> = {};
  const schemas: Record<string, object> = {};
  for (const [noun, [example = {}]] of Object.entries(all)) {
    const key = noun === 'inventory' ? 'petId' : 'id';
    const written = write(example, noun);
    const record = schemaOf(written) as { properties: Record<string, object> };
    const name = names[noun] ?? '';
    schemas[name] = record;
    const idName = Object.entries(write({ [key]: 1 }, noun)).find(([, value]) => value === 1)?.[0] ?? key;
    const taken = shape.takes ? (schemaOf(shape.takes(example, noun)) as typeof record) : record;
    const { [idName]: _, ...withoutId } = taken.properties;
    const ref = { $ref: `#/components/schemas/${name}` };
    const isBody = shape.hasIdInBody || noun === 'inventory';
    const whole = shape.takes ? taken : ref;
    const body = json(isBody ? whole : { type: 'object', properties: withoutId });
    const answers = (schema: object, status: number) => ({
      [status]: { description: 'ok', ...json(schema) },
    });
    const mark = { $ref: '#mark' };
    const single = withMark(wrap(mark, noun), ref);
    const made = shape.creates ? { properties: { [key]: { type: 'integer' } } } : single;
    const headers = Object.fromEntries(
      (shape.documented ?? []).map((each) => [each, { schema: { type: 'string' } }]),
    );
    const lists = withMark(list([mark], noun, new URL('http://service.test'), [mark]), ref);
    const update = { requestBody: body, responses: answers(single, 200) };
    paths[`/${noun}`] = {
      get: {
        parameters: shape.parameters ?? [],
        responses: { 200: { ...answers(lists, 200)[200], headers } },
      },
      post: {
        requestBody: body,
        responses: shape.creates === 'nothing' ? { 201: { description: 'made' } } : answers(made, 201),
      },
      ...(shape.hasIdInBody && { put: update }),
    };
    const parameters = [
      { name: key === 'id' ? 'id' : 'petId', in: 'path', required: true, schema: { type: 'integer' } },
    ];
    paths[`/${noun}/{${parameters[0]?.name}}`] = {
      parameters,
      get: { responses: answers(single, 200) },
      delete: { responses: { 204: { description: 'gone' } } },
      ...(!shape.hasIdInBody && { put: update }),
    };
  }
  return { openapi: '3.1.0', info: { title: 'shaped', version: '1' }, paths, components: { schemas } };
}

/** The schema of an answer that was made with a mark in place of each record. */
function withMark(answer: unknown, ref: object): object {
  if (Array.isArray(answer)) return { type: 'array', items: withMark(answer[0], ref) };
  if (typeof answer !== 'object' || answer === null) return schemaOf(answer);
  if ('$ref' in answer) return ref;
  const properties = Object.entries(answer).map(([name, value]) => [name, withMark(value, ref)]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function schemaOf(value: unknown): object {
  if (Array.isArray(value)) return { type: 'array', items: schemaOf(value[0] ?? null) };
  if (value === null) return { type: ['string', 'null'] };
  if (typeof value === 'number') return { type: 'integer' };
  if (typeof value !== 'object') return { type: typeof value };
  const properties = Object.entries(value).map(([name, inner]) => [name, schemaOf(inner)]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

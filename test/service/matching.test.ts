import { expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import { operationIds } from '../../src/api/operations.ts';
import { runCli } from '../helpers/run-cli.ts';

// `api bind` matches the operations of a description with ours. A wrong match is worse than none.

const integer = { type: 'integer' };
const text = { type: 'string' };
const object = (properties: object, required: readonly string[] = []) => ({
  ...{ type: 'object', properties },
  required,
});
const schemas: Readonly<Record<string, object>> = {
  Pet: object({ id: integer, name: text, categoryId: integer, status: text }),
  NewPet: object({ name: text, categoryId: integer }, ['name']),
  Category: object({ id: integer, name: text }),
  Order: object({ id: integer, petId: integer, quantity: integer }),
  InventoryItem: object({ petId: integer, quantity: integer, status: text }),
  InventoryUpdate: object({ quantity: integer }),
  Uuidless: object({ id: integer, name: text }),
  Count: object({ quantity: integer }, ['quantity']),
  Vaccination: object({ id: integer, vaccine: text }),
  Uuid: object({ id: { type: 'string', format: 'uuid' }, name: text }),
};

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const ref = (name: string) =>
  name.endsWith('[]')
    ? { type: 'array', items: { $ref: `#/components/schemas/${name.slice(0, -2)}` } }
    : { $ref: `#/components/schemas/${name}` };

/**
 * A description with an operation on each line, `METHOD path [body] [: answer]`, and the expected binding. A
 * line that ends with `= operation` must be bound as this operation.
 *
 * @param more fields of operations, by method and path.
 */
function describe(lines: readonly string[], more: Readonly<Record<string, object>> = {}) {
  const paths: Record<string, Record<string, object>> = {};
  const bound: Record<string, string> = {};
  for (const line of lines) {
    const [, method = '', path = '', body, answer, id] =
      /^(\w+) (\S+)(?: (\w+))?(?: : (\S+))?(?: = (\w+))?$/.exec(line) ?? [];
    if (id !== undefined) bound[id] = `${method} ${path}`;
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: {
        parameters: names.map((name) => ({ name, in: 'path', required: true, schema: integer })),
        ...(body !== undefined && { requestBody: json(ref(body)) }),
        responses: answer === undefined ? { 204: {} } : { 200: { description: 'ok', ...json(ref(answer)) } },
        ...more[`${method} ${path}`],
      },
    };
  }
  const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths, components: { schemas } };
  return { document, bound };
}

interface Row {
  readonly operation: string;
  readonly state: string;
  readonly method: string | null;
  readonly path: string | null;
  readonly why: string;
}

/**
 * Returns the bound routes, `METHOD path` by operation, and the reasons why the other operations are not
 * bound.
 */
async function bind(document: unknown, ...flags: string[]) {
  const stdin = typeof document === 'string' ? document : JSON.stringify(document);
  const argv = ['api', 'bind', '-', '--base-url', 'http://service.test', '--dry-run', '-o', 'json', ...flags];
  const run = await runCli(argv, { stdin });
  const rows: Row[] = run.stdout === '' ? [] : JSON.parse(run.stdout);
  const [bound, others] = [true, false].map((isBound) =>
    rows.filter(({ state }) => (state === 'bound') === isBound),
  );
  return {
    code: run.code,
    stderr: run.stderr.replace(/\s+/g, ' '),
    bound: Object.fromEntries(bound?.map((row) => [row.operation, `${row.method} ${row.path}`]) ?? []),
    why: Object.fromEntries(others?.map((row) => [row.operation, row.why]) ?? []),
  };
}

const collection = ['GET /pets : Pet[] = listPets', 'POST /pets NewPet : Pet = createPet'];

test('the document of the table is bound to the table itself, and a bare document has two bound operations', async () => {
  expect(Object.keys((await bind(toOpenApi())).bound)).toEqual(operationIds);
  const bare = { '/pets/{petId}': { get: { responses: {} } }, '/store/orders': { get: { responses: {} } } };
  const { bound } = await bind({ openapi: '3.0.0', paths: bare });
  expect(bound).toEqual({ getPet: 'GET /pets/{petId}', listOrders: 'GET /store/orders' });
});

test.each<[what: string, line: string, id: string, why: string, map?: string]>([
  [
    'an id with another name',
    'PUT /inventory/{animalId} InventoryUpdate : InventoryItem',
    'updateInventory',
    'its animalId may be the id of something else',
  ],
  ['an entry by {id}', 'DELETE /inventory/{id}', 'deleteInventory', 'its id may be the id of something else'],
  [
    'a path with another word',
    'PUT /v2/stock/{petId} Count : Vaccination',
    'updateInventory',
    'it may be something else',
  ],
  ['an operationId', 'GET /catalogue : Uuidless[]', 'listCategories', 'it may be something else'],
  [
    'an entry below its pet',
    'GET /pets/{petId}/inventory : InventoryItem',
    'getInventory',
    'it may be something else',
  ],
  [
    'another collection than that of the list',
    'GET /v2/pets/{petId} : Pet',
    'getPet',
    'its path is not that of the bound list or create',
  ],
  [
    'some of the orders',
    'GET /orders/findByStatus : Order[]',
    'listOrders',
    'findByStatus may have only some of the records',
  ],
  [
    'the orders of a shop',
    'GET /shops/{shopId}/orders : Order[]',
    'listOrders',
    'its path needs a value for shopId',
    "listOrders='GET /shops/7/orders'",
  ],
  [
    'a PATCH of a count',
    'PATCH /inventory/{petId} Count : InventoryItem',
    'updateInventory',
    'it does not say that it sets the count',
  ],
])('a near miss is listed with its --map line, which is right: %s', async (_, line, id, why, map = '') => {
  const [route = ''] = /^\S+ \S+/.exec(line) ?? [];
  const { document, bound } = describe([...collection, line], {
    'GET /catalogue': { operationId: 'allCategories' },
  });
  const match = await bind(document);
  const flag = map || `${id}='${route}'`;
  expect([match.bound, match.why]).toEqual([bound, { [id]: `${why}: to bind it, add --map ${flag}` }]);
  expect((await bind(document, '--map', flag.replaceAll("'", ''))).bound).toHaveProperty(id);
});

const inQuery = { parameters: [{ name: 'shop', in: 'query', required: true, schema: text }] };
const form = { requestBody: { content: { 'multipart/form-data': {} } } };

test.each<[what: string, line: string, id: string, why: string, more?: object]>([
  ['ids are UUIDs', 'GET /pets/{petId} : Uuid', 'getPet', 'its Uuid has the field id as a string'],
  [
    'the key is missing',
    'GET /pets : Vaccination[]',
    'listPets',
    'its Vaccination has no field name: if it is called vaccine, add --map pets.name=vaccine',
  ],
  [
    'a parameter cannot be given',
    'GET /pets : Pet[]',
    'listPets',
    'it needs the query parameter shop, which petstore has no value for',
    inQuery,
  ],
  [
    'the body is no JSON',
    'POST /pets : Pet',
    'createPet',
    'it takes multipart/form-data, not application/json',
    form,
  ],
  [
    'a category is given by its name',
    'POST /pets : Pet',
    'createPet',
    'its body needs the name of a category in place of its id',
    { requestBody: json(object({ name: text, category: text }, ['name', 'category'])) },
  ],
  [
    'its operationId says that it adds',
    'PUT /inventory/{petId} InventoryUpdate : InventoryItem',
    'updateInventory',
    'it says add, and so may not set the count',
    { operationId: 'addStock' },
  ],
  [
    'its summary says that it adds',
    'PATCH /inventory/{petId} InventoryUpdate : InventoryItem',
    'updateInventory',
    'it says increment, and so may not set the count',
    { summary: 'Increment the count of a pet' },
  ],
])('bind says why an operation is not bound: %s', async (_, line, id, why, more = {}) => {
  const [route = ''] = /^\S+ \S+/.exec(line) ?? [];
  const { document, bound } = describe([line, 'GET /orders : Order[] = listOrders'], { [route]: more });
  const match = await bind(document);
  expect([match.bound, match.why]).toEqual([bound, { [id]: why }]);
});

const countOf = (quantity: object) => ({
  requestBody: json({ type: 'object', properties: { quantity: { type: 'integer', ...quantity } } }),
});

test.each<[isSet: boolean, method: string, more: object]>([
  [true, 'PUT', { operationId: 'changeStockLevel' }],
  [true, 'PUT', countOf({ description: 'The new count.' })],
  [true, 'PATCH', { operationId: 'changeInventory' }],
  [false, 'PATCH', { ...countOf({}), operationId: 'updateInventoryByPetId' }],
  ...['restock', 'receive', 'reserve', 'deduct', 'consume', 'release', 'adjust', 'increase', 'addTo'].map(
    (verb, at): [boolean, string, object] => [
      false,
      at % 2 ? 'PUT' : 'PATCH',
      { operationId: `${verb}Inventory` },
    ],
  ),
  [false, 'PATCH', { summary: 'Sell items' }],
  [false, 'PUT', countOf({ description: 'Number of pieces to add' })],
  [false, 'PUT', countOf({ description: 'the delta' })],
  [false, 'PUT', countOf({ description: 'how many more there are' })],
])('a count is set only if nothing says that it is added to: %s, %s %j', async (isSet, method, more) => {
  const line = `${method} /inventory/{petId} InventoryUpdate : InventoryItem`;
  const { document } = describe(['GET /inventory : InventoryItem[]', line], {
    [`${method} /inventory/{petId}`]: more,
  });
  expect('updateInventory' in (await bind(document)).bound).toBe(isSet);
});

test.each([
  ['application/json', true],
  ['application/json; charset=utf-8', true],
  ['application/merge-patch+json', true],
  ['*/*', true],
  ['application/json-patch+json', false],
  ['application/vnd.api+json', false],
  ['application/xml', false],
])('a body is bound by its media type: %s: %s', async (type, isBound) => {
  const route = 'PATCH /pets/{petId}';
  const more = { [route]: { requestBody: { content: { [type]: { schema: {} } } } } };
  const { bound } = await bind(describe([...collection, `${route} : Pet`], more).document);
  expect(bound.updatePet).toBe(isBound ? route : undefined);
});

test('a required choice leaves a list unbound, and the --map line that fixes it binds it', async () => {
  const sort = { name: 'sort', in: 'query', required: true, schema: { ...text, enum: ['name', 'id'] } };
  const { document } = describe(['GET /pets : Pet[]'], { 'GET /pets': { parameters: [sort] } });
  expect((await bind(document)).why.listPets).toBe(
    "it needs the query parameter sort, which petstore has no value for: fix it with --map listPets='GET /pets?sort=name'",
  );
  const map = ['--map', 'listPets=GET /pets?sort=name'];
  expect((await bind(document, ...map)).bound).toEqual({ listPets: 'GET /pets' });
  const { code, stderr } = await bind(document, '--map', 'listPets=GET /pets?order=name');
  expect([code, stderr]).toEqual([2, expect.stringContaining('GET /pets has no query parameter order')]);
});

test.each<[what: string, schema: object, why: string]>([
  [
    'a map of numbers',
    { type: 'object', additionalProperties: integer },
    'it answers a map of numbers, such as {"available": 7}, and no records',
  ],
  [
    'an envelope whose records lack an id',
    object({ data: { type: 'array', items: object({ petId: text, quantity: integer }) } }),
    'its record has the field petId as a string',
  ],
  [
    'an envelope whose records have another name for it',
    object({ data: { type: 'array', items: object({ animal: integer, quantity: integer }) } }),
    'its record has no field petId: if it is called animal, add --map inventory.petId=animal',
  ],
  [
    'an entry with an own id alone, which no --map line may name',
    { type: 'array', items: object({ id: integer, quantity: integer }) },
    'its record has no field petId',
  ],
  [
    'two lists',
    object({
      a: { type: 'array', items: schemas.InventoryItem },
      b: { type: 'array', items: schemas.InventoryItem },
    }),
    'it answers no single list of records',
  ],
  ['one message', object({ message: text }), 'it answers no single list of records'],
])('a list that answers something else is named as what it is: %s', async (_, schema, why) => {
  const more = { 'GET /inventory': { responses: { 200: { description: 'ok', ...json(schema) } } } };
  const { document } = describe(
    ['GET /inventory', 'GET /orders : Order[]', 'DELETE /inventory/{petId}'],
    more,
  );
  expect((await bind(document)).why).toEqual({
    listInventory: why,
    deleteInventory: expect.stringContaining('its records are not ours (GET /inventory: '),
  });
});

const shops = describe([
  'GET /shops/{shopId}/pets : Pet[]',
  'POST /shops/{shopId}/pets/{petId}/remove',
  'GET /pets : Pet[]',
]);

test.each([
  ['listPets=GET /shops/7/pets', { listPets: 'GET /shops/7/pets' }],
  ['deletePet=post /shops/7/pets/{x}/remove', { deletePet: 'POST /shops/7/pets/{petId}/remove' }],
])('--map %s decides, with any method, and gives values to further parameters', async (map, bound) => {
  expect(await bind(shops.document, '--map', map)).toMatchObject({ code: 0, bound });
});

test.each([
  ['updateInventory', 'must be <operation>=<METHOD> <path>, or <noun>.<field>=<name>'],
  ['pets.name=title', 'no bound operation of pets has a field title'],
  ['pets.colour=color', 'pets have no such field'],
  ['dogs.name=title', 'there is no such noun'],
  ['updateStock=PUT /stock/{id}', 'there is no such operation'],
  ['updateInventory=PUT /nowhere', 'the description has no PUT /nowhere'],
  ['deletePet=GET /pets', 'deletePet takes one id, and its path has none'],
  ['listPets=GET /shops/{shopId}/pets', 'listPets takes no id, and its path has one'],
])('--map %s is an error', async (map, why) => {
  const { code, stderr } = await bind(shops.document, '--map', map);
  expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
});

test.each(['/pets?all=1', '/pets#all', '/../pets', '/%2e%2e/admin/pets', '/pe ts', '/pets\n', 'pets'])(
  'a path that no request may have is skipped: %j',
  async (path) => {
    const { document } = describe(['GET /pets : Pet[]']);
    const paths = { [path]: document.paths['/pets'], '/orders': { get: { responses: {} } } };
    expect((await bind({ ...document, paths })).bound).toEqual({ listOrders: 'GET /orders' });
  },
);

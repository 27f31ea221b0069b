import { expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import { operationIds } from '../../src/api/operations.ts';
import { warehouse } from '../helpers/descriptions.ts';
import { runCli } from '../helpers/run-cli.ts';

// Which operation of a description is bound as which of ours: a wrong one is worse than none.

const integer = { type: 'integer' };
const text = { type: 'string' };
const schemas = {
  Pet: { type: 'object', properties: { id: integer, name: text, categoryId: integer, status: text } },
  NewPet: { type: 'object', required: ['name'], properties: { name: text, categoryId: integer } },
  Category: { type: 'object', properties: { id: integer, name: text } },
  Order: { type: 'object', properties: { id: integer, petId: integer, quantity: integer } },
  InventoryItem: { type: 'object', properties: { petId: integer, quantity: integer, status: text } },
  InventoryUpdate: { type: 'object', properties: { quantity: integer } },
  Count: { type: 'object', required: ['quantity'], properties: { quantity: integer } },
  Vaccination: { type: 'object', properties: { id: integer, vaccine: text } },
  Uuid: { type: 'object', properties: { id: { type: 'string', format: 'uuid' }, name: text } },
};

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const inPath = (name: string, schema: object = integer) => ({ name, in: 'path', required: true, schema });

type Operation = readonly [
  line: string,
  answers?: string | undefined,
  takes?: string | undefined,
  more?: object,
];

/** A description with these operations: `GET /pets` answers `Pet[]` or `Pet`, and takes `NewPet`. */
function description(...operations: readonly Operation[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [line, answers, takes, more] of operations) {
    const [method = '', path = ''] = line.split(' ');
    const schema = answers?.endsWith('[]')
      ? { type: 'array', items: ref(answers.slice(0, -2)) }
      : answers && ref(answers);
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => inPath(name));
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: {
        parameters: names,
        ...(takes && { requestBody: json(ref(takes)) }),
        responses: schema
          ? { 200: { description: 'ok', ...json(schema) } }
          : { 204: { description: 'done' } },
        ...more,
      },
    };
  }
  return { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths, components: { schemas } };
}

interface Row {
  readonly operation: string;
  readonly state: string;
  readonly method: string | null;
  readonly path: string | null;
  readonly why: string;
}

/** What is bound, `METHOD path` by operation, and the reasons for what is not. */
async function bind(document: unknown, ...flags: string[]) {
  const stdin = typeof document === 'string' ? document : JSON.stringify(document);
  const argv = ['api', 'bind', '-', '--base-url', 'http://service.test', '--dry-run', '-o', 'json', ...flags];
  const run = await runCli(argv, { stdin });
  const rows: Row[] = run.stdout === '' ? [] : JSON.parse(run.stdout);
  const bound = rows.filter(({ state }) => state === 'bound');
  return {
    code: run.code,
    stderr: run.stderr.replace(/\s+/g, ' '),
    bound: Object.fromEntries(bound.map(({ operation, method, path }) => [operation, `${method} ${path}`])),
    why: Object.fromEntries(
      rows.filter(({ state }) => state !== 'bound').map((row) => [row.operation, row.why]),
    ),
  };
}

const collection: readonly Operation[] = [
  ['GET /pets', 'Pet[]'],
  ['POST /pets', 'Pet', 'NewPet'],
];

test('an operation below another record is never bound', async () => {
  const { bound, why } = await bind(
    description(
      ...collection,
      ['GET /pets/{petId}', 'Pet'],
      ['PUT /owners/{ownerId}/pets', 'Pet', 'NewPet'],
      ['DELETE /owners/{ownerId}/pets'],
      ['GET /orders', 'Order[]'],
      ['PUT /customers/{customerId}/orders', 'Order', 'Order'],
      ['DELETE /customers/{customerId}/orders'],
      ['PUT /warehouses/{warehouseId}/inventory', 'InventoryItem', 'InventoryUpdate'],
      ['POST /stores/{storeId}/inventory', 'InventoryItem', 'InventoryItem'],
      ['DELETE /pets/{petId}/owner'],
      ['DELETE /owners/{ownerId}'],
      ['DELETE /favourites/{petId}'],
      ['DELETE /shops/{shopId}/pets/{petId}'],
    ),
  );
  expect(bound).toEqual({
    listPets: 'GET /pets',
    createPet: 'POST /pets',
    getPet: 'GET /pets/{petId}',
    listOrders: 'GET /orders',
  });
  expect(why.createInventory).toBe(
    "its path needs a value for storeId: fix it with --map createInventory='POST /stores/7/inventory'",
  );
  expect(why.deletePet).toContain('a value for shopId');
});

test.each<[name: string, operations: readonly Operation[], bound: object]>([
  [
    'the names of the schemas, whatever the paths are',
    [
      ['GET /animals', 'Pet[]'],
      ['POST /animals', 'Pet', 'NewPet'],
      ['GET /animals/{animal_id}', 'Pet'],
      ['PATCH /stock/{petId}', 'InventoryItem', 'InventoryUpdate'],
    ],
    {
      listPets: 'GET /animals',
      createPet: 'POST /animals',
      getPet: 'GET /animals/{animal_id}',
      updateInventory: 'PATCH /stock/{petId}',
    },
  ],
  [
    'the noun of the path, and the record\u2019s own id behind it',
    [
      ['GET /pet/{pet_id}', 'Pet'],
      ['DELETE /pet/{id}'],
      ['GET /inventory/{pet_id}', 'InventoryItem'],
      ['DELETE /categories/{categoryId}'],
    ],
    {
      getPet: 'GET /pet/{pet_id}',
      deletePet: 'DELETE /pet/{id}',
      getInventory: 'GET /inventory/{pet_id}',
      deleteCategory: 'DELETE /categories/{categoryId}',
    },
  ],
  [
    'an integer of no other word behind a bound collection',
    [...collection, ['DELETE /pets/{number}'], ['PUT /pets/{ownerId}', 'Pet', 'NewPet']],
    { listPets: 'GET /pets', createPet: 'POST /pets', deletePet: 'DELETE /pets/{number}' },
  ],
  [
    'an update at the path of the list, if its body has the id',
    [...collection, ['PUT /pets', 'Pet', 'Pet']],
    { listPets: 'GET /pets', createPet: 'POST /pets', updatePet: 'PUT /pets' },
  ],
  [
    'no update at the path of the list, if its body has no id',
    [...collection, ['PUT /pets', 'Pet', 'NewPet']],
    { listPets: 'GET /pets', createPet: 'POST /pets' },
  ],
  [
    'the noun alone before other paths, and PUT before PATCH',
    [
      ['GET /pets/popular', 'Pet[]'],
      ['GET /pets', 'Pet[]'],
      ['DELETE /admin/pets/{petId}'],
      ['DELETE /pets/{petId}'],
      ['PATCH /pets/{petId}', 'Pet', 'NewPet'],
      ['PUT /pets/{petId}', 'Pet', 'NewPet'],
      ['GET /orders/{orderId}/pet', 'Pet'],
    ],
    { listPets: 'GET /pets', deletePet: 'DELETE /pets/{petId}', updatePet: 'PUT /pets/{petId}' },
  ],
  [
    'the operationId between operations that are alike in all else',
    [
      ['GET /a', 'Pet[]', undefined, { operationId: 'popularPets' }],
      ['GET /b', 'Pet[]', undefined, { operationId: 'list_pets' }],
    ],
    { listPets: 'GET /b' },
  ],
  [
    'a list that is found by a filter of ours, and none that is found by another',
    [
      ['GET /pet/findByTags', 'Pet[]'],
      ['GET /pet/findByStatus', 'Pet[]'],
    ],
    { listPets: 'GET /pet/findByStatus' },
  ],
  [
    'no search, no action, and nothing of another noun',
    [
      ['POST /pets/search', 'Pet[]', 'Pet'],
      ['GET /pets', 'Order[]'],
      ['GET /pettypes', 'Category[]'],
      ['POST /inventory/{petId}/adjust', 'InventoryItem', 'InventoryUpdate'],
    ],
    { listCategories: 'GET /pettypes' },
  ],
])('binds by %s', async (_, operations, expected) => {
  expect((await bind(description(...operations))).bound).toEqual(expected);
});

test('binds the document of the table to the table itself, and the two operations of a bare one', async () => {
  const table = await bind(toOpenApi());
  expect(Object.keys(table.bound)).toEqual(operationIds);
  const bare = await bind({
    openapi: '3.0.0',
    paths: { '/pets/{petId}': { get: { responses: {} } }, '/store/orders': { get: { responses: {} } } },
  });
  expect(bare.bound).toEqual({ getPet: 'GET /pets/{petId}', listOrders: 'GET /store/orders' });
  expect((await bind(warehouse)).bound).toMatchObject({ updateInventory: 'PUT /stock/{pet_id}' });
});

test.each<[string, Operation]>([
  [
    'its operationId',
    ['PUT /inventory/{petId}', 'InventoryItem', 'InventoryUpdate', { operationId: 'addStock' }],
  ],
  [
    'its summary',
    [
      'PATCH /inventory/{petId}',
      'InventoryItem',
      'InventoryUpdate',
      { summary: 'Increment the count of a pet' },
    ],
  ],
])('an operation that adds to a count is not bound as the one that sets it: by %s', async (_, operation) => {
  const { bound, why } = await bind(description(['GET /inventory', 'InventoryItem[]'], operation));
  expect(bound).toEqual({ listInventory: 'GET /inventory' });
  expect(why.updateInventory).toMatch(/^it says (add|increment), and so may not set the count$/);
});

const near: readonly (readonly [string, Operation, id: string, why: string])[] = [
  [
    'an id with another name',
    ['PUT /v2/stock/{animalId}', 'InventoryItem', 'InventoryUpdate'],
    'updateInventory',
    "its animalId may be the id of something else: if it is that of the pet, add --map updateInventory='PUT /v2/stock/{animalId}'",
  ],
  [
    'a path with another word',
    ['PUT /stock/{petId}', 'Vaccination', 'Count'],
    'updateInventory',
    "stock may be something else: if it is inventory, add --map updateInventory='PUT /stock/{petId}'",
  ],
  [
    'an entry below its pet',
    ['GET /pets/{petId}/inventory', 'InventoryItem'],
    'getInventory',
    "its path does not end with the id of a record: if this is intended, add --map getInventory='GET /pets/{petId}/inventory'",
  ],
  [
    'another collection than that of the list',
    ['GET /v2/pets/{petId}', 'Pet'],
    'getPet',
    "its path is not that of the bound list or create: if this is intended, add --map getPet='GET /v2/pets/{petId}'",
  ],
];

test.each(near)(
  'a near miss is listed with its --map line, which is right: %s',
  async (_, operation, id, why) => {
    const document = description(...collection, operation);
    const result = await bind(document);
    expect(result.bound).toEqual({ listPets: 'GET /pets', createPet: 'POST /pets' });
    expect(result.why).toEqual({ [id]: why });
    const [, map = ''] = /--map (.*)$/.exec(why) ?? [];
    expect((await bind(document, '--map', map.replaceAll("'", ''))).bound).toHaveProperty(id);
  },
);

test('no --map line is shown that would be wrong: the list of one pet is not the list', async () => {
  const { bound, why } = await bind(
    description(...collection, ['GET /pets/{petId}/inventory', 'InventoryItem[]']),
  );
  expect(Object.keys(bound)).toEqual(['listPets', 'createPet']);
  expect(why).toEqual({ listInventory: 'its path needs a value for petId' });
});

test.each<[string, Operation, string, string]>([
  ['ids are UUIDs', ['GET /pets/{petId}', 'Uuid'], 'getPet', 'its Uuid has the field id as a string'],
  [
    'the key is missing',
    ['GET /pets', 'Vaccination[]'],
    'listPets',
    'its Vaccination has no field name: if it has another name, add --map pets.name=<name>',
  ],
  [
    'a parameter cannot be given',
    [
      'GET /pets',
      'Pet[]',
      undefined,
      { parameters: [{ name: 'shop', in: 'query', required: true, schema: text }] },
    ],
    'listPets',
    'it needs the query parameter shop, which petstore has no value for',
  ],
  [
    'the body is no JSON',
    ['POST /pets', 'Pet', undefined, { requestBody: { content: { 'multipart/form-data': {} } } }],
    'createPet',
    'it takes no JSON',
  ],
])('says why it cannot bind: %s', async (_, operation, id, why) => {
  expect((await bind(description(operation, ['GET /orders', 'Order[]']))).why).toEqual({ [id]: why });
});

test.each([
  ['listPets=GET /shops/7/pets', { listPets: 'GET /shops/7/pets' }],
  ['deletePet=post /shops/7/pets/{x}/remove', { deletePet: 'POST /shops/7/pets/{petId}/remove' }],
])('--map %s decides, with any method, and gives values to further parameters', async (map, expected) => {
  const document = description(
    ['GET /shops/{shopId}/pets', 'Pet[]'],
    ['POST /shops/{shopId}/pets/{petId}/remove'],
    ['GET /orders', 'Order[]'],
  );
  expect(await bind(document, '--map', map)).toMatchObject({ code: 0, bound: expected });
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
  const run = await bind(description(...collection, ['GET /shops/{shopId}/pets', 'Pet[]']), '--map', map);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain(why);
});

test('an entry is not found by an id of its own in place of that of its pet', async () => {
  const entry = { type: 'object', properties: { id: integer, petId: integer, quantity: integer } };
  const document = description(['GET /inventory/{id}', 'InventoryItem'], ['GET /pets', 'Pet[]']);
  Object.assign(document, { components: { schemas: { ...schemas, InventoryItem: entry } } });
  expect((await bind(document)).bound).toEqual({ listPets: 'GET /pets' });
});

test.each(['/pets?all=1', '/pets#all', '/../pets', '/pe ts', '/pets\n', 'pets'])(
  'a path that no request may have is skipped: %j',
  async (path) => {
    const document = description(['GET /pets', 'Pet[]']) as { paths: Record<string, object> };
    const paths = { [path]: document.paths['/pets'], '/orders': { get: { responses: {} } } };
    expect((await bind({ ...document, paths })).bound).toEqual({ listOrders: 'GET /orders' });
  },
);

const foreign: readonly (readonly [what: string, operations: readonly Operation[]])[] = [
  ['a delete of an archive, by id', [...collection, ['DELETE /archive/pets/{id}']]],
  [
    'a delete of an archive, by our own name',
    [
      ['GET /pets', 'Pet[]'],
      ['DELETE /archive/pets/{petId}', undefined, undefined, { operationId: 'deletePet' }],
    ],
  ],
  [
    'a delete of an archive that can be read',
    [['POST /pets', 'Pet', 'NewPet'], ['GET /archive/pets/{id}', 'Pet'], ['DELETE /archive/pets/{id}']],
  ],
  [
    'a delete beside two lists that fit',
    [['GET /a/pets', 'Pet[]'], ['GET /archive/pets', 'Pet[]'], ['DELETE /archive/pets/{id}']],
  ],
  [
    'an update of a supplier',
    [
      ['GET /store/inventory', 'InventoryItem[]'],
      ['PUT /suppliers/inventory/{petId}', 'InventoryItem', 'InventoryUpdate'],
    ],
  ],
];

test.each(foreign)('an operation in another collection is never bound: %s', async (_, operations) => {
  const { bound, why } = await bind(description(...operations));
  for (const id of ['getPet', 'deletePet', 'updateInventory']) expect(bound[id]).toBeUndefined();
  expect(Object.values(why).join()).toMatch(
    /add --map (deletePet='DELETE \/archive|updateInventory='PUT \/suppliers)|several paths may be that of its list/,
  );
});

test('an operation beside the list is of its collection, in the singular too', async () => {
  const { bound } = await bind(description(['GET /v1/pets', 'Pet[]'], ['DELETE /v1/pet/{petId}']));
  expect(bound.deletePet).toBe('DELETE /v1/pet/{petId}');
});

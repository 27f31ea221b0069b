import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/process/exact-json.ts';
import { bindDocument } from '../helpers/corpus.ts';
import { json, ok } from '../helpers/descriptions.ts';
import { randomOf } from '../helpers/random.ts';

// No write is ever bound to a record that is not the one named. Random services find their records by a key of their own:
// our id, or another field of the record. The parameter in the path has a name that such a key may have, the list may be in
// any envelope or missing, and its schema may say everything or nothing. Each record has another value in each field.

type Noun = 'pets' | 'orders' | 'categories' | 'inventory';

/** The fields of a noun by which a service may find a record, and the names of the path parameter for each. */
const keys: Readonly<Record<Noun, Readonly<Record<string, readonly string[]>>>> = {
  pets: {
    id: ['id', 'petId', 'pet_id', 'pet', 'key'],
    chip: ['chip', 'chipNumber', 'number', 'petNumber', 'key', 'pet'],
    petId: ['petId', 'pet_id'],
  },
  orders: {
    id: ['id', 'orderId', 'order_id', 'order'],
    orderNumber: ['orderNumber', 'order_number', 'number', 'no', 'reference', 'order'],
    petId: ['petId', 'pet_id', 'pet'],
  },
  categories: {
    id: ['id', 'categoryId', 'category'],
    rank: ['rank', 'position', 'number', 'key', 'category'],
  },
  inventory: {
    petId: ['petId', 'pet_id'],
    id: ['id', 'inventoryId', 'inventory_id', 'itemId', 'entryId', 'number', 'inventoryNumber'],
    shelf: ['shelf', 'shelfId', 'position', 'inventory', 'stockId'],
  },
};

/** The field that is our id: `petId` of an entry, and of a pet that has no `id`. */
function ourKeyOf({ noun, fields }: Pick<Scene, 'noun' | 'fields'>): string {
  const isByPet = noun === 'inventory' || (noun === 'pets' && !fields.includes('id'));
  return isByPet ? 'petId' : 'id';
}
/** The other fields of a noun. */
const further: Readonly<Record<Noun, readonly string[]>> = {
  pets: ['name', 'status'],
  orders: ['petId', 'quantity', 'complete'],
  categories: ['name', 'description'],
  inventory: ['petId', 'quantity'],
};

interface Scene {
  readonly noun: Noun;
  readonly fields: readonly string[];
  /** The field by which the service finds a record. */
  readonly key: string;
  readonly description: JsonObject;
  /** The name of the parameter, for messages. */
  readonly parameter: string;
}

function makeScene(seed: number): Scene {
  const { next: random, pick } = randomOf(seed);
  const noun = pick<Noun>(['pets', 'orders', 'categories', 'inventory', 'inventory']);
  const key = pick(Object.keys(keys[noun]));
  const otherKeys = Object.keys(keys[noun]).filter(() => random() < 0.6);
  // A service that finds its records by another field mostly has an id beside it.
  const fields = [
    ...new Set([
      key,
      ...otherKeys,
      ...further[noun],
      ...(random() < 0.8 ? [noun === 'inventory' ? 'petId' : 'id'] : []),
    ]),
  ];
  const parameter = pick(keys[noun][key] ?? []);
  const properties = Object.fromEntries(
    fields.map((name) => {
      const type = ['name', 'status', 'description'].includes(name)
        ? 'string'
        : name === 'complete'
          ? 'boolean'
          : 'integer';
      return [name, { type }];
    }),
  );
  const record = { type: 'object', properties };
  const word = pick(
    noun === 'inventory' ? ['inventory'] : [noun, noun === 'categories' ? 'category' : noun.slice(0, -1)],
  );
  const prefix = pick(['', '', '/v1', '/api', '/store']);
  const schemaName = pick([
    'Record',
    { pets: 'Pet', orders: 'Order', categories: 'Category', inventory: 'InventoryItem' }[noun],
  ]);
  const ref: JsonObject = { $ref: `#/components/schemas/${schemaName}` };
  // `/pets/{petId}` without a word about a pet is that of the specification.
  const isDescribed = random() < 0.8 || (noun === 'pets' && key === 'petId');
  const recordSchema = isDescribed ? ref : pick([{}, { type: 'object' }]);
  const listSchema: JsonObject = { type: 'array', items: recordSchema };
  const list = pick<JsonObject>([
    listSchema,
    { type: 'object', properties: { data: listSchema } },
    { type: 'object', properties: { items: listSchema, total: { type: 'integer' } } },
  ]);
  const queries = ['status', 'id', key, 'force', 'notify'].filter(() => random() < 0.2);
  const parameters = [
    {
      name: parameter,
      in: 'path',
      required: true,
      schema: pick<JsonObject>([
        { type: 'integer' },
        { type: 'integer', format: 'int64' },
        {},
        { type: 'string' },
      ]),
    },
    ...[...new Set(queries)].map((name) => ({
      name,
      in: 'query',
      schema: { type: pick(['string', 'integer']) },
    })),
  ];
  const answers = random() < 0.5 ? ok(recordSchema) : { 204: { description: 'done' } };
  const body =
    noun === 'inventory' ? { type: 'object', properties: { quantity: { type: 'integer' } } } : recordSchema;
  const operationId =
    random() < 0.3
      ? { operationId: pick(['update', 'set_it', 'replaceRecord', 'adjustStock', 'updateInventory']) }
      : {};
  const update = { ...operationId, requestBody: json(body), responses: answers };
  const collection = {
    ...(random() < 0.8 && { get: { responses: ok(list) } }),
    ...(random() < 0.5 && {
      post: { requestBody: json(recordSchema), responses: { 201: { description: 'made' } } },
    }),
    ...(random() < 0.2 && { put: { requestBody: json(ref), responses: answers } }),
    ...(random() < 0.2 && { patch: { requestBody: json(ref), responses: answers } }),
  };
  const item = {
    parameters,
    ...(random() < 0.6 && { get: { responses: ok(recordSchema) } }),
    [pick(['put', 'put', 'patch'])]: update,
    delete: { responses: { 204: { description: 'gone' } } },
  };
  const place = pick(['', '', '', '/archive']);
  const description = {
    openapi: '3.0.3',
    info: { title: 'x', version: '1' },
    paths: { [`${prefix}/${word}`]: collection, [`${prefix}${place}/${word}/{${parameter}}`]: item },
    components: { schemas: { [schemaName]: record } },
  };
  return { noun, fields, key, description, parameter };
}

test('a write on one record is bound only if the service finds the record by our id', async () => {
  let bound = 0;
  // A body that replaces a record names it by all its keys, so only a path can name another one.
  for (let seed = 1; seed <= 600; seed += 1) {
    const { noun, fields, key, description, parameter } = makeScene(seed);
    const { operations } = (await bindDocument(description)).contract;
    const writes = [...operations.values()].filter(
      ({ method, path }) => method !== 'GET' && path.includes('{'),
    );
    bound += writes.length;
    if (key !== ourKeyOf({ noun, fields }))
      expect({
        seed,
        key,
        parameter,
        fields,
        writes: writes.map(({ id, path }) => `${id} ${path}`),
      }).toMatchObject({ writes: [] });
  }
  // The test can fail: many writes are bound.
  expect(bound).toBeGreaterThan(100);
});

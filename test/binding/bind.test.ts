import { describe, expect, test } from 'vitest';
import { builtInContract } from '../../src/api/contract.ts';
import { toOpenApi } from '../../src/api/openapi.ts';
import { type OperationId, operationIds } from '../../src/api/operations.ts';
import { fieldTypes } from '../../src/api/schemas.ts';
import { type Binding, bindContract, type Target } from '../../src/binding/bind.ts';
import { readDescription } from '../../src/binding/description.ts';
import { serversOf } from '../../src/binding/document.ts';
import { ambiguous, sparse, unnamed, warehouse, wrapped } from '../helpers/descriptions.ts';

const url = 'http://service.test/docs/openapi.json';
const noTargets = new Map<OperationId, Target>();

async function bind(
  document: unknown,
  targets: ReadonlyMap<OperationId, Target> = noTargets,
): Promise<Binding> {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  return bindContract(await readDescription({ url, text, read: unreachable }), targets);
}

function unreachable(): never {
  throw new Error('no other document');
}

/** Bound operations as `METHOD path` by id; the state of the others. */
function summary({ matches }: Binding): Record<string, string> {
  return Object.fromEntries(
    [...matches].map(([id, match]) => [
      id,
      match.state === 'bound' ? `${match.operation.method} ${match.operation.path}` : match.state,
    ]),
  );
}

describe('the OpenAPI document of the table', () => {
  test('binds to the table itself', async () => {
    const { contract, matches } = await bind(toOpenApi());
    expect([...contract.operations.keys()]).toEqual(operationIds);
    expect(contract.missing.size).toBe(0);
    for (const [id, bound] of contract.operations) {
      const { answers, source, body, parameters, fields, ...rest } = bound;
      const {
        source: _,
        body: ownBody,
        parameters: own,
        description: __,
        example: ___,
        ...row
      } = builtInContract.operations.get(id)!;
      expect(rest).toEqual(
        Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)),
      );
      expect(source).toBe('bound');
      expect(parameters.map(({ bounds, ...parameter }) => parameter)).toEqual(own);
      expect(body && { ...body, bounds: {}, fields: undefined }).toEqual(ownBody);
      expect(Object.keys(body?.fields ?? {})).toEqual(body ? [...fieldTypes(body.name).keys()] : []);
      expect(fields?.toSorted()).toEqual(row.result && [...fieldTypes(row.result).keys()].sort());
      expect(Object.keys(answers ?? {})).toEqual([...row.success, ...row.errors].map(String));
      expect(matches.get(id)).toMatchObject({ confidence: 'high' });
    }
  });
});

test('does not bind an update of a count as updateOrder', async () => {
  const count = { quantity: { type: 'integer' } };
  const schemas = {
    InventoryUpdate: { type: 'object', required: ['quantity'], properties: count },
    InventoryItem: {
      type: 'object',
      properties: { petId: { type: 'integer' }, ...count, status: { type: 'string' } },
    },
  };
  const entry = { $ref: '#/components/schemas/InventoryItem' };
  const patch = {
    requestBody: json({ $ref: '#/components/schemas/InventoryUpdate' }),
    responses: { 200: { description: 'set', ...json(entry) } },
  };
  const parameters = [{ name: 'sku', in: 'path', required: true, schema: { type: 'integer' } }];
  const paths = { '/stock/{sku}': { parameters, patch } };
  const found = summary(await bind({ openapi: '3.0.3', paths, components: { schemas } }));
  expect(found).toMatchObject({ updateInventory: 'PATCH /stock/{sku}', updateOrder: 'missing' });
});

function json(schema: object) {
  return { content: { 'application/json': { schema } } };
}

describe('a document with other paths and methods', () => {
  test('is bound by the names of its schemas', async () => {
    expect(summary(await bind(warehouse))).toMatchObject({
      listPets: 'GET /animals',
      createPet: 'POST /animals',
      getPet: 'GET /animals/{animal_id}',
      updatePet: 'PATCH /animals/{animal_id}',
      deletePet: 'DELETE /animals/{animal_id}',
      listCategories: 'GET /kinds',
      createCategory: 'POST /kinds',
      getCategory: 'GET /kind',
      updateCategory: 'missing',
      updateInventory: 'PUT /stock',
      listOrders: 'missing',
    });
  });

  test('keeps the places of its parameters and gives them the names of the table', async () => {
    const { contract } = await bind(warehouse);
    expect(contract.operations.get('listPets')?.parameters).toEqual([
      {
        name: 'status',
        wireName: 'pet_status',
        in: 'query',
        required: false,
        bounds: { enum: ['available', 'pending', 'sold'] },
      },
      {
        name: 'categoryId',
        wireName: 'category_id',
        in: 'query',
        required: false,
        bounds: { type: 'integer' },
      },
      {
        name: 'limit',
        wireName: 'page_size',
        in: 'query',
        required: false,
        bounds: { type: 'integer', minimum: 1, maximum: 50 },
      },
      {
        name: 'api-version',
        wireName: 'api-version',
        in: 'query',
        required: true,
        value: '2',
      },
    ]);
    expect(contract.operations.get('getPet')?.parameters).toEqual([
      {
        name: 'petId',
        wireName: 'animal_id',
        in: 'path',
        required: true,
        bounds: { type: 'integer', minimum: 1 },
      },
    ]);
    expect(contract.operations.get('getCategory')?.parameters).toMatchObject([
      { name: 'categoryId', wireName: 'id', in: 'query', required: true },
    ]);
    expect(contract.operations.get('updateInventory')?.parameters).toMatchObject([
      { name: 'petId', wireName: 'X-Pet-Id', in: 'header', required: true },
    ]);
  });

  test('has required fields and bounds, with exact int64 values', async () => {
    const { contract } = await bind(warehouse);
    expect(contract.operations.get('createPet')?.body).toEqual({
      name: 'NewPet',
      mediaType: 'application/json',
      required: ['name', 'categoryId', 'status'],
      bounds: {
        name: { type: 'string', minLength: 2, maxLength: 40 },
        categoryId: { type: 'integer', minimum: 1, maximum: 9223372036854775807n },
        status: { type: 'string', enum: ['available', 'pending', 'sold'] },
      },
      fields: { name: 'text', categoryId: 1, status: 'available', friends: [] },
    });
    expect(contract.operations.get('updatePet')?.body).toMatchObject({
      mediaType: 'application/merge-patch+json',
      required: [],
    });
    expect(contract.operations.get('updateInventory')?.body?.bounds.quantity).toEqual({
      type: 'integer',
      minimum: 0,
      maximum: 999,
    });
  });

  test('has a life cycle, security and servers', async () => {
    const { contract } = await bind(warehouse);
    expect(contract.operations.get('getPet')).toMatchObject({
      deprecated: true,
      sunset: '2030-06-30',
      secured: true,
    });
    expect(contract.operations.get('updateInventory')).toMatchObject({ stability: 'beta' });
    expect(contract.credentialPlaces).toEqual([{ in: 'header', name: 'x-api-key' }]);
    const description = await readDescription({ url, text: warehouse, read: unreachable });
    expect(serversOf(description)).toEqual(['https://eu.warehouse.test/api/v2']);
  });

  test('has the scheme Basic, unless it has Bearer too', async () => {
    const [basic, bearer] = ['basic', 'bearer'].map((scheme) => ({ type: 'http', scheme }));
    const placesOf = async (securitySchemes: object) =>
      (await bind({ ...sparse, components: { securitySchemes } })).contract.credentialPlaces;
    const place = { in: 'header', name: 'authorization' };
    expect(await placesOf({ basic })).toEqual([{ ...place, scheme: 'Basic' }]);
    expect(await placesOf({ basic, bearer })).toEqual([place]);
  });

  test('has a self-contained schema for each answer, even with cycles', async () => {
    const { contract } = await bind(warehouse);
    const answers = contract.operations.get('getPet')?.answers;
    expect(Object.keys(answers ?? {})).toEqual(['200', '4XX']);
    expect(answers?.['200']?.schema).toMatchObject({
      $ref: '#/$defs/Pet',
      $defs: {
        Pet: { allOf: [{ $ref: '#/$defs/NewPet' }, { required: ['id'] }] },
        NewPet: { properties: { friends: { type: 'array', items: { $ref: '#/$defs/Pet' } } } },
      },
    });
    expect(() =>
      JSON.stringify(answers, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    ).not.toThrow();
  });
});

describe('an OpenAPI 3.1 document without our schema names', () => {
  test('is bound by the fields of its schemas', async () => {
    const binding = await bind(unnamed);
    expect(summary(binding)).toMatchObject({
      listPets: 'GET /v1/beasts',
      createPet: 'POST /v1/beasts',
      getPet: 'GET /v1/beasts/{id}',
      updatePet: 'PUT /v1/beasts/{id}',
      deletePet: 'missing',
      getInventory: 'GET /v1/counts/{id}',
      updateInventory: 'PUT /v1/counts/{id}',
      listCategories: 'GET /v1/categories',
      createCategory: 'missing',
    });
    expect(binding.matches.get('getPet')).toMatchObject({
      confidence: 'medium',
      why: 'answers Pet by its fields',
    });
  });

  test('has no record if the documented answer has no body', async () => {
    const { contract } = await bind(unnamed);
    expect(contract.operations.get('updatePet')).toMatchObject({ success: [204] });
    expect(contract.operations.get('updatePet')?.result).toBeUndefined();
  });
});

test('binds the two stated operations of a sparse document', async () => {
  const binding = await bind(sparse);
  expect([...binding.contract.operations.keys()]).toEqual(['getPet', 'listOrders']);
  expect(binding.matches.get('getPet')).toMatchObject({ confidence: 'low' });
  expect(binding.contract.operations.get('listOrders')).toMatchObject({ hideTryIt: true });
  expect(binding.contract.operations.get('getPet')).toMatchObject({ deprecated: true });
});

describe('an ambiguous document', () => {
  test('leaves a tie unbound and names the operations that fit, unless operationId decides', async () => {
    const binding = await bind(ambiguous);
    expect(summary(binding)).toMatchObject({
      listPets: 'GET /pets',
      getPet: 'ambiguous',
      updateInventory: 'ambiguous',
    });
    expect(binding.matches.get('updateInventory')).toMatchObject({
      why: '2 operations fit: PUT /stock/{id}, PATCH /stock/{id}',
    });
    expect(binding.contract.missing.get('getPet')).toContain('GET /orders/{id}/pet');
  });

  test('is settled by the user, whatever the name of the path parameter', async () => {
    const targets = new Map<OperationId, Target>([
      ['updateInventory', { method: 'PATCH', path: '/stock/{petId}' }],
      ['getPet', { method: 'GET', path: '/pets/{id}' }],
    ]);
    const binding = await bind(ambiguous, targets);
    expect(summary(binding)).toMatchObject({
      updateInventory: 'PATCH /stock/{id}',
      getPet: 'GET /pets/{id}',
    });
  });

  test('refuses a target that does not exist or cannot be called as that operation', async () => {
    const map = (id: OperationId, method: string, path: string) =>
      bind(ambiguous, new Map([[id, { method, path }]]));
    await expect(map('getPet', 'GET', '/beasts/{id}')).rejects.toThrow('has no GET /beasts/{id}');
    await expect(map('getPet', 'GET', '/pets')).rejects.toThrow('getPet takes one id, and its path has none');
  });
});

test('binds a resource with missing fields, and reports one without its key or with a field of another type', async () => {
  const pet = (fields: object) => ({
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
    ...fields,
  });
  const document = (properties: object) => ({
    openapi: '3.0.0',
    'x-hideTryItPanel': true,
    paths: {
      '/pet': { post: { requestBody: pet({}), responses: { 200: pet({ description: 'made' }) } } },
      '/pet/{id}': {
        get: { responses: { 200: pet({ description: 'ok' }) } },
        delete: { operationId: 'deletePet' },
      },
    },
    components: { schemas: { Pet: { type: 'object', properties } } },
  });
  const whole = await bind(document({ id: { type: 'integer' }, name: { type: 'string' } }));
  expect(whole.matches.get('getPet')).toMatchObject({
    state: 'bound',
    why: 'answers Pet (no categoryId, status)',
  });
  const lacking = await bind(document({ id: { type: 'integer' } }));
  const why = 'its Pet has no field name';
  expect(lacking.matches.get('getPet')).toMatchObject({ state: 'unbindable', why });
  expect(lacking.matches.get('createPet')).toMatchObject({ state: 'unbindable', why });
  expect(lacking.contract.operations.get('deletePet')).toMatchObject({ hideTryIt: true });
  const other = await bind(document({ id: { type: 'string', format: 'uuid' }, name: {}, categoryId: {} }));
  expect(other.matches.get('getPet')).toMatchObject({
    why: 'its Pet has the field id as a string, not an integer',
  });
});

describe('an operation near a noun', () => {
  const json = (schema: object) => ({ content: { 'application/json': { schema } } });
  const ref = (name: string) => json({ $ref: `#/components/schemas/${name}` });
  const named = { type: 'object', required: ['name'], properties: { id: { type: 'integer' }, name: {} } };
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
  const pets = { type: 'array', items: { $ref: '#/components/schemas/Pet' } };
  const bindPaths = (paths: object, schemas: object = {}) =>
    bind({ openapi: '3.1.0', paths, components: { schemas: { Pet: named, PetType: named, ...schemas } } });

  test('is not one on its records: types of pets, searches, relative changes of a count', async () => {
    const { matches } = await bindPaths({
      '/pettypes': { post: { operationId: 'addPetType', requestBody: json(named), responses: {} } },
      '/pets/search': {
        post: { operationId: 'searchPets', requestBody: ref('Pet'), responses: { 200: json(pets) } },
      },
      '/stock/{id}/adjust': {
        parameters: [id],
        post: {
          operationId: 'adjustInventory',
          requestBody: json({ type: 'object', properties: { quantity: { type: 'integer' } } }),
        },
      },
    });
    expect([...matches.values()].filter(({ state }) => state === 'bound')).toEqual([]);
  });

  test('is one on its records if its operationId says so', async () => {
    const { matches } = await bindPaths({
      '/animals': { post: { operationId: 'addNewPet', requestBody: json(named), responses: {} } },
    });
    expect(matches.get('createPet')).toMatchObject({ state: 'bound', operation: { path: '/animals' } });
  });

  test('is one on its records if their name says whose they are', async () => {
    const kinds = { type: 'array', items: { $ref: '#/components/schemas/PetCategory' } };
    const { matches } = await bindPaths(
      { '/pet-categories': { get: { responses: { 200: json(kinds) } } } },
      { PetCategory: named },
    );
    expect(matches.get('listCategories')).toMatchObject({ state: 'bound' });
    expect(matches.get('listPets')).toMatchObject({ state: 'missing' });
  });

  test('is not the one for a whole record if it takes a patched one', async () => {
    const take = (name: string) => ({ requestBody: ref(name), parameters: [id] });
    const paths = { '/api/pets/{id}/': { put: take('Pet'), patch: take('PatchedPet') } };
    const { matches } = await bindPaths(paths, { PatchedPet: named });
    expect(matches.get('updatePet')).toMatchObject({ state: 'bound', operation: { method: 'PUT' } });
  });

  test('is missing, not unbindable, if the only one is the list', async () => {
    const { matches } = await bindPaths({ '/pets': { get: { responses: { 200: json(pets) } } } });
    expect(matches.get('getPet')).toMatchObject({ state: 'missing' });
  });

  test('is unbindable if its ids are not integers, also when only its answer says so', async () => {
    const uuid = { type: 'string', format: 'uuid' };
    const { matches } = await bindPaths(
      {
        '/pets': { post: { requestBody: ref('NewPet'), responses: { 201: ref('Animal') } } },
        '/pets/{id}': { put: { requestBody: ref('NewPet'), parameters: [{ ...id, schema: uuid }] } },
      },
      { NewPet: named, Animal: { type: 'object', properties: { id: uuid, name: {} } } },
    );
    expect(matches.get('createPet')).toMatchObject({
      state: 'unbindable',
      why: 'its Animal has the field id as a string, not an integer',
    });
    expect(matches.get('updatePet')).toMatchObject({
      state: 'unbindable',
      why: 'its id is a UUID, not an integer',
    });
  });

  test('is one on its records although its body is described as an object without fields', async () => {
    const { contract } = await bindPaths(
      { '/pets/{id}': { parameters: [id], patch: { requestBody: ref('UpdatePetDto') } } },
      { UpdatePetDto: { type: 'object', properties: {} } },
    );
    expect(contract.operations.get('updatePet')).toMatchObject({ method: 'PATCH', body: { required: [] } });
    expect(contract.operations.get('updatePet')?.body?.fields).toBeUndefined();
  });

  test('has no record to print if it answers only with an id', async () => {
    const { contract } = await bindPaths({
      '/pets': {
        post: {
          requestBody: ref('Pet'),
          responses: { 201: json({ type: 'object', properties: { id: { type: 'integer' } } }) },
        },
      },
    });
    expect(contract.operations.get('createPet')?.result).toBeUndefined();
  });
});

test('reports a list below another record', async () => {
  const schema = { type: 'array', items: { $ref: '#/components/schemas/Pet' } };
  const responses = { 200: { description: 'ok', content: { 'application/json': { schema } } } };
  const pet = { type: 'object', properties: { id: {}, name: {}, categoryId: {} } };
  const document = {
    openapi: '3.1.0',
    paths: { '/shops/{shop}/pets': { get: { responses } } },
    components: { schemas: { Pet: pet } },
  };
  expect((await bind(document)).matches.get('listPets')).toMatchObject({
    state: 'unbindable',
    why: 'listPets takes no id, and its path has one',
  });
});

test('reports the operation that comes nearest, not the first that comes near', async () => {
  const pet = { $ref: '#/components/schemas/Pet' };
  const answering = (schema: object) => ({
    responses: { 200: { description: 'ok', content: { 'application/json': { schema } } } },
  });
  const tag = { name: 'tag', in: 'query', required: true, schema: { type: 'string' } };
  const document = {
    openapi: '3.1.0',
    paths: {
      '/animals': { get: answering({ $ref: '#/components/schemas/Pets' }) },
      '/animal': { get: { ...answering(pet), parameters: [tag] } },
    },
    components: {
      schemas: {
        Pet: { type: 'object', properties: { id: { type: 'integer' }, name: {}, categoryId: {} } },
        Pets: { type: 'array', items: pet },
      },
    },
  };
  expect((await bind(document)).matches.get('getPet')).toMatchObject({
    state: 'unbindable',
    operation: { path: '/animal' },
  });
});

describe('a part that no request may contain', () => {
  const list = {
    parameters: [
      { name: 'Content-Type', in: 'header', required: true, schema: { type: 'string' } },
      { name: 'X-Region', in: 'header', required: true, schema: { const: 'eu\r\nX-Other: 1' } },
    ],
    responses: {
      200: {
        description: 'ok',
        content: {
          'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Pet' } } },
        },
      },
    },
  };
  const document = (path: string, operation: object) => ({
    openapi: '3.1.0',
    paths: { [path]: { get: operation } },
    components: {
      schemas: { Pet: { type: 'object' as const, properties: { id: {}, name: {}, categoryId: {} } } },
    },
  });

  test.each(['/pets?all=1', '/pets#all', '/../pets', '/pe ts', '/pets\n', 'pets'])(
    'is skipped as a path: %j',
    async (path) => {
      expect((await bind(document(path, list))).contract.operations.size).toBe(0);
    },
  );

  test('is left to the user as a header value', async () => {
    const { contract } = await bind(document('/pets', list));
    expect(contract.operations.get('listPets')?.parameters).toEqual([
      { name: 'X-Region', wireName: 'X-Region', in: 'header', required: true, bounds: expect.anything() },
    ]);
  });

  test('makes an operation unbindable if it is a required parameter without a value', async () => {
    const parameters = [{ name: 'shop', in: 'query', required: true, schema: { type: 'string' } }];
    expect((await bind(document('/pets', { ...list, parameters }))).matches.get('listPets')).toMatchObject({
      state: 'unbindable',
      why: 'it needs the query parameter shop, which petstore has no value for',
    });
  });
});

test('accepts an id that the description calls a string', async () => {
  const path = '/animals/{animal_id}';
  const text = warehouse.replace(
    '{ name: animal_id, in: path, required: true, schema: { type: integer, format: int64, minimum: 1 } }',
    '{ name: animal_id, in: path, required: true, schema: { type: string } }',
  );
  const { contract } = await bind(text);
  expect(contract.operations.get('getPet')).toMatchObject({ path });
  expect(contract.operations.get('getPet')?.parameters[0]?.bounds).toBeUndefined();
});

test('reports a list that is wrapped in an object', async () => {
  const binding = await bind(wrapped);
  const why = 'it answers an object that holds the list in its field data, not an array';
  expect(binding.matches.get('listPets')).toMatchObject({ state: 'unbindable', why });
  expect(binding.contract.missing.get('listPets')).toBe(`GET /pets does not fit: ${why}`);
  expect(summary(binding).getPet).toBe('GET /pets/{id}');
  const target = new Map<OperationId, Target>([['listPets', { method: 'GET', path: '/pets' }]]);
  await expect(bind(wrapped, target)).rejects.toThrow('in its field data, not an array');
});

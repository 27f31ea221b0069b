import { describe, expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import { operationIds } from '../../src/api/operations.ts';
import { idParameterOf } from '../../src/binding/record-id.ts';
import type { JsonObject } from '../../src/process/exact-json.ts';
import { loadYaml } from '../../src/process/exact-yaml.ts';
import { localSunset } from '../../src/server/app.ts';
import { bindDocument, describeRow, readCorpus } from '../helpers/corpus.ts';
import { runCli } from '../helpers/run-cli.ts';

// `api bind` matches the operations of a description with ours, by its rules (corpus.test.ts) or by --map.

const [shops = {}, pets = {}, animals = {}, entries = {}] = readCorpus(`
# shops that each have pets
Pet: id# name
GET /shops/{shopId}/pets -> Pet[]
POST /shops/{shopId}/pets/{petId}/remove
GET /pets -> Pet[]
PUT /pets {name}
PUT /pets/{petId} Pet
PUT /shops/{shopId}/pets Pet
DELETE /shops/{shopId}/pets
DELETE /shops/{shopId}/pets/{petId}
GET /pets/{petId}.json -> Pet

# pets
Pet: id# name
GET /pets -> Pet[]
POST /pets Pet -> Pet
PATCH /pets/{petId} Pet -> Pet

# animals, whose purchases are deleted by animal
Animal: animalId# petName
Owned: id# animalId# petName
Purchase: id# animalId#
Stock: animalId# onHand#
GET /animals -> Animal[]
POST /animals Animal -> Animal
GET /animals/{animalId} -> Animal
PATCH /animals/{animal_id} Animal -> Animal
DELETE /animals/{id}
GET /owned -> Owned[]
GET /owned/{animalId} -> Owned
DELETE /owned/{id}
GET /orders -> Purchase[]
DELETE /orders/{animalId}
GET /stock -> Stock[]
PUT /stock/{animalId} {onHand#} -> Stock
DELETE /stock/{animalId}

# entries with an id of their own
Stock: id# petId# quantity#
GET /inventories -> Stock[]
PUT /inventories/{id} Stock -> Stock
PUT /inventory/{key} Stock -> Stock
POST /inventory/{id}/set Stock -> Stock
`).map((row): JsonObject => describeRow(row).document);

/** Binds a document with the values of `--map`. Returns the routes of the bound operations. */
async function bind(document: unknown, ...maps: string[]) {
  const argv = ['api', 'bind', '-', '--base-url', 'http://service.test', '--dry-run', '-o', 'json'];
  const flags = maps.flatMap((map) => ['--map', map]);
  const { code, stdout, stderr } = await runCli([...argv, ...flags], { stdin: JSON.stringify(document) });
  const rows: Record<string, string | null>[] = stdout === '' ? [] : JSON.parse(stdout);
  const bound = rows.filter(({ path }) => path !== null);
  const routes = bound.map(({ operation, method, path }) => [operation, `${method} ${path}`]);
  return { code, stderr, routes: Object.fromEntries(routes) };
}

test("the program's own document is bound as the table, a bare one with two operations", async () => {
  expect(Object.keys((await bindDocument(toOpenApi() as unknown as JsonObject)).bound)).toEqual(operationIds);
  const bare = { '/pets/{petId}': { get: { responses: {} } }, '/store/orders': { get: { responses: {} } } };
  const { bound } = await bindDocument({ openapi: '3.0.0', paths: bare });
  expect(bound).toEqual({ getPet: 'GET /pets/{petId}', listOrders: 'GET /store/orders' });
});

/** Returns the pets with more members of one of their operations. */
function withMembers(method: string, path: string, members: JsonObject): JsonObject {
  const document = structuredClone(pets) as { paths: Record<string, Record<string, object>> };
  Object.assign(document.paths[path]?.[method] ?? {}, members);
  return document as unknown as JsonObject;
}

test.each([
  ['application/json', true],
  ['application/json; charset=utf-8', true],
  ['application/merge-patch+json', true],
  ['*/*', true],
  ['application/vnd.shop.v2+json', true],
  ['application/json-patch+json', false],
  ['application/vnd.api+json', false],
  ['application/xml', false],
])('a body is bound by its media type: %s: %s', async (type, isBound) => {
  const requestBody = { content: { [type]: { schema: {} } } };
  const { bound } = await bindDocument(withMembers('patch', '/pets/{petId}', { requestBody }));
  expect(bound.updatePet).toBe(isBound ? 'PATCH /pets/{petId}' : undefined);
});

test.each([
  ['listPets=GET /shops/7/pets', { listPets: 'GET /shops/7/pets' }],
  ['updatePet=PUT /shops/7/pets', { updatePet: 'PUT /shops/7/pets' }],
  ['deletePet=post /shops/7/pets/{x}/remove', { deletePet: 'POST /shops/7/pets/{petId}/remove' }],
])('--map %s decides, with any method, and gives values to further parameters', async (map, bound) => {
  expect(await bind(shops, map)).toMatchObject({ code: 0, routes: bound });
});

const ofAnimals = 'pets.id=animalId, pets.name=petName, orders.petId=animalId';
const ofStock = 'inventory.petId=animalId, inventory.quantity=onHand, listInventory=GET /stock';

test.each([
  [
    `${ofAnimals}, listPets=GET /animals`,
    'GET /animals/{animalId} PATCH /animals/{animal_id} DELETE /animals/{id}',
  ],
  [`${ofAnimals}, listPets=GET /owned, ${ofStock}`, 'GET /owned/{animalId} PUT /stock/{animalId}'],
  ['orders.id=animalId, orders.petId=id', 'DELETE /orders/{animalId}'],
])(
  'the parameter that --map names as the id of a noun is the id in its paths alone: %s',
  async (maps, bound) => {
    const { routes } = await bind(animals, ...maps.split(', '));
    const withId = Object.values<string>(routes).filter((route) => route.includes('{'));
    expect(withId.join(' ')).toBe(bound);
  },
);

test.each([
  ['updateInventory=PUT /inventories/{id}', 'its id may be another field of the records than petId'],
  ['updateInventory=PUT /inventory/{key}', 'its key may be another field of the records than petId'],
  ['updateInventory=POST /inventory/{id}/set', 'its id may be another field of the records than petId'],
  ['inventory.petId=id', 'its records have a field petId of their own'],
])('--map %s is refused, because the id of an entry is not that of its pet', async (map, why) => {
  const { code, stderr } = await bind(entries, map);
  expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
});

test('the parameter of a path that is named as an id is that id, else the last one', () => {
  const path = '/pets/{pet_id}/inventory/{locationId}';
  expect(['petId', 'orderId'].map((name) => idParameterOf(path, name))).toEqual(['pet_id', 'locationId']);
});

test('a route of --map that may add to the count says so', async () => {
  const [row] = readCorpus('# x\nPOST /stock/{petId} {quantity#} (adjustStock)').map(describeRow);
  const routes = new Map([['updateInventory', { method: 'POST', path: '/stock/{petId}' }] as const]);
  const { matches } = await bindDocument(row?.document ?? {}, { operations: routes });
  const { why } = matches.get('updateInventory') ?? {};
  expect(why).toBe('set by --map, though it says adjust, so it may change the count instead of setting it');
});

test.each([
  ['updateInventory', 'must be <operation>=<METHOD> <path>, or <noun>.<field>=<name>'],
  ['listPets=GET /pets?key=s3cret x', '"message":"--map: must be <operation>'],
  ['pets.name=title', 'no bound operation of pets has a field title'],
  [
    'pets.id=name',
    'hint":"listPets is not bound: GET /pets does not fit: its Pet has the field name as a string',
  ],
  [
    'listOrders=GET /pets',
    'hint":"its Pet has id, name: name the field that is meant with --map orders.petId=<field>',
  ],
  [
    'pets.category=kind',
    'there is no such field","code":"invalid_flag","hint":"the fields are pets.id, pets.name',
  ],
  ['dogs.name=title', 'there is no such field'],
  ['updateStock=PUT /stock/{id}', 'there is no such operation'],
  [
    'listPets=GET /shops/pets',
    'the description has no GET /shops/pets","code":"invalid_flag","hint":"it has GET /shops/{shopId}/pets, PUT /shops',
  ],
  ['deletePet=PUT /pets/{petId}', 'deletePet needs DELETE or POST'],
  ['updatePet=DELETE /shops/7/pets/{petId}', 'updatePet needs PUT or PATCH or POST'],
  ['deletePet=GET /pets', 'deletePet takes one id, and its path has none'],
  ['updatePet=PUT /pets', 'updatePet takes one id, and its path has none'],
  ['updatePet=PUT /pets/7', 'updatePet takes one id, and its path has none'],
  ['deletePet=DELETE /shops/{shopId}/pets/7', 'deletePet takes one id, and its path has none'],
  ['deletePet=DELETE /shops/{shopId}/pets', 'deletePet takes one id, and its path has none'],
  ['getPet=GET /pets/{petId}.json', 'its path has a parameter within a word'],
  ['listPets=GET /pets?order=name', 'GET /pets has no query parameter order'],
  ['listPets=GET /shops/{shopId}/pets', 'listPets takes no id, and its path has one'],
])('--map %s is an error', async (map, why) => {
  const { code, stderr } = await bind(shops, map);
  expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
});

test.each(['/pets?all=1', '/pets#all', '/../pets', '/%2e%2e/admin/pets', '/pe ts', '/pets\n', 'pets'])(
  'a path that no request may have is skipped: %j',
  async (path) => {
    const { '/pets': item = {} } = pets.paths as JsonObject;
    const paths = { [path]: item, '/orders': { get: { responses: {} } } };
    expect((await bindDocument({ ...pets, paths })).bound).toEqual({ listOrders: 'GET /orders' });
  },
);

test('api operations shows every operation with its source and life cycle', async () => {
  const { code, stdout } = await runCli(['api', 'operations', '--all', '-o', 'csv']);
  const lines = stdout.split('\n');
  expect(code).toBe(0);
  expect(lines[0]).toBe('operation,method,path,source,stability,deprecated,tag,sunset,tryIt,why');
  expect(lines).toContain('getPet,GET,/pets/{petId},stated,stable,true,Pets,,true,');
  expect(lines).toContain('listOrders,GET,/store/orders,stated,stable,false,Store,,false,');
  expect(lines).toContain('updateOrder,PUT,/store/orders/{orderId},chosen,beta,false,Store,,true,');
  expect(lines).toContain(
    'deleteInventory,DELETE,/store/inventory/{petId},chosen,experimental,false,Store,,true,',
  );
  const usual = await runCli(['api', 'operations', '-o', 'csv']);
  expect(usual.stdout.split('\n')[0]).toBe('operation,method,path,source,stability,deprecated');
  const { stdout: ids } = await runCli(['api', 'operations', '-o', 'ids']);
  expect(ids.trim().split('\n')).toEqual(operationIds);
});

describe('api spec', () => {
  test('prints the document of the table as JSON, compact in a pipe and indented on a terminal', async () => {
    const piped = await runCli(['api', 'spec']);
    expect(piped).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(piped.stdout)).toEqual(toOpenApi({ sunset: localSunset }));
    expect(piped.stdout.split('\n')).toHaveLength(2);
    const printed = await runCli(['api', 'spec'], { terminals: ['stdout'] });
    expect(printed.stdout).toMatch(/^\{\n {2}"openapi": "3\.0\.3",\n/);
  });

  test('names the schemas as the specification does', () => {
    const { components } = toOpenApi();
    expect(Object.keys(components.schemas).join(' ')).toBe(
      'PetStatus NewPet Pet NewCategory Category Order InventoryItem InventoryUpdate Pets Error',
    );
    expect(components.schemas.NewPet).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string' },
        categoryId: { type: 'integer', format: 'int64' },
        status: { $ref: '#/components/schemas/PetStatus' },
      },
      required: ['name', 'categoryId'],
    });
  });

  test('prints the same as YAML', async () => {
    const { stdout } = await runCli(['api', 'spec', '-o', 'yaml']);
    expect((await loadYaml()).parse(stdout)).toEqual(toOpenApi({ sunset: localSunset }));
    const { stdout: other } = await runCli(['api', 'spec'], { env: { PETSTORE_OUTPUT: 'yaml' } });
    expect(other).toBe(stdout);
  });

  test('names the base URL as its server', async () => {
    const { stdout } = await runCli(['api', 'spec', '--base-url', 'http://mine.test/v1']);
    expect(JSON.parse(stdout).servers).toEqual([{ url: 'http://mine.test/v1' }]);
  });
});

import { expect, onTestFinished, test } from 'vitest';
import { type Bound, bindTo } from '../helpers/bound.ts';
import { failed, type RunOptions } from '../helpers/run-cli.ts';
import { validatingService } from '../helpers/validating-service.ts';

// Public descriptions, with services that validate every request and every response with the description
// itself.

async function open(file: string, ...maps: string[]) {
  const service = await validatingService(`test/fixtures/${file}`);
  onTestFinished(async () => {
    expect(service.violations).toEqual([]);
    await service[Symbol.asyncDispose]();
  });
  const bound = await bindTo(service, undefined, { maps });
  service.violations.length = 0;
  return { service, ...bound, data: dataOf(bound) };
}

/** Returns the JSON output of commands, which must succeed. */
function dataOf({ done }: Bound) {
  return async (line: string, options?: RunOptions) => JSON.parse(await done(`${line} -o json`, options));
}

/** The bound operations, `METHOD path` by id. */
async function boundOperations({ done }: Bound): Promise<object> {
  const rows: { operation: string; method: string | null; path: string }[] = JSON.parse(
    await done('api operations -o json'),
  );
  const bound = rows.filter(({ method }) => method !== null);
  return Object.fromEntries(bound.map(({ operation, method, path }) => [operation, `${method} ${path}`]));
}

test("Swagger's Petstore: pets can be created, listed, read, updated and deleted", async () => {
  const store = await open('swagger-petstore.yaml', 'listPets=GET /pet/findByStatus');
  const { run, done, data } = store;
  expect(await boundOperations(store)).toEqual({
    listPets: 'GET /pet/findByStatus',
    createPet: 'POST /pet',
    getPet: 'GET /pet/{petId}',
    updatePet: 'PUT /pet',
    deletePet: 'DELETE /pet/{petId}',
    createOrder: 'POST /store/order',
    getOrder: 'GET /store/order/{orderId}',
    deleteOrder: 'DELETE /store/order/{orderId}',
  });
  expect(await run('pets create --name Rex')).toMatchObject(failed(2, '--field photoUrls=<value>'));
  expect(store.service.requests).toEqual([]);

  const rex = { name: 'Rex', category: { id: 3 }, status: 'available', photoUrls: [], id: 1 };
  const flags = '--name Rex --category 3 --status available --field photoUrls=[]';
  expect(await data(`pets create ${flags}`)).toEqual(rex);
  expect(await done('pets list')).toMatch(/^ *1 +Rex +3 +available$/m);
  expect((await run('pets list')).stderr).toContain('it has only the records with status available');
  expect(await data('pets list --status sold')).toEqual([]);
  expect(await data('pets list --status available --category 3')).toEqual([rex]);
  expect(await data('pets list --category 4 --status available')).toEqual([]);
  expect(await run('pets update 1 --category Dogs')).toMatchObject(
    failed(2, 'the service offers no way to list categories (listCategories)'),
  );
  const tags = [{ id: 2, name: 'old' }];
  expect(await data(`pets update 1 --status sold --field tags=${JSON.stringify(tags)}`)).toEqual({
    ...rex,
    status: 'sold',
    tags,
  });
  expect(await data('pets list --status sold')).toHaveLength(1);
  expect(await run('pets get Rex')).toMatchObject(failed(2, 'this command needs every record'));
  expect(await data('pets update 1 --category 7')).toMatchObject({ category: { id: 7 }, status: 'sold' });
  expect(await done('pets delete 1 --yes')).toBe('');
  expect(await run('pets get 1')).toMatchObject(failed(5, 'no such record (GET '));
});

test("Swagger's Petstore: pets can be created and updated from files, orders too, and smoke passes", async () => {
  const store = await open('swagger-petstore.yaml');
  const { run, done, data } = store;
  // Lists by status have only some of the pets, and the inventory is a map of numbers.
  expect(Object.keys(await boundOperations(store)).sort()).toEqual(
    'createOrder createPet deleteOrder deletePet getOrder getPet updatePet'.split(' '),
  );
  const pets = [
    { name: 'Rex', photoUrls: [], category: { id: 3, name: 'Dogs' }, status: 'available' },
    { name: 'Mia', photoUrls: ['https://example.com/mia.png'], status: 'available' },
  ];
  await done('pets create --from - --yes --concurrency 1', { stdin: JSON.stringify(pets) });
  for (const [at, pet] of pets.entries())
    expect(await data(`pets get ${at + 1}`)).toEqual({ ...pet, id: at + 1 });
  await done('pets create --from - --yes', { stdin: 'name,status,photoUrls\nTom,available,[]\n' });
  expect(await data('pets get 3')).toEqual({ name: 'Tom', status: 'available', photoUrls: [], id: 3 });
  await data('pets update --from - --yes', { stdin: '[{"id":1,"categoryId":7}]' });
  await done('undo --yes');
  await done('pets update --from - --yes', { stdin: await done('pets get 1 -o csv') });
  expect(await data('pets get 1')).toEqual({ ...pets[0], id: 1 });
  await data('pets update --from - --yes', { stdin: '[{"id":2,"name":"Maya"}]' });
  expect(await data('pets get 2')).toEqual({ ...pets[1], id: 2, name: 'Maya' });

  const placed = { petId: 1, quantity: 2, complete: true, status: 'placed', id: 1 };
  const order = 'orders create --pet 1 --quantity 2 --complete --field status=placed';
  expect(await data(order)).toEqual(placed);
  expect(await data('orders get 1')).toEqual(placed);
  await done('orders delete 1 --yes');
  expect(await run('orders get 1')).toMatchObject({ code: 5 });
  expect(await run('orders list')).toMatchObject(failed(2, 'the service offers no way to list'));

  const { checks } = await data('smoke --write --yes --only write/*');
  const results = checks.map(({ id, result }: { id: string; result: string }) => [id, result]);
  expect(Object.fromEntries(results)).toMatchObject({
    'write/category': 'skip',
    'write/pet': 'pass',
    'write/inventory': 'skip',
    'write/order': 'pass',
    'write/cleanup': 'pass',
  });
});

test('petstore-expanded of the OpenAPI examples: pets can be created, listed, read and deleted', async () => {
  const store = await open('petstore-expanded.yaml');
  const { done, data } = store;
  expect(await boundOperations(store)).toEqual({
    listPets: 'GET /pets',
    createPet: 'POST /pets',
    getPet: 'GET /pets/{id}',
    deletePet: 'DELETE /pets/{id}',
  });
  const rex = { name: 'Rex', tag: 'dog', id: 1 };
  expect(await data('pets create --name Rex --field tag=dog')).toEqual(rex);
  expect(await data('pets list')).toEqual([rex]);
  expect(await done('pets list -o csv')).toBe('id,name,category,status\n1,Rex,,\n');
  expect(await data('pets get 1')).toEqual(rex);
  await done('pets delete 1 --yes');
  expect(await data('pets list')).toEqual([]);
});

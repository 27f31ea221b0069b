import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Run, type RunOptions, runCli } from '../helpers/run-cli.ts';
import { type ValidatingService, validatingService } from '../helpers/validating-service.ts';

let folder: string;
let service: ValidatingService;

async function bound(file: string): Promise<Run> {
  folder = await mkdtemp(join(tmpdir(), 'petstore-stores-'));
  service = await validatingService(`test/fixtures/${file}`);
  return run('api', 'bind');
}

afterEach(async () => {
  expect(service.violations).toEqual([]);
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function run(...argv: (string | RunOptions)[]): Promise<Run> {
  const words = argv.filter((word) => typeof word === 'string');
  const [options = {}] = argv.filter((word) => typeof word !== 'string');
  const env = { PETSTORE_CONFIG_DIR: folder, PETSTORE_BASE_URL: service.url };
  return runCli([...words, '--retries', '0'], { ...options, env });
}

/** What a command prints as JSON; it must succeed. */
async function data(...argv: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await run(...argv, '-o', 'json');
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return JSON.parse(stdout);
}

function states({ stdout }: Run): Record<string, string> {
  const lines = stdout.trimEnd().split('\n').slice(1);
  return Object.fromEntries(
    lines
      .map((line) => line.split(/\s{2,}/))
      .map(([id = '', state = '', method, path]) => [id, state === 'bound' ? `${method} ${path}` : state]),
  );
}

describe("Swagger's Petstore", () => {
  let binding: Run;
  beforeEach(async () => {
    binding = await bound('swagger-petstore.yaml');
    service.seen.length = 0;
    service.violations.length = 0;
  });

  test('has the operations that it offers bound', () => {
    expect(binding.code).toBe(0);
    expect(states(binding)).toMatchObject({
      listPets: 'GET /pet/findByStatus',
      createPet: 'POST /pet',
      getPet: 'GET /pet/{petId}',
      updatePet: 'PUT /pet',
      deletePet: 'DELETE /pet/{petId}',
      createOrder: 'POST /store/order',
      getOrder: 'GET /store/order/{orderId}',
      deleteOrder: 'DELETE /store/order/{orderId}',
      listInventory: 'unbindable',
    });
  });

  test('can create, list, get, update and delete pets', async () => {
    const create = ['pets', 'create', '--name', 'Rex', '--category', 'Dogs', '--status', 'available'];
    const rex = { name: 'Rex', category: { name: 'Dogs' }, status: 'available', photoUrls: [], id: 1 };
    expect(await data(...create, '--field', 'photoUrls=[]')).toEqual(rex);
    expect(await data('pets', 'list')).toEqual([rex]);
    expect((await run('pets', 'list')).stdout).toMatch(/^ *1 +Rex +Dogs +available$/m);
    expect(await data('pets', 'list', '--status', 'sold')).toEqual([]);
    expect(await data('pets', 'list', '--status', 'available', '--category', 'dogs')).toEqual([rex]);
    expect(await data('pets', 'list', '--category', 'Cats')).toEqual([]);
    expect(await data('pets', 'get', '1')).toEqual(rex);
    expect(
      await data('pets', 'update', '1', '--status', 'sold', '--field', 'tags=[{"id":2,"name":"old"}]'),
    ).toEqual({
      ...rex,
      status: 'sold',
      tags: [{ id: 2, name: 'old' }],
    });
    expect(await data('pets', 'list', '--status', 'pending', '--status', 'sold')).toHaveLength(1);
    expect(await data('pets', 'list')).toHaveLength(1);
    expect(await data('pets', 'get', 'Rex')).toMatchObject({ id: 1, status: 'sold' });
    expect(await data('pets', 'update', '1', '--category', '7')).toMatchObject({
      category: { id: 7 },
      status: 'sold',
    });
    expect(await run('pets', 'delete', '1', '--yes')).toMatchObject({ code: 0, stdout: '' });
    expect(await run('pets', 'get', '1')).toMatchObject({ code: 5 });
  });

  test('passes the write checks of smoke for its operations', async () => {
    const smoke = await run('smoke', '--write', '--yes', '--only', 'write/*', '-o', 'json');
    const { checks } = JSON.parse(smoke.stdout) as { checks: { id: string; result: string }[] };
    expect(Object.fromEntries(checks.map(({ id, result }) => [id, result]))).toMatchObject({
      'write/category': 'skip',
      'write/pet': 'pass',
      'write/inventory': 'skip',
      'write/order': 'pass',
      'write/cleanup': 'pass',
    });
    expect(smoke.code).toBe(0);
  });

  test('can create and update pets from files', async () => {
    const pets = [
      { name: 'Rex', photoUrls: [], category: { id: 3, name: 'Dogs' }, status: 'available' },
      { name: 'Mia', photoUrls: ['https://example.com/mia.png'], status: 'available' },
    ];
    const created = await run('pets', 'create', '--from', '-', '-o', 'json', { stdin: JSON.stringify(pets) });
    expect(created.code).toBe(0);
    expect(JSON.parse(created.stdout)).toEqual(pets.map((pet, at) => ({ ...pet, id: at + 1 })));
    const fed = await run('pets', 'create', '--from', '-', '--field', 'photoUrls=[]', '-o', 'json', {
      stdin: '[{"name":"Tom","status":"available"}]',
    });
    expect(JSON.parse(fed.stdout)).toEqual([{ name: 'Tom', status: 'available', photoUrls: [], id: 3 }]);
    const changed = await run('pets', 'update', '--from', '-', '-o', 'json', {
      stdin: '[{"id":2,"name":"Maya"}]',
    });
    expect(JSON.parse(changed.stdout)).toEqual([{ ...pets[1], id: 2, name: 'Maya' }]);
  });

  test('gets no pet without a required field: the error shows an example of that field', async () => {
    const refused = await run('pets', 'create', '--name', 'Rex');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr.replace(/\s+/g, ' ')).toContain("--field photoUrls='[]'");
    expect(service.seen).toEqual([]);
  });

  test('can create, get and delete orders', async () => {
    const order = [
      'orders',
      'create',
      '--pet',
      '1',
      '--quantity',
      '2',
      '--complete',
      '--field',
      'status=placed',
    ];
    const placed = { petId: 1, quantity: 2, complete: true, status: 'placed', id: 1 };
    expect(await data(...order)).toEqual(placed);
    expect(await data('orders', 'get', '1')).toEqual(placed);
    expect(await run('orders', 'delete', '1', '--yes')).toMatchObject({ code: 0 });
    expect(await run('orders', 'get', '1')).toMatchObject({ code: 5 });
    expect(await run('orders', 'list')).toMatchObject({ code: 2 });
  });
});

describe('the petstore-expanded of the OpenAPI examples', () => {
  let binding: Run;
  beforeEach(async () => {
    binding = await bound('petstore-expanded.yaml');
    service.seen.length = 0;
    service.violations.length = 0;
  });

  test('has the operations that it offers bound', () => {
    expect(binding.code).toBe(0);
    expect(states(binding)).toMatchObject({
      listPets: 'GET /pets',
      createPet: 'POST /pets',
      getPet: 'GET /pets/{id}',
      deletePet: 'DELETE /pets/{id}',
    });
  });

  test('can create, list, get and delete pets', async () => {
    const rex = { name: 'Rex', tag: 'dog', id: 1 };
    expect(await data('pets', 'create', '--name', 'Rex', '--field', 'tag=dog')).toEqual(rex);
    expect(await data('pets', 'list')).toEqual([rex]);
    expect((await run('pets', 'list', '-o', 'csv')).stdout).toBe('id,name,category,status\n1,Rex,,\n');
    expect(await data('pets', 'get', '1')).toEqual(rex);
    expect(await run('pets', 'delete', '1', '--yes')).toMatchObject({ code: 0 });
    expect(await data('pets', 'list')).toEqual([]);
  });

  test.each([
    [['pets', 'list', '--status', 'sold'], 'no field status'],
    [['pets', 'list', '--category', '1'], 'no field categoryId'],
    [['pets', 'create', '--name', 'Rex', '--status', 'sold'], '--status'],
    [['pets', 'create', '--name', 'Rex', '--category', '1'], '--category'],
    [['pets', 'create', '--name', 'Rex', '--field', 'weight=3'], 'weight'],
    [['pets', 'update', '1', '--name', 'Rex'], 'updatePet'],
    [['orders', 'create', '--pet', '1'], 'createOrder'],
  ])('gets no request for what it lacks: %j', async (argv, what) => {
    const refused = await run(...argv);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(what);
    expect(service.seen).toEqual([]);
  });
});

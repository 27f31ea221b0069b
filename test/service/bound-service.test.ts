import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ambiguous, warehouse } from '../helpers/descriptions.ts';
import { type RecordingServer, type Reply, recordingServer, type Seen } from '../helpers/recording-server.ts';
import { type Run, type RunOptions, runCli } from '../helpers/run-cli.ts';

/** A service that serves its own description, and a profile of it, bound. */
async function bound(description: unknown, answer: (seen: Seen) => Reply) {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-bound-'));
  const server = await recordingServer({ '/openapi': description }, answer);
  await writeFile(
    join(folder, 'config.json'),
    JSON.stringify({ profile: 'real', profiles: { real: { 'base-url': server.url } } }),
  );
  const run = (argv: readonly string[], options: RunOptions = {}): Promise<Run> =>
    runCli([...argv, '--retries', '0'], { ...options, env: { PETSTORE_CONFIG_DIR: folder, ...options.env } });
  return {
    server,
    run,
    binding: await run(['api', 'bind', `${server.url}/openapi`]),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

/** Bodies of what was sent with a method. */
function bodies({ seen }: RecordingServer, method: string): string[] {
  return seen.filter((one) => one.method === method).map(({ body }) => body);
}

const rex = { id: 7, name: 'Rex', categoryId: 1, status: 'available', friends: [] };

describe('a service with other paths and methods', () => {
  const answer = ({ method, path, body }: Seen): Reply => {
    if (path.startsWith('/kinds')) return { body: [{ id: 1, name: 'Dogs' }] };
    if (path.startsWith('/stock/'))
      return { body: `{"petId":${path.slice(7)},"quantity":5,"status":"sold"}` };
    if (method === 'DELETE') return { status: 204 };
    if (method === 'GET' && !path.startsWith('/animals/')) return { body: [rex] };
    return { status: method === 'POST' ? 201 : 200, body: { ...rex, ...JSON.parse(body || '{}') } };
  };
  let service: Awaited<ReturnType<typeof bound>>;
  let reply = answer;

  beforeAll(async () => {
    service = await bound(warehouse, (seen) => reply(seen));
  });
  beforeEach(() => {
    service.server.seen.length = 0;
    reply = answer;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('is called at its own paths, with its own names and its constant parameters', async () => {
    const list = await service.run([
      'pets',
      'list',
      '--status',
      'available',
      '--category',
      '1',
      '-o',
      'json',
    ]);
    expect(list.code).toBe(0);
    expect(JSON.parse(list.stdout)).toEqual([rex]);
    const [call = ''] = service.server.calls().filter((each) => each.startsWith('GET /animals?'));
    expect([...new URL(call.slice(4), 'http://x').searchParams].sort()).toEqual([
      ['api-version', '2'],
      ['category_id', '1'],
      ['page_size', '50'],
      ['pet_status', 'available'],
    ]);
  });

  test('gets only the changes if it takes a PATCH', async () => {
    const update = await service.run(['pets', 'update', '7', '--status', 'sold']);
    expect(update.code).toBe(0);
    const calls = service.server.calls().filter((call) => call.includes('/animals'));
    expect(calls).toEqual(['GET /animals/7', 'PATCH /animals/7']);
    const [patch] = service.server.seen.filter(({ method }) => method === 'PATCH');
    expect(patch?.body).toBe('{"status":"sold"}');
    expect(patch?.headers['content-type']).toBe('application/merge-patch+json');
  });

  test('gets ids with all their digits in the path', async () => {
    expect(await service.run(['inventory', 'set', '9007199254740993', '5'])).toMatchObject({ code: 0 });
    const [put] = service.server.seen.filter(({ method }) => method === 'PUT');
    expect(put).toMatchObject({
      path: '/stock/9007199254740993',
      body: '{"quantity":5}',
    });
    expect(await service.run(['pets', 'delete', '7', '--yes'])).toMatchObject({ code: 0 });
    expect(service.server.calls()).toContain('DELETE /animals/7');
  });

  test.each([
    [['pets', 'create', '--name', 'Rex', '--category', '1'], '--status'],
    [
      ['pets', 'create', '--name', 'R', '--category', '1', '--status', 'sold'],
      'name must have at least 2 characters',
    ],
    [
      ['pets', 'create', '--name', 'R'.repeat(41), '--category', '1', '--status', 'sold'],
      'at most 40 characters',
    ],
    [
      ['pets', 'create', '--name', 'Rex', '--category', '0', '--status', 'sold'],
      'categoryId must be at least 1',
    ],
    [['pets', 'get', '0'], 'petId must be at least 1'],
    [['inventory', 'set', '7', '1000'], 'quantity must be at most 999'],
  ])('gets no request that it would refuse: %j', async (argv, why) => {
    const refused = await service.run(argv);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(why);
    expect(service.server.calls()).toEqual([]);
  });

  test.each([
    [['orders', 'list']],
    [['orders', 'create', '--pet', '1']],
    [['categories', 'delete', '1', '--yes']],
    [['smoke', '--only', 'op/listOrders']],
  ])('gets no request for what it lacks: %j', async (argv) => {
    const refused = await service.run(argv);
    expect(refused.code).toBe(2);
    expect(service.server.calls().filter((call) => !call.startsWith('GET /kind'))).toEqual([]);
  });

  test('causes one warning for deprecated and beta operations, from its description and its headers', async () => {
    const told = async (...argv: string[]) => (await service.run([...argv, '-o', 'json'])).stderr;
    expect(await told('pets', 'get', '7')).toMatch(
      /^warning: pets get uses an endpoint that ends on 2030-06-30, in \d+ days\n$/,
    );
    expect(await told('pets', 'get', '7', '-q')).toBe('');
    expect(await told('inventory', 'set', '7', '5')).toBe(
      'warning: inventory set uses an endpoint that is beta and may change\n',
    );
    const headers = { deprecation: '@1767225600', sunset: 'Tue, 01 Jan 2030 00:00:00 GMT' };
    reply = (seen) => ({ ...answer(seen), headers });
    expect(await told('pets', 'get', '7')).toMatch(
      /^warning: pets get uses an endpoint that ends on 2030-01-01, in \d+ days \(deprecated since 2026-01-01\)\n$/,
    );
  });
});

test('a service that requires the id in the body too gets it there', async () => {
  const pet = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } };
  const responses = { 200: { description: 'ok', ...pet } };
  const document = {
    openapi: '3.0.3',
    paths: { '/pets/{id}': { get: { responses }, put: { requestBody: pet, responses } } },
    components: {
      schemas: {
        Pet: {
          type: 'object',
          required: ['id', 'name', 'categoryId'],
          properties: { id: { type: 'integer' }, name: { type: 'string' }, categoryId: { type: 'integer' } },
        },
      },
    },
  };
  await using service = await bound(document, ({ body }) => ({
    body: { id: 7, name: 'Rex', categoryId: 1, ...JSON.parse(body || '{}') },
  }));
  expect(await service.run(['pets', 'update', '7', '--name', 'Max'])).toMatchObject({ code: 0 });
  expect(bodies(service.server, 'PUT')).toEqual(['{"id":7,"name":"Max","categoryId":1}']);
});

test('a pet that cannot be read alone is found through the list, and a tie works once it is settled', async () => {
  const answer = ({ path }: Seen): Reply =>
    path.startsWith('/stock') ? { body: { petId: 7, quantity: 3, status: 'sold' } } : { body: [rex] };
  await using service = await bound(ambiguous, answer);
  expect(service.binding.code).toBe(3);
  const found = await service.run(['pets', 'get', '7', '-o', 'json']);
  expect(JSON.parse(found.stdout)).toEqual(rex);
  expect(found.stderr).toContain('getPet is not offered: looking through listPets instead');
  expect(service.server.calls()).toEqual(['GET /pets']);
  expect(await service.run(['inventory', 'set', '7', '3'])).toMatchObject({ code: 2 });
  const map = ['--map', 'updateInventory=PATCH /stock/{petId}', '--map', 'getPet=GET /beasts/{id}'];
  const settled = await service.run(['api', 'bind', `${service.server.url}/openapi`, ...map]);
  expect(settled.code).toBe(0);
  expect(await service.run(['inventory', 'set', '7', '3'])).toMatchObject({ code: 0 });
  expect(service.server.calls()).toContain('PATCH /stock/7');
});

test.each(['patch'])(
  'a count set by %s has the other fields that its schema requires, from the entry as it was read',
  async (method) => {
    const entry = {
      content: { 'application/json': { schema: { $ref: '#/components/schemas/InventoryItem' } } },
    };
    const responses = { 200: { description: 'ok', ...entry } };
    const parameters = [{ name: 'petId', in: 'path', required: true, schema: { type: 'integer' } }];
    const properties = {
      petId: { type: 'integer' },
      quantity: { type: 'integer' },
      status: { type: 'string' },
    };
    const schema = { type: 'object', required: ['petId', 'quantity', 'status'], properties };
    const document = {
      openapi: '3.0.3',
      paths: {
        '/stock/{petId}': { parameters, get: { responses }, [method]: { requestBody: entry, responses } },
      },
      components: { schemas: { InventoryItem: schema } },
    };
    await using service = await bound(document, ({ body }) => ({
      body: { petId: 7, quantity: 5, status: 'sold', ...(body && JSON.parse(body)) },
    }));
    expect(await service.run(['inventory', 'set', '7', '5'])).toMatchObject({ code: 0 });
    const [sent = ''] = bodies(service.server, method.toUpperCase());
    expect(JSON.parse(sent)).toEqual({ petId: 7, status: 'sold', quantity: 5 });
    const folder = await mkdtemp(join(tmpdir(), 'petstore-rows-'));
    const env = { PETSTORE_STATE_DIR: folder };
    const words = ['inventory', 'apply', '-', '--yes'];
    const applied = await service.run(words, { stdin: 'petId,quantity\n7,6\n', env });
    expect(applied).toMatchObject({ code: 0 });
    const [, row = ''] = bodies(service.server, method.toUpperCase());
    expect(JSON.parse(row)).toMatchObject({ status: 'sold', quantity: 6 });
    await rm(folder, { recursive: true });
  },
);

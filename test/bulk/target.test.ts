import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import { bindTo } from '../helpers/bound.ts';
import { failed } from '../helpers/run-cli.ts';
import { shelves, toCsv } from '../helpers/stock-server.ts';
import { openWorkspace, stockShop } from '../helpers/stock-shop.ts';

let shop: Awaited<ReturnType<typeof stockShop>>;
beforeAll(async () => {
  shop = await stockShop([], { 'same.csv': toCsv([5]) });
  shop.misbehave = () => ({ body: { petId: 1, quantity: 5, status: 'sold' } });
  await shop.run(`inventory apply same.csv --base-url ${shop.url}/v1`);
});
afterAll(() => shop[Symbol.asyncDispose]());

test.each([
  ['http://localhost:<port>/v1', true],
  ['HTTP://LOCALHOST:<port>/v1', true],
  ['http://localhost.:<port>/v1', true],
  ['http://127.1:<port>/v1', true],
  ['http://[::ffff:127.0.0.1]:<port>/v1', true],
  ['http://0.0.0.0:<port>/v1', true],
  ['http://127.0.0.1:<port>/v1/', true],
  ['http://127.0.0.1:<port>//v1', true],
  ['http://127.0.0.1:<port>/%761', true],
  ['http://127.0.0.1:<port>/v2', false],
  ['https://127.0.0.1:<port>/v1', false],
  ['http://127.0.0.1/v1', false],
  // A proxy or a tunnel has another service behind each of them.
  ['http://shop.localhost:<port>/v1', false],
  ['http://127.0.0.2:<port>/v1', false],
])('whether %s is the target http://127.0.0.1:<port>/v1: %s', async (alias, isSame) => {
  const url = alias.replace('<port>', new URL(shop.url).port);
  const { stderr } = await shop.run(`resume --base-url ${url}`);
  expect(stderr).toMatch(isSame ? /^run r1 is finished: / : /^there is no run on this service, /);
});

test('the base path of a binding belongs to the target, and resume names the base URL of the run', async () => {
  const { env } = await bindTo(shop, toOpenApi({ serverUrl: '/v1' }), { env: shop.env });
  expect((await shop.run('resume', { env })).stderr).toMatch(/^run r1 is finished: /);
  await bindTo(shop, toOpenApi({ serverUrl: '/v2' }), { env });
  const moved = await shop.run('resume r1', { env });
  const url = `http://localhost:${new URL(shop.url).port}`;
  expect(moved).toMatchObject(
    failed(2, `error: run r1 wrote to ${url}/v1, and this command goes to another service\n`),
  );
  expect((await shop.run(`resume r1 --base-url ${url}/v1`, { env })).stderr).toMatch(/^run r1 is finished: /);
});

test.each([
  ['another path', '/counts/{petId}'],
  ['another store, which a parameter names', '/store/inventory/{petId}?store=8'],
])('a run does not go on with a binding that writes to %s', async (_, route) => {
  const spec = toOpenApi({ serverUrl: '/v1' });
  const { put, ...entry } = spec.paths['/store/inventory/{petId}'] ?? {};
  const [path = ''] = route.split('?');
  const store = { name: 'store', in: 'query', schema: { type: 'string' } };
  const paths = {
    ...spec.paths,
    '/store/inventory/{petId}': entry,
    [path]: {
      ...(path === '/counts/{petId}' ? {} : entry),
      put: { ...put, parameters: [store] },
      parameters: entry.parameters,
    },
  };
  const maps = [`updateInventory=PUT ${route}`];
  const { env } = await bindTo(shop, { ...spec, paths }, { env: shop.env, maps });
  for (const line of ['resume r1', 'undo r1', 'resume'])
    expect((await shop.run(line, { env })).stderr).toBe(
      'error: run r1 was made with another binding; nothing was sent\nhint: bind the service as it was: updateInventory was PUT /store/inventory/{petId}\n',
    );
});

test('a delivery is not booked twice because a binding splits the same URL in another way', async () => {
  await using shop = await stockShop([], { 'd.csv': 'petId,change\n1,1\n' });
  shop.misbehave = ({ quantity = 5 }) => ({ body: { petId: 1, quantity, status: 'sold' } });
  const spec = toOpenApi();
  const paths = Object.fromEntries(Object.entries(spec.paths).map(([path, item]) => [`/v1${path}`, item]));
  const deliver = 'inventory apply d.csv --relative --delivery LS-1 --yes';
  const { env } = await bindTo(shop, { ...spec, paths }, { env: shop.env });
  expect(await shop.report(deliver, { env })).toMatchObject({ code: 0, applied: 1 });
  await bindTo(shop, toOpenApi({ serverUrl: '/v1' }), { env });
  const { code, error } = await shop.report(deliver, { env });
  expect({ code, error }).toMatchObject({ code: 2, error: { code: 'other_profile' } });
});

test('exports counts that can be applied again, as CSV whatever PETSTORE_OUTPUT says', async () => {
  await using shop = await stockShop(shelves(2500, (petId) => petId % 100));
  const exported = await shop.run('inventory export', { env: { PETSTORE_OUTPUT: 'yaml' } });
  expect(exported.stdout.split('\n').slice(0, 3)).toEqual([
    'petId,quantity,status',
    '1,1,available',
    '2,2,available',
  ]);
  shop.write('stock.csv', exported.stdout);
  const same = await shop.report('inventory apply stock.csv');
  expect(same).toMatchObject({ code: 0, rows: 2500, unchanged: 2500 });
  const lines = await shop.run('inventory export -o jsonl');
  expect(await shop.report('inventory apply -', { stdin: lines.stdout })).toMatchObject({ unchanged: 2500 });
});

test('exports the expected counts and names too', async () => {
  await using shop = await stockShop([1, 2, 3]);
  const pets = [1, 2, 3].map((id) => ({ id, name: `Pet ${id}`, categoryId: 1, status: 'sold' }));
  shop.misbehave = ({ path }) =>
    path.startsWith('/pets') ? { body: pets.slice(Number(/after=(\d)/.exec(path)?.[1] ?? 0)) } : undefined;
  const { stdout } = await shop.run('inventory export --with-expected');
  expect(stdout).toBe('petId,quantity,expected,status\n1,1,1,available\n2,2,2,available\n3,3,3,available\n');
  shop.write('stock.csv', stdout.replace('2,2,2', '2,20,2').replace('3,3,3', '3,30,3'));
  shop.stock.set('3', 8);
  const summary = await shop.report('inventory apply stock.csv --yes');
  expect(summary).toMatchObject({ code: 3, applied: 1, failed: 1 });
  expect(shop.stock.get('3')).toBe(8);
  const named = await shop.run('inventory export --with-expected --fields petId,name,expected');
  expect(named.stdout).toBe('petId,name,expected\n1,Pet 1,1\n2,Pet 2,20\n3,Pet 3,8\n');
});

test('diff exits 8 if something differs, 0 if nothing does', async () => {
  const files = { 'same.csv': toCsv([5, 5]), 'other.csv': 'petId,quantity\n1,5\n2,1200\n9,1\n' };
  await using shop = await stockShop([5, 5], files);
  const same = await shop.run('inventory diff same.csv');
  expect(same).toMatchObject({ code: 0, stdout: 'petId  before  after  change  state  reason\n' });
  const run = await shop.run('inventory diff other.csv --create-missing');
  expect(run.code).toBe(8);
  expect(run.stdout).toBe(
    'petId  before  after  change  state    reason\n    2       5   1200   +1195  planned\n    9              1      +1  planned\n',
  );
  expect(run.stderr).toContain('plan: 2 of 3 rows to write: +1,196, 1 pet unchanged');
  const csv = await shop.run('inventory diff other.csv --create-missing -o csv -q');
  expect(csv).toMatchObject({
    code: 8,
    stderr: 'plan: 2 of 3 rows to write: +1,196, 1 pet unchanged\n',
    stdout: 'petId,before,after,change,state,reason\n2,5,1200,1195,planned,\n9,,1,1,planned,\n',
  });
});

test('diff and --dry-run show what apply would write, and the rows that cannot be, as data', async () => {
  await using shop = await stockShop([5, 5], { 'stock.csv': 'id,count\n1,6\n2,x\n9,1\n' });
  const why = 'the pet has no inventory entry: check the id, or apply with --create-missing';
  const diff = await shop.run('inventory diff stock.csv --skip-invalid -o json');
  expect(diff.code).toBe(8);
  expect(diff.stderr).toContain(`1 row cannot be written: line 4, pet 9: ${why}`);
  expect(JSON.parse(diff.stdout)).toEqual([
    { petId: 1, before: 5, after: 6, change: 1, state: 'planned', line: 2 },
    {
      petId: 9,
      line: 4,
      state: 'failed',
      reason: expect.objectContaining({ code: 'no_entry', message: why }),
    },
    { line: 3, state: 'invalid', reason: { code: 'invalid', message: expect.stringContaining("count 'x'") } },
  ]);
  const table = (await shop.run('inventory diff stock.csv --skip-invalid')).stdout;
  expect(table).toMatch(/ invalid +line 3: count 'x'/);
  const dry = await shop.run('inventory apply stock.csv --skip-invalid --dry-run -o json');
  expect(dry).toMatchObject({ code: 3, stdout: diff.stdout });
  expect(shop.writes()).toEqual([]);
});

test('--map can be set for a profile, in one text', async () => {
  await using shop = await stockShop(shelves(1, 5));
  shop.write('stock.csv', 'SKU;On hand\n1;1234\n');
  const env = { PETSTORE_IMPORT_MAP: 'petId=SKU,quantity=On hand' };
  const applied = await shop.report('inventory apply stock.csv --yes', { env });
  expect(applied).toMatchObject({ code: 0, applied: 1 });
  expect(shop.stock.get('1')).toBe(1234);
});

test('applies and undoes on the embedded store, which is another target after a reset', async () => {
  const workspace = openWorkspace({ url: '' });
  const env = { PETSTORE_OFFLINE_STORE: join(workspace.folder, 'store.json'), PETSTORE_BASE_URL: '' };
  workspace.write('stock.csv', toCsv(shelves(25, 77)));
  workspace.write('d.csv', 'petId,change\n1,+1\n');
  const deliver = 'inventory apply d.csv --relative --delivery LS-1 --yes --offline';
  for (const [words, expected] of [
    ['inventory apply stock.csv --yes --offline', { applied: 25, undo: 'petstore undo r1 --offline' }],
    ['undo r1 --yes --offline', { applied: 25 }],
    [deliver, { applied: 1 }],
    [deliver, { booked: 1 }],
  ] as const)
    expect(await workspace.report(words, { env })).toMatchObject({ code: 0, ...expected });
  expect((await workspace.run('offline reset --yes', { env })).code).toBe(0);
  const gone = 'this command goes to another service';
  expect((await workspace.run('resume r1 --offline', { env })).stderr).toContain(gone);
  expect(await workspace.report(deliver, { env })).toMatchObject({ code: 0, applied: 1 });
  // In memory each command has a store of its own.
  const inMemory = { env: { ...env, PETSTORE_OFFLINE_STORE: ':memory:' } };
  for (const _ of [1, 2])
    expect(await workspace.report(deliver, inMemory)).toMatchObject({ code: 0, applied: 1 });
});

test('a protected service must be named', async () => {
  await using shop = await stockShop(shelves(3, 5), { 'stock.csv': toCsv(shelves(3, 6)) });
  const env = { PETSTORE_PROTECTED: 'true' };
  const words = 'inventory apply stock.csv --yes';
  const error = { code: 'confirmation_needed' };
  expect(await shop.report(words, { env })).toMatchObject({ code: 2, error });
  expect(shop.writes()).toEqual([]);
  const named = `${words} --confirm ${new URL(shop.url).host}`;
  expect(await shop.report(named, { env })).toMatchObject({ code: 0, applied: 3 });
});

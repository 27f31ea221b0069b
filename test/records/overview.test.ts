import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import { bindTo } from '../helpers/bound.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { runAt, runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const past = '2020-01-02T00:00:00Z';
const future = '2999-01-02T00:00:00Z';
const shop: Readonly<Record<string, readonly object[]>> = {
  '/pets': [
    { id: 1, name: 'Luna', categoryId: 1, status: 'available' },
    { id: 2, name: 'Max', categoryId: 2, status: 'sold' },
    { id: 3, name: '\u001b[31mRed', categoryId: 2 },
  ],
  '/categories': [
    { id: 1, name: 'Dogs' },
    { id: 2, name: 'Cats' },
    { id: 3, name: 'Fish' },
  ],
  '/store/inventory': [
    { petId: 1, quantity: 4, status: 'available' },
    { petId: 2, quantity: 0, status: 'sold' },
    { petId: 3, quantity: 9, status: 'available' },
  ],
  '/store/orders': [
    { id: 1, petId: 1, quantity: 1 },
    { id: 2, petId: 1, quantity: 2, shipDate: future, complete: false },
    { id: 3, petId: 2, quantity: 3, shipDate: past },
    { id: 4, petId: 2, quantity: 4, shipDate: past, complete: true },
  ],
};

function service() {
  return recordingServer({}, ({ path }) => ({ body: shop[path.split('?')[0] ?? ''] }));
}

test('the overview is the state of the shop as data, from one read of every list', async () => {
  await using server = await service();
  const run = await runAt(server, 'overview -o json');
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(run.stdout)).toEqual({
    pets: {
      total: 3,
      byStatus: { available: 2, pending: 0, sold: 1 },
      byCategory: [
        { categoryId: 2, name: 'Cats', total: 2 },
        { categoryId: 1, name: 'Dogs', total: 1 },
        { categoryId: 3, name: 'Fish', total: 0 },
      ],
    },
    inventory: {
      below: 5,
      lowest: [{ petId: 1, name: 'Luna', quantity: 4 }],
    },
    orders: {
      open: 3,
      overdue: 1,
      next: [
        { id: 3, petId: 2, name: 'Max', quantity: 3, shipDate: past, overdue: true },
        { id: 2, petId: 1, name: 'Luna', quantity: 2, shipDate: future, overdue: false },
        { id: 1, petId: 1, name: 'Luna', quantity: 1, overdue: false },
      ],
    },
  });
  expect(server.seen).toHaveLength(4);
});

test('on a terminal it fits one screen of 80 by 24, and shows nothing raw', async () => {
  await using server = await service();
  const argv = ['overview', '--below', '100', '--color', 'never', '--base-url', server.url];
  const run = await runCli(argv, { terminals: ['stdout', 'stderr'], columns: 80 });
  const lines = run.stdout.split('\n');
  expect(lines.length).toBeLessThanOrEqual(24);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  expect(run.stdout).toMatchInlineSnapshot(`
    "Pets: 3
    available  2  ██████████████████████████████
    pending    0
    sold       1  ███████████████
    Cats       2  ██████████████████████████████
    Dogs       1  ███████████████
    Fish       0

    Lowest counts, under 100: 2
    petId  name         quantity
        1  Luna                4
        3  \\x1b[31mRed         9

    Open orders: 3, 1 overdue
    id  pet  name  quantity  shipDate
     3    2  Max          3  2020-01-02  overdue
     2    1  Luna         2  2999-01-02
     1    1  Luna         1
    "
  `);
});

test('on a short terminal each part keeps two rows, says how many more there are, and which command lists them', async () => {
  const run = await runCli('overview --offline --color never', { terminals: ['stdout'], rows: 16 });
  expect(run.stdout).toMatch(/^and 4 more\n\nLowest counts/m);
  const [, words = ''] = /and 2 more: petstore (.*)/.exec(run.stdout) ?? [];
  expect(JSON.parse((await runCli([...words.split(' '), '--json'])).stdout)).toHaveLength(4);
});

test('says how many more low counts there are than the ten lowest', async () => {
  const status = 'available';
  const body = Array.from({ length: 14 }, (_, at) => ({ petId: at + 1, quantity: 0, status }));
  await using server = await recordingServer({}, ({ path }) => ({
    body: path.startsWith('/store/inventory') ? body : [],
  }));
  const { stdout } = await runAt(server, 'overview');
  expect(stdout).toContain('\nand 4 more: petstore inventory list --below 5 ');
});

test.each([
  ['/store/orders', 'orders are missing: ', /^Pets: 3\n.*^Open orders: missing\n$/ms],
  ['/store', 'counts and orders are missing: ', /^Lowest counts: missing\n\nOpen orders: missing\n$/m],
])(
  'what cannot be read is missing, its cause is said once, and the rest is shown: %s',
  async (path, warning, text) => {
    await using server = await recordingServer({}, (seen) =>
      seen.path.startsWith(path) ? { status: 403 } : { body: shop[seen.path.split('?')[0] ?? ''] },
    );
    const json = await runAt(server, 'overview -o json');
    expect(json.code).toBe(0);
    expect(json.stderr).toMatch(new RegExp(`^warning: ${warning}.*403.*\\n$`));
    expect(JSON.parse(json.stdout)).toMatchObject({ pets: { total: 3 }, orders: null });
    expect((await runAt(server, 'overview')).stdout).toMatch(text);
  },
);

test('if no part can be read, the overview fails with the code of the first', async () => {
  await using server = await recordingServer({}, () => ({ status: 401 }));
  const run = await runAt(server, 'overview');
  expect(run).toMatchObject({ code: 4, stdout: '' });
  expect(run.stderr.match(/^(error|warning):/gm)).toEqual(['error:']);
});

test('counts the statuses that only a bound service has', async () => {
  const folder = temporaryFolder();
  const env = { PETSTORE_CONFIG_DIR: folder };
  const description = join(folder, 'openapi.json');
  writeFileSync(description, JSON.stringify(toOpenApi()));
  const pets = [{ id: 1, name: 'Luna', categoryId: 1, status: 'lost' }];
  await using server = await recordingServer({}, ({ path }) => ({
    body: path.startsWith('/pets') ? pets : [],
  }));
  await runAt(server, ['api', 'bind', description], { env });
  const run = await runAt(server, 'overview -o json', { env });
  expect(JSON.parse(run.stdout).pets.byStatus).toEqual({ available: 0, pending: 0, sold: 0, lost: 1 });
  const overview = await runAt(server, 'overview', { env });
  expect(overview.stdout).toMatch(/^available +0\n(.*\n)*lost +1 /m);
});

test('says that all pets count if the service has no status sold', async () => {
  const text = JSON.stringify(toOpenApi()).replaceAll('"available","pending","sold"', '"IN","OUT"');
  await using server = await recordingServer({}, ({ path }) => ({
    body: path.startsWith('/pets')
      ? [{ id: 1, name: 'Luna', categoryId: 1, status: 'OUT' }]
      : path.includes('inventory')
        ? [{ petId: 1, quantity: 2, status: 'OUT' }]
        : [],
  }));
  const { run } = await bindTo(server, text);
  const { code, stdout, stderr } = await run('overview -o json');
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'note: pets have no status sold here, so the lowest counts are those of all pets\n',
  });
  expect(JSON.parse(stdout)).toMatchObject({
    pets: { byStatus: { IN: 0, OUT: 1 } },
    inventory: { lowest: [{ petId: 1, name: 'Luna', quantity: 2 }] },
  });
});

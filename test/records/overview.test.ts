import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
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
  expect(run.stdout).toContain('\\x1b[31mRed (3)');
  expect(run.stdout).toContain('Open orders  3, 1 overdue');
  expect(run.stdout).toMatchInlineSnapshot(`
    "Pets  3                                   Lowest counts  under 100
      available 2 ████████████████████████      4  Luna (1)
      pending   0                               9  \\x1b[31mRed (3)
      sold      1 ████████████

      Cats      2 ████████████████████████
      Dogs      1 ████████████
      Fish      0

    Open orders  3, 1 overdue
      2020-01-02  order 3  3 of Max (2)  overdue
      2999-01-02  order 2  2 of Luna (1)
      no date     order 1  1 of Luna (1)
    "
  `);
});

test('names the command that lists the other orders of the same shop, if there is room for it', async () => {
  const argv = ['overview', '--offline', '--color', 'never'];
  const overview = (columns: number) => runCli(argv, { terminals: ['stdout'], columns, rows: 16 });
  const [, words = ''] = /and \d more: petstore (.*)/.exec((await overview(100)).stdout) ?? [];
  expect(JSON.parse((await runCli([...words.split(' '), '--json'])).stdout)).toHaveLength(4);
  expect((await overview(50)).stdout).toMatch(/and \d more\n/);
});

test('notes more than 20 requests, and counts how many more low counts there are', async () => {
  let pages = 0;
  const entries = Array.from({ length: 14 }, (_, at) => ({
    petId: at + 1,
    quantity: 0,
    status: 'available',
  }));
  await using server = await recordingServer({}, ({ path }) => {
    if (!path.startsWith('/pets')) return { body: path.startsWith('/store/inventory') ? entries : [] };
    pages += 1;
    const next = pages < 20 ? { link: `</pets?after=${pages}>; rel="next"` } : {};
    return { headers: next, body: [{ id: pages, name: 'x', categoryId: 1 }] };
  });
  const run = await runAt(server, 'overview');
  expect(run).toMatchObject({ code: 0, stderr: 'note: 23 requests were sent\n' });
  expect(run.stdout).toContain('  and 4 more');
});

test('a part that cannot be read is missing, and the rest is shown', async () => {
  await using server = await recordingServer({}, ({ path }) =>
    path.startsWith('/store/orders') ? { status: 500 } : { body: shop[path.split('?')[0] ?? ''] },
  );
  const argv = ['overview', '--base-url', server.url, '--retries', '0'];
  const json = await runCli([...argv, '-o', 'json']);
  expect(json.code).toBe(0);
  expect(json.stderr).toContain('warning: orders are missing: ');
  expect(JSON.parse(json.stdout)).toMatchObject({
    pets: { total: 3 },
    inventory: { below: 5 },
    orders: null,
  });
  expect((await runCli(argv)).stdout).toMatch(/^Pets {2}3 .*^Open orders {2}missing$/ms);
});

test('if no part can be read, the overview fails with the code of the first', async () => {
  await using server = await recordingServer({}, () => ({ status: 401 }));
  expect(await runAt(server, 'overview')).toMatchObject({ code: 4, stdout: '' });
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
  const shown = await runAt(server, 'overview', { env });
  expect(shown.stdout).toMatch(/available +0 /);
});

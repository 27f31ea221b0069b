import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shelves, toCsv } from '../helpers/stock-server.ts';
import { openWorkspace, stockShop } from '../helpers/stock-shop.ts';

test('exports counts that can be applied again, as CSV whatever PETSTORE_OUTPUT says', async () => {
  await using shop = await stockShop(shelves(2500, (petId) => petId % 100));
  const exported = await shop.run('inventory export', { env: { PETSTORE_OUTPUT: 'yaml' } });
  expect(exported.stdout.split('\n').slice(0, 3)).toEqual([
    'petId,quantity,status',
    '1,1,available',
    '2,2,available',
  ]);
  shop.write('stock.csv', exported.stdout);
  expect(await shop.report('inventory apply stock.csv')).toMatchObject({
    code: 0,
    rows: 2500,
    unchanged: 2500,
  });
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
  const named = await shop.run('inventory export --fields petId,name,quantity');
  expect(named.stdout).toBe('petId,name,quantity\n1,Pet 1,1\n2,Pet 2,20\n3,Pet 3,8\n');
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
    stderr: '',
    stdout: 'petId,before,after,change,state,reason\n2,5,1200,1195,planned,\n9,,1,1,planned,\n',
  });
});

test('diff and --dry-run show what apply would write, and the rows that cannot be, as data', async () => {
  await using shop = await stockShop([5, 5], { 'stock.csv': 'id,count\n1,6\n2,x\n9,1\n' });
  const why =
    'the pet has no inventory entry: check the id, create the entry with `inventory create`, or apply with --create-missing';
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
  expect(await shop.report('inventory apply stock.csv --yes', { env })).toMatchObject({
    code: 0,
    applied: 1,
  });
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
  expect(await workspace.report(deliver, { env })).toMatchObject({ code: 0, applied: 1 });
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

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stockDesk } from '../helpers/stock-desk.ts';
import { shelves, stockServer, toCsv } from '../helpers/stock-server.ts';

test('exports counts that can be applied again, as CSV whatever PETSTORE_OUTPUT says', async () => {
  await using server = await stockServer(shelves(2500, (petId) => petId % 100));
  const desk = stockDesk(server);
  const exported = await desk.inventory(['export'], { env: { PETSTORE_OUTPUT: 'yaml' } });
  expect(exported.stdout.split('\n').slice(0, 3)).toEqual([
    'petId,quantity,status',
    '1,1,available',
    '2,2,available',
  ]);
  desk.write('stock.csv', exported.stdout);
  expect(await desk.summary(['apply', 'stock.csv'])).toMatchObject({ code: 0, rows: 2500, unchanged: 2500 });
  const lines = await desk.inventory(['export', '-o', 'jsonl']);
  expect(await desk.summary(['apply', '-'], { stdin: lines.stdout })).toMatchObject({ unchanged: 2500 });
});

test('diff exits 8 if something differs, 0 if nothing does', async () => {
  await using server = await stockServer(shelves(5, () => 5));
  const desk = stockDesk(server);
  desk.write('same.csv', toCsv(shelves(5, () => 5)));
  desk.write('other.csv', toCsv([...shelves(4, () => 5), [5, 1200], [9, 1]]));
  expect(await desk.inventory(['diff', 'same.csv'])).toMatchObject({
    code: 0,
    stdout: 'petId  name  now  new  change\n',
  });
  const run = await desk.inventory(['diff', 'other.csv', '--create-missing']);
  expect(run.code).toBe(8);
  expect(run.stdout).toBe(
    'petId  name  now   new  change\n    5          5  1200  +1,195\n    9                1      +1\n',
  );
  expect(run.stderr).toContain('plan: 2 of 6 rows to write: 2 pets up +1,196 (1 new), 4 pets the same');
  const csv = await desk.inventory(['diff', 'other.csv', '--create-missing', '-o', 'csv', '-q']);
  expect(csv).toMatchObject({
    code: 8,
    stdout: 'petId,name,now,new,change,state,reason\n5,,5,1200,1195,planned,\n9,,,1,1,planned,\n',
    stderr: '',
  });
});

test('diff shows what apply would write, and exits 8 also if a row cannot be written or is invalid', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv([[9, 1]]));
  const missing = await desk.inventory(['diff', 'stock.csv', '-o', 'csv']);
  const why = 'the pet has no inventory entry: check the id, or create the entry with --create-missing';
  expect(missing).toMatchObject({
    code: 8,
    stdout: `petId,name,now,new,change,state,reason\n9,,,,,failed,"${why}"\n`.replaceAll(
      '"',
      /,/.test(why) ? '"' : '',
    ),
  });
  expect(missing.stderr).toContain(`1 row cannot be written: line 2, pet 9: ${why}`);
  const json = await desk.inventory(['apply', 'stock.csv', '--dry-run', '-o', 'json']);
  expect(json.code).toBe(3);
  expect(JSON.parse(json.stdout)).toEqual([{ petId: 9, name: null, line: 2, state: 'failed', reason: why }]);
  desk.write('bad.csv', 'petId,quantity\n1,5\n2,x\n');
  const bad = await desk.inventory(['diff', 'bad.csv', '--skip-invalid', '-o', 'json']);
  expect(bad.code).toBe(8);
  expect(JSON.parse(bad.stdout)).toMatchObject(
    [{ state: 'invalid', line: 3, reason: /quantity "x"/ }].map(({ reason, ...rest }) => ({
      ...rest,
      reason: expect.stringMatching(reason),
    })),
  );
});

test('shows the plan with names on a terminal', async () => {
  await using server = await stockServer(shelves(30, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(30, (petId) => petId)));
  const run = await desk.inventory(['apply', 'stock.csv', '--dry-run'], {
    terminals: ['stdout', 'stderr'],
    env: { NO_COLOR: '1' },
  });
  expect(run.code).toBe(0);
  expect(run.stdout).toContain('│ petId │ name │ now │ new │ change │');
  expect(run.stderr).toContain(
    'plan: 29 of 30 rows to write: 25 pets up +325, 4 pets down -10, 1 pet the same',
  );
});

test('--map and --thousands can be set for a profile', async () => {
  await using server = await stockServer(shelves(1, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', 'SKU;On hand\n1;1.234\n');
  const env = { PETSTORE_IMPORT_MAP: 'petId=SKU,quantity=On hand', PETSTORE_IMPORT_THOUSANDS: '.' };
  expect(await desk.summary(['apply', 'stock.csv', '--yes'], { env })).toMatchObject({ code: 0, applied: 1 });
  expect(server.stock.get('1')).toBe(1234);
});

test('applies and undoes on the embedded store', async () => {
  const desk = stockDesk({ url: '' });
  const env = { PETSTORE_OFFLINE_STORE: join(desk.folder, 'store.json'), PETSTORE_BASE_URL: '' };
  desk.write('stock.csv', toCsv(shelves(25, () => 77)));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--offline'], { env });
  expect(summary).toMatchObject({ code: 0, applied: 25 });
  expect(summary.undo).toBe(`petstore inventory undo ${summary.run} --offline`);
  const undone = await desk.summary(['undo', String(summary.run), '--yes', '--offline'], { env });
  expect(undone).toMatchObject({ code: 0, applied: 25 });
});

test('books a delivery once on the embedded store, whatever link names its file', async () => {
  const desk = stockDesk({ url: '' });
  symlinkSync(desk.folder, join(desk.folder, 'link'));
  desk.write('delivery.csv', 'petId,change\n1,+1\n');
  const apply = (folder: string) => {
    const env = { PETSTORE_BASE_URL: '', PETSTORE_OFFLINE_STORE: join(folder, 'store.json') };
    return desk.inventory(['apply', 'delivery.csv', '--relative', '--yes', '--offline'], { env });
  };
  expect((await apply(desk.folder)).code).toBe(0);
  expect((await apply(join(desk.folder, 'link'))).stderr).toContain(
    'this delivery was already applied by run r1',
  );
});

test('a protected profile asks for its name', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  const config = join(desk.folder, 'config');
  mkdirSync(config);
  const profiles = { prod: { 'base-url': server.url, protected: true } };
  writeFileSync(join(config, 'config.json'), JSON.stringify({ profile: 'prod', profiles }));
  const options = { env: { PETSTORE_CONFIG_DIR: config, PETSTORE_BASE_URL: '' } };
  desk.write('stock.csv', toCsv(shelves(3, () => 6)));
  const refused = await desk.inventory(['apply', 'stock.csv', '--yes'], options);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('prod is protected');
  expect(server.writes()).toEqual([]);
  const words = ['apply', 'stock.csv', '--yes', '--confirm', 'prod'];
  expect(await desk.summary(words, options)).toMatchObject({ code: 0, applied: 3 });
});

test('refuses to read an input if there is no service to call', async () => {
  const desk = stockDesk({ url: '' });
  const run = await desk.inventory(['apply', 'nowhere.csv', '--yes'], { env: { PETSTORE_BASE_URL: '' } });
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(
    (await desk.inventory(['apply', 'nowhere.csv'], { env: { PETSTORE_BASE_URL: 'http://127.0.0.1:1' } }))
      .stderr,
  ).toBe('error: nowhere.csv: no such file\n');
});

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { main } from '../../src/main.ts';
import { fakeIo } from '../helpers/run-cli.ts';
import { stockShop } from '../helpers/stock-desk.ts';
import {
  holdWrites,
  refuse,
  type StockServer,
  shelves,
  stockServer,
  toCsv,
  trouble,
} from '../helpers/stock-server.ts';

/** Resolves when so many writes have reached the server. */
async function arrivalOf(server: StockServer, count: number): Promise<void> {
  await vi.waitUntil(() => server.writes().length >= count, { timeout: 20_000, interval: 5 });
}

const apply = ['apply', 'stock.csv', '--yes'];

/** A service on which a run of `count` rows, from 1 to the pet's id and 5, was refused after half of them. */
async function stoppedRun(count: number) {
  const text = toCsv(shelves(count, (petId) => petId + 5));
  const shop = await stockShop(
    shelves(count, () => 1),
    { 'stock.csv': text },
  );
  trouble(shop, (_, __, all) => (all > count / 2 ? 401 : undefined));
  const summary = await shop.summary([...apply, '--concurrency', '1']);
  shop.misbehave = undefined;
  return Object.assign(shop, { first: summary });
}

test('resume needs no file, asks again, and writes what is missing; its numbers are told apart', async () => {
  await using shop = await stoppedRun(120);
  expect(shop.first).toMatchObject({ code: 4, rows: 120, applied: 60, failed: 1, unprocessed: 59, left: 60 });
  shop.write('stock.csv', 'gone');
  shop.seen.length = 0;
  expect((await shop.inventory(['resume'])).code).toBe(2);
  const dry = await shop.inventory(['resume', '--dry-run', '-o', 'json']);
  expect(JSON.parse(dry.stdout)).toHaveLength(60);
  expect(shop.writes()).toEqual([]);
  const rest = await shop.summary(['resume', '--yes']);
  expect(rest).toMatchObject({ code: 0, run: 'r1', name: 'stock.csv', rows: 120, applied: 120 });
  expect(rest.session).toMatchObject({ rows: 60, applied: 60 });
  expect(rest.requests).toBeLessThan(125);
  expect([...shop.stock]).toEqual(shelves(120, (petId) => petId + 5).map(([id, n]) => [`${id}`, n]));
});

test('the summary for people says what this session did, and how the whole run stands', async () => {
  await using shop = await stoppedRun(6);
  const { stdout, stderr } = await shop.inventory(['resume', '--yes']);
  expect(stdout).toMatch(/^this session: applied 3 of 3 rows in .*\nrun r1: 6 rows: 6 applied\n$/);
  expect(stderr).toContain('plan: 3 of 3 rows to write');
  const quiet = await shop.inventory(['resume', 'r1', '-q', '--yes']);
  expect(quiet).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

test('apply again is a new run, and writes what still differs; resume then names the older one', async () => {
  await using shop = await stoppedRun(20);
  expect(await shop.summary(apply)).toMatchObject({ code: 0, run: 'r2', applied: 10, unchanged: 10 });
  const unclear = await shop.inventory(['resume']);
  expect(unclear.code).toBe(2);
  expect(unclear.stderr).toContain('the last run, r2, is finished; unfinished is r1 (stock.csv)');
  // Everything is as the file says.
  expect(await shop.summary(['resume', 'r1', '--yes'])).toMatchObject({
    code: 0,
    applied: 10,
    unchanged: 10,
  });
  const nothing = await shop.inventory(['resume']);
  expect(nothing).toMatchObject({ code: 0, stdout: '' });
  expect(nothing.stderr).toContain('run r2 is finished: nothing is left to do');
});

test('an absolute row whose pet a later run wrote is left alone, and that run is named', async () => {
  await using shop = await stoppedRun(8);
  shop.write('tuesday.csv', toCsv(shelves(7, () => 77)));
  await shop.summary(['apply', 'tuesday.csv', '--yes']);
  const rest = await shop.summary(['resume', 'r1', '--yes']);
  expect(rest).toMatchObject({ code: 3, applied: 5, failed: 3, left: 0 });
  expect(rest.failures).toMatchObject([{ kind: 'written_later', count: 3 }]);
  expect(JSON.stringify(rest.failures)).toContain('run r2 has written this pet since');
  expect([...shop.stock.values()]).toEqual([77, 77, 77, 77, 77, 77, 77, 13]);
});

test.each([
  ['an absolute row is written', '', { code: 0, applied: 4 }, 9],
  ['a row with expected is failed', ',1', { code: 3, applied: 2, failed: 2 }, 60],
])('%s if it was not sent and somebody has changed its count', async (_, expected, summary, count) => {
  const rows = shelves(4, () => 9).map((row) => `${row}${expected}\n`);
  await using shop = await stockShop([1, 1, 1, 1], {
    'stock.csv': `petId,quantity${expected && ',expected'}\n${rows.join('')}`,
  });
  trouble(shop, { 3: 403, 4: 403 });
  await shop.summary([...apply, '--concurrency', '1']);
  shop.misbehave = undefined;
  shop.stock.set('3', 50);
  shop.stock.set('4', 60);
  expect(await shop.summary(['resume', '--yes'])).toMatchObject(summary);
  expect(shop.stock.get('4')).toBe(count);
});

test('a row that failed for a reason of its own is final; a lost answer stays unknown after a later refusal', async () => {
  await using shop = await stockShop([5, 5, 5], { 'stock.csv': toCsv([6, 6, 6]) });
  trouble(shop, { 1: 'lost', 2: 409 });
  const first = await shop.summary([...apply, '--retries', '0']);
  expect(first).toMatchObject({ code: 3, applied: 1, failed: 1, unknown: 1, left: 1 });
  shop.seen.length = 0;
  trouble(shop, () => 409);
  expect(await shop.summary(['resume', '--yes'])).toMatchObject({ applied: 1, failed: 1, unknown: 1 });
  expect(shop.writes().map(({ petId }) => petId)).toEqual(['1']);
  shop.misbehave = undefined;
  const last = await shop.summary(['resume', '--yes']);
  expect(last).toMatchObject({ code: 3, applied: 2, failed: 1, unknown: 0 });
  // The plan of a resumed run is about what this session writes.
  expect(last.stderr).toContain('plan: 1 of 1 row to write');
  expect(last.stderr).not.toContain('cannot be written');
});

test('guards hold for the whole run when it is resumed', async () => {
  await using shop = await stockShop(
    shelves(20, () => 1),
    { 'stock.csv': toCsv(shelves(20, (petId) => (petId <= 10 ? 2 : 1))) },
  );
  trouble(shop, { 4: 401 });
  await shop.summary([...apply, '--max-changes', '10', '--max-delta', '5', '--concurrency', '1']);
  shop.misbehave = undefined;
  shop.stock.set('10', 90);
  const far = await shop.summary(['resume', '--yes']);
  expect(far.code).toBe(2);
  expect(far.stderr).toContain('"code":"guard"');
  shop.stock.set('10', 1);
  expect(await shop.summary(['resume', '--yes'])).toMatchObject({ code: 0, applied: 10, unchanged: 10 });
});

test('a run is resumed on its own target only', async () => {
  await using shop = await stoppedRun(4);
  await using elsewhere = await stockServer([1, 1, 1, 1]);
  const env = { PETSTORE_BASE_URL: elsewhere.url };
  const refused = await shop.inventory(['resume', 'r1'], { env });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`run r1 wrote to ${shop.url.replace('127.0.0.1', 'localhost')}`);
  expect(await shop.inventory(['resume'], { env })).toMatchObject({
    ...{ code: 0, stderr: 'no run on this target: there is nothing to resume\n' },
  });
  expect((await shop.inventory(['resume', 'r9'])).stderr).toContain('run r9: no such run');
});

test('one run at a time for a target: the other one is named, and waited for with --lock-wait', async () => {
  const files = { 'stock.csv': toCsv(shelves(30, () => 2)), 'other.csv': toCsv([9]) };
  await using shop = await stockShop(
    shelves(30, () => 1),
    files,
  );
  const release = holdWrites(shop);
  const first = shop.summary(apply);
  await arrivalOf(shop, 8);
  const refused = await shop.inventory(['apply', 'other.csv', '--yes', '-o', 'json']);
  expect(refused).toMatchObject({ code: 6, stdout: '' });
  const { error } = JSON.parse(refused.stderr.trim().split('\n').at(-1) ?? '');
  expect(error).toMatchObject({ code: 'locked', retryable: true });
  expect(error.message).toMatch(
    /another run is using this target: stock.csv, run r1, process \d+; nothing was sent$/,
  );
  for (const verb of ['resume', 'undo']) expect((await shop.inventory([verb, '--yes'])).code).toBe(6);
  const waiting = shop.summary(['apply', 'other.csv', '--yes', '--lock-wait', '20s']);
  // An interrupted wait ends at once.
  const io = fakeIo({ cwd: shop.folder, env: shop.env });
  const interrupted = main(['inventory', ...apply, '--lock-wait', '60s'], io);
  const seen = shop.seen.length;
  await new Promise((resolve) => setTimeout(resolve, 300));
  io.raise('SIGINT');
  expect(await interrupted).toBe(130);
  expect(shop.seen.length).toBe(seen);
  release();
  expect(await first).toMatchObject({ code: 0, applied: 30 });
  expect(await waiting).toMatchObject({ code: 0, applied: 1 });
  expect(shop.stock.get('1')).toBe(9);
});

test('shards of one n run side by side, each as a run of its own; anything else waits', async () => {
  await using shop = await stockShop(
    shelves(40, () => 1),
    { 'stock.csv': toCsv(shelves(40, () => 2)) },
  );
  const release = holdWrites(shop);
  const shards = ['1/3', '2/3', '3/3'].map((shard) => shop.summary([...apply, '--shard', shard]));
  await arrivalOf(shop, 24);
  for (const words of [['--shard', '1/3'], ['--shard', '0/3'], ['--shard', '1/2'], []])
    expect((await shop.inventory([...apply, ...words])).code).toBe(6);
  release();
  const runs = await Promise.all(shards);
  for (const each of runs) expect(each).toMatchObject({ code: 0, failed: 0 });
  expect(runs.map(({ run }) => run).sort()).toEqual(['r1', 'r2', 'r3']);
});

test('names PETSTORE_STATE_DIR if the journal cannot be written', async () => {
  await using shop = await stockShop([1], { 'stock.csv': toCsv([2]) });
  const env = { PETSTORE_STATE_DIR: join(shop.folder, 'stock.csv', 'state') };
  const { code, stderr } = await shop.inventory(apply, { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: make folder .*\nhint: .*PETSTORE_STATE_DIR names another folder\n$/);
  expect(shop.seen).toEqual([]);
});

test('a line that cannot be read makes the run unreadable: it is named, and nothing is written from it', async () => {
  await using shop = await stoppedRun(20);
  const path = shop.journal('r1');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"effect":"done"', '"effect":done'));
  shop.seen.length = 0;
  for (const verb of ['resume', 'undo']) {
    const refused = await shop.inventory([verb, 'r1', '--yes']);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(`${path}: this journal cannot be read`);
  }
  mkdirSync(shop.journal('r2'));
  const listed = await shop.inventory(['runs', '-o', 'ids']);
  expect(listed.code).toBe(0);
  expect(listed.stderr).toContain('warning: read ');
  expect(shop.seen).toEqual([]);
  // An absolute file can be applied all the same.
  expect(await shop.summary(apply)).toMatchObject({ code: 0, run: 'r3' });
});

test('keeps the journal from others, and the token out of it', async () => {
  await using shop = await stockShop([1, 1], { 'stock.csv': toCsv([2, 2]) });
  shop.misbehave = ({ method, headers }, response) =>
    method === 'PUT' ? refuse(response, 409, String(headers.authorization)) : undefined;
  await shop.inventory(apply, { env: { PETSTORE_TOKEN: 'very-secret' } });
  const path = shop.journal('r1');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
  for (const text of [readFileSync(path, 'utf8'), shop.read('stock.rejects.csv')]) {
    expect(text).toContain('409');
    expect(text).not.toContain('very-secret');
  }
});

test('a run from stdin is resumed without it; its rejects then have the columns that apply reads', async () => {
  await using shop = await stockShop([1, 1, 1]);
  const stdin = 'note,petId,quantity\na,1,2\nb,2,2\nc,x,1\nd,3,2\n';
  trouble(shop, { 2: 401, 3: 401 });
  const words = ['apply', '-', '--yes', '--skip-invalid', '--concurrency', '1'];
  const first = await shop.summary(words, { stdin });
  expect(first).toMatchObject({ code: 4, applied: 1, rejects: 'stdin.rejects.csv' });
  const path = shop.journal('r1');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/\{"counts".*\n$/, ''));
  trouble(shop, { 3: 409 });
  const rest = await shop.summary(['resume', '--yes']);
  expect(rest).toMatchObject({ code: 3, applied: 2, failed: 0, unknown: 1, invalid: 1 });
  expect(shop.read('stdin.rejects.2.csv')).toMatch(
    /^petId,quantity,_line,.*\nx,1,4,invalid,,invalid,.*\n3,2,5,unknown,409,no,/,
  );
});

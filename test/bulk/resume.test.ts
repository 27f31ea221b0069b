import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { main } from '../../src/main.ts';
import { fakeIo } from '../helpers/run-cli.ts';
import { stockDesk } from '../helpers/stock-desk.ts';
import {
  holdWrites,
  refuse,
  type StockServer,
  shelves,
  stockServer,
  toCsv,
} from '../helpers/stock-server.ts';

/** Resolves when so many writes have reached the server. */
async function arrivalOf(server: StockServer, count: number): Promise<void> {
  await vi.waitUntil(() => server.writes().length >= count, { timeout: 20_000, interval: 5 });
}

/** Stops a run of `count` rows, which sets 1 to the pet's id and 5, after half of them. */
async function stoppedRun(server: StockServer, count: number, ...words: string[]) {
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(count, (petId) => petId + 5)));
  server.misbehave = ({ method }, response) =>
    method === 'PUT' && server.writes().length > count / 2 ? refuse(response, 401, 'no') : undefined;
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--concurrency', '1', ...words]);
  server.misbehave = undefined;
  return { desk, summary };
}

function isAsWanted({ stock }: StockServer): boolean {
  return [...stock].every(([petId, count]) => count === Number(petId) + 5);
}

test('resume needs no file, asks again, and writes what is missing; its numbers are told apart', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, summary } = await stoppedRun(server, 200);
  expect(summary).toMatchObject({ code: 4, rows: 200, applied: 100, failed: 1, unprocessed: 99, left: 100 });
  desk.write('stock.csv', 'gone');
  server.seen.length = 0;
  expect((await desk.inventory(['resume'])).code).toBe(2);
  const dry = await desk.inventory(['resume', '--dry-run', '-o', 'json']);
  expect(JSON.parse(dry.stdout)).toHaveLength(100);
  expect(server.writes()).toEqual([]);
  const rest = await desk.summary(['resume', '--yes']);
  expect(rest).toMatchObject({ code: 0, run: 'r1', name: 'stock.csv', rows: 200, applied: 200 });
  expect(rest.session).toMatchObject({ rows: 100, applied: 100 });
  expect(rest.requests).toBeLessThan(110);
  expect(server.writes()).toHaveLength(100);
  expect(isAsWanted(server)).toBe(true);
});

test('the summary for people says what this session did, and how the whole run stands', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const { desk } = await stoppedRun(server, 6);
  const { stdout, stderr } = await desk.inventory(['resume', '--yes']);
  expect(stdout).toMatch(/^this session: applied 3 of 3 rows in .*\nrun r1: 6 rows: 6 applied\n$/);
  expect(stderr).toContain('plan: 3 of 3 rows to write');
  expect(await desk.inventory(['resume', 'r1', '-q', '--yes'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '',
  });
});

test('apply again is a new run, and writes what still differs; resume then names the older one', async () => {
  await using server = await stockServer(shelves(20, () => 1));
  const { desk } = await stoppedRun(server, 20);
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({
    code: 0,
    run: 'r2',
    applied: 10,
    unchanged: 10,
  });
  const unclear = await desk.inventory(['resume']);
  expect(unclear.code).toBe(2);
  expect(unclear.stderr).toContain('the last run, r2, is finished; unfinished is r1 (stock.csv)');
  // Everything is as the file says.
  expect(await desk.summary(['resume', 'r1', '--yes'])).toMatchObject({
    code: 0,
    applied: 10,
    unchanged: 10,
  });
  const nothing = await desk.inventory(['resume']);
  expect(nothing).toMatchObject({ code: 0, stdout: '' });
  expect(nothing.stderr).toContain('run r2 is finished: nothing is left to do');
});

test('an absolute row whose pet a later run wrote is left alone, and that run is named', async () => {
  await using server = await stockServer(shelves(8, () => 1));
  const { desk } = await stoppedRun(server, 8);
  desk.write('tuesday.csv', toCsv(shelves(7, () => 77)));
  expect(await desk.summary(['apply', 'tuesday.csv', '--yes'])).toMatchObject({ code: 0, applied: 7 });
  const rest = await desk.summary(['resume', 'r1', '--yes']);
  expect(rest).toMatchObject({ code: 3, applied: 5, failed: 3, left: 0 });
  expect(rest.failures).toMatchObject([{ kind: 'written_later', count: 3 }]);
  expect(JSON.stringify(rest.failures)).toContain('run r2 has written this pet since');
  expect([...server.stock.values()]).toEqual([77, 77, 77, 77, 77, 77, 77, 13]);
});

test.each([
  ['an absolute row', '', 'code: 0', { applied: 4 }],
  ['a row with expected', ',1', 'code: 3', { applied: 2, failed: 2 }],
])('%s that was not sent and whose count somebody has changed', async (_, expected, code, counts) => {
  await using server = await stockServer(shelves(4, () => 1));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && Number(petId) > 2 ? refuse(response, 403, 'no') : undefined;
  const desk = stockDesk(server);
  const rows = shelves(4, () => 9).map((row) => `${row}${expected}\n`);
  desk.write('stock.csv', `petId,quantity${expected && ',expected'}\n${rows.join('')}`);
  await desk.summary(['apply', 'stock.csv', '--yes', '--concurrency', '1']);
  server.misbehave = undefined;
  server.stock.set('3', 50);
  server.stock.set('4', 60);
  const rest = await desk.summary(['resume', '--yes']);
  expect({ code: `code: ${rest.code}`, rest }).toMatchObject({ code, rest: counts });
  expect(server.stock.get('4')).toBe(expected === '' ? 9 : 60);
});

test('a row that failed for a reason of its own is final; a lost answer stays unknown after a later refusal', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  server.misbehave = ({ method, petId }, response) => {
    if (method !== 'PUT' || petId === '3') return undefined;
    if (petId === '2') return refuse(response, 409, 'no');
    response.destroy();
    return true;
  };
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 6)));
  const first = await desk.summary(['apply', 'stock.csv', '--yes', '--retries', '0']);
  expect(first).toMatchObject({ code: 3, applied: 1, failed: 1, unknown: 1, left: 1 });
  server.seen.length = 0;
  server.misbehave = ({ method }, response) => (method === 'PUT' ? refuse(response, 409, 'no') : undefined);
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ applied: 1, failed: 1, unknown: 1 });
  expect(server.writes().map(({ petId }) => petId)).toEqual(['1']);
  server.misbehave = undefined;
  const last = await desk.summary(['resume', '--yes']);
  expect(last).toMatchObject({ code: 3, applied: 2, failed: 1, unknown: 0 });
  // The plan of a resumed run is about what this session writes.
  expect(last.stderr).toContain('plan: 1 of 1 row to write');
  expect(last.stderr).not.toContain('cannot be written');
});

test('a row that a resumed session fails for good is in its rejects', async () => {
  await using server = await stockServer(shelves(4, () => 1));
  const { desk } = await stoppedRun(server, 4);
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '4' ? refuse(response, 409, 'no') : undefined;
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 3, applied: 3, failed: 1 });
  expect(desk.read('stock.rejects.2.csv').match(/^\d+,/gm)).toEqual(['4,']);
});

test('guards hold for the whole run when it is resumed', async () => {
  await using server = await stockServer(shelves(20, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(20, (petId) => (petId <= 10 ? 2 : 1))));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '4' ? refuse(response, 401, 'no') : undefined;
  const guard = ['--max-changes', '10', '--max-delta', '5'];
  await desk.summary(['apply', 'stock.csv', '--yes', ...guard, '--concurrency', '1']);
  server.misbehave = undefined;
  server.stock.set('10', 90);
  const far = await desk.inventory(['resume', '--yes', '-o', 'json']);
  expect(far.code).toBe(2);
  expect(JSON.parse(far.stderr.trim().split('\n').at(-1) ?? '').error).toMatchObject({ code: 'guard' });
  server.stock.set('10', 1);
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 0, applied: 10, unchanged: 10 });
});

test('a run is resumed on its own target only', async () => {
  await using server = await stockServer(shelves(4, () => 1));
  const { desk } = await stoppedRun(server, 4);
  await using elsewhere = await stockServer(shelves(4, () => 1));
  const refused = await desk.inventory(['resume', 'r1'], { env: { PETSTORE_BASE_URL: elsewhere.url } });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`run r1 wrote to ${server.url.replace('127.0.0.1', 'localhost')}`);
  const none = await desk.inventory(['resume'], { env: { PETSTORE_BASE_URL: elsewhere.url } });
  expect(none).toMatchObject({ code: 0, stderr: 'no run on this target: there is nothing to resume\n' });
  expect((await desk.inventory(['resume'], { env: { PETSTORE_BASE_URL: '' } })).stderr).toContain(
    'no service',
  );
  expect((await desk.inventory(['resume', 'r9'])).stderr).toContain('run r9: no such run');
});

test('one run at a time for a target: the other one is named, and waited for with --lock-wait', async () => {
  await using server = await stockServer(shelves(30, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(30, () => 2)));
  desk.write('other.csv', toCsv([[1, 9]]));
  const release = holdWrites(server);
  const first = desk.summary(['apply', 'stock.csv', '--yes']);
  await arrivalOf(server, 1);
  const refused = await desk.inventory(['apply', 'other.csv', '--yes', '-o', 'json']);
  expect(refused).toMatchObject({ code: 6, stdout: '' });
  const { error } = JSON.parse(refused.stderr.trim().split('\n').at(-1) ?? '');
  expect(error).toMatchObject({ code: 'locked', retryable: true });
  expect(error.message).toMatch(
    /another run is using this target: stock.csv, run r1, process \d+; nothing was sent$/,
  );
  for (const verb of ['resume', 'undo']) expect((await desk.inventory([verb, '--yes'])).code).toBe(6);
  const waiting = desk.summary(['apply', 'other.csv', '--yes', '--lock-wait', '20s']);
  release();
  expect(await first).toMatchObject({ code: 0, applied: 30 });
  expect(await waiting).toMatchObject({ code: 0, applied: 1 });
  expect(server.stock.get('1')).toBe(9);
});

test('an interrupted wait for the lock ends at once, and nothing is sent', async () => {
  await using server = await stockServer(shelves(3, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 2)));
  const release = holdWrites(server);
  const first = desk.summary(['apply', 'stock.csv', '--yes', '--concurrency', '1']);
  await arrivalOf(server, 1);
  const io = fakeIo({ cwd: desk.folder, env: desk.env });
  const seen = server.seen.length;
  const waiting = main(['inventory', 'apply', 'stock.csv', '--yes', '--lock-wait', '60s'], io);
  await new Promise((resolve) => setTimeout(resolve, 300));
  io.raise('SIGINT');
  expect(await waiting).toBe(130);
  expect(server.seen.length).toBe(seen);
  release();
  expect(await first).toMatchObject({ code: 0, applied: 3 });
});

test('shards of one n run side by side, each as a run of its own; anything else waits', async () => {
  await using server = await stockServer(shelves(40, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(40, () => 2)));
  const release = holdWrites(server);
  const shards = ['1/3', '2/3', '3/3'].map((shard) =>
    desk.summary(['apply', 'stock.csv', '--yes', '--shard', shard]),
  );
  await arrivalOf(server, 24);
  for (const words of [['--shard', '1/3'], ['--shard', '0/3'], ['--shard', '1/2'], []])
    expect((await desk.inventory(['apply', 'stock.csv', '--yes', ...words])).code).toBe(6);
  release();
  const runs = await Promise.all(shards);
  for (const each of runs) expect(each).toMatchObject({ code: 0, failed: 0 });
  expect(runs.map(({ run }) => run).sort()).toEqual(['r1', 'r2', 'r3']);
});

test('names PETSTORE_STATE_DIR if the journal cannot be written', async () => {
  await using server = await stockServer(shelves(1, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv([[1, 2]]));
  const env = { PETSTORE_STATE_DIR: join(desk.folder, 'stock.csv', 'state') };
  const { code, stderr } = await desk.inventory(['apply', 'stock.csv', '--yes'], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: make folder .*\nhint: .*PETSTORE_STATE_DIR names another folder\n$/);
  expect(server.seen).toEqual([]);
});

test('a torn last line is ignored', async () => {
  await using server = await stockServer(shelves(20, () => 1));
  const { desk } = await stoppedRun(server, 20);
  const path = desk.journal('r1');
  const lines = readFileSync(path, 'utf8').split('\n');
  truncateSync(path, Buffer.byteLength(lines.slice(0, -2).join('\n')) - 10);
  expect((await desk.inventory(['runs', '-o', 'csv', '--fields', 'state,unknown'])).stdout).toBe(
    'state,unknown\nstopped,10\n',
  );
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 0, applied: 20 });
  for (const line of readFileSync(path, 'utf8').trim().split('\n'))
    expect(() => JSON.parse(line)).not.toThrow();
});

test('a line that cannot be read makes the run unreadable: it is named, and nothing is written from it', async () => {
  await using server = await stockServer(shelves(20, () => 1));
  const { desk } = await stoppedRun(server, 20);
  const path = desk.journal('r1');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"effect":"done"', '"effect":done'));
  server.seen.length = 0;
  for (const verb of ['resume', 'undo']) {
    const refused = await desk.inventory([verb, 'r1', '--yes']);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(`${path}: this journal cannot be read`);
  }
  mkdirSync(desk.journal('r2'));
  const listed = await desk.inventory(['runs', '-o', 'ids']);
  expect(listed.code).toBe(0);
  expect(listed.stderr).toContain('warning: read ');
  expect(server.seen).toEqual([]);
  // An absolute file can be applied all the same.
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({ code: 0, run: 'r3' });
});

test('keeps the journal from others, and the token out of it', async () => {
  await using server = await stockServer(shelves(3, () => 1));
  server.misbehave = ({ method, headers }, response) =>
    method === 'PUT' ? refuse(response, 409, String(headers.authorization)) : undefined;
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 2)));
  await desk.inventory(['apply', 'stock.csv', '--yes'], { env: { PETSTORE_TOKEN: 'very-secret' } });
  const path = desk.journal('r1');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
  for (const text of [readFileSync(path, 'utf8'), desk.read('stock.rejects.csv')]) {
    expect(text).toContain('409');
    expect(text).not.toContain('very-secret');
  }
});

test('a run from stdin is resumed without it; its rejects then have the columns that apply reads', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const desk = stockDesk(server);
  const stdin = 'note,petId,quantity\na,1,2\nb,2,2\nc,x,1\nd,3,2\n';
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId !== '1' ? refuse(response, 401, 'no') : undefined;
  const words = ['apply', '-', '--yes', '--skip-invalid', '--concurrency', '1'];
  const first = await desk.summary(words, { stdin });
  expect(first).toMatchObject({ code: 4, applied: 1, rejects: 'stdin.rejects.csv' });
  const path = desk.journal('r1');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/\{"counts".*\n$/, ''));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '3' ? refuse(response, 409, 'no') : undefined;
  const rest = await desk.summary(['resume', '--yes']);
  expect(rest).toMatchObject({ code: 3, applied: 2, failed: 0, unknown: 1, invalid: 1 });
  expect(desk.read('stdin.rejects.2.csv')).toMatch(
    /^petId,quantity,_line,.*\nx,1,4,invalid,,invalid,.*\n3,2,5,unknown,409,no,/,
  );
});

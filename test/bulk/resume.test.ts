import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { main } from '../../src/main.ts';
import { fakeIo } from '../helpers/run-cli.ts';
import { type StockDesk, stockDesk } from '../helpers/stock-desk.ts';
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

function journalOf(desk: StockDesk): string {
  const folder = join(desk.folder, 'state', 'runs');
  const [name = ''] = readdirSync(folder)
    .filter((each) => each.endsWith('.jsonl'))
    .sort()
    .reverse();
  return join(folder, name);
}

/** Stops a run of `count` rows after about half of them. */
async function stoppedRun(server: StockServer, count: number, ...words: string[]) {
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(count, (petId) => petId + 5)));
  server.misbehave = ({ method }, response) =>
    method === 'PUT' && server.writes().length > count / 2 ? refuse(response, 409, 'no') : undefined;
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--fail-fast', ...words]);
  server.misbehave = undefined;
  return { desk, summary, run: String(summary.run) };
}

test('resume reads the counts again, asks again, and sends nothing twice', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, summary, run } = await stoppedRun(server, 200);
  expect(summary).toMatchObject({ code: 3, rows: 200, failed: expect.any(Number) });
  const written = new Set(server.writes().map(({ petId }) => petId));
  const applied = Number(summary.applied);
  server.seen.length = 0;
  expect((await desk.inventory(['resume', run])).code).toBe(2);
  expect(server.writes()).toEqual([]);
  const rest = await desk.summary(['resume', run, '--yes']);
  expect(rest).toMatchObject({ code: 0, run, applied: 200, failed: 0, unprocessed: 0 });
  expect(server.writes().length).toBe(200 - applied);
  expect(written.size).toBeGreaterThanOrEqual(applied);
  expect([...server.stock.entries()].every(([petId, count]) => count === Number(petId) + 5)).toBe(true);
});

test('apply of the same content resumes an unfinished run, and says so', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  const summary = await desk.summary(['apply', 'stock.csv', '--yes']);
  expect(summary).toMatchObject({ code: 0, run, applied: 200 });
  expect(summary.stderr).toMatch(new RegExp(`^resuming run ${run}: looking at 200 of 200 rows again$`, 'm'));
});

test('apply --restart begins a run of its own, and closes the old one', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--restart']);
  expect(summary.code).toBe(0);
  expect(summary.run).not.toBe(run);
  expect(Number(summary.unchanged)).toBeGreaterThan(50);
  const { stderr, code } = await desk.inventory(['resume', run]);
  expect(code).toBe(2);
  expect(stderr).toContain('another run was started in its place');
});

test('a changed file, other flags or another service make another run', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  const other = await desk.summary(['apply', 'stock.csv', '--yes', '--on-duplicate', 'first']);
  expect(other.run).not.toBe(run);
  await using elsewhere = await stockServer(shelves(200, () => 1));
  const moved = { env: { PETSTORE_BASE_URL: elsewhere.url } };
  const refused = await desk.inventory(['resume', run], moved);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`run ${run} wrote to ${server.url}`);
  desk.write('stock.csv', toCsv(shelves(200, () => 9)));
  const changed = await desk.inventory(['resume', run]);
  expect(changed.code).toBe(2);
  expect(changed.stderr).toContain('is not what the run began with');
});

test('names the run that holds the target, and waits for it with --lock-wait', async () => {
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
  expect(error.retryable).toBe(true);
  expect(error.message).toMatch(
    /another run is at work there: stock.csv \(process \d+, run \S+, 0 of 30 rows done\); nothing was sent$/,
  );
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

test('shards of one n do not wait for each other, and --allow-overlap waits for nobody', async () => {
  await using server = await stockServer(shelves(30, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(30, () => 2)));
  const release = holdWrites(server);
  const first = desk.summary(['apply', 'stock.csv', '--yes', '--shard', '1/2']);
  await arrivalOf(server, 8);
  for (const shard of ['1/2', '1/3'])
    expect((await desk.inventory(['apply', 'stock.csv', '--yes', '--shard', shard])).code).toBe(6);
  const second = desk.summary(['apply', 'stock.csv', '--yes', '--shard', '2/2']);
  await arrivalOf(server, 16);
  const third = desk.summary(['apply', 'stock.csv', '--yes', '--shard', '1/3', '--allow-overlap']);
  await arrivalOf(server, 17);
  release();
  for (const each of [first, second, third]) expect(await each).toMatchObject({ code: 0, failed: 0 });
});

test('resume without an id needs a service to call', async () => {
  const desk = stockDesk({ url: '' });
  const { code, stderr } = await desk.inventory(['resume']);
  expect(code).toBe(2);
  expect(stderr).toContain('error: no service to call');
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

test('a row that somebody else has set in the meantime is unchanged', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  server.stock.set('200', 205);
  expect(await desk.summary(['resume', run, '--yes'])).toMatchObject({ code: 0, applied: 199, unchanged: 1 });
});

test('a resumed run sets all of its counts again after another run has written the same pets', async () => {
  await using server = await stockServer(shelves(8, () => 1));
  const { desk } = await stoppedRun(server, 8, '--concurrency', '1');
  desk.write('other.csv', toCsv(shelves(8, () => 77)));
  const other = await desk.summary(['apply', 'other.csv', '--yes']);
  expect(other).toMatchObject({ code: 0, applied: 8 });
  expect(other.stderr).toMatch(/^warning: run \S+ of stock.csv is unfinished: resume or discard it$/m);
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({ code: 0, applied: 8 });
  expect([...server.stock.values()]).toEqual([6, 7, 8, 9, 10, 11, 12, 13]);
  expect((await desk.inventory(['diff', 'stock.csv'])).code).toBe(0);
});

test('ignores a torn last line', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  const path = journalOf(desk);
  const lines = readFileSync(path, 'utf8').split('\n');
  // Without its last line, and with half of the line before, the run looks killed.
  const cut = Buffer.byteLength(lines.slice(0, -2).join('\n')) - 10;
  truncateSync(path, cut);
  expect((await desk.inventory(['runs', '-o', 'csv', '--fields', 'state'])).stdout).toContain('killed');
  const summary = await desk.summary(['resume', run, '--yes']);
  expect(summary).toMatchObject({ code: 0, unprocessed: 0 });
  expect([...server.stock.values()].at(-1)).toBe(205);
  for (const line of readFileSync(path, 'utf8').trim().split('\n'))
    expect(() => JSON.parse(line)).not.toThrow();
});

test('warns of journals that cannot be read, and ignores them', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  const folder = join(journalOf(desk), '..');
  writeFileSync(join(folder, '20301121-082000000-aaaaaa.jsonl'), '{"x":1}\n');
  mkdirSync(join(folder, '20301121-082000001-aaaaaa.jsonl'));
  const listed = await desk.inventory(['runs', '-o', 'ids']);
  expect(listed).toMatchObject({ code: 0, stdout: `${run}\n` });
  expect(listed.stderr).toMatch(
    /^warning: read .*-082000001-aaaaaa.jsonl: .*\nwarning: .*is not a journal$/m,
  );
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 0, run, applied: 200 });
});

test('a damaged journal is refused, and another run of the same file begins with --restart', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  const path = desk.journal(run);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('"state":"applied"', '"state":applied'));
  const refused = await desk.inventory(['apply', 'stock.csv', '--yes']);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(
    /is damaged at byte \d+\nhint: apply with --restart begins a run of its own\n$/,
  );
  // Now its last line does not tell its state any more.
  writeFileSync(path, text.replace('"state":"applied"', '"state":applied').replace(/.*\n$/, ''));
  expect(await desk.inventory(['apply', 'stock.csv', '--yes'])).toMatchObject({ code: 1, stdout: '' });
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--restart']);
  expect(summary).toMatchObject({ code: 0, unprocessed: 0 });
  expect(summary.stderr).toMatch(/^warning: .*is damaged at byte \d+$/m);
  expect(summary.stderr).toMatch(/^warning: run \S+: its journal is kept as .*\.jsonl\.damaged$/m);
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({ code: 0, unchanged: 200 });
});

test('begins another run with --restart although only an outcome of the stopped one is damaged', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  const path = desk.journal(run);
  writeFileSync(path, readFileSync(path, 'utf8').replace('"state":"applied"', '"state":applied'));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--restart']);
  expect(summary).toMatchObject({ code: 0, unprocessed: 0 });
  expect(summary.stderr).toMatch(/^warning: .*is damaged at byte \d+$/m);
  expect(summary.stderr).toMatch(/^warning: run \S+: its journal is kept as .*\.jsonl\.damaged$/m);
});

test('keeps the journal from others, and the token out of it', async () => {
  await using server = await stockServer(shelves(3, () => 1));
  server.misbehave = ({ headers }, response) => refuse(response, 409, String(headers.authorization));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 2)));
  await desk.inventory(['apply', 'stock.csv', '--yes', '--blind', '--events', 'events.jsonl'], {
    env: { PETSTORE_TOKEN: 'very-secret' },
  });
  const path = journalOf(desk);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
  for (const text of [
    readFileSync(path, 'utf8'),
    desk.read('stock.rejects.csv'),
    desk.read('events.jsonl'),
  ]) {
    expect(text).toContain('409');
    expect(text).not.toContain('very-secret');
  }
});

test('lists runs, the newest first, with their state and counts', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run, summary } = await stoppedRun(server, 200);
  desk.write('other.csv', toCsv([[1, 77]]));
  await desk.inventory(['apply', 'other.csv', '--yes', '--allow-zero']);
  const listed = JSON.parse((await desk.inventory(['runs', '-o', 'json'])).stdout);
  expect(listed).toMatchObject([
    { file: 'other.csv', state: 'finished', target: server.url, rows: 1, applied: 1 },
    {
      id: run,
      file: 'stock.csv',
      state: 'stopped',
      rows: 200,
      applied: summary.applied,
      unprocessed: summary.unprocessed,
    },
  ]);
});

test('shows the ids of runs whole in a terminal of 80 columns, to be copied', async () => {
  await using server = await stockServer(shelves(2, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(2, () => 4)));
  const { run } = await desk.summary(['apply', 'stock.csv', '--yes']);
  const undo = await desk.summary(['undo', String(run), '--yes']);
  const { stdout } = await desk.inventory(['runs'], { terminals: ['stdout'], columns: 80 });
  expect(stdout).toContain(`│ ${run} │`);
  expect(stdout).toContain(`│ ${undo.run} │`);
});

test('resumes a run from stdin with the same content on stdin', async () => {
  await using server = await stockServer(shelves(50, () => 1));
  const desk = stockDesk(server);
  const stdin = toCsv(shelves(50, () => 4));
  server.misbehave = (_, response) => (server.seen.length > 20 ? refuse(response, 409, 'no') : undefined);
  const words = ['apply', '-', '--yes', '--blind', '--fail-fast'];
  const stopped = await desk.summary(words, { stdin });
  expect(stopped).toMatchObject({ code: 3, rejects: 'stdin.rejects.csv' });
  server.misbehave = undefined;
  expect((await desk.inventory(['resume'], { stdin: 'petId,quantity\n1,1\n' })).code).toBe(2);
  expect(await desk.summary(['resume', '--yes'], { stdin })).toMatchObject({ code: 0, applied: 50 });
});

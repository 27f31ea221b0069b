import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type StockDesk, stockDesk } from '../helpers/stock-desk.ts';
import { refuse, type StockServer, shelves, stockServer, toCsv } from '../helpers/stock-server.ts';

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

/** Makes the journal look as if its last line had been written so long ago. */
function age(desk: StockDesk, ms: number): void {
  const path = journalOf(desk);
  const older = readFileSync(path, 'utf8').replace(/"at":(\d+)/g, (_, at) => `"at":${Number(at) - ms}`);
  writeFileSync(path, older);
  utimesSync(path, new Date(Date.now() - ms), new Date(Date.now() - ms));
}

test('goes on where a run stopped, and sends nothing twice', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, summary, run } = await stoppedRun(server, 200);
  expect(summary).toMatchObject({ code: 3, rows: 200, failed: expect.any(Number) });
  const written = new Set(server.writes().map(({ petId }) => petId));
  const applied = Number(summary.applied);
  server.seen.length = 0;
  const rest = await desk.summary(['resume', run]);
  expect(rest).toMatchObject({ code: 0, run, applied: 200, failed: 0, unprocessed: 0 });
  expect(server.seen.length).toBe(200 - applied);
  expect(server.seen.every(({ method }) => method === 'PUT')).toBe(true);
  expect(written.size).toBeGreaterThanOrEqual(applied);
  expect([...server.stock.entries()].every(([petId, count]) => count === Number(petId) + 5)).toBe(true);
});

test('apply of the same content goes on with an unfinished run, and says so', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  const summary = await desk.summary(['apply', 'stock.csv', '--yes']);
  expect(summary).toMatchObject({ code: 0, run, applied: 200 });
  expect(summary.stderr).toMatch(new RegExp(`^resuming run ${run}: \\d+ of 200 rows are left$`, 'm'));
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

test('a changed file, other options or another service make another run', async () => {
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

test('names the lock of a machine that may be gone, and goes on without it', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  const lock = join(desk.folder, 'state', 'runs', `${run.slice(-6)}.lock`);
  symlinkSync('12~0~space~pod-7', lock);
  const { code, stderr } = await desk.inventory(['resume', run]);
  expect(code).toBe(1);
  expect(stderr).toContain('error: process 12 on pod-7 is at work on the same rows\n');
  expect(stderr).toContain(`Where pod-7 is gone for good, remove ${lock}\n`);
  unlinkSync(lock);
  expect(await desk.summary(['resume', run])).toMatchObject({ code: 0, applied: 200 });
});

test('needs a service to tell which run is the newest', async () => {
  const desk = stockDesk({ url: '' });
  const { code, stderr } = await desk.inventory(['resume']);
  expect(code).toBe(2);
  expect(stderr).toContain('error: no service to call');
});

test('names the way out where nothing can be kept of a run', async () => {
  await using server = await stockServer(shelves(1, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv([[1, 2]]));
  const env = { PETSTORE_STATE_DIR: join(desk.folder, 'stock.csv', 'state') };
  const { code, stderr } = await desk.inventory(['apply', 'stock.csv', '--yes'], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: make folder .*\nhint: .*PETSTORE_STATE_DIR names another folder\n$/);
  expect(server.seen).toEqual([]);
});

test.each([
  ['past an hour', 3_700_000],
  ['where the clock was set back', -86_400_000],
])('plans again %s, and asks again', async (_, ageMs) => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  age(desk, ageMs);
  server.seen.length = 0;
  expect((await desk.inventory(['resume', run])).code).toBe(2);
  expect(server.writes()).toEqual([]);
  // Somebody has set one of the rows that are left to what it should be.
  server.stock.set('200', 205);
  const summary = await desk.summary(['resume', run, '--yes']);
  expect(summary).toMatchObject({ code: 0, applied: 199, unchanged: 1 });
  expect(server.seen.some(({ method }) => method === 'GET')).toBe(true);
});

test('ignores a torn last line', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  const path = journalOf(desk);
  const lines = readFileSync(path, 'utf8').split('\n');
  // Without the line that ended it, and with half of the one before, the run looks killed.
  const cut = Buffer.byteLength(lines.slice(0, -2).join('\n')) - 10;
  truncateSync(path, cut);
  expect((await desk.inventory(['runs', '-o', 'csv', '--fields', 'state'])).stdout).toContain('killed');
  const summary = await desk.summary(['resume', run]);
  expect(summary).toMatchObject({ code: 0, unprocessed: 0 });
  expect([...server.stock.values()].at(-1)).toBe(205);
  for (const line of readFileSync(path, 'utf8').trim().split('\n'))
    expect(() => JSON.parse(line)).not.toThrow();
});

test('goes on beside journals that cannot be read, and names them', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  const folder = join(journalOf(desk), '..');
  writeFileSync(join(folder, '20301121-082000000-aaaaaa.jsonl'), '{"x":1}\n');
  mkdirSync(join(folder, '20301121-082000001-aaaaaa.jsonl'));
  const listed = await desk.inventory(['runs', '-o', 'ids']);
  expect(listed).toMatchObject({ code: 0, stdout: `${run}\n` });
  expect(listed.stderr).toMatch(
    /^warning: read .*-082000001-aaaaaa.jsonl: .*\nwarning: .*is no journal that/,
  );
  expect(await desk.summary(['resume'])).toMatchObject({ code: 0, run, applied: 200 });
});

test('a damaged journal stops no other run of the same file', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const { desk, run } = await stoppedRun(server, 200);
  const path = join(desk.folder, 'state', 'runs', `${run}.jsonl`);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('"state":"applied"', '"state":applied'));
  const refused = await desk.inventory(['apply', 'stock.csv', '--yes']);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(
    /is damaged at byte \d+\nhint: apply with --restart begins a run of its own\n$/,
  );
  // Killed, it does not even say any more how it stands.
  writeFileSync(path, text.replace('"state":"applied"', '"state":applied').replace(/.*\n$/, ''));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes']);
  expect(summary).toMatchObject({ code: 0, unprocessed: 0 });
  expect(summary.stderr).toMatch(/^warning: .*is damaged at byte \d+$/m);
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
  expect(await desk.summary(['resume'], { stdin })).toMatchObject({ code: 0, applied: 50 });
});

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { nodeBinary, outcomeOf, startCli } from '../helpers/spawn-cli.ts';
import { type StockDesk, stockDesk } from '../helpers/stock-desk.ts';
import { type StockServer, shelves, stockServer, toCsv } from '../helpers/stock-server.ts';

const rows = 160;
const countOf = (petId: number, round: number) => (petId * 7 + round * 13) % 1000;

/** Answers writes late, so that a kill happens with some in flight. */
function slow(server: StockServer, ms: number): void {
  server.misbehave = async ({ method }) => {
    if (method === 'PUT') await sleep(ms);
    return undefined;
  };
}

const longestWaitMs = 10_000;

async function until(isReached: () => boolean): Promise<void> {
  const end = performance.now() + longestWaitMs;
  while (!isReached() && performance.now() < end) await sleep(1);
}

function untilSeen(server: StockServer, count: number): Promise<void> {
  return until(() => server.seen.length >= count);
}

function untilWrites(server: StockServer, count: number): Promise<void> {
  return until(() => server.writes().length >= count);
}

/** A desk, and a service without entries for the last tenth of the pets. */
interface Lane {
  readonly server: StockServer;
  readonly desk: StockDesk;
  readonly rows: number;
}

const laneFlags = ['--yes', '--allow-zero', '--create-missing'];

/**
 * Kills a command at a random point: while it writes or, one time in four, from its first request on. Returns whether it
 * was still alive.
 */
async function killed(
  { server, desk, rows }: Lane,
  words: readonly string[],
  round: number,
): Promise<boolean> {
  server.seen.length = 0;
  slow(server, 1);
  const child = startCli(['inventory', ...words], { env: desk.env, cwd: desk.folder });
  const ended = once(child, 'exit');
  const point =
    round % 4 === 0 ? untilSeen(server, 1) : untilWrites(server, 1 + ((round * 37) % Math.floor(rows * 0.8)));
  await Promise.race([ended, point]);
  if (round % 4 === 0) await sleep((round * 7) % 25);
  child.kill('SIGKILL');
  const [, signal] = await ended;
  // Requests in flight may still arrive.
  await sleep(5);
  server.misbehave = undefined;
  return signal === 'SIGKILL';
}

function sorted(stock: Iterable<readonly [string, number]>): (readonly [string, number])[] {
  return [...stock].sort(([one], [other]) => Number(one) - Number(other));
}

/** Kills an apply, resumes it in most rounds, then undoes it, in some rounds with kills; returns the number of kills. */
async function surviveRound(lane: Lane, round: number): Promise<number> {
  const { server, desk, rows } = lane;
  const before = sorted(server.stock);
  const wanted = shelves(rows, (petId) => countOf(petId, round));
  desk.write('stock.csv', toCsv(wanted));
  const earlier = await newestRun(desk);
  let kills = Number(await killed(lane, ['apply', 'stock.csv', ...laneFlags], round));
  // A kill before the plan was complete leaves no run.
  const isPlanned = (await newestRun(desk)) !== earlier;
  const words = isPlanned ? ['resume', '--yes'] : ['apply', 'stock.csv', ...laneFlags];
  if (round % 5 !== 0) {
    expect(await desk.summary(words)).toMatchObject({ code: 0, rows, unprocessed: 0 });
    expect(sorted(server.stock)).toEqual(wanted.map(([petId, count]) => [String(petId), count]));
  }
  const run = await newestRun(desk);
  if (run !== earlier) {
    if (round % 3 === 0) kills += Number(await killed(lane, ['undo', run, '--yes'], round));
    expect((await desk.inventory(['undo', run, '--yes'])).stderr).not.toContain('rows failed');
  }
  expect(sorted(server.stock)).toEqual(before);
  return kills;
}

async function newestRun(desk: StockDesk): Promise<string> {
  return (await desk.inventory(['runs', '-o', 'ids'])).stdout.split('\n')[0] ?? '';
}

/** @param rows few are read one by one, more from the list. */
async function surviveRounds(rows: number): Promise<number> {
  await using server = await stockServer(shelves(rows - 5, () => 1));
  const lane = { server, desk: stockDesk(server), rows };
  let kills = 0;
  for (let round = 1; kills < 10 && round <= 20; round += 1) kills += await surviveRound(lane, round);
  const left = readdirSync(join(lane.desk.folder, 'state', 'runs')).filter((name) => name.endsWith('.lock'));
  expect(left).toEqual([]);
  return kills;
}

test('survives kill -9 at random points: each run can be resumed to the counts of the file, and its undo to those before', async () => {
  const [few, more] = await Promise.all([surviveRounds(45), surviveRounds(105)]);
  expect(few + more).toBeGreaterThanOrEqual(20);
}, 120_000);

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  '%s sends no new request, waits for those in flight and prints the resume command',
  async (signal, code) => {
    await using server = await stockServer(shelves(rows, () => 1));
    const desk = stockDesk(server);
    desk.write('stock.csv', toCsv(shelves(rows, (petId) => countOf(petId, 0))));
    slow(server, 60);
    const child = startCli(['inventory', 'apply', 'stock.csv', '--yes', '-o', 'json'], {
      env: desk.env,
      cwd: desk.folder,
    });
    const outcome = outcomeOf(child);
    await untilWrites(server, 20);
    child.kill(signal);
    const { stdout, stderr, ...ended } = await outcome;
    const summary = JSON.parse(stdout);
    expect(ended.code).toBe(code);
    expect(summary).toMatchObject({ unknown: 0, failed: 0, applied: server.writes().length });
    expect(summary.unprocessed).toBe(rows - summary.applied - summary.unchanged);
    expect(stderr).toContain(`petstore inventory resume ${summary.run}`);
    server.misbehave = undefined;
    expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 0, unprocessed: 0 });
  },
);

test('a second Ctrl-C abandons requests in flight, and their rows are unknown', async () => {
  await using server = await stockServer(shelves(rows, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(rows, (petId) => petId + 5)));
  // From the eleventh on, writes are never answered.
  server.misbehave = ({ method }) => (method === 'PUT' && server.writes().length > 10 ? true : undefined);
  const child = startCli(['inventory', 'apply', 'stock.csv', '--yes', '-o', 'json'], {
    env: desk.env,
    cwd: desk.folder,
  });
  const outcome = outcomeOf(child);
  await untilWrites(server, 18);
  child.kill('SIGINT');
  await sleep(100);
  const second = performance.now();
  child.kill('SIGINT');
  const { code, stdout } = await outcome;
  expect(performance.now() - second).toBeLessThan(6000);
  expect(code).toBe(130);
  const requests = server.seen.length;
  expect(JSON.parse(stdout)).toMatchObject({
    applied: 10,
    unknown: 8,
    failed: 0,
    unprocessed: rows - 18,
    requests,
  });
  expect(desk.read('stock.rejects.csv').trim().split('\n')).toHaveLength(9);
});

test('a signal after the last write loses neither the rejects nor the summary', async () => {
  await using server = await stockServer(shelves(2, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, (petId) => petId + 5)));
  const pipe = join(desk.folder, 'rejects');
  execFileSync('mkfifo', [pipe]);
  const words = ['apply', 'stock.csv', '--yes', '--rejects', 'rejects', '--force', '-o', 'json'];
  const child = startCli(['inventory', ...words], { env: desk.env, cwd: desk.folder });
  const outcome = outcomeOf(child);
  await untilWrites(server, 2);
  await sleep(200);
  child.kill('SIGTERM');
  await sleep(100);
  expect(await readFile(pipe, 'utf8')).toContain('3,8,4,failed');
  const { code, stdout } = await outcome;
  expect(code).toBe(143);
  expect(JSON.parse(stdout)).toMatchObject({ applied: 2, failed: 1, rejects: 'rejects' });
});

test('a closed stdout does not stop a run', async () => {
  await using server = await stockServer(shelves(rows, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(rows, (petId) => petId + 5)));
  const child = startCli(['inventory', 'apply', 'stock.csv', '--yes'], {
    env: desk.env,
    cwd: desk.folder,
  });
  child.stdout?.destroy();
  child.stderr?.resume();
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  expect([...server.stock].every(([petId, count]) => count === Number(petId) + 5)).toBe(true);
});

test('two processes never work on the same target at once', async () => {
  await using server = await stockServer(shelves(rows, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(rows, (petId) => petId + 5)));
  slow(server, 20);
  const child = startCli(['inventory', 'apply', 'stock.csv', '--yes'], { env: desk.env, cwd: desk.folder });
  const outcome = outcomeOf(child);
  await untilWrites(server, 5);
  const second = await desk.inventory(['apply', 'stock.csv', '--yes']);
  expect(second.code).toBe(6);
  expect(second.stderr).toContain(`process ${child.pid}`);
  expect((await desk.inventory(['runs', '-o', 'csv', '--fields', 'state'])).stdout).toBe('state\nrunning\n');
  expect((await outcome).code).toBe(0);
});

test('leaves no copy of stdin, also if it is killed', async () => {
  await using server = await stockServer(shelves(rows, () => 1));
  const desk = stockDesk(server);
  // A folder of its own, because other tests that run meanwhile leave and remove copies too.
  const copies = () => readdirSync(desk.folder).filter((name) => name.startsWith('petstore-input-'));
  slow(server, 20);
  const env = { ...desk.env, TMPDIR: desk.folder };
  const child = startCli(['inventory', 'apply', '-', '--yes'], { env, cwd: desk.folder });
  child.stdin?.end(toCsv(shelves(rows, (petId) => petId + 5)));
  await untilWrites(server, 5);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(copies()).toEqual([]);
  expect(readdirSync(join(desk.folder, 'state', 'runs')).some((name) => name.endsWith('.jsonl'))).toBe(true);
});

test('a full disk stops a run, which reports what it did and can be resumed', async () => {
  await using server = await stockServer(shelves(1200, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(1200, (petId) => petId + 5)));
  slow(server, 1);
  // No file of the process may grow beyond 72 KiB.
  const words = ['bin/petstore.js', 'inventory', 'apply', `${desk.folder}/stock.csv`, '--yes'];
  const child = spawn('bash', ['-c', `trap '' XFSZ; ulimit -f 72; exec "$@"`, 'bash', nodeBinary, ...words], {
    env: { PATH: process.env.PATH, ...desk.env },
  });
  const { code, stdout, stderr } = await outcomeOf(child);
  expect(code).toBe(3);
  const applied = Number(/^applied ([\d,]+) of/m.exec(stdout)?.[1]?.replace(',', ''));
  expect(applied).toBe(server.writes().length);
  expect(stdout).toMatch(new RegExp(`^${1200 - applied} not processed$`, 'm'));
  expect(stderr).toMatch(
    /^error: .*: stopped: write .*\.jsonl: file too large; \d+ of 1,200 rows are not processed$/m,
  );
  expect(stderr).toMatch(/^hint: go on with: petstore inventory resume /m);
  server.misbehave = undefined;
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 0, applied: 1200 });
});

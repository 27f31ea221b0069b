import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { nodeBinary, outcomeOf, startCli } from '../helpers/spawn-cli.ts';
import { delayWrites, shelves, toCsv } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';

// These tests need a process of their own, for signals, kills, pipes and a full disk.

/** A service of pets with a count of 1, and a file that sets each to its id and 5. */
async function shopOf(rows: number, ms = 0) {
  const shop = await stockShop(shelves(rows, 1), { 'stock.csv': toCsv(shelves(rows, (petId) => petId + 5)) });
  if (ms > 0) delayWrites(shop, ms);
  const start = (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    startCli([...words], { env: { ...shop.env, ...env }, cwd: shop.folder });
  const untilSeen = (count: number) =>
    vi.waitUntil(() => shop.writes().length >= count, { timeout: 25_000, interval: 1 });
  return Object.assign(shop, { start, untilSeen });
}

const apply = ['inventory', 'apply', 'stock.csv', '--yes'];

/** Applies the file in a process whose files cannot grow beyond so many KiB. */
function applyOnFullDisk({ folder, env }: Awaited<ReturnType<typeof shopOf>>, limitKiB: number) {
  const words = ['bin/petstore.js', 'inventory', 'apply', `${folder}/stock.csv`, '--yes'];
  // ulimit of POSIX counts blocks of 512 bytes.
  const script = `trap '' XFSZ; ulimit -f ${limitKiB * 2}; exec "$@"`;
  const child = spawn('sh', ['-c', script, 'sh', nodeBinary, ...words], {
    env: { PATH: process.env.PATH, ...env },
  });
  return outcomeOf(child);
}

test('survives kill -9: a run is resumed to the counts of the file, and its undo to those before', async () => {
  await using shop = await shopOf(120);
  const before = [...shop.stock];
  /** Kills a command after twenty writes; the next ones get no answer. */
  const kill = async (words: readonly string[]) => {
    shop.requests.length = 0;
    shop.misbehave = ({ method }) =>
      method === 'PUT' && shop.writes().length > 20 ? new Promise(() => {}) : undefined;
    const child = shop.start([...words, '--concurrency', '2']);
    const ended = once(child, 'exit');
    await shop.untilSeen(21);
    child.kill('SIGKILL');
    expect((await ended)[1]).toBe('SIGKILL');
    shop.misbehave = undefined;
  };
  await kill(apply);
  expect((await shop.run('runs -o csv --fields state')).stdout).toBe('state\nopen\n');
  expect(await shop.report('resume --yes')).toMatchObject({ code: 0, rows: 120, applied: 120 });
  expect([...shop.stock.values()]).toEqual(shelves(120, (petId) => petId + 5).map(([, count]) => count));
  await kill(['undo', '--yes']);
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, rows: 120, applied: 120 });
  expect([...shop.stock]).toEqual(before);
  const files = readdirSync(join(shop.folder, 'state', 'runs'));
  expect(files.filter((name) => name.endsWith('.lock'))).toEqual([]);
});

/** A module that kills the process in which it is loaded, once a line of this kind is in the journal. */
const killAfter = (kind: string) => `
  const fs = require('node:fs');
  const { writeSync } = fs;
  fs.writeSync = (file, bytes, ...range) => {
    const written = writeSync(file, bytes, ...range);
    if (String(bytes).includes('{"kind":"${kind}"')) process.kill(process.pid, 'SIGKILL');
    return written;
  };
  require('node:module').syncBuiltinESMExports();`;

test.each([
  ['after a line of its plan', 'plan'],
  ['after its plan', 'plan-end'],
  ['after a mark', 'mark'],
  ['after it has sent a write that the service does not carry out', 'sent'],
  ['after it has sent a write that the service carries out', 'booked'],
  ['after an outcome', 'outcome'],
  ['after its end', 'end'],
])('a delivery that is killed %s and resumed books each row once', async (_, moment) => {
  const files = { 'd.csv': 'petId,change\n1,+1\n2,+2\n3,+3\n', 'kill.cjs': killAfter(moment) };
  await using shop = await stockShop([5, 5, 5], files);
  const deliver = 'inventory apply d.csv --relative --delivery LS-1 --yes --concurrency 1';
  const env = { ...shop.env, NODE_OPTIONS: `--require ${join(shop.folder, 'kill.cjs')}` };
  const child = startCli(deliver.split(' '), { env, cwd: shop.folder });
  shop.misbehave = ({ petId = '', quantity = 0 }) => {
    if (shop.writes().length < 2 || !/sent|booked/.test(moment)) return undefined;
    if (moment === 'booked') shop.stock.set(petId, quantity);
    child.kill('SIGKILL');
    return 'hang';
  };
  expect((await once(child, 'exit'))[1]).toBe('SIGKILL');
  shop.misbehave = undefined;
  expect(await shop.report('resume --yes')).toMatchObject({ code: 0 });
  // Without the last line of its plan there is no run, and nothing was sent.
  const rows = moment === 'plan' ? { applied: 3 } : { applied: 0, booked: 3 };
  expect(await shop.report(deliver)).toMatchObject({ code: 0, ...rows });
  expect([...shop.stock.values()]).toEqual([6, 7, 8]);
});

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)(
  '%s sends no new request, waits for those in flight and prints the resume command',
  async (signal, exitCode) => {
    await using shop = await shopOf(160, 60);
    // Loading conf as it comes would make each signal arrive twice, and the second one abandons the writes in flight.
    writeFileSync(join(shop.folder, 'config.json'), '{"timeout": "20s"}', { mode: 0o600 });
    const child = shop.start([...apply, '-o', 'json'], { PETSTORE_CONFIG_DIR: shop.folder });
    const outcome = outcomeOf(child);
    await shop.untilSeen(20);
    child.kill(signal);
    const { stdout, stderr, code } = await outcome;
    const summary = JSON.parse(stdout);
    expect(code).toBe(exitCode);
    expect(summary).toMatchObject({ unknown: 0, failed: 0, applied: shop.writes().length });
    expect(summary.unprocessed).toBe(160 - summary.applied - summary.unchanged);
    expect(stderr).toContain(`petstore resume ${summary.id}`);
    shop.misbehave = undefined;
    expect(await shop.report('resume --yes')).toMatchObject({ code: 0, unprocessed: 0 });
  },
);

test('a closed stdout does not stop a run', async () => {
  await using shop = await shopOf(160);
  const child = shop.start(apply);
  child.stdout?.destroy();
  child.stderr?.resume();
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  expect([...shop.stock].every(([petId, count]) => count === Number(petId) + 5)).toBe(true);
});

test.each([
  ['before the target is locked', 0, 'lock .*\\.lock'],
  ['while the plan is kept', 1, 'write .*\\.jsonl'],
])('if the disk is full %s, nothing is sent and no run exists', async (_, limitKiB, what) => {
  await using shop = await shopOf(400);
  const { code, stderr } = await applyOnFullDisk(shop, limitKiB);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    new RegExp(`^error: ${what}: file too large; nothing was sent\\nhint: PETSTORE_STATE_DIR `, 'm'),
  );
  expect(shop.writes()).toEqual([]);
  expect((await shop.run('runs -o csv --fields state')).stdout).toBe('state\n');
});

test('a full disk stops a run, which reports what it did and can be resumed', async () => {
  await using shop = await shopOf(400);
  const { code, stdout, stderr } = await applyOnFullDisk(shop, 64);
  expect(code).toBe(3);
  expect(stdout).toContain(`applied ${shop.writes().length} of 400 rows`);
  expect(stderr).toMatch(
    /^error: .*: stopped: write .*\.jsonl: file too large; [\d,]+ unprocessed of 400 rows$/m,
  );
  expect(stderr).toMatch(/^hint: continue with: petstore resume /m);
  expect(await shop.report('resume --yes')).toMatchObject({ code: 0, applied: 400 });
});

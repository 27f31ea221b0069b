import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test, vi } from 'vitest';
import { main } from '../../src/main.ts';
import { refusal } from '../helpers/recording-server.ts';
import { failed, fakeIo } from '../helpers/run-cli.ts';
import {
  holdWrites,
  type StockServer,
  shelves,
  stockServer,
  toCsv,
  trouble,
} from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';
import { answering, counts, healed, setting, stories } from './story.ts';

/** Resolves when this number of writes has reached the server. */
async function arrivalOf(server: StockServer, count: number): Promise<void> {
  await vi.waitUntil(() => server.writes().length >= count, { timeout: 20_000, interval: 5 });
}

const apply = 'inventory apply stock.csv --yes';

/** A service on which a run of `count` rows, from 1 to the pet's id and 5, was refused after half of them. */
async function stoppedRun(count: number) {
  const text = toCsv(shelves(count, (petId) => petId + 5));
  const shop = await stockShop(shelves(count, 1), { 'stock.csv': text });
  trouble(shop, (_, __, all) => (all > count / 2 ? 401 : undefined));
  const first = await shop.report(`${apply} --concurrency 1`);
  shop.misbehave = undefined;
  return Object.assign(shop, { first });
}

test('resume needs no file, asks again, and writes what is missing', async () => {
  await using shop = await stoppedRun(120);
  expect(shop.first).toMatchObject({ code: 4, rows: 120, applied: 60, failed: 1, unprocessed: 59 });
  expect(shop.first.next).toMatch(/^petstore resume r1/);
  const modes = [shop.journal('r1'), dirname(shop.journal('r1'))].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o600, 0o700]);
  shop.write('stock.csv', 'gone');
  shop.requests.length = 0;
  expect((await shop.run('resume')).code).toBe(2);
  const dry = await shop.run('resume --dry-run -o json');
  expect(JSON.parse(dry.stdout)).toHaveLength(60);
  expect(shop.writes()).toEqual([]);
  const rest = await shop.report('resume --yes');
  expect(rest).toMatchObject({ code: 0, id: 'r1', rows: 120, applied: 120, unprocessed: 0 });
  expect([...shop.stock]).toEqual(shelves(120, (petId) => petId + 5).map(([id, n]) => [`${id}`, n]));
  expect(shop.writes()).toHaveLength(60);
  // Nothing is left to do. The exit code is that of the run.
  expect(await shop.report('resume r1 --yes')).toMatchObject({ code: 0, applied: 120, unprocessed: 0 });
  expect(shop.writes()).toHaveLength(60);
});

test('a record that can never be read does not keep a run open', async () => {
  await using shop = await stoppedRun(4);
  shop.misbehave = ({ method, petId }) => (method === 'GET' && petId === '4' ? refusal(500) : undefined);
  const hint = expect.stringContaining("settle r1 '<id>' --as applied, or");
  expect(await shop.report('resume --yes --retries 0')).toMatchObject({ code: 6, error: { hint } });
  // A service that is down shows nothing about a record.
  shop.misbehave = ({ method }) => (method === 'GET' ? refusal(503) : undefined);
  expect((await shop.report('resume --yes --retries 0')).error?.hint).toBeUndefined();
  shop.misbehave = undefined;
  await shop.run('runs settle r1 4 --as failed');
  expect(await shop.report('resume --yes')).toMatchObject({ code: 3, applied: 3, failed: 1 });
  expect(await shop.run('resume')).toMatchObject(
    failed(3, 'hint: see its rows with `petstore runs show r1`'),
  );
});

stories({
  'a run that sets is not resumed once a later run has come, even one that wrote nothing': [
    { counts: [1, 1, 1], files: { 'stock.csv': toCsv([2, 2, 2]), 'later.csv': toCsv([[3, 1]]) } },
    answering({ 2: 401 }),
    [`${apply} --concurrency 1`, '4: applied 1'],
    healed,
    ['inventory apply later.csv --yes', '0: unchanged 1', /run r1 \(stock.csv\) is not finished/],
    ['resume r1 --yes', '2:', 'resume r1: run r2 (later.csv) came later', 'apply it again'],
    // It is not named as another run to resume.
    ['resume --yes', '0:', /run r2 is finished: nothing is left to do\n/],
    counts(2, 1, 1),
    [apply, '0: applied 2, unchanged 1'],
  ],
  'a run that adds is resumed whatever came later, by its id': [
    { counts: [5, 5], files: { 'd.csv': 'petId,change\n1,1\n2,2\n', 'stock.csv': toCsv([70, 70]) } },
    answering({ 2: 401 }),
    ['inventory apply d.csv --relative --delivery LS-1 --yes --concurrency 1', '4: applied 1'],
    [`${apply} --concurrency 1`, '4: applied 1'],
    healed,
    ['resume r1 --yes', '0: applied 2'],
    counts(70, 7),
    // The run that sets is the last one, and the plan of the other came later.
    ['resume --yes', '2:', 'run r1 (d.csv) came later'],
  ],
  'a run is not resumed once its undo has begun': [
    { counts: [1, 1, 1], files: { 'stock.csv': toCsv([2, 2, 2]) } },
    answering({ 3: 401 }),
    [`${apply} --concurrency 1`, '4: applied 2, failed 1'],
    answering({ 2: 401 }),
    ['undo r1 --yes --concurrency 1', '4: applied 1'],
    healed,
    ['resume r1 --yes', '2:', 'resume r1: run r2 has begun to undo it'],
    [apply, '0: applied 2, unchanged 1', /run r2 \(undo r1\) is not finished/],
  ],
  'a resume has only the guards that it is given': [
    { counts: shelves(20, 1), files: { 'stock.csv': toCsv(shelves(20, (petId) => (petId <= 10 ? 2 : 1))) } },
    answering({ 4: 401 }),
    [`${apply} --max-changes 10 --max-delta 5 --concurrency 1`, '4: applied 3'],
    healed,
    setting({ 10: 90 }),
    ['resume --yes --max-delta 5', '2:', '--max-delta'],
    ['resume --yes', '0: applied 10'],
  ],
});

/** A service to which a run of `stock.csv` writes until `release` is called. */
async function busyShop() {
  const files = { 'stock.csv': toCsv(shelves(30, 2)), 'other.csv': toCsv([9]) };
  const shop = await stockShop(shelves(30, 1), files);
  const release = holdWrites(shop);
  const first = shop.report(apply);
  // Until the first row is seen to be stored, no other goes out.
  await arrivalOf(shop, 1);
  return Object.assign(shop, { first, release });
}

test('one run at a time for a target: another command that writes is told the file and the process', async () => {
  await using shop = await busyShop();
  for (const words of [
    'inventory apply other.csv',
    'resume',
    'resume r1',
    'undo',
    'runs settle r1 1 --as failed',
  ]) {
    const holder = `stock.csv, process ${process.pid}`;
    expect(await shop.run(`${words} --yes`), words).toMatchObject(failed(6, holder));
  }
  expect((await shop.run('runs -o csv --fields state')).stdout).toBe('state\nopen\n');
  shop.release();
  expect(await shop.first).toMatchObject({ code: 0, applied: 30 });
});

test('a command that only reads, and a run on another target, wait for no lock', async () => {
  await using shop = await busyShop();
  await using elsewhere = await stockServer([1]);
  const stdout = 'petId,before,after,change,state,reason\n1,1,9,8,planned,\n';
  expect(await shop.run('inventory diff other.csv -o csv')).toMatchObject({ code: 8, stdout });
  expect(await shop.run('inventory apply other.csv --dry-run -o csv')).toMatchObject({ code: 0, stdout });
  const other = await shop.report(`inventory apply other.csv --yes --base-url ${elsewhere.url}`);
  expect(other).toMatchObject({ code: 0, applied: 1 });
  expect(elsewhere.stock.get('1')).toBe(9);
  // The first run still waits.
  expect(shop.writes()).toHaveLength(1);
  shop.release();
  await shop.first;
});

test('--lock-wait waits for the other run until a signal, and undo then chooses its run by what that has done', async () => {
  await using shop = await busyShop();
  const open = (words: string) => {
    const io = fakeIo({ cwd: shop.folder, env: shop.env });
    return { io, code: main([...words.split(' '), '--yes', '--lock-wait', '60s'], io) };
  };
  const [undo, interrupted] = [open('undo'), open('inventory apply other.csv')];
  for (const { io } of [undo, interrupted])
    await vi.waitUntil(() => /^waiting for stock\.csv, process \d+\n/m.test(io.written('stderr')));
  interrupted.io.raise('SIGINT');
  expect(await interrupted.code).toBe(130);
  shop.release();
  expect(await shop.first).toMatchObject({ code: 0, applied: 30 });
  expect(await undo.code).toBe(0);
  expect(undo.io.written('stderr')).toContain(', 30 of 30 rows\n');
  expect(new Set(shop.stock.values())).toEqual(new Set([1]));
});

test('a signal during the last reading of a plan begins no run', async () => {
  await using shop = await stockShop([1], { 'stock.csv': toCsv([2]) });
  const io = fakeIo({ cwd: shop.folder, env: shop.env });
  shop.misbehave = () => {
    io.raise('SIGTERM');
    return undefined;
  };
  expect(await main(apply.split(' '), io)).toBe(143);
  expect(io.written('stderr')).toBe('error: interrupted\n');
  expect((await shop.run('runs -o json')).stdout).toBe('[]\n');
});

test('shards of one n run side by side, each as a run of its own; anything else waits', async () => {
  await using shop = await stockShop(shelves(40, 1), { 'stock.csv': toCsv(shelves(40, 2)) });
  const release = holdWrites(shop);
  const shards = ['1/3', '2/3', '3/3'].map((shard) => shop.report(`${apply} --shard ${shard}`));
  await arrivalOf(shop, 3);
  for (const words of [' --shard 1/3', ' --shard 0/3', ' --shard 4/5', ''])
    expect(await shop.report(`${apply}${words}`)).toMatchObject({ code: 6, error: { code: 'locked' } });
  release();
  const runs = await Promise.all(shards);
  for (const report of runs) expect(report).toMatchObject({ code: 0, failed: 0 });
  expect(runs.map(({ id }) => id).sort()).toEqual(['r1', 'r2', 'r3']);
  expect(runs.map(({ shard }) => shard)).toEqual(['1/3', '2/3', '3/3']);
  expect(new Set(shop.stock.values())).toEqual(new Set([2]));
  const undo = await shop.run('undo --yes');
  expect(undo).toMatchObject(failed(2, 'each shard is a run of its own'));
  for (const id of ['r1', 'r2', 'r3'])
    expect(await shop.report(`undo ${id} --yes`)).toMatchObject({ code: 0 });
  const offers = async (verb: string) => (await shop.run(['__complete', '--', verb, ''])).stdout;
  expect(await offers('resume')).toMatch(/^r6\tundo of r3 .*\n(.*\n)*r1\tstock\.csv /);
  expect(await offers('undo')).toMatch(/^r3\t.*\nr2\t.*\nr1\tstock\.csv .*\n$/);
});

test('a run of all rows and a shard that begin at once do not both hold the target', async () => {
  await using shop = await stockShop(shelves(4, 1), { 'stock.csv': toCsv(shelves(4, 2)) });
  const release = holdWrites(shop);
  const runs = ['', ' --shard 1/2'].map((shard) => shop.report(`${apply}${shard}`));
  expect(await Promise.race(runs)).toMatchObject({ code: 6, error: { code: 'locked' } });
  release();
  expect((await Promise.all(runs)).map(({ code }) => code).sort()).toEqual([0, 6]);
});

test.each(['moves', 'replaces', 'hides'])('a journal that somebody %s stops its run', async (verb) => {
  await using shop = await stockShop([5], { 'd.csv': 'petId,change\n1,+1\n' });
  shop.sendsETags = true;
  // Somebody sells one, so the write is refused, and the row is planned anew.
  shop.misbehave = ({ method }) => {
    if (method !== 'PUT') return undefined;
    const path = verb === 'hides' ? dirname(shop.journal('r1')) : shop.journal('r1');
    renameSync(path, `${path}-old`);
    if (verb !== 'moves') writeFileSync(path, '');
    shop.stock.set('1', 4);
    return undefined;
  };
  const { code, stderr } = await shop.run('inventory apply d.csv --relative --delivery LS-1 --yes');
  // Without a journal no command can continue.
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.not.stringMatching(/petstore (resume|undo|runs)/),
  });
  expect(stderr).toMatch(
    /: it was removed or replaced; 1 unprocessed of 1 row\nhint: put the journal back if it was moved; else check the records: without its journal /,
  );
  expect(shop.writes()).toHaveLength(1);
  expect(shop.stock.get('1')).toBe(4);
});

test.each([
  ['"kind":"applied"', '"kind":applied'],
  ['"id":1,', '"id":1.5,'],
])(
  'a run with a damaged line (%s, %s) is not resumed, a folder in place of a journal is named, and a file can be applied',
  async (text, damaged) => {
    await using shop = await stoppedRun(4);
    const path = shop.journal('r1');
    writeFileSync(path, readFileSync(path, 'utf8').replace(text, damaged));
    expect(await shop.run('resume r1 --yes')).toMatchObject(
      failed(2, `error: ${path}: this journal cannot be read: one of its lines is damaged\n`),
    );
    mkdirSync(shop.journal('r2'));
    const stderr = `warning: read ${shop.journal('r2')}: illegal operation on a directory\n`;
    expect(await shop.run('runs -o ids')).toEqual({ code: 0, stdout: 'r1\n', stderr });
    expect(await shop.report(apply)).toMatchObject({ code: 0, id: 'r3' });
  },
);

test('a resume plans by what it reads, and a stop leaves uncertain rows unknown', async () => {
  await using shop = await stockShop([120, 120], { 'stock.csv': toCsv([100, 100]) });
  await shop.report(apply);
  // The run was killed after its rows went out, and somebody has set the counts since.
  const path = shop.journal('r1');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/("kind":"mark".*\n)[\s\S]*$/, '$1'));
  for (const petId of ['1', '2']) shop.stock.set(petId, 5000);
  const dry = await shop.run('resume --dry-run -o json');
  expect(JSON.parse(dry.stdout)).toMatchObject(Array(2).fill({ before: 5000, after: 100, change: -4900 }));
  const guarded = await shop.report('resume --yes --max-delta 1000');
  expect(guarded).toMatchObject({ code: 2, error: { code: 'guard' } });
  trouble(shop, () => 401);
  expect(await shop.report('resume --yes --concurrency 1')).toMatchObject({ code: 4, unknown: 2 });
  shop.misbehave = () => refusal(500);
  expect(await shop.report('resume --yes --retries 0')).toMatchObject({ code: 6 });
  shop.misbehave = undefined;
  expect(await shop.report('resume --yes')).toMatchObject({ code: 0, applied: 2 });
});

test('a journal under another name is not read: it may be of another machine', async () => {
  await using shop = await stoppedRun(4);
  renameSync(shop.journal('r1'), shop.journal('r5'));
  const misnamed = await shop.report('undo r5 --yes');
  expect(misnamed).toMatchObject({ code: 2, error: { message: expect.stringContaining('r5.jsonl') } });
  expect((await shop.run('runs')).stderr).toContain('it is the journal of run r1');
});

test('a run from stdin is resumed without it; its rejects are as they were read, and fed back', async () => {
  await using shop = await stockShop([1, 1, 1]);
  const stdin = 'note,SKU,quantity\na,1,2\nb,2,2\nc,x,1\nd,3,2\n';
  trouble(shop, { 2: 401, 3: 401 });
  const words = 'inventory apply - --yes --skip-invalid --concurrency 1 --map petId=SKU';
  expect(await shop.report(words, { stdin })).toMatchObject({ code: 4, applied: 1, invalid: 1 });
  trouble(shop, { 3: 409 });
  const rest = await shop.report('resume --yes');
  expect(rest).toMatchObject({ code: 3, applied: 2, failed: 1, invalid: 1 });
  expect(shop.read(String(rest.rejects))).toMatch(/^note,SKU,quantity,_line,.*\nd,3,2,5,failed,409,no,/m);
  trouble(shop, {});
  const again = String(rest.error?.hint).replace(/^.*: petstore /, '');
  expect(await shop.report(`${again} --yes`)).toMatchObject({ code: 0, applied: 1 });
});

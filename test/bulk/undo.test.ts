import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { shardOfUndo } from '../../src/bulk/session-runs.ts';
import { type Counts, shelves, toCsv, trouble } from '../helpers/stock-server.ts';
import { stockShop } from '../helpers/stock-shop.ts';
import { answering, counts, healed, type Scene, type Shop, setting, stories } from './story.ts';

const apply = 'inventory apply stock.csv --yes';
const deliver = 'inventory apply d.csv --relative --delivery LS-1 --yes';
const oneByOne = '--concurrency 1';
const undone = 'run r1 is undone: nothing is left to do';

/** The second write of a command is refused, and all after it. */
const refusedAfterOne: Scene = (shop) => {
  const earlier = shop.writes().length;
  trouble(shop, (_, __, all) => (all - earlier > 1 ? 401 : undefined));
};

stories({
  'the undo of a delivery adds the opposite, so sales in between stay': [
    { counts: [5, 5], files: { 'd.csv': 'petId,change\n1,+5\n2,-3\n' } },
    [deliver, '0: applied 2'],
    setting({ 1: 9, 2: 1 }),
    ['undo --yes', '0: applied 2'],
    counts(4, 4),
  ],
  'a record that a later run wrote is left alone and named, until that run is undone': [
    { counts: [1, 1, 1], files: { 'stock.csv': toCsv([4, 4, 4]), 'later.csv': toCsv([[2, 9]]) } },
    [apply, '0: applied 3'],
    ['inventory apply later.csv --yes', '0: applied 1'],
    // By chance the value equals the value that the first run wrote.
    setting({ 2: 4 }),
    ['undo r1 --yes', '3: applied 2, failed 1', 'r2', /continue with: petstore undo r2$/],
    setting({ 2: 9 }),
    ['undo r2 --yes', '0: applied 1'],
    ['undo r1 --yes', '0:'],
    counts(1, 1, 1),
  ],
  'an undo that has nothing to do forbids no other run to go on': [
    { counts: [5, 5, 5, 5], files: { 'stock.csv': toCsv([6, 6]), 'c.csv': 'petId,quantity\n3,7\n4,7\n' } },
    [apply, '0: applied 2'],
    setting({ 2: 9 }),
    ['undo r1 --yes', '3: applied 1, failed 1'],
    refusedAfterOne,
    [`inventory apply c.csv --yes ${oneByOne}`, '4: applied 1'],
    healed,
    ['undo r1 --yes', '3: applied 1, failed 1'],
    ['resume r3 --yes', '0: applied 2'],
    counts(5, 9, 7, 7),
  ],
  'a record that others changed after a later run is left alone for good': [
    { counts: [1], files: { 'stock.csv': toCsv([4]), 'later.csv': toCsv([9]) } },
    [apply, '0: applied 1'],
    ['inventory apply later.csv --yes', '0: applied 1'],
    setting({ 1: 7 }),
    ['undo r2 --yes', '3: failed 1'],
    ['undo r1 --yes', '3: failed 1', 'the undo of that run has left it alone'],
    async ({ run }) => {
      const { stdout } = await run('runs -o csv --no-header --fields id,state');
      expect(stdout).toBe('r4,finished\nr3,finished\nr2,partly undone\nr1,partly undone\n');
    },
    counts(7),
  ],
  'a value that a later run could not replace is taken back': [
    { counts: [1], files: { 'stock.csv': toCsv([4]), 'later.csv': toCsv([9]) } },
    [apply, '0: applied 1'],
    answering({ 1: 422 }),
    ['inventory apply later.csv --yes', '1: failed 1'],
    healed,
    ['undo r1 --yes', '0: applied 1'],
    counts(1),
  ],
  'an entry that a delivery created is removed if it is still as created, else it gets the opposite': [
    { counts: [5, 5], files: { 'd.csv': 'petId,change\n3,+3\n4,+4\n' } },
    [`${deliver} --create-missing`, '0: applied 2'],
    setting({ 4: 40 }),
    ['undo --yes', '0: applied 2'],
    ({ stock }) => expect(Object.fromEntries(stock)).toEqual({ 1: 5, 2: 5, 4: 36 }),
  ],
  'what is settled as applied after the undo has ended is taken back too': [
    { counts: [5, 5, 6], files: { 'stock.csv': toCsv([6, 6, 7]) } },
    answering({ 2: 502, 3: 429 }),
    [`${apply} --retries 0`, '3: applied 1, failed 1, unknown 1'],
    healed,
    ['undo --yes', '3: applied 1, failed 1'],
    ['runs settle r1 2 --as failed', '0:'],
    ['undo r1 --yes', '0: applied 1, unchanged 1'],
    setting({ 3: 7 }),
    ['runs settle r1 3 --as applied', '0:'],
    ['undo r1 --yes', '0: applied 2'],
    counts(5, 5, 6),
  ],
  'what an undo could not take back is named, and another undo tries it again': [
    { counts: [1, 1], files: { 'stock.csv': toCsv([4, 4]) } },
    [apply, '0: applied 2'],
    answering({ 2: 422 }),
    ['undo --yes', '3: applied 1, failed 1', 'row left alone: id 2'],
    healed,
    ['undo --yes', '0: applied 2'],
    counts(1, 1),
  ],
  'an undo that has nothing left to do names the last other run, if no run was named': [
    { counts: [1, 1], files: { 'stock.csv': toCsv([4]), 'later.csv': toCsv([[2, 9]]) } },
    [apply, '0: applied 1'],
    ['inventory apply later.csv --yes', '0: applied 1'],
    ['undo r1 --yes', '0: applied 1'],
    ['undo --yes', '0:', `${undone}; the last other run is r2 (later.csv): petstore undo r2\n`],
    ['undo r1 --yes', '0:', `${undone}\n`],
    counts(1, 9),
  ],
  'an undo of a run that wrote nothing says so, and takes back no earlier run': [
    { counts: [5], files: { 'stock.csv': toCsv([6]), 'later.csv': toCsv([7]) } },
    [apply, '0: applied 1'],
    answering({ 1: 422 }),
    ['inventory apply later.csv --yes', '1: failed 1'],
    healed,
    ['undo --yes', '0:', /r2 has written nothing: .+; the last other run is r1 \(stock.csv\)/],
    counts(6),
  ],
  'an undo that was stopped goes on, and never takes an older run': [
    { counts: [1, 1, 1, 1], files: { 'stock.csv': toCsv([4, 4, 4, 4]), 'later.csv': toCsv([9, 9, 9]) } },
    [apply, '0: applied 4'],
    ['inventory apply later.csv --yes', '0: applied 3'],
    refusedAfterOne,
    [`undo --yes ${oneByOne}`, '4: applied 1', 'petstore undo r2'],
    healed,
    ['resume r2 --yes', '2:', 'undo'],
    ['undo --yes', '0: applied 3', /^undoing r2: apply later.csv, .*, 2 of 3 rows$/m],
    ['undo r3 --yes', '2:', 'undo'],
    counts(4, 4, 4, 4),
    ['undo --yes', '0:'],
    counts(4, 4, 4, 4),
  ],
});

/** A service whose counts, and entries that it lacks, run r1 has set. */
async function appliedShop(before: Counts, wanted: Counts) {
  const shop = await stockShop(before, { 'stock.csv': toCsv(wanted) });
  await shop.report(`${apply} --create-missing`);
  shop.requests.length = 0;
  return shop;
}

test('undo sets back what the last run wrote, and only that', async () => {
  await using shop = await appliedShop(
    shelves(150, (petId) => petId),
    shelves(150, (petId) => (petId % 2 === 0 ? petId : 500)),
  );
  shop.stock.set('2', 77);
  expect(await shop.report('undo')).toMatchObject({ code: 2, error: { code: 'confirmation_needed' } });
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, kind: 'undo', rows: 75, applied: 75 });
  expect([...shop.stock].filter(([petId, count]) => Number(petId) !== count)).toEqual([['2', 77]]);
  const { stdout } = await shop.run('runs -o csv --no-header --fields id,state');
  expect(stdout).toBe('r2,finished\nr1,undone\n');
  shop.requests.length = 0;
  const stderr = `${undone}\n`;
  for (const words of ['undo --yes', 'undo r1 --yes'])
    expect(await shop.run(words)).toEqual({ code: 0, stdout: '', stderr });
  // An undo cannot be undone. The file is applied again instead.
  expect(await shop.report('undo r2 --yes')).toMatchObject({
    code: 2,
    error: {
      message: 'undo r2: this run is itself an undo, of run r1, and cannot be undone',
      hint: 'apply its values again: `petstore runs show r1` lists them',
    },
  });
  expect(shop.writes()).toEqual([]);
});

/** Leaves the journal of a run as if it was killed after its first outcome. */
function cutAfterFirst({ journal }: Shop): void {
  const outcomes = /("row":2,"outcome":\{"kind":"applied"\}}\n)[\s\S]*$/;
  writeFileSync(journal('r1'), readFileSync(journal('r1'), 'utf8').replace(outcomes, '$1'));
}

test('an undo names the unknown rows of a killed run, and takes them back once they are settled in the run', async () => {
  await using shop = await stockShop([5, 5, 5], { 'd.csv': 'petId,change\n1,+1\n2,+2\n3,+3\n' });
  await shop.report(deliver);
  // It is killed after its first row: the outcomes of the others are lost.
  cutAfterFirst(shop);
  expect((await shop.run('undo --dry-run')).stderr).toContain('`petstore resume r1` may find out');
  const next = expect.stringContaining('settle r1 2');
  expect(await shop.report('undo --yes')).toMatchObject({ code: 3, applied: 1, failed: 2, next });
  expect(await shop.states('r1')).toEqual({ 1: 'applied', 2: 'unsettled', 3: 'unsettled' });
  expect(await shop.report(deliver)).toMatchObject({ code: 2, error: { code: 'unfinished_delivery' } });
  // Else the undo would be finished while the row is still unknown, and the delivery would be booked twice.
  const error = { hint: expect.stringContaining('settle r1 3') };
  for (const as of ['applied', 'failed'])
    expect(await shop.report(`runs settle r2 3 --as ${as}`)).toMatchObject({ code: 2, error });
  expect((await shop.run('runs settle r1 2 --as applied')).code).toBe(0);
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 3, applied: 2, failed: 1 });
  expect((await shop.run('runs settle r1 3 --as failed')).code).toBe(0);
  expect((await shop.report(deliver)).error?.hint).toBe('continue with: petstore undo r1');
  expect((await shop.run('runs settle r2 3 --as applied')).code).toBe(0);
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 0, applied: 3 });
  expect([...shop.stock.values()]).toEqual([5, 5, 8]);
});

test('an undo of a killed run that sets believes the counts, and leaves alone what is neither old nor new', async () => {
  await using shop = await appliedShop([5, 5, 5, 5], [6, 6, 6, 6]);
  cutAfterFirst(shop);
  // The second row was written, the third never sent, and of the last one nobody can tell.
  shop.stock.set('3', 5).set('4', 7);
  expect(await shop.report('undo --yes')).toMatchObject({ code: 3, applied: 2, unchanged: 1, failed: 1 });
  expect([...shop.stock.values()]).toEqual([5, 5, 5, 7]);
  // The write of the third row lay in a gateway, and a person says so.
  shop.stock.set('3', 6);
  expect((await shop.run('runs settle r1 3 --as applied')).code).toBe(0);
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 3, applied: 3, failed: 1 });
  expect([...shop.stock.values()]).toEqual([5, 5, 5, 7]);
});

test('an undo removes the entries that its run created, and its plan has them', async () => {
  await using shop = await appliedShop([5], [6, 7, 1200]);
  const json = await shop.run('undo --dry-run -o json');
  expect(JSON.parse(json.stdout)[1]).toMatchObject({ before: 7, after: null, change: -7 });
  expect((await shop.run('undo')).stderr).toContain('take back 3 counts');
  expect(shop.writes()).toEqual([]);
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, rows: 3, applied: 3 });
  expect([...shop.stock]).toEqual([['1', 5]]);
});

test('the undo of a shard of creates locks the whole target, because their ids are of any shard', () => {
  const flags = { shard: { index: 1, count: 2 } };
  expect(shardOfUndo({ kind: 'create', flags })).toBeUndefined();
  expect(shardOfUndo({ kind: 'update', flags })).toEqual(flags.shard);
});

test('a run whose undo another version has written is neither undone again nor resumed', async () => {
  await using shop = await stockShop([5], { 'd.csv': 'petId,change\n1,5\n' });
  await shop.report('inventory apply d.csv --relative --delivery LS-1 --yes');
  await shop.report('undo --yes');
  const path = shop.journal('r2');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/"journal":\d+/, '"journal":99'));
  for (const line of ['undo r1 --yes', 'resume r1 --yes', 'undo --yes', deliver])
    expect(await shop.run(line)).toMatchObject({ code: 2, stderr: expect.stringContaining(path) });
  expect([...shop.stock.values()]).toEqual([5]);
});

test('the guards of an undo count the rows that a person has since settled as applied', async () => {
  const ids = shelves(20, 0).map((_, index) => index + 1);
  await using shop = await stockShop(shelves(20, 0), { 'stock.csv': toCsv(shelves(20, 5)) });
  trouble(shop, (petId) => (petId > 1 ? 425 : undefined));
  await shop.report(`${apply} --retries 0`);
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 0, applied: 1 });
  shop.misbehave = undefined;
  for (const id of ids) shop.stock.set(`${id}`, 5);
  await shop.run(`runs settle r1 ${ids.slice(1).join(' ')} --as applied`);
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 2, error: { code: 'guard' } });
  const words = 'undo r1 --yes --allow-zero --max-changes 100%';
  expect(await shop.report(words)).toMatchObject({ code: 0, applied: 20 });
});

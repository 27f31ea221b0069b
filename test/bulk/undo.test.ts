import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type StockDesk, stockShop } from '../helpers/stock-desk.ts';
import { type Counts, reply, shelves, toCsv, trouble } from '../helpers/stock-server.ts';

const oneByOne = ['--yes', '--concurrency', '1'];

/** A service whose counts, and entries that it lacks, run r1 has set. */
async function appliedShop(counts: Counts, wanted: Counts) {
  const shop = await stockShop(counts, { 'stock.csv': toCsv(wanted) });
  await shop.summary(['apply', 'stock.csv', '--yes', '--create-missing']);
  shop.seen.length = 0;
  return shop;
}

async function listed(desk: StockDesk): Promise<string> {
  return (await desk.inventory(['runs', '-o', 'csv', '--no-header', '--fields', 'id,state'])).stdout;
}

test('undo sets back what the last run wrote, and only that', async () => {
  await using shop = await appliedShop(
    shelves(150, (petId) => petId),
    shelves(150, (petId) => (petId % 2 === 0 ? petId : 500)),
  );
  shop.stock.set('2', 77);
  expect((await shop.inventory(['undo'])).code).toBe(2);
  expect(await shop.summary(['undo', '--yes'])).toMatchObject({
    code: 0,
    kind: 'undo',
    rows: 75,
    applied: 75,
  });
  expect([...shop.stock].filter(([petId, count]) => Number(petId) !== count)).toEqual([['2', 77]]);
  expect(await listed(shop)).toBe('r2,finished\nr1,undone\n');
  for (const words of [['undo'], ['undo', 'r1']]) {
    const again = await shop.inventory([...words, '--yes']);
    expect(again).toMatchObject({ code: 0, stdout: '' });
    expect(again.stderr).toContain('run r2 is finished: nothing is left to do');
  }
  const undoOfUndo = await shop.inventory(['undo', 'r2', '--yes']);
  expect(undoOfUndo.code).toBe(2);
  expect(undoOfUndo.stderr).toContain('apply the file of run r1 again');
});

test("undo never overwrites somebody's later change, and exits 3, also if that is every row", async () => {
  await using shop = await appliedShop(
    shelves(150, (petId) => petId),
    shelves(150, () => 500),
  );
  shop.stock.set('7', 8);
  shop.misbehave = ({ method, petId }) => {
    // Another count is changed between the plan and the write.
    if (method === 'GET' && petId === '9') shop.stock.set('9', 10);
    return undefined;
  };
  expect(await shop.summary(['undo', '--yes'])).toMatchObject({
    ...{ code: 3, applied: 148, failed: 2, resume: 'petstore inventory undo r1' },
    failures: [{ kind: 'changed_since', count: 2 }],
  });
  expect([shop.stock.get('7'), shop.stock.get('9')]).toEqual([8, 10]);
  const refused = await shop.inventory(['resume', 'r1']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('go on with that: petstore inventory undo r1');
  shop.misbehave = undefined;
  shop.write('one.csv', toCsv([[7, 1]]));
  await shop.summary(['apply', 'one.csv', '--yes']);
  shop.stock.set('7', 2);
  const terminals = { terminals: ['stderr'], env: { NO_COLOR: '1' } } as const;
  const dry = await shop.inventory(['undo', '--dry-run'], terminals);
  expect(dry.code).toBe(3);
  expect(dry.stderr.replaceAll('\n', ' ')).toContain(
    'warning: 1 row cannot be written: pet 7: changed since: the count is 2 now, not 1 as expected',
  );
  expect(await shop.summary(['undo', '--yes'])).toMatchObject({ code: 3, applied: 0, failed: 1 });
});

test('undo leaves rows alone that the run did not write, and closes the run: it cannot be resumed', async () => {
  await using shop = await stockShop([5, 5, 5], {
    'stock.csv': toCsv([6, 6, 6]),
    'd.csv': 'id,change\n1,1\n',
  });
  trouble(shop, { 2: 401 });
  const summary = await shop.summary(['apply', 'stock.csv', ...oneByOne]);
  expect(summary).toMatchObject({ applied: 1, failed: 1, unprocessed: 1 });
  shop.misbehave = undefined;
  for (const petId of ['2', '3']) shop.stock.set(petId, 6);
  expect(await shop.summary(['undo', '--yes'])).toMatchObject({ code: 0, rows: 1, applied: 1 });
  expect([...shop.stock.values()]).toEqual([5, 6, 6]);
  const refused = await shop.inventory(['resume', 'r1', '--yes']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('run r2 has undone it');
  // So does that of an unfinished delivery that has written nothing.
  trouble(shop, () => 401);
  const words = ['apply', 'd.csv', '--relative', '--yes'];
  expect((await shop.summary(words)).code).toBe(4);
  shop.misbehave = undefined;
  expect((await shop.summary(words)).code).toBe(2);
  expect(await shop.summary(['undo'])).toMatchObject({ code: 0, rows: 0 });
  expect(await shop.summary(words)).toMatchObject({ code: 0, applied: 1 });
});

test('a pet that a later run wrote is left alone until that run is undone', async () => {
  await using shop = await appliedShop([1, 1, 1], [4, 4, 4]);
  shop.write('later.csv', toCsv([[2, 9]]));
  await shop.summary(['apply', 'later.csv', '--yes']);
  // By chance it is what the first run wrote.
  shop.stock.set('2', 4);
  const first = await shop.summary(['undo', 'r1', '--yes']);
  expect(first).toMatchObject({ code: 3, applied: 2, failed: 1, failures: [{ kind: 'written_later' }] });
  expect(JSON.stringify(first.failures)).toContain('run r2 has written this pet since: undo that run first');
  shop.stock.set('2', 9);
  expect(await shop.summary(['undo', 'r2', '--yes'])).toMatchObject({ code: 0, applied: 1 });
  expect(await shop.summary(['undo', 'r1', '--yes'])).toMatchObject({ code: 0, applied: 1, unchanged: 2 });
  expect([...shop.stock.values()]).toEqual([1, 1, 1]);
});

test('undo looks at the rows of a killed run', async () => {
  await using shop = await appliedShop([5, 5, 5], [6, 6, 6]);
  const path = shop.journal('r1');
  const text = readFileSync(path, 'utf8');
  // The outcomes were never on the disk.
  writeFileSync(path, text.slice(0, text.indexOf('\n', text.indexOf('"planned"')) + 1));
  shop.stock.set('3', 5);
  const shown = await shop.inventory(['runs', 'show', 'r1', '-o', 'csv', '--fields', 'petId,state']);
  expect(shown.stdout).toBe('petId,state\n1,unknown\n2,unknown\n3,unknown\n');
  expect(await shop.summary(['undo', '--yes'])).toMatchObject({ code: 0, applied: 2, unchanged: 1 });
  expect([...shop.stock.values()]).toEqual([5, 5, 5]);
});

test('removes the entries that a run created, and shows that in the plan', async () => {
  await using shop = await appliedShop([5], [6, 7, 1200]);
  const dry = await shop.inventory(['undo', '--dry-run']);
  expect(dry.stdout).toBe(
    'petId  name   now      new  change\n' +
      '    1           6        5      -1\n' +
      '    2           7  removed      -7\n' +
      '    3        1200  removed  -1,200\n',
  );
  expect(dry.stderr).toContain('plan: 3 of 3 rows to write: 3 pets down -1,208 (2 removed)\n');
  const json = await shop.inventory(['undo', '--dry-run', '-o', 'json']);
  expect(JSON.parse(json.stdout)[1]).toMatchObject({ petId: 2, now: 7, new: null, change: -7 });
  const asked = await shop.inventory(['undo']);
  expect(asked.stderr).toContain('error: set 1 count and remove 2 entries: needs confirmation');
  expect(shop.writes()).toEqual([]);
  expect(await listed(shop)).toBe('r1,finished\n');
  expect(await shop.summary(['undo', '--yes'])).toMatchObject({ code: 0, rows: 3, applied: 3 });
  expect([...shop.stock]).toEqual([['1', 5]]);
});

test('does not count a removal that was answered 200 with an error or another pet as done', async () => {
  await using shop = await appliedShop([5], [6, 6, 6]);
  const bodies = [
    { code: 'broken', message: 'no', status: 500 },
    { petId: 999, quantity: 6, status: 'sold' },
  ];
  shop.misbehave = ({ method, petId }, response) =>
    method === 'DELETE' ? reply(response, 200, bodies[Number(petId) - 2]) : undefined;
  expect(await shop.summary(['undo', '--yes'])).toMatchObject({ code: 3, applied: 1, unknown: 2 });
  shop.misbehave = undefined;
  expect(await shop.summary(['undo', '--yes'])).toMatchObject({ code: 0, applied: 3 });
  expect([...shop.stock]).toEqual([['1', 5]]);
});

test('does not remove an entry that somebody has changed, and finds one gone that is gone already', async () => {
  await using shop = await appliedShop([5], [6, 7, 7, 7]);
  shop.stock.set('2', 8);
  shop.stock.delete('3');
  let reads = 0;
  shop.misbehave = ({ method, petId }) => {
    // Without ETags the entry is read again right before the write; somebody has changed it by then.
    if (method === 'GET' && petId === '4') reads += 1;
    if (reads === 2) shop.stock.set('4', 9);
    return undefined;
  };
  const summary = await shop.summary(['undo', '--yes']);
  expect(summary).toMatchObject({ code: 3, applied: 1, unchanged: 1, failed: 2, requests: 7 });
  expect([...shop.stock.values()]).toEqual([5, 8, 9]);
});

test('removes an entry only if it has the ETag that the plan saw', async () => {
  await using shop = await appliedShop([5], [6, 7, 7]);
  shop.sendsETags = true;
  shop.misbehave = ({ method, petId }) => {
    if (method === 'DELETE' && petId === '2') shop.stock.set('2', 8);
    return undefined;
  };
  expect(await shop.summary(['undo', '--yes'])).toMatchObject({ code: 3, applied: 2, failed: 1 });
  expect([shop.stock.get('2'), shop.stock.has('3')]).toEqual([8, false]);
  const removals = shop.seen.filter(({ method }) => method === 'DELETE');
  expect(removals.map(({ headers }) => headers['if-match'])).toEqual(['"7"', '"7"']);
});

test.each([false, true])(
  'a removal whose answer was lost counts as done when the undo goes on (ETags: %s)',
  async (sendsETags) => {
    await using shop = await appliedShop([5], [6, 7, 7]);
    shop.sendsETags = sendsETags;
    trouble(shop, { 2: 'lost' }, { isApplied: true });
    const words = ['undo', ...oneByOne, '--retries', '0', '--max-errors', '1'];
    expect(await shop.summary(words)).toMatchObject({ code: 3, applied: 1, unknown: 1, unprocessed: 1 });
    shop.misbehave = undefined;
    expect(await shop.summary(['undo', '--yes'])).toMatchObject({ code: 0, applied: 3 });
    expect([...shop.stock]).toEqual([['1', 5]]);
  },
);

test('sends back what was read, also a negative count', async () => {
  await using shop = await appliedShop([-5, 1], [4, 4]);
  expect(await shop.summary(['undo', '--yes'])).toMatchObject({ code: 0, applied: 2 });
  expect([...shop.stock.values()]).toEqual([-5, 1]);
});

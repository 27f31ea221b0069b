import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type StockDesk, stockShop } from '../helpers/stock-desk.ts';
import { type Counts, reply, shelves, toCsv, trouble } from '../helpers/stock-server.ts';

/** A service whose counts, and entries that it lacks, run r1 has set. */
async function appliedShop(counts: Counts, wanted: Counts) {
  const shop = await stockShop(counts, { 'stock.csv': toCsv(wanted) });
  await shop.report('inventory apply stock.csv --yes --create-missing');
  shop.seen.length = 0;
  return Object.assign(shop, { counted: () => [...shop.stock.values()] });
}

/** A service with counts of 5, on which run r1 has booked a delivery. */
async function deliveredShop(rows: string, pets = 2) {
  const shop = await stockShop(
    shelves(pets, () => 5),
    { 'd.csv': `petId,change\n${rows}` },
  );
  await shop.report('inventory apply d.csv --relative --yes --create-missing');
  return Object.assign(shop, { counted: () => [...shop.stock.values()] });
}

async function listed(desk: StockDesk): Promise<string> {
  return (await desk.run('runs -o csv --no-header --fields id,state')).stdout;
}

/** Takes the end and the outcomes of a run out of its journal, as a kill and a power cut do. */
function forgetOutcomes(desk: StockDesk, run: string): void {
  const path = desk.journal(run);
  const lines = readFileSync(path, 'utf8').split('\n');
  const planned = lines.findIndex((line) => line.includes('"planned"'));
  writeFileSync(path, `${lines.slice(0, planned + 1).join('\n')}\n`);
}

test('undo sets back what the last run wrote, and only that', async () => {
  await using shop = await appliedShop(
    shelves(150, (petId) => petId),
    shelves(150, (petId) => (petId % 2 === 0 ? petId : 500)),
  );
  shop.stock.set('2', 77);
  expect((await shop.run('undo')).code).toBe(2);
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, kind: 'undo', rows: 75, applied: 75 });
  expect([...shop.stock].filter(([petId, count]) => Number(petId) !== count)).toEqual([['2', 77]]);
  expect(await listed(shop)).toBe('r2,finished\nr1,undone\n');
  shop.seen.length = 0;
  for (const words of ['undo --yes', 'undo r1 --yes']) expect((await shop.run(words)).code).toBe(0);
  // An undo is not undone itself: the file is applied again.
  const undone = await shop.report('undo r2 --yes');
  expect(undone.code).toBe(2);
  expect(JSON.stringify(undone.error)).toContain('apply');
  expect(shop.writes()).toEqual([]);
});

test("undo never overwrites somebody's later change, and exits 3", async () => {
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
  expect(await shop.report('undo --yes')).toMatchObject({ code: 3, applied: 148, failed: 2 });
  expect([shop.stock.get('7'), shop.stock.get('9')]).toEqual([8, 10]);
  expect((await shop.report('resume r1 --yes')).code).toBe(2);
});

test('the undo of a delivery adds the opposite, so sales in between stay', async () => {
  await using shop = await deliveredShop('1,+5\n2,-3\n');
  shop.stock.set('1', 9);
  shop.stock.set('2', 1);
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, applied: 2 });
  expect(shop.counted()).toEqual([4, 4]);
});

test('an undo that would go below 0 fails, says so, and names no command that must fail again', async () => {
  await using shop = await deliveredShop('1,+5\n2,+1\n');
  shop.stock.set('1', 3);
  const report = await shop.report('undo --yes');
  expect(report).toMatchObject({ code: 3, applied: 1, failed: 1 });
  expect(JSON.stringify(report.failures)).toContain('below');
  expect(shop.counted()).toEqual([3, 5]);
  // Once the count allows it, the undo goes on.
  shop.stock.set('1', 6);
  await shop.report('undo r1 --yes');
  expect([1, 6]).toContain(shop.stock.get('1'));
});

test('the undo of a delivery takes back no row that was not booked', async () => {
  await using shop = await stockShop([5, 5, 5], { 'd.csv': 'petId,change\n1,+1\n2,+2\n3,+3\n' });
  trouble(shop, { 2: 409, 3: 401 });
  await shop.report('inventory apply d.csv --relative --yes --concurrency 1');
  shop.misbehave = undefined;
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, applied: 1 });
  expect([...shop.stock.values()]).toEqual([5, 5, 5]);
});

test.each([true, false])(
  'a row of which nobody knows whether it was booked is compared before it is taken back (booked: %s)',
  async (isBooked) => {
    await using shop = await deliveredShop('1,+1\n2,+2\n');
    forgetOutcomes(shop, 'r1');
    if (!isBooked) shop.stock.set('2', 5);
    expect(await shop.report('undo --yes')).toMatchObject(
      isBooked ? { code: 0, applied: 2 } : { code: 0, applied: 1, unchanged: 1 },
    );
    expect(shop.counted()).toEqual([5, 5]);
  },
);

test('undo leaves rows alone that the run did not write, and closes the run: it cannot be resumed', async () => {
  await using shop = await stockShop([5, 5, 5], { 'stock.csv': toCsv([6, 6, 6]) });
  trouble(shop, { 2: 401 });
  const report = await shop.report('inventory apply stock.csv --yes --concurrency 1');
  expect(report).toMatchObject({ applied: 1, failed: 1, unprocessed: 1 });
  shop.misbehave = undefined;
  for (const petId of ['2', '3']) shop.stock.set(petId, 6);
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, applied: 1 });
  expect([...shop.stock.values()]).toEqual([5, 6, 6]);
  expect((await shop.report('resume r1 --yes')).code).toBe(2);
});

test('a record that a later run wrote is left alone and named, until that run is undone', async () => {
  await using shop = await appliedShop([1, 1, 1], [4, 4, 4]);
  shop.write('later.csv', toCsv([[2, 9]]));
  await shop.report('inventory apply later.csv --yes');
  // By chance it is what the first run wrote.
  shop.stock.set('2', 4);
  const first = await shop.report('undo r1 --yes');
  expect(first).toMatchObject({ code: 3, applied: 2, failed: 1 });
  expect(JSON.stringify(first.failures)).toContain('r2');
  expect(first.error?.hint).toBe('go on with: petstore undo r2');
  shop.stock.set('2', 9);
  expect(await shop.report('undo r2 --yes')).toMatchObject({ code: 0, applied: 1 });
  expect((await shop.report('undo r1 --yes')).code).toBe(0);
  expect(shop.counted()).toEqual([1, 1, 1]);
});

test('a delivery is undone although a later one is there', async () => {
  await using shop = await deliveredShop('1,+1\n');
  shop.write('e.csv', 'petId,change\n1,+10\n');
  await shop.report('inventory apply e.csv --relative --yes');
  expect(await shop.report('undo r1 --yes')).toMatchObject({ code: 0, applied: 1 });
  expect(shop.stock.get('1')).toBe(15);
});

test('undo compares the rows of a killed run, which are unsettled until then', async () => {
  await using shop = await appliedShop([5, 5, 5], [6, 6, 6]);
  forgetOutcomes(shop, 'r1');
  shop.stock.set('3', 5);
  expect(Object.values(await shop.states('r1'))).toEqual(['unsettled', 'unsettled', 'unsettled']);
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, applied: 2, unchanged: 1 });
  expect(shop.counted()).toEqual([5, 5, 5]);
});

test('removes the entries that a run created, and shows that in the plan', async () => {
  await using shop = await appliedShop([5], [6, 7, 1200]);
  const json = await shop.run('undo --dry-run -o json');
  expect(JSON.parse(json.stdout)[1]).toMatchObject({ now: 7, new: null, change: -7 });
  const asked = await shop.run('undo');
  expect(asked.stderr).toContain('remove 2 entries');
  expect(shop.writes()).toEqual([]);
  expect(await listed(shop)).toBe('r1,finished\n');
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, rows: 3, applied: 3 });
  expect([...shop.stock]).toEqual([['1', 5]]);
});

test('an entry that a delivery created is removed only if it is still as created', async () => {
  await using shop = await deliveredShop('3,+3\n4,+4\n');
  shop.stock.set('4', 40);
  expect(await shop.report('undo --yes')).toMatchObject({ code: 3, applied: 1, failed: 1 });
  expect(shop.stock.has('3')).toBe(false);
  expect(shop.stock.get('4')).toBe(40);
});

test('a removal that was answered 200 with an error or another pet is read back', async () => {
  await using shop = await appliedShop([5], [6, 6, 6]);
  const bodies = [
    { code: 'broken', message: 'no', status: 500 },
    { petId: 999, quantity: 6, status: 'sold' },
  ];
  shop.misbehave = ({ method, petId }, response) =>
    method === 'DELETE' ? reply(response, 200, bodies[Number(petId) - 2]) : undefined;
  expect(await shop.report('undo --yes')).toMatchObject({ code: 3, applied: 1, failed: 2 });
  shop.misbehave = undefined;
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, applied: 3 });
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
  expect(await shop.report('undo --yes')).toMatchObject({ code: 3, applied: 1, unchanged: 1, failed: 2 });
  expect(shop.counted()).toEqual([5, 8, 9]);
});

test('removes an entry only with the ETag of its reading', async () => {
  await using shop = await appliedShop([5], [6, 7, 7]);
  shop.sendsETags = true;
  shop.misbehave = ({ method, petId }) => {
    if (method === 'DELETE' && petId === '2' && shop.stock.get('2') === 7) shop.stock.set('2', 8);
    return undefined;
  };
  expect(await shop.report('undo --yes')).toMatchObject({ code: 3, applied: 2, unknown: 1 });
  expect([shop.stock.get('2'), shop.stock.has('3')]).toEqual([8, false]);
});

test('an undo that was stopped goes on, and never takes an older run', async () => {
  await using shop = await appliedShop([1, 1, 1, 1], [4, 4, 4, 4]);
  shop.write('later.csv', toCsv([9, 9, 9]));
  await shop.report('inventory apply later.csv --yes');
  const earlier = shop.writes().length;
  trouble(shop, (_, __, all) => (all - earlier > 1 ? 401 : undefined));
  const stopped = await shop.report('undo --yes --concurrency 1');
  expect(stopped).toMatchObject({ code: 4, run: 'r3', applied: 1 });
  shop.misbehave = undefined;
  expect(stopped.stderr).toContain('petstore undo r2');
  for (const words of ['resume r2 --yes', 'undo r3 --yes']) {
    const refused = await shop.report(words);
    expect({ words, code: refused.code }).toEqual({ words, code: 2 });
    expect(refused.stderr).toContain('undo');
  }
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, run: 'r3' });
  expect(shop.counted()).toEqual([4, 4, 4, 4]);
  expect((await shop.run('undo --yes')).code).toBe(0);
  expect(shop.counted()).toEqual([4, 4, 4, 4]);
});

test.each(['resume --yes', 'resume r2 --yes'])('an undo that was stopped goes on with %s', async (line) => {
  await using shop = await appliedShop([1, 1, 1, 1], [4, 4, 4, 4]);
  const earlier = shop.writes().length;
  trouble(shop, (_, __, all) => (all - earlier > 1 ? 401 : undefined));
  expect(await shop.report('undo --yes --concurrency 1')).toMatchObject({ code: 4, run: 'r2', applied: 1 });
  shop.misbehave = undefined;
  expect(await shop.report(line)).toMatchObject({ code: 0, run: 'r2', applied: 4 });
  expect(shop.counted()).toEqual([1, 1, 1, 1]);
});

test('sends back what was read, also a negative count', async () => {
  await using shop = await appliedShop([-5, 1], [4, 4]);
  expect(await shop.report('undo --yes')).toMatchObject({ code: 0, applied: 2 });
  expect(shop.counted()).toEqual([-5, 1]);
});

test('an undo of a run that wrote nothing says so, and is no run', async () => {
  await using shop = await stockShop([5], { 'same.csv': toCsv([5]) });
  await shop.report('inventory apply same.csv');
  const undo = await shop.run('undo r1 --yes');
  expect(undo).toMatchObject({ code: 0, stdout: '' });
  expect(undo.stderr).toContain('run r1 wrote nothing: there is nothing to undo');
  expect(JSON.parse((await shop.run('runs -o json')).stdout)).toHaveLength(1);
});

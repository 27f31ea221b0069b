import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stockShop } from '../helpers/stock-desk.ts';
import { type Counts, shelves, trouble } from '../helpers/stock-server.ts';

/** A service, and a delivery to it with the words that apply it. */
async function deliveryShop(counts: Counts, text: string) {
  const shop = await stockShop(counts, { 'delivery.csv': `petId,change\n${text}` });
  const apply = (...words: string[]) =>
    shop.summary(['apply', 'delivery.csv', '--relative', '--yes', ...words]);
  /** Edits the journal of a run. */
  const damage = (run: string, edit: (text: string) => string) =>
    writeFileSync(shop.journal(run), edit(readFileSync(shop.journal(run), 'utf8')));
  return Object.assign(shop, { apply, damage });
}

const dayMs = 24 * 3_600_000;

test('adds to the counts, and fails a row that would go below 0', async () => {
  await using shop = await deliveryShop([5, 5, 5, 5], '1,+24\n2,-3\n3,-6\n4,0\n');
  const dry = await shop.inventory(['diff', 'delivery.csv', '--relative', '-o', 'csv']);
  expect(dry.stdout).toBe(
    'petId,name,now,new,change,state,reason\n1,,5,29,24,planned,\n2,,5,2,-3,planned,\n3,,,,,failed,5 - 6 is below 0\n',
  );
  expect(await shop.apply()).toMatchObject({
    ...{ code: 3, applied: 2, unchanged: 1, failed: 1 },
    failures: [{ kind: 'below_zero', example: { petId: 3, message: '5 - 6 is below 0' } }],
  });
  expect([...shop.stock.values()]).toEqual([29, 2, 5, 5]);
  expect(shop.read('delivery.rejects.csv')).toContain('3,-6,4,failed,,below_zero');
});

test('books a delivery once in 7 days, unless it was undone whole or --again is given', async () => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  await shop.apply();
  const refused = await shop.apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('this delivery was already applied by run r1; nothing was sent');
  expect(refused.stderr).toContain('petstore inventory undo r1');
  for (const words of [['diff'], ['apply', '--dry-run']]) {
    const shown = await shop.inventory([...words, 'delivery.csv', '--relative']);
    expect(shown.stdout).toContain('+2');
    expect(shown.stderr).toContain('warning: delivery.csv: this delivery was already applied by run r1');
  }
  expect(await shop.apply('--again')).toMatchObject({ code: 0, run: 'r2', applied: 2 });
  expect(shop.stock.get('1')).toBe(7);
  for (const id of ['r2', 'r1']) expect((await shop.inventory(['undo', id, '--yes'])).code).toBe(0);
  expect(await shop.apply()).toMatchObject({ code: 0, run: 'r5', applied: 2 });
  expect([...shop.stock.values()]).toEqual([6, 7]);
  shop.damage('r5', (text) => text.replace(/"ended":\d+/, `"ended":${Date.now() - 8 * dayMs}`));
  expect(await shop.apply()).toMatchObject({ code: 0, applied: 2 });
});

test('an undo that left a row alone does not free its delivery; going on with it is named', async () => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  await shop.apply();
  shop.stock.set('2', 40);
  expect(await shop.summary(['undo', '--yes'])).toMatchObject({ code: 3, applied: 1, failed: 1 });
  const refused = await shop.apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('petstore inventory undo r1');
  shop.stock.set('2', 7);
  expect(await shop.summary(['undo', 'r1', '--yes'])).toMatchObject({ code: 0, applied: 1, unchanged: 1 });
  expect(await shop.apply()).toMatchObject({ code: 0, applied: 2 });
});

test.each([
  ['its header', (text: string) => text.replace('"journal":', '"journey":')],
  ['an outcome', (text: string) => text.replace('"effect":"done"', '"effect":done')],
  ['a line of the plan', (text: string) => text.replace('{"plan":1', '{"plan:1')],
])('a delivery is not booked again if %s of its journal is damaged; the file is named', async (_, edit) => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  await shop.apply();
  // Without its end, the whole journal must be read.
  shop.damage('r1', (text) => edit(text).replace(/\{"counts".*\n$/, ''));
  const refused = await shop.apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(shop.journal('r1'));
  expect([...shop.stock.values()]).toEqual([6, 7]);
  expect(await shop.apply('--again')).toMatchObject({ code: 0, applied: 2 });
});

test('a row that was perhaps booked and whose count has changed since stays unknown: a person counts the shelf', async () => {
  await using shop = await deliveryShop([5, 5], '1,+1\n2,+2\n');
  trouble(shop, { 2: 'lost' }, { isApplied: true });
  expect(await shop.apply('--retries', '0')).toMatchObject({ unknown: 1 });
  shop.misbehave = undefined;
  shop.stock.set('2', 40);
  const rest = await shop.summary(['resume', '--yes']);
  expect(rest).toMatchObject({ code: 3, applied: 1, unknown: 1, failures: [{ kind: 'changed_since' }] });
  expect(JSON.stringify(rest.failures)).toContain('it was 5 before, 7 was sent, the count is 40 now');
  expect(rest.stderr).toContain('count the shelf and use `petstore inventory set`');
  expect(shop.stock.get('2')).toBe(40);
  expect((await shop.apply()).code).toBe(2);
});

test('the rejects of a delivery hold only rows that failed for a reason of their own; resume takes the others', async () => {
  await using shop = await deliveryShop([5, 5, 5, 5, 5], '1,+1\n2,+2\n3,+3\n4,+4\n9,+1\n5,x\n');
  trouble(shop, { 2: 409, 3: 429, 4: 503 }, { fields: { 'retry-after': '0' } });
  expect(await shop.apply('--retries', '0', '--skip-invalid')).toMatchObject({
    ...{ code: 3, applied: 1, failed: 4, invalid: 1, rejects: 'delivery.rejects.csv' },
  });
  expect(shop.read('delivery.rejects.csv').match(/^\d+,/gm)).toEqual(['2,', '9,', '5,']);
  shop.misbehave = undefined;
  const rest = await shop.summary(['resume', '--yes']);
  expect(rest).toMatchObject({ code: 3, applied: 3, failed: 2, invalid: 1, left: 0 });
  expect(rest).not.toHaveProperty('rejects');
  shop.write('delivery.rejects.csv', shop.read('delivery.rejects.csv').replace(/^(9|5),.*\n/gm, ''));
  const again = await shop.summary(['apply', 'delivery.rejects.csv', '--relative', '--yes']);
  expect(again).toMatchObject({ code: 0, applied: 1 });
  expect([...shop.stock.values()]).toEqual([6, 7, 8, 9, 5]);
});

test('several rows of one pet are refused, or added up with --sum; their rejects hold all of them', async () => {
  await using shop = await deliveryShop([5, 5], '1,+5\n2,+1\n1,+7\n');
  trouble(shop, { 1: 409 });
  const refused = await shop.apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('if they are several deliveries, --sum adds them up');
  const first = await shop.apply('--sum');
  expect(first).toMatchObject({ code: 3, applied: 1, failed: 1, skipped: 1 });
  const rejected = ['1,+5,2,failed', '1,+7,4,failed'];
  expect(shop.read('delivery.rejects.csv').match(/^\d.*?failed/gm)).toEqual(rejected);
  shop.misbehave = undefined;
  const again = /then run: petstore inventory ([^";]*)/.exec(first.stderr)?.[1] ?? '';
  expect(await shop.summary([...again.split(' '), '--yes'])).toMatchObject({ code: 0, applied: 1 });
  expect([...shop.stock.values()]).toEqual([17, 6]);
});

test('writes only if the count is still the one that the plan saw; the row is left to resume', async () => {
  const rows = shelves(120, () => 1);
  await using shop = await deliveryShop(
    shelves(120, () => 5),
    rows.map((row) => `${row}\n`).join(''),
  );
  shop.misbehave = ({ method, petId }) => {
    if (method === 'GET' && petId === '7') shop.stock.set('7', 9);
    return undefined;
  };
  const first = { code: 3, applied: 119, failed: 1, left: 1, failures: [{ kind: 'changed' }] };
  expect(await shop.apply()).toMatchObject(first);
  expect(shop.stock.get('7')).toBe(9);
  expect(await shop.summary(['resume', '--yes'])).toMatchObject({ code: 0, applied: 120 });
  expect(shop.stock.get('7')).toBe(10);
});

test.each([true, false])(
  'reads the count again before each further attempt: a lost write (applied: %s) is booked once',
  async (isApplied) => {
    await using shop = await deliveryShop([5], '1,+5\n');
    trouble(shop, (_, nth) => (nth === 1 ? 'lost' : undefined), { isApplied });
    expect(await shop.apply()).toMatchObject({ code: 0, applied: 1 });
    expect(shop.stock.get('1')).toBe(10);
    expect(shop.writes()).toHaveLength(isApplied ? 1 : 2);
  },
);

test('deliveries that are unfinished are kept, other runs are deleted after 90 days', async () => {
  await using shop = await deliveryShop([5, 5, 5], '1,+1\n2,+2\n');
  trouble(shop, { 2: 'lost' });
  await shop.apply('--retries', '0');
  shop.misbehave = undefined;
  const applyCount = async (count: number) => {
    shop.write('stock.csv', `petId,quantity\n3,${count}\n`);
    await shop.inventory(['apply', 'stock.csv', '--yes']);
  };
  await applyCount(1);
  const old = new Date(Date.now() - 91 * dayMs);
  shop.damage('r2', (text) => text.replace(/"ended":\d+/, `"ended":${old.getTime()}`));
  for (const run of ['r1', 'r2']) utimesSync(shop.journal(run), old, old);
  await applyCount(2);
  expect((await shop.inventory(['runs', '-o', 'ids'])).stdout).toBe('r3\nr1\n');
});

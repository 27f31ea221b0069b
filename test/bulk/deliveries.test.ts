import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stockDesk } from '../helpers/stock-desk.ts';
import { refuse, type StockServer, shelves, stockServer } from '../helpers/stock-server.ts';

function deliveryDesk(server: StockServer, text: string) {
  const desk = stockDesk(server);
  desk.write('delivery.csv', `petId,change\n${text}`);
  const apply = (...words: string[]) =>
    desk.summary(['apply', 'delivery.csv', '--relative', '--yes', ...words]);
  return { desk, apply };
}

/** Loses the answers to writes; those of some pets are applied. */
function loseAnswers(server: StockServer, isApplied: (petId: string) => boolean): void {
  server.misbehave = ({ method, petId = '', quantity = 0 }, response) => {
    if (method !== 'PUT' || petId === '1') return undefined;
    if (isApplied(petId)) server.stock.set(petId, quantity);
    response.destroy();
    return true;
  };
}

test('adds to the counts, and fails a row that would go below 0', async () => {
  await using server = await stockServer(shelves(4, () => 5));
  const { desk, apply } = deliveryDesk(server, '1,+24\n2,-3\n3,-6\n4,0\n');
  const dry = await desk.inventory(['diff', 'delivery.csv', '--relative', '-o', 'csv']);
  expect(dry).toMatchObject({
    code: 8,
    stdout:
      'petId,name,now,new,change,state,reason\n1,,5,29,24,planned,\n2,,5,2,-3,planned,\n3,,,,,failed,5 - 6 is below 0\n',
  });
  expect(await apply()).toMatchObject({
    code: 3,
    applied: 2,
    unchanged: 1,
    failed: 1,
    failures: [{ kind: 'below_zero', example: { petId: 3, message: '5 - 6 is below 0' } }],
  });
  expect([...server.stock.values()]).toEqual([29, 2, 5, 5]);
  expect(desk.read('delivery.rejects.csv')).toContain('3,-6,4,failed,,below_zero');
});

test('books a delivery once in 7 days, unless it was undone whole or --again is given', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n');
  const { run } = await apply();
  const refused = await apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`this delivery was already applied by run ${run}; nothing was sent`);
  expect(refused.stderr).toContain(`petstore inventory undo ${run}`);
  expect((await apply('--create-missing')).code).toBe(2);
  expect(await apply('--again')).toMatchObject({ code: 0, applied: 2 });
  expect(server.stock.get('1')).toBe(7);
  for (const id of ['r2', 'r1']) expect((await desk.inventory(['undo', id, '--yes'])).code).toBe(0);
  expect(await apply()).toMatchObject({ code: 0, applied: 2 });
  expect([...server.stock.values()]).toEqual([6, 7]);
  const last = desk.journal('r5');
  const text = readFileSync(last, 'utf8');
  writeFileSync(last, text.replace(/"ended":\d+/, `"ended":${Date.now() - 8 * 24 * 3_600_000}`));
  expect(await apply()).toMatchObject({ code: 0, applied: 2 });
});

test('an undo that left a row alone does not free its delivery; going on with it is named', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n');
  await apply();
  server.stock.set('2', 40);
  expect(await desk.summary(['undo', '--yes'])).toMatchObject({ code: 3, applied: 1, failed: 1 });
  const refused = await apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('petstore inventory undo r1');
  server.stock.set('2', 7);
  expect(await desk.summary(['undo', 'r1', '--yes'])).toMatchObject({ code: 0, applied: 1, unchanged: 1 });
  expect(await apply()).toMatchObject({ code: 0, applied: 2 });
});

test('diff and --dry-run show a delivery that was booked, and warn', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n');
  await apply();
  for (const words of [['diff'], ['apply', '--dry-run']]) {
    const shown = await desk.inventory([...words, 'delivery.csv', '--relative']);
    expect(shown.stdout).toContain('+2');
    expect(shown.stderr).toContain('warning: delivery.csv: this delivery was already applied by run r1');
  }
  expect(server.writes()).toHaveLength(2);
});

test.each([
  ['its header', (text: string) => text.replace('"journal":', '"journey":')],
  ['an outcome', (text: string) => text.replace('"effect":"done"', '"effect":done')],
  ['a line of the plan', (text: string) => text.replace('{"plan":1', '{"plan:1')],
])('a delivery is not booked again if %s of its journal is damaged; the file is named', async (_, damage) => {
  await using server = await stockServer(shelves(2, () => 5));
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n');
  await apply();
  const path = desk.journal('r1');
  const text = readFileSync(path, 'utf8');
  // Without its end, the whole journal must be read.
  writeFileSync(path, damage(text).replace(/\{"counts".*\n$/, ''));
  const refused = await apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(path);
  expect([...server.stock.values()]).toEqual([6, 7]);
  expect(await apply('--again')).toMatchObject({ code: 0, applied: 2 });
});

test('a delivery with lost answers is resumed, and nothing is added twice', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  loseAnswers(server, (petId) => petId === '2');
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n3,+3\n');
  const first = await apply('--retries', '0');
  expect(first).toMatchObject({ code: 3, applied: 1, unknown: 2, left: 2 });
  expect(first).not.toHaveProperty('rejects');
  server.misbehave = undefined;
  const refused = await apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('petstore inventory resume r1');
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 0, run: 'r1', applied: 3 });
  expect([...server.stock.values()]).toEqual([6, 7, 8]);
  expect((await apply()).code).toBe(2);
  expect(desk.files()).not.toContain('delivery.rejects.csv');
});

test('a row that was perhaps booked and whose count has changed since stays unknown: a person counts the shelf', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  loseAnswers(server, () => true);
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n');
  expect(await apply('--retries', '0')).toMatchObject({ unknown: 1 });
  server.misbehave = undefined;
  server.stock.set('2', 40);
  const rest = await desk.summary(['resume', '--yes']);
  expect(rest).toMatchObject({ code: 3, applied: 1, unknown: 1, failures: [{ kind: 'changed_since' }] });
  const [{ example }] = rest.failures as [{ example: { message: string } }];
  expect(example.message).toContain('it was 5 before, 7 was sent, the count is 40 now');
  expect(rest.stderr).toContain('count the shelf and use `petstore inventory set`');
  expect(server.stock.get('2')).toBe(40);
  expect((await apply()).code).toBe(2);
});

test('the rejects of a delivery hold only rows that failed for a reason of their own; resume takes the others', async () => {
  await using server = await stockServer(shelves(5, () => 5));
  const statuses: Record<string, number> = { 2: 409, 3: 429, 4: 503 };
  server.misbehave = ({ method, petId = '' }, response) => {
    const status = method === 'PUT' ? statuses[petId] : undefined;
    return status ? refuse(response, status, 'no', { 'retry-after': '0' }) : undefined;
  };
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n3,+3\n4,+4\n9,+1\n5,x\n');
  const first = await apply('--retries', '0', '--skip-invalid');
  expect(first).toMatchObject({
    code: 3,
    applied: 1,
    failed: 4,
    invalid: 1,
    rejects: 'delivery.rejects.csv',
  });
  expect(desk.read('delivery.rejects.csv').match(/^\d+,/gm)).toEqual(['2,', '9,', '5,']);
  server.misbehave = undefined;
  const rest = await desk.summary(['resume', '--yes']);
  expect(rest).toMatchObject({ code: 3, applied: 3, failed: 2, invalid: 1, left: 0 });
  expect(rest).not.toHaveProperty('rejects');
  desk.write('delivery.rejects.csv', desk.read('delivery.rejects.csv').replace(/^(9|5),.*\n/gm, ''));
  expect(await desk.summary(['apply', 'delivery.rejects.csv', '--relative', '--yes'])).toMatchObject({
    code: 0,
    applied: 1,
  });
  expect([...server.stock.values()]).toEqual([6, 7, 8, 9, 5]);
});

test('several rows of one pet are refused, or added up with --sum; their rejects hold all of them', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '1' ? refuse(response, 409, 'no') : undefined;
  const { desk, apply } = deliveryDesk(server, '1,+5\n2,+1\n1,+7\n');
  const refused = await apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('if they are several deliveries, --sum adds them up');
  const first = await apply('--sum');
  expect(first).toMatchObject({ code: 3, applied: 1, failed: 1, skipped: 1 });
  const rejected = ['1,+5,2,failed', '1,+7,4,failed'];
  expect(desk.read('delivery.rejects.csv').match(/^\d.*?failed/gm)).toEqual(rejected);
  server.misbehave = undefined;
  const again = /then run: petstore inventory ([^";]*)/.exec(first.stderr)?.[1] ?? '';
  expect(await desk.summary([...again.split(' '), '--yes'])).toMatchObject({ code: 0, applied: 1 });
  expect([...server.stock.values()]).toEqual([17, 6]);
});

test('a booked row stays booked when the run is resumed, whatever its count is now', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId !== '1' ? refuse(response, 401, 'no') : undefined;
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n3,+3\n');
  expect(await apply('--concurrency', '1')).toMatchObject({ code: 4, applied: 1, failed: 1, unprocessed: 1 });
  server.misbehave = undefined;
  server.stock.set('1', 5);
  server.stock.set('3', 20);
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 0, applied: 3 });
  expect([...server.stock.values()]).toEqual([5, 7, 23]);
});

test('writes only if the count is still the one that the plan saw; the row is left to resume', async () => {
  await using server = await stockServer(shelves(120, () => 5));
  server.misbehave = ({ method, petId }) => {
    if (method === 'GET' && petId === '7') server.stock.set('7', 9);
    return undefined;
  };
  const rows = Array.from({ length: 120 }, (_, at) => `${at + 1},+1\n`).join('');
  const { desk, apply } = deliveryDesk(server, rows);
  expect(await apply()).toMatchObject({
    code: 3,
    applied: 119,
    failed: 1,
    left: 1,
    failures: [{ kind: 'changed' }],
  });
  expect(server.stock.get('7')).toBe(9);
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 0, applied: 120 });
  expect(server.stock.get('7')).toBe(10);
});

test.each([
  ['a lost answer of a write that was applied', true, 10, 'applied'],
  ['a lost answer of a write that was not applied', false, 10, 'applied'],
] as const)(
  'reads the count again before each further attempt: %s is booked once',
  async (_, isApplied, count, state) => {
    await using server = await stockServer(shelves(1, () => 5));
    let writes = 0;
    server.misbehave = ({ method, quantity = 0 }, response) => {
      writes += Number(method === 'PUT');
      if (method !== 'PUT' || writes > 1) return undefined;
      if (isApplied) server.stock.set('1', quantity);
      response.destroy();
      return true;
    };
    const { apply } = deliveryDesk(server, '1,+5\n');
    expect(await apply()).toMatchObject({ code: 0, [state]: 1 });
    expect(server.stock.get('1')).toBe(count);
    expect(writes).toBe(isApplied ? 1 : 2);
  },
);

test('creates a missing entry only with --create-missing, from 0, and says if there is no such pet', async () => {
  await using server = await stockServer(shelves(1, () => 5));
  server.misbehave = ({ path }, response) =>
    path === '/pets/8' ? refuse(response, 404, 'not_found') : undefined;
  const { desk, apply } = deliveryDesk(server, '8,+1\n9,+3\n');
  expect(await apply()).toMatchObject({ code: 1, failed: 2, failures: [{ kind: '404 no_entry' }] });
  expect(await apply('--create-missing')).toMatchObject({
    code: 3,
    applied: 1,
    failed: 1,
    failures: [{ kind: '404 no_pet', example: { petId: 8 } }],
  });
  expect(server.stock.get('9')).toBe(3);
  expect((await desk.inventory(['runs', '-o', 'ids'])).stdout).toBe('r1\n');
});

test('deliveries that are unfinished are kept, other runs are deleted after 90 days', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  loseAnswers(server, () => true);
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n');
  await apply('--retries', '0');
  server.misbehave = undefined;
  desk.write('stock.csv', 'petId,quantity\n3,1\n');
  await desk.inventory(['apply', 'stock.csv', '--yes']);
  const old = new Date(Date.now() - 91 * 24 * 3_600_000);
  const second = desk.journal('r2');
  writeFileSync(second, readFileSync(second, 'utf8').replace(/"ended":\d+/, `"ended":${old.getTime()}`));
  for (const run of ['r1', 'r2']) utimesSync(desk.journal(run), old, old);
  desk.write('stock.csv', 'petId,quantity\n3,2\n');
  await desk.inventory(['apply', 'stock.csv', '--yes']);
  expect((await desk.inventory(['runs', '-o', 'ids'])).stdout).toBe('r3\nr1\n');
});

test.each([
  [['--sum'], '--sum: only with --relative'],
  [['--again'], '--again: only with --relative'],
])('%j is refused without --relative', async (words, message) => {
  const desk = stockDesk({ url: 'http://127.0.0.1:9' });
  desk.write('stock.csv', 'petId,quantity\n1,1\n');
  const run = await desk.inventory(['apply', 'stock.csv', '--yes', ...words]);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain(message);
});

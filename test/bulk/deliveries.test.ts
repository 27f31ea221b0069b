import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stockDesk } from '../helpers/stock-desk.ts';
import { refuse, reply, type StockServer, shelves, stockServer } from '../helpers/stock-server.ts';

function deliveryDesk(server: StockServer, text: string) {
  const desk = stockDesk(server);
  desk.write('delivery.csv', `petId,change\n${text}`);
  const apply = (...words: string[]) =>
    desk.summary(['apply', 'delivery.csv', '--relative', '--yes', ...words]);
  return { desk, apply };
}

test('adds to the counts, and fails a row that would go below 0', async () => {
  await using server = await stockServer(shelves(4, () => 5));
  const { desk, apply } = deliveryDesk(server, '1,+24\n2,-3\n3,-6\n4,0\n');
  const dry = await desk.inventory(['diff', 'delivery.csv', '--relative', '-o', 'csv']);
  expect(dry).toMatchObject({
    code: 8,
    stdout: 'petId,name,now,new,change\n1,,5,29,24\n2,,5,2,-3\n',
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

test('books a delivery once in 7 days, unless it was undone completely or --again is given', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n');
  const { run } = await apply();
  const refused = await apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`run ${run} of `);
  expect(refused.stderr).toContain('has booked the same delivery; nothing was sent');
  expect((await apply('--restart', '--create-missing')).code).toBe(2);
  expect(server.stock.get('1')).toBe(6);
  expect(await apply('--again')).toMatchObject({ code: 0, applied: 2 });
  expect(server.stock.get('1')).toBe(7);
  const ids = (await desk.inventory(['runs', '-o', 'ids'])).stdout.trim().split('\n');
  for (const id of ids) expect((await desk.inventory(['undo', id, '--yes'])).code).toBe(0);
  expect(await apply()).toMatchObject({ code: 0, applied: 2 });
  expect([...server.stock.values()]).toEqual([6, 7]);
});

test('--dry-run shows what apply would do with a delivery that is unfinished or booked, and diff warns', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  server.misbehave = ({ method, petId }, response) => {
    if (method !== 'PUT' || petId === '1') return undefined;
    response.destroy();
    return true;
  };
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n');
  const { run } = await apply('--retries', '0');
  server.misbehave = undefined;
  const words = ['delivery.csv', '--relative', '-o', 'csv'];
  const unfinished = await desk.inventory(['apply', ...words, '--dry-run']);
  expect(unfinished).toMatchObject({ code: 0, stdout: 'petId,name,now,new,change\n2,,5,7,2\n' });
  const diff = await desk.inventory(['diff', ...words]);
  expect(diff.code).toBe(8);
  expect(diff.stderr).toMatch(
    new RegExp(`^warning: delivery.csv: run ${run} of .* has booked the same delivery`),
  );
  await apply();
  const booked = await desk.inventory(['apply', ...words, '--dry-run']);
  expect(booked.code).toBe(2);
  expect(booked.stderr).toContain('has booked the same delivery; nothing was sent');
  expect((await desk.inventory(['apply', ...words, '--dry-run', '--again'])).code).toBe(0);
});

test('books a delivery once although it was undone, because the undo was undone too', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n');
  const { run } = await apply();
  const undo = await desk.summary(['undo', String(run), '--yes']);
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '2' ? refuse(response, 409, 'no') : undefined;
  const redo = await desk.summary(['undo', String(undo.run), '--yes']);
  expect(redo).toMatchObject({ applied: 1, failed: 1 });
  server.misbehave = undefined;
  const refused = await apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`run ${run} of `);
  expect([...server.stock.values()]).toEqual([6, 5]);
  expect(await desk.summary(['undo', String(redo.run), '--yes'])).toMatchObject({ code: 0, applied: 1 });
  expect(await apply()).toMatchObject({ code: 0, applied: 2 });
});

test.each([
  ['is empty', () => ''],
  ['is that of another version', (text: string) => text.replace('"journal":3', '"journal":2')],
])('books a delivery once although the journal of its run %s', async (_, damage) => {
  await using server = await stockServer(shelves(2, () => 5));
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n');
  const { run } = await apply();
  const path = desk.journal(run);
  writeFileSync(path, damage(readFileSync(path, 'utf8')));
  for (const words of [[], ['--restart'], ['--create-missing'], ['--restart', '--create-missing']]) {
    const refused = await apply(...words);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`run ${run} of `);
    expect(refused.stderr).toContain('may have booked the same delivery; nothing was sent');
  }
  expect([...server.stock.values()]).toEqual([6, 7]);
  expect(await apply('--again')).toMatchObject({ code: 0, applied: 2 });
});

test.each([
  ['with an outcome', (text: string) => text.replace('"state":"applied"', '"state":"unknown"')],
  ['with the header', () => ''],
])('books a delivery once although its run, damaged %s, was discarded', async (_, damage) => {
  await using server = await stockServer(shelves(2, () => 5));
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n');
  const { run } = await apply();
  const path = desk.journal(run);
  writeFileSync(path, damage(readFileSync(path, 'utf8')));
  const discarded = await desk.inventory(['runs', 'discard', String(run)]);
  expect(discarded.stderr).toContain('its journal is kept as');
  const refused = await apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`run ${run} of `);
  expect([...server.stock.values()]).toEqual([6, 7]);
  expect(await apply('--again')).toMatchObject({ code: 0, applied: 2 });
});

test('books a delivery once although its run was killed before any answer, and then discarded', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n');
  const { run } = await apply();
  const path = desk.journal(run);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, text.indexOf('\n', text.indexOf('"sending"')) + 1));
  const log = await desk.inventory(['log', '2', '-o', 'csv', '--fields', 'before,after,state']);
  expect(log.stdout).toBe('before,after,state\n5,7,unknown\n');
  expect((await desk.inventory(['runs', 'discard', String(run)])).code).toBe(0);
  const [listed] = JSON.parse((await desk.inventory(['runs', '-o', 'json'])).stdout);
  expect(listed).toMatchObject({ state: 'discarded', rows: 2, unknown: 2, unprocessed: 0 });
  const refused = await apply();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('has booked the same delivery; nothing was sent');
  expect([...server.stock.values()]).toEqual([6, 7]);
});

test('resumes a delivery with unknown rows, and adds nothing twice', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  server.misbehave = ({ method, petId, quantity }, response) => {
    if (method !== 'PUT' || petId === '1') return undefined;
    // Both answers are lost, but only one of the writes is.
    if (petId === '2') server.stock.set(petId, quantity ?? 0);
    response.destroy();
    return true;
  };
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n3,+3\n');
  const first = await apply('--retries', '0');
  expect(first).toMatchObject({ code: 3, applied: 1, unknown: 2 });
  expect(first).not.toHaveProperty('rejects');
  expect(first.resume).toBe(`petstore inventory resume ${first.run}`);
  server.misbehave = undefined;
  expect(await apply()).toMatchObject({ code: 0, run: first.run, applied: 3 });
  expect([...server.stock.values()]).toEqual([6, 7, 8]);
  expect((await apply()).code).toBe(2);
  expect(desk.files()).not.toContain('delivery.rejects.csv');
});

test('does not book again a delivery of which every row failed after it was perhaps booked', async () => {
  await using server = await stockServer(shelves(1, () => 5));
  server.misbehave = ({ method, petId, quantity }, response) => {
    if (method !== 'PUT') return undefined;
    server.stock.set(petId ?? '', quantity ?? 0);
    response.destroy();
    return true;
  };
  const { apply } = deliveryDesk(server, '1,+1\n');
  expect(await apply('--retries', '0')).toMatchObject({ unknown: 1 });
  server.misbehave = undefined;
  server.stock.set('1', 3);
  expect(await apply()).toMatchObject({ failed: 1 });
  expect((await apply()).code).toBe(2);
  expect(server.stock.get('1')).toBe(3);
});

test('fails a row that may have been booked and whose count has changed since', async () => {
  await using server = await stockServer(shelves(1, () => 5));
  server.misbehave = ({ method }, response) => {
    if (method !== 'PUT') return undefined;
    response.destroy();
    return true;
  };
  const { apply } = deliveryDesk(server, '1,+1\n');
  expect(await apply('--retries', '0')).toMatchObject({ unknown: 1 });
  server.misbehave = undefined;
  server.stock.set('1', 40);
  const rest = await apply();
  expect(rest).toMatchObject({ code: 1, failed: 1, failures: [{ kind: 'changed_since' }] });
  expect(server.stock.get('1')).toBe(40);
});

test('leaves rows that may have been booked out of the rejects, because they could be added twice', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  server.misbehave = ({ method, petId, quantity }, response) => {
    if (method !== 'PUT' || petId === '1') return undefined;
    if (petId === '2') return refuse(response, 409, 'no');
    // Somebody sells one right after the write.
    server.stock.set('3', (quantity ?? 0) - 1);
    return reply(response, 200, { petId: 3, quantity, status: 'available' });
  };
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n3,+3\n');
  const summary = await apply('--verify');
  expect(summary).toMatchObject({ code: 3, applied: 1, failed: 2, rejects: 'delivery.rejects.csv' });
  expect(desk.read('delivery.rejects.csv').match(/^\d+,/gm)).toEqual(['2,']);
});

test('rejects every row of a pet whose changes were added up, so that all of them can be booked again', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '1' ? refuse(response, 409, 'no') : undefined;
  const { desk, apply } = deliveryDesk(server, '1,+5\n2,+1\n1,+7\n');
  const first = await apply('--on-duplicate', 'sum');
  expect(first).toMatchObject({ code: 3, applied: 1, failed: 1, skipped: 1 });
  expect(desk.read('delivery.rejects.csv').match(/^\d.*?failed/gm)).toEqual([
    '1,+5,2,failed',
    '1,+7,4,failed',
  ]);
  server.misbehave = undefined;
  const again = /then run: petstore inventory ([^"]*)/.exec(first.stderr)?.[1] ?? '';
  expect(await desk.summary([...again.split(' '), '--yes'])).toMatchObject({ code: 0, applied: 1 });
  expect([...server.stock.values()]).toEqual([17, 6]);
});

test('each failed row is in the rejects of one session, also if it failed in one that was killed', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId !== '3' ? refuse(response, 409, 'no') : undefined;
  const { desk, apply } = deliveryDesk(server, '1,+1\n2,+2\n3,+3\n');
  const words = ['--fail-fast', '--concurrency', '1'];
  const { run } = await apply(...words, '--rejects', 'first.csv');
  await apply(...words, '--rejects', 'killed.csv');
  const path = desk.journal(run);
  writeFileSync(path, readFileSync(path, 'utf8').replace(/\{"ended".*\n$/, ''));
  expect(await apply('--rejects', 'last.csv')).toMatchObject({ code: 3, applied: 1, failed: 2 });
  const rejected = ['first.csv', 'last.csv'].map((name) => desk.read(name).match(/^\d+,/gm));
  expect(rejected).toEqual([['1,'], ['2,']]);
});

test('a delivery that --max-errors stops at its plan is settled by applying or resuming it, not by its rejects', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  const { desk, apply } = deliveryDesk(server, '1,-9\n2,-2\n3,-2\n');
  const first = await apply('--fail-fast');
  expect(first).toMatchObject({ code: 1, failed: 1, unprocessed: 2 });
  expect(first.stderr).toContain('fix the cause, then run: the same command again');
  server.stock.set('1', 9);
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '2' ? refuse(response, 409, 'no') : undefined;
  const words = ['--fail-fast', '--concurrency', '1'];
  const second = await apply(...words);
  expect(second).toMatchObject({ applied: 1, failed: 1, unprocessed: 1, rejects: 'delivery.rejects.csv' });
  server.misbehave = undefined;
  server.stock.set('3', 1);
  const third = await apply(...words, '--rejects', 'third.csv');
  expect(third).toMatchObject({ run: second.run, applied: 1, failed: 2, unprocessed: 0 });
  const [listed] = JSON.parse((await desk.inventory(['runs', '-o', 'json'])).stdout);
  expect(listed).toMatchObject({ id: second.run, state: 'finished', applied: 1, failed: 2 });
  expect(desk.read('third.csv').match(/^\d+,/gm)).toEqual(['3,']);
});

test('a booked row stays applied when the run is resumed, whatever its count is now', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId !== '1' ? refuse(response, 409, 'no') : undefined;
  const { apply } = deliveryDesk(server, '1,+1\n2,+2\n3,+3\n');
  expect(await apply('--fail-fast', '--concurrency', '1')).toMatchObject({ applied: 1, unprocessed: 1 });
  server.misbehave = undefined;
  server.stock.set('1', 5);
  expect(await apply('--verify')).toMatchObject({ code: 3, applied: 2, failed: 1 });
  expect([...server.stock.values()]).toEqual([5, 5, 8]);
});

test('writes only if the count is still the one that the plan saw', async () => {
  await using server = await stockServer(shelves(120, () => 5));
  server.misbehave = ({ method, petId }) => {
    if (method === 'GET' && petId === '7') server.stock.set('7', 9);
    return undefined;
  };
  const rows = Array.from({ length: 120 }, (_, at) => `${at + 1},+1\n`).join('');
  const { apply } = deliveryDesk(server, rows);
  expect(await apply()).toMatchObject({ code: 3, applied: 119, failed: 1, failures: [{ kind: 'changed' }] });
  expect(server.stock.get('7')).toBe(9);
});

test('creates a missing entry only with --create-missing, and says if there is no such pet', async () => {
  await using server = await stockServer(shelves(1, () => 5));
  server.misbehave = ({ path }, response) =>
    path === '/pets/8' ? refuse(response, 404, 'not_found') : undefined;
  const { desk, apply } = deliveryDesk(server, '7,+4\n8,+4\n');
  const plain = await apply();
  expect(plain).toMatchObject({ code: 1, failed: 2 });
  expect(plain.failures).toMatchObject([
    { kind: '404 no_entry', example: { message: 'no inventory entry; --create-missing makes one' } },
    { kind: '404 no_pet', example: { petId: 8, message: 'no such pet' } },
  ]);
  const diff = await desk.inventory([
    ...['diff', 'delivery.csv', '--relative', '--create-missing', '-o', 'csv'],
  ]);
  expect(diff.stdout).toBe('petId,name,now,new,change\n7,,,4,4\n');
  expect(await apply('--create-missing')).toMatchObject({ code: 3, applied: 1, failed: 1 });
  expect(server.stock.get('7')).toBe(4);
});

test.each([
  [['--blind'], 'not with --blind'],
  [['--on-duplicate', 'first'], 'with --relative only sum'],
])('refuses --relative with %j', async (words, message) => {
  await using server = await stockServer([]);
  const { apply } = deliveryDesk(server, '1,1\n');
  const refused = await apply(...words);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(message);
  expect(server.seen).toEqual([]);
});

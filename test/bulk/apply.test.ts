import { expect, test } from 'vitest';
import { stockDesk } from '../helpers/stock-desk.ts';
import { refuse, reply, shelves, stockServer, toCsv } from '../helpers/stock-server.ts';

const states = ['applied', 'unchanged', 'failed', 'unknown', 'invalid', 'skipped', 'unprocessed'];

function sumOf(summary: Record<string, unknown>): number {
  return states.reduce((sum, state) => sum + Number(summary[state]), 0);
}

test('sets the counts that differ, and nothing else', async () => {
  await using server = await stockServer(shelves(10, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(10, (petId) => (petId % 2 === 0 ? 5 : petId))));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes']);
  expect(summary).toMatchObject({ code: 0, rows: 10, applied: 4, unchanged: 6, failed: 0, requests: 14 });
  expect(sumOf(summary)).toBe(10);
  expect(
    server
      .writes()
      .map(({ petId, quantity }) => [petId, quantity])
      .sort(),
  ).toEqual([
    ['1', 1],
    ['3', 3],
    ['7', 7],
    ['9', 9],
  ]);
});

test('reads the paged list for 100 rows and more, and single entries for fewer', async () => {
  await using server = await stockServer(shelves(2500, () => 5));
  const desk = stockDesk(server);
  desk.write('many.csv', toCsv(shelves(100, () => 5)));
  desk.write('few.csv', toCsv(shelves(99, () => 5)));
  expect(await desk.summary(['apply', 'many.csv', '--yes'])).toMatchObject({ unchanged: 100, requests: 3 });
  expect(await desk.summary(['apply', 'few.csv', '--yes'])).toMatchObject({ unchanged: 99, requests: 99 });
});

test('keeps no journal of a run that had nothing to do', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 5)));
  const summary = await desk.summary(['apply', 'stock.csv']);
  expect(summary).toMatchObject({ code: 0, unchanged: 3 });
  expect(summary).not.toHaveProperty('run');
  expect((await desk.inventory(['runs', '-o', 'json'])).stdout).toBe('[]\n');
});

test('sends nothing without a confirmation', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 6)));
  const run = await desk.inventory(['apply', 'stock.csv']);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('hint: use --yes');
  expect(server.writes()).toEqual([]);
  expect((await desk.inventory(['runs', '-o', 'ids'])).stdout).toBe('');
});

test.each([
  [['apply', 'stock.csv', '--yes', '--fields', 'petId'], "no field 'petId'"],
  [['apply', 'stock.csv', '--yes', '--sort', 'nothing'], "no field 'nothing'"],
  [['apply', 'stock.csv', '--dry-run', '--fields', 'applied'], "no field 'applied'"],
  [['diff', 'stock.csv', '--fields', 'applied'], "no field 'applied'"],
])('refuses %j before any request', async (words, message) => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 6)));
  const run = await desk.inventory(words);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain(message);
  expect(server.seen).toEqual([]);
});

test('sends no request if a row is invalid, and names line, column and value', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', 'petId,quantity\n1,6\n2,1e3\n3,\n');
  const run = await desk.inventory(['apply', 'stock.csv', '--yes']);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toBe(
    'error: stock.csv:3:3: quantity "1e3": must be a whole number from 0 to 9007199254740991, in digits alone\n' +
      'error: stock.csv:4:3: quantity is empty: must be a whole number from 0 to 9007199254740991, in digits alone\n' +
      'error: stock.csv: 2 rows are invalid; nothing was sent\n',
  );
  expect(server.seen).toEqual([]);
});

test('skips invalid rows with --skip-invalid, and exits 3', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', 'petId,quantity\n1,6\n2,x\n3,7\n');
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--skip-invalid']);
  expect(summary).toMatchObject({ code: 3, rows: 3, applied: 2, invalid: 1 });
});

test('counts a repeated row once, and refuses rows that contradict each other', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', 'petId,quantity\n1,6\n2,5\n1,6\n');
  const summary = await desk.summary(['apply', 'stock.csv', '--yes']);
  expect(summary).toMatchObject({ code: 0, rows: 3, applied: 1, unchanged: 1, skipped: 1 });
  desk.write('stock.csv', 'petId,quantity\n1,6\n2,5\n1,7\n');
  const run = await desk.inventory(['apply', 'stock.csv', '--yes', '--skip-invalid']);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain('error: stock.csv:4:1: pet 1 has 7 here and 6 on line 2');
});

test.each(['petId,quantity\n', ''])('refuses an input without rows: %j', async (text) => {
  await using server = await stockServer([]);
  const desk = stockDesk(server);
  desk.write('stock.csv', text);
  expect(await desk.inventory(['apply', 'stock.csv', '--yes'])).toMatchObject({
    code: 2,
    stderr: 'error: stock.csv: no data rows\n',
  });
});

test('reads stdin, also as JSONL, and then needs --yes', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  const stdin = '{"petId":1,"quantity":6}\n{"petId":2,"quantity":"7"}\n';
  expect((await desk.inventory(['apply', '-'], { stdin })).code).toBe(2);
  expect(await desk.summary(['apply', '-', '--yes'], { stdin })).toMatchObject({ code: 0, applied: 2 });
  expect([...server.stock.values()]).toEqual([6, 7, 5]);
});

test('keeps every digit of an id', async () => {
  await using server = await stockServer([['9223372036854775807', 1]]);
  const desk = stockDesk(server);
  desk.write('stock.csv', 'petId,quantity\n9223372036854775807,9007199254740991\n');
  const run = await desk.inventory(['apply', 'stock.csv', '--dry-run', '-o', 'json']);
  expect(run.stdout).toContain('"petId":9223372036854775807');
  expect((await desk.inventory(['apply', 'stock.csv', '--yes'])).code).toBe(0);
  expect(server.stock.get('9223372036854775807')).toBe(9007199254740991);
});

test('shows the plan as data and sends nothing with --dry-run', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, (petId) => petId + 3)));
  const run = await desk.inventory(['apply', 'stock.csv', '--dry-run', '-o', 'json']);
  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toEqual([
    { petId: 1, name: null, now: 5, new: 4, change: -1, state: 'planned', line: 2 },
    { petId: 3, name: null, now: 5, new: 6, change: 1, state: 'planned', line: 4 },
  ]);
  expect(server.writes()).toEqual([]);
});

test('fails a pet without an entry, or creates one with --create-missing', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', 'petId,quantity\n1,6\n9,7\n');
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({
    code: 3,
    applied: 1,
    failed: 1,
    failures: [{ kind: '404 no_entry', count: 1, example: { line: 3, petId: 9 } }],
  });
  server.misbehave = ({ method, petId, path, quantity }, response) => {
    if (path === '/pets/9')
      return reply(response, 200, { id: 9, name: 'Rex', categoryId: 1, status: 'sold' });
    if (method !== 'POST' || petId !== undefined) return undefined;
    server.stock.set('9', Number(quantity));
    return reply(response, 201, { petId: 9, quantity, status: 'sold' });
  };
  expect(await desk.summary(['apply', 'stock.csv', '--yes', '--create-missing'])).toMatchObject({
    code: 0,
    applied: 1,
    unchanged: 1,
  });
  expect(server.stock.get('9')).toBe(7);
});

test('applies a row only if the count is the expected one', async () => {
  await using server = await stockServer(shelves(4, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', 'petId,quantity,expected\n1,6,5\n2,6,4\n3,6,\n4,5,1\n');
  const summary = await desk.summary(['apply', 'stock.csv', '--yes']);
  expect(summary).toMatchObject({ code: 3, applied: 2, failed: 1, unchanged: 1 });
  expect(summary.failures).toMatchObject([
    { kind: 'unexpected_count', example: { petId: 2, message: 'the count is 5 now, not 4 as expected' } },
  ]);
  expect([...server.stock.values()]).toEqual([6, 5, 6, 5]);
});

test('counts a bare 204 as success', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  server.misbehave = ({ method }, response) => {
    if (method !== 'PUT') return undefined;
    response.writeHead(204).end();
    return true;
  };
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(2, () => 6)));
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({ code: 0, applied: 2 });
});

test.each([
  ['an object without a quantity', '{"ok":true}', 'applied'],
  ['only the quantity', '{"quantity":6}', 'applied'],
  ['no object', '[]', 'applied'],
  ['another quantity, and nothing else', '{"quantity":5}', 'unknown'],
  ['a quantity that is none', '{"quantity":"many"}', 'unknown'],
])('judges a 2xx with %s by its content', async (_, body, state) => {
  await using server = await stockServer(shelves(1, () => 5));
  server.misbehave = ({ method }, response) => (method === 'PUT' ? reply(response, 200, body) : undefined);
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv([[1, 6]]));
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({ rows: 1, [state]: 1 });
});

test('does not take the answer to a read before a write as the answer to the write', async () => {
  await using server = await stockServer(shelves(120, () => 5));
  server.misbehave = ({ method, petId, path }, response) =>
    method === 'GET' && (petId === '7' || path === '/pets/200')
      ? reply(response, 200, { ok: true })
      : undefined;
  const desk = stockDesk(server);
  const rows = shelves(120, () => 6).map(([petId, count]) => `${petId},${count},5\n`);
  desk.write('stock.csv', `petId,quantity,expected\n${rows.join('')}200,1,\n`);
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--create-missing', '--retries', '0']);
  expect(summary).toMatchObject({ code: 3, applied: 119, failed: 2, unknown: 0 });
  expect([server.stock.get('7'), server.stock.get('200')]).toEqual([5, undefined]);
});

test('sends the ETag that the plan saw, and does not overwrite what has changed since', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  server.sendsETags = true;
  server.misbehave = ({ method, petId }) => {
    // Somebody else writes first.
    if (method === 'PUT' && petId === '2') server.stock.set('2', 99);
    if (method === 'PUT' && petId === '3') server.stock.set('3', 6);
    return undefined;
  };
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 6)));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes']);
  expect(summary).toMatchObject({ code: 3, applied: 1, unchanged: 1, failed: 1 });
  expect(summary.failures).toMatchObject([{ kind: '412 changed', example: { petId: 2 } }]);
  expect(server.stock.get('2')).toBe(99);
  expect(server.writes()[0]?.headers['if-match']).toBe('"5"');
});

test.each([
  [['--max-changes', '4'], 'the run changes 5 of 10 rows, and --max-changes allows 4'],
  [['--max-changes', '49%'], 'the run changes 5 of 10 rows, and --max-changes allows 49%'],
  [['--max-delta', '94'], 'line 2 changes pet 1 from 5 to 100, and --max-delta allows 94'],
])('is stopped by the guard %j before anything is sent', async (guard, message) => {
  await using server = await stockServer(shelves(10, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(10, (petId) => (petId <= 5 ? 101 - petId : 5))));
  const run = await desk.inventory(['apply', 'stock.csv', '--yes', ...guard]);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain(`error: ${message}; nothing was sent`);
  expect(server.writes()).toEqual([]);
  const passed = await desk.summary([
    'apply',
    'stock.csv',
    '--yes',
    '--max-changes',
    '50%',
    '--max-delta',
    '95',
  ]);
  expect(passed).toMatchObject({ code: 0, applied: 5 });
});

test('does not set more than half of the rows to 0 without --allow-zero', async () => {
  await using server = await stockServer(shelves(10, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(10, (petId) => (petId <= 6 ? 0 : 5))));
  const run = await desk.inventory(['apply', 'stock.csv', '--yes']);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('6 of 10 rows go to 0, more than half; nothing was sent');
  expect(server.writes()).toEqual([]);
  expect(await desk.summary(['apply', 'stock.csv', '--yes', '--allow-zero'])).toMatchObject({
    code: 0,
    applied: 6,
  });
});

test('a plan has the names of all pets although a service fails now and then', async () => {
  await using server = await stockServer(shelves(4, () => 5));
  const failed = new Set<string>();
  server.misbehave = ({ path }, response) => {
    const after = /^\/pets\?.*after=(\d+)/.exec(path)?.[1];
    if (after === undefined) return undefined;
    const isFirst = !failed.has(path);
    failed.add(path);
    const id = Number(after) + 1;
    return isFirst
      ? refuse(response, 503, 'unavailable')
      : reply(response, 200, [{ id, name: `Pet ${id}`, categoryId: 1, status: 'available' }]);
  };
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(4, () => 6)));
  const plan = await desk.inventory(['diff', 'stock.csv', '-o', 'csv', '--no-header', '--fields', 'name']);
  expect(plan).toMatchObject({ code: 8, stdout: 'Pet 1\nPet 2\nPet 3\nPet 4\n' });
});

test('fails all rows with one kind of refusal and exits 1', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  server.misbehave = ({ method }, response) =>
    method === 'PUT' ? refuse(response, 422, 'validation_failed') : undefined;
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 6)));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes']);
  expect(summary).toMatchObject({
    code: 1,
    failed: 3,
    failures: [
      {
        kind: '422 validation_failed',
        state: 'failed',
        count: 3,
        example: { line: 2, message: expect.stringContaining('it says') },
      },
    ],
  });
});

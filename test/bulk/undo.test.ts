import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { type StockDesk, stockDesk } from '../helpers/stock-desk.ts';
import { refuse, reply, type StockServer, shelves, stockServer, toCsv } from '../helpers/stock-server.ts';

test('undo sets back what a run changed, and only that', async () => {
  await using server = await stockServer(shelves(150, (petId) => petId));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(150, (petId) => (petId % 2 === 0 ? petId : 500))));
  const { run } = await desk.summary(['apply', 'stock.csv', '--yes']);
  server.stock.set('2', 77);
  expect((await desk.inventory(['undo', String(run)])).code).toBe(2);
  const summary = await desk.summary(['undo', String(run), '--yes']);
  expect(summary).toMatchObject({ code: 0, rows: 75, applied: 75 });
  expect([...server.stock.entries()].filter(([petId, count]) => Number(petId) !== count)).toEqual([
    ['2', 77],
  ]);
  const again = await desk.inventory(['undo', String(run), '--yes']);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('has undone it already');
});

test("undo never overwrites somebody's later change", async () => {
  await using server = await stockServer(shelves(150, (petId) => petId));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(150, () => 500)));
  const { run } = await desk.summary(['apply', 'stock.csv', '--yes']);
  server.stock.set('7', 8);
  server.misbehave = ({ method, petId }) => {
    // Another count is changed between the plan and the write.
    if (method === 'GET' && petId === '9') server.stock.set('9', 10);
    return undefined;
  };
  const summary = await desk.summary(['undo', String(run), '--yes']);
  expect(summary).toMatchObject({
    code: 3,
    applied: 148,
    failed: 2,
    failures: [{ kind: 'unexpected_count', count: 2 }],
  });
  expect([server.stock.get('7'), server.stock.get('9')]).toEqual([8, 10]);
});

test('undo leaves a row alone that failed or was not sent, also if somebody else has set its count since', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '2' ? refuse(response, 409, 'no') : undefined;
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 6)));
  const words = ['apply', 'stock.csv', '--yes', '--fail-fast', '--concurrency', '1'];
  const summary = await desk.summary(words);
  expect(summary).toMatchObject({ applied: 1, failed: 1, unprocessed: 1 });
  server.misbehave = undefined;
  for (const petId of ['2', '3']) server.stock.set(petId, 6);
  expect(await desk.summary(['undo', String(summary.run), '--yes'])).toMatchObject({ rows: 1, applied: 1 });
  expect([...server.stock.values()]).toEqual([5, 6, 6]);
});

test('undo sets back a stopped run, which then cannot be resumed', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(200, (petId) => petId + 5)));
  server.misbehave = ({ method }, response) =>
    method === 'PUT' && server.writes().length > 100 ? refuse(response, 409, 'no') : undefined;
  const run = String((await desk.summary(['apply', 'stock.csv', '--yes', '--fail-fast'])).run);
  server.misbehave = undefined;
  expect(await desk.summary(['undo', run, '--yes'])).toMatchObject({ code: 0 });
  expect([...server.stock.values()].every((count) => count === 1)).toBe(true);
  expect((await desk.inventory(['resume', run])).stderr).toContain('it was undone');
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({ code: 0, applied: 200 });
});

test('an undo is a run: it can be resumed and undone itself', async () => {
  await using server = await stockServer(shelves(200, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(200, () => 4)));
  const { run } = await desk.summary(['apply', 'stock.csv', '--yes']);
  server.misbehave = ({ method }, response) =>
    method === 'PUT' && server.writes().length > 300 ? refuse(response, 409, 'no') : undefined;
  const stopped = await desk.summary(['undo', String(run), '--yes', '--fail-fast']);
  expect(stopped).toMatchObject({ code: 3 });
  server.misbehave = undefined;
  expect(await desk.summary(['resume', String(stopped.run), '--yes'])).toMatchObject({
    code: 0,
    applied: 200,
  });
  expect(server.stock.get('200')).toBe(1);
  expect(await desk.summary(['undo', String(stopped.run), '--yes'])).toMatchObject({ code: 0, applied: 200 });
  expect(server.stock.get('200')).toBe(4);
});

test('a blind run cannot be undone, because the counts before it are unknown', async () => {
  await using server = await stockServer(shelves(3, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 4)));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--blind']);
  expect(summary).not.toHaveProperty('undo');
  const { code, stderr } = await desk.inventory(['undo', String(summary.run), '--yes']);
  expect(code).toBe(2);
  expect(stderr).toContain('it was written with --blind');
});

/** Pet 1 is set from 5 to 6, and entries with these counts are created for the pets from 2 on. */
async function runThatMade(server: StockServer, counts: readonly number[]) {
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv([[1, 6], ...counts.map((count, at): [number, number] => [at + 2, count])]));
  const made = await desk.summary(['apply', 'stock.csv', '--yes', '--create-missing']);
  expect(made).toMatchObject({ code: 0, applied: counts.length + 1 });
  server.seen.length = 0;
  const undo = (...words: string[]) => desk.summary(['undo', String(made.run), '--yes', ...words]);
  return { desk, run: String(made.run), undo };
}

test('removes the entries that a run created', async () => {
  await using server = await stockServer([[1, 5]]);
  const { undo } = await runThatMade(server, [7, 0]);
  expect(await undo('--verify')).toMatchObject({ code: 0, rows: 3, applied: 3, verified: 3 });
  expect([...server.stock]).toEqual([['1', 5]]);
});

test.each([
  ['an error', { code: 'broken', message: 'it is broken', status: 500 }],
  ['another pet', { petId: 999, quantity: 6, status: 'sold' }],
])('does not count a removal that was answered 200 with %s as done', async (_, body) => {
  await using server = await stockServer(shelves(2, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 6)));
  const { run } = await desk.summary(['apply', 'stock.csv', '--create-missing', '--yes']);
  server.misbehave = ({ method }, response) => (method === 'DELETE' ? reply(response, 200, body) : undefined);
  const summary = await desk.summary(['undo', String(run), '--yes']);
  expect(summary).toMatchObject({ code: 3, applied: 2, unknown: 1 });
  expect(server.stock.get('3')).toBe(6);
  server.misbehave = undefined;
  expect(await desk.summary(['undo', String(run), '--yes'])).toMatchObject({ code: 0, applied: 1 });
  expect(server.stock.has('3')).toBe(false);
});

test('looks at a row whose write was answered with another quantity, because it may have been applied', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  server.misbehave = ({ method, petId, quantity }, response) => {
    if (method !== 'PUT' || petId !== '2') return undefined;
    server.stock.set('2', quantity ?? 0);
    return reply(response, 200, { petId: 2, quantity: 5, status: 'available' });
  };
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(2, () => 6)));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes']);
  expect(summary).toMatchObject({ code: 3, applied: 1, unknown: 1 });
  server.misbehave = undefined;
  expect(await desk.summary(['undo', String(summary.run), '--yes'])).toMatchObject({ code: 0, applied: 2 });
  expect([...server.stock.values()]).toEqual([5, 5]);
});

test('shows removals in the plan, for people and for programs', async () => {
  await using server = await stockServer([[1, 5]]);
  const { desk, run } = await runThatMade(server, [7, 1200]);
  const dry = await desk.inventory(['undo', run, '--dry-run']);
  expect(dry.stdout).toBe(
    'petId  name   now      new  change\n' +
      '    1           6        5      -1\n' +
      '    2           7  removed      -7\n' +
      '    3        1200  removed  -1,200\n',
  );
  expect(dry.stderr).toContain('plan: 3 of 3 rows to write: down 3 pets -1,208 (2 removed)\n');
  const json = await desk.inventory(['undo', run, '--dry-run', '-o', 'json']);
  expect(JSON.parse(json.stdout)[1]).toEqual({
    petId: 2,
    name: null,
    now: 7,
    new: null,
    change: -7,
    line: 0,
  });
  expect((await desk.inventory(['undo', run])).stderr).toContain(
    'error: set 1 count and remove 2 entries: needs confirmation',
  );
  expect(server.writes()).toEqual([]);
});

test('does not remove an entry that somebody has changed, and finds one gone that is gone already', async () => {
  await using server = await stockServer([[1, 5]]);
  const { undo } = await runThatMade(server, [7, 7, 7]);
  server.stock.set('2', 8);
  server.stock.delete('3');
  let reads = 0;
  server.misbehave = ({ method, petId }) => {
    // Without ETags the entry is read again right before the write; somebody has changed it by then.
    if (method === 'GET' && petId === '4') reads += 1;
    if (reads === 2) server.stock.set('4', 9);
    return undefined;
  };
  const summary = await undo();
  expect(summary).toMatchObject({ code: 3, applied: 1, unchanged: 1, failed: 2, requests: 7 });
  expect([...server.stock]).toEqual([
    ['1', 5],
    ['2', 8],
    ['4', 9],
  ]);
});

test('writes events for removals, and leaves them out of the rejects', async () => {
  await using server = await stockServer([[1, 5]]);
  const { desk, run } = await runThatMade(server, [7, 7]);
  server.stock.set('2', 8);
  const { stdout } = await desk.inventory([
    ...['undo', run, '--yes', '--events', '-', '--rejects', 'left.csv', '-o', 'json'],
  ]);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toContainEqual({
    petId: 3,
    quantity: null,
    before: 7,
    state: 'applied',
    status: 204,
    attempts: 1,
  });
  expect(lines).toContainEqual(expect.objectContaining({ petId: 2, quantity: null, state: 'failed' }));
  expect(lines.at(-1)).toMatchObject({ applied: 2, failed: 1 });
  expect(desk.files()).not.toContain('left.csv');
});

test('removes an entry only if it has the ETag that the plan saw', async () => {
  await using server = await stockServer([[1, 5]]);
  const { undo } = await runThatMade(server, [7, 7]);
  server.sendsETags = true;
  server.misbehave = ({ method, petId }) => {
    if (method === 'DELETE' && petId === '2') server.stock.set('2', 8);
    return undefined;
  };
  const summary = await undo();
  expect(summary).toMatchObject({ code: 3, applied: 2, failed: 1, failures: [{ kind: '412 changed' }] });
  expect(server.stock.get('2')).toBe(8);
  expect(server.stock.has('3')).toBe(false);
  const removals = server.seen.filter(({ method }) => method === 'DELETE');
  expect(removals.map(({ headers }) => headers['if-match'])).toEqual(['"7"', '"7"']);
});

test.each([
  ['without ETags', false],
  ['with ETags', true],
])(
  'an undo that was killed during a removal is resumed, and counts the removal as its own, %s',
  async (_, sendsETags) => {
    await using server = await stockServer([[1, 5]]);
    const { desk, undo } = await runThatMade(server, [7, 7]);
    server.sendsETags = sendsETags;
    server.misbehave = ({ method, petId = '' }, response) => {
      if (method !== 'DELETE') return undefined;
      // It is applied, but the answer is lost.
      if (petId === '2') server.stock.delete('2');
      response.destroy();
      return true;
    };
    const stopped = await undo('--retries', '0', '--max-errors', '1', '--concurrency', '1');
    expect(stopped).toMatchObject({ code: 3, applied: 1, unknown: 1, unprocessed: 1 });
    server.misbehave = undefined;
    const rest = await desk.summary(['resume', String(stopped.run), '--yes']);
    expect(rest).toMatchObject({ code: 0, applied: 3, unchanged: 0 });
    expect([...server.stock]).toEqual([['1', 5]]);
  },
);

test('a removal whose answer was lost is applied if the retry finds no entry; what somebody else removed is unchanged', async () => {
  await using server = await stockServer([[1, 5]]);
  const { undo } = await runThatMade(server, [7, 8]);
  server.sendsETags = true;
  const lost = new Set<string>();
  server.misbehave = ({ method, petId = '' }, response) => {
    if (method !== 'DELETE' || lost.has(petId)) return undefined;
    lost.add(petId);
    server.stock.delete(petId);
    // Somebody else removes pet 3 at this moment.
    if (petId === '3') return undefined;
    response.destroy();
    return true;
  };
  expect(await undo()).toMatchObject({ code: 0, applied: 2, unchanged: 1, retries: 1 });
});

test('undoing an undo creates the entries again, and overwrites none', async () => {
  await using server = await stockServer([[1, 5]]);
  const { desk, undo } = await runThatMade(server, [7, 8]);
  const undone = await undo();
  server.seen.length = 0;
  let reads = 0;
  server.misbehave = ({ method, petId }) => {
    if (method === 'GET' && petId === '3') reads += 1;
    if (method === 'POST' && reads === 2) server.stock.set('3', 1);
    return undefined;
  };
  const redone = await desk.summary(['undo', String(undone.run), '--yes']);
  expect(redone).toMatchObject({
    code: 3,
    applied: 2,
    failed: 1,
    failures: [{ kind: '409 already_exists' }],
  });
  expect([...server.stock].sort()).toEqual([
    ['1', 6],
    ['2', 7],
    ['3', 1],
  ]);
  expect(server.writes().map(({ method }) => method)).toEqual(['PUT', 'POST', 'POST']);
});

/** Binds the service's description without one of its operations; returns the environment of that profile. */
async function bindWithout({ url }: { readonly url: string }, desk: StockDesk, method: string, path: string) {
  const env = { PETSTORE_CONFIG_DIR: join(desk.folder, 'config') };
  const spec = JSON.parse((await runCli(['api', 'spec', '-o', 'json'])).stdout);
  delete spec.paths[path][method];
  writeFileSync(join(desk.folder, 'service.json'), JSON.stringify(spec));
  await runCli(['api', 'bind', join(desk.folder, 'service.json'), '--base-url', url], { env });
  return env;
}

test('undo reads the list once if the service offers only the list, also when it is resumed', async () => {
  await using server = await stockServer(shelves(3, () => 1));
  const desk = stockDesk(server);
  const env = await bindWithout(server, desk, 'get', '/store/inventory/{petId}');
  desk.write('stock.csv', toCsv(shelves(3, () => 4)));
  const { run } = await desk.summary(['apply', 'stock.csv', '--yes'], { env });
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId !== '1' ? refuse(response, 409, 'locked') : undefined;
  const words = ['undo', String(run), '--yes', '--fail-fast', '--concurrency', '1'];
  expect(await desk.summary(words, { env })).toMatchObject({ applied: 1, failed: 1, unprocessed: 1 });
  server.misbehave = undefined;
  server.stock.set('3', 9);
  expect(await desk.summary(['resume', '--yes'], { env })).toMatchObject({ applied: 2, failed: 1 });
  expect([...server.stock.values()]).toEqual([1, 1, 9]);
});

test.each(['apply', 'undo'])('%s sends nothing if the service offers no way to set a count', async (verb) => {
  await using server = await stockServer(shelves(3, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 4)));
  const { run } = await desk.summary(['apply', 'stock.csv', '--yes']);
  const env = await bindWithout(server, desk, 'put', '/store/inventory/{petId}');
  server.seen.length = 0;
  const refused = await desk.inventory([verb, verb === 'undo' ? String(run) : 'stock.csv', '--yes'], {
    env,
  });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('updateInventory: the service offers no such operation');
  expect(server.seen).toEqual([]);
});

test('sets back a count below 0, but not one beyond a double', async () => {
  await using server = await stockServer([
    [1, -5],
    [2, 9007199254740992],
    [3, 1],
  ]);
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 4)));
  const { run } = await desk.summary(['apply', 'stock.csv', '--yes']);
  const summary = await desk.summary(['undo', String(run), '--yes']);
  expect(summary).toMatchObject({
    code: 3,
    applied: 2,
    failed: 1,
    failures: [{ kind: 'inexact_count', example: { petId: 2 } }],
  });
  expect([...server.stock.values()]).toEqual([-5, 4, 1]);
  const shown = await desk.inventory([
    'runs',
    'show',
    String(summary.run),
    '-o',
    'csv',
    '--fields',
    'petId,state',
  ]);
  expect(shown.stdout).toBe('petId,state\n1,applied\n2,failed\n3,applied\n');
});

test('keeps and names entries that a run created, with exit code 3, if the service offers no deleteInventory', async () => {
  await using server = await stockServer([[1, 5]]);
  const { desk, run } = await runThatMade(server, [7]);
  const env = await bindWithout(server, desk, 'delete', '/store/inventory/{petId}');
  const summary = await desk.summary(['undo', run, '--yes'], { env });
  expect(summary).toMatchObject({ code: 3, rows: 1, applied: 1 });
  expect(summary.stderr).toContain(
    'warning: 1 entry that the run made stays, because the service offers no deleteInventory: pet 2\n',
  );
  expect([...server.stock]).toEqual([
    ['1', 5],
    ['2', 7],
  ]);
  const [, undone] = JSON.parse((await desk.inventory(['runs', '-o', 'json'], { env })).stdout);
  expect(undone).toMatchObject({ id: run, state: 'undone' });
  expect((await desk.inventory(['undo', run, '--yes'])).code).toBe(0);
  expect([...server.stock]).toEqual([['1', 5]]);
});

test('a partial undo prints how to try again, and then undoes only the rest', async () => {
  await using server = await stockServer(shelves(3, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 4)));
  const { run } = await desk.summary(['apply', 'stock.csv', '--yes']);
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '2' ? refuse(response, 409, 'locked') : undefined;
  const first = await desk.summary(['undo', String(run), '--yes']);
  expect(first).toMatchObject({ code: 3, applied: 2, failed: 1 });
  expect(first.stderr).toContain(`fix the cause, then run: petstore inventory undo ${run}`);
  server.misbehave = undefined;
  expect(await desk.summary(['undo', String(run), '--yes'])).toMatchObject({
    code: 0,
    applied: 1,
    unchanged: 2,
  });
  expect((await desk.inventory(['undo', String(run), '--yes'])).stderr).toContain('has undone it already');
});

test('an undo that finds nothing to set back shows only the failures', async () => {
  await using server = await stockServer(shelves(2, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(2, () => 4)));
  const { run } = await desk.summary(['apply', 'stock.csv', '--yes']);
  for (const petId of server.stock.keys()) server.stock.set(petId, 9);
  const terminal = await desk.inventory(['undo', String(run), '--dry-run', '--progress', 'none'], {
    terminals: ['stderr'],
    env: { NO_COLOR: '1' },
  });
  expect(terminal.stderr).toBe(
    'no changes\n fails  2 rows    pet 1: the count is 9 now, not 4 as expected\n',
  );
  const log = await desk.inventory(['undo', String(run), '--dry-run']);
  expect(log.stderr).toMatch(/^plan: 0 of 2 rows to write\nwarning: 2 rows cannot be written: pet 1: /);
});

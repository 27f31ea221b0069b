import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { type StockDesk, stockDesk } from '../helpers/stock-desk.ts';
import { refuse, reply, type StockServer, shelves, stockServer, toCsv } from '../helpers/stock-server.ts';

/** A desk whose run r1 has set all pets to a count. */
async function applied(server: StockServer, pets: number, count: number) {
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(pets, () => count)));
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({ code: 0, run: 'r1' });
  server.seen.length = 0;
  return desk;
}

async function listed(desk: StockDesk) {
  const runs = JSON.parse((await desk.inventory(['runs', '-o', 'json'])).stdout) as {
    id: string;
    state: string;
  }[];
  return runs.map(({ id, state }) => `${id} ${state}`);
}

test('undo sets back what the last run wrote, and only that', async () => {
  await using server = await stockServer(shelves(150, (petId) => petId));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(150, (petId) => (petId % 2 === 0 ? petId : 500))));
  await desk.summary(['apply', 'stock.csv', '--yes']);
  server.stock.set('2', 77);
  expect((await desk.inventory(['undo'])).code).toBe(2);
  expect(await desk.summary(['undo', '--yes'])).toMatchObject({
    code: 0,
    kind: 'undo',
    rows: 75,
    applied: 75,
  });
  const changed = [...server.stock].filter(([petId, count]) => Number(petId) !== count);
  expect(changed).toEqual([['2', 77]]);
  expect(await listed(desk)).toEqual(['r2 finished', 'r1 undone']);
  for (const words of [['undo'], ['undo', 'r1']]) {
    const again = await desk.inventory([...words, '--yes']);
    expect(again).toMatchObject({ code: 0, stdout: '' });
    expect(again.stderr).toContain('run r2 is finished: nothing is left to do');
  }
  const undoOfUndo = await desk.inventory(['undo', 'r2', '--yes']);
  expect(undoOfUndo.code).toBe(2);
  expect(undoOfUndo.stderr).toContain('apply the file of run r1 again');
});

test("undo never overwrites somebody's later change, and exits 3, also if that is every row", async () => {
  await using server = await stockServer(shelves(150, (petId) => petId));
  const desk = await applied(server, 150, 500);
  server.stock.set('7', 8);
  server.misbehave = ({ method, petId }) => {
    // Another count is changed between the plan and the write.
    if (method === 'GET' && petId === '9') server.stock.set('9', 10);
    return undefined;
  };
  expect(await desk.summary(['undo', '--yes'])).toMatchObject({
    code: 3,
    applied: 148,
    failed: 2,
    failures: [{ kind: 'changed_since', count: 2 }],
    resume: 'petstore inventory undo r1',
  });
  expect([server.stock.get('7'), server.stock.get('9')]).toEqual([8, 10]);
  const refused = await desk.inventory(['resume', 'r1']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('go on with that: petstore inventory undo r1');
  server.misbehave = undefined;
  desk.write('one.csv', toCsv([[7, 1]]));
  await desk.summary(['apply', 'one.csv', '--yes']);
  server.stock.set('7', 2);
  expect(await desk.summary(['undo', '--yes'])).toMatchObject({ code: 3, applied: 0, failed: 1 });
});

test('undo leaves rows alone that the run did not write, and closes the run: it cannot be resumed', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '2' ? refuse(response, 401, 'no') : undefined;
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 6)));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--concurrency', '1']);
  expect(summary).toMatchObject({ applied: 1, failed: 1, unprocessed: 1 });
  server.misbehave = undefined;
  for (const petId of ['2', '3']) server.stock.set(petId, 6);
  expect(await desk.summary(['undo', '--yes'])).toMatchObject({ code: 0, rows: 1, applied: 1 });
  expect([...server.stock.values()]).toEqual([5, 6, 6]);
  const refused = await desk.inventory(['resume', 'r1', '--yes']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('run r2 has undone it');
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({ code: 0, applied: 1 });
});

test('an unfinished run that has written nothing is closed by its undo', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  server.misbehave = ({ method }, response) => (method === 'PUT' ? refuse(response, 401, 'no') : undefined);
  const desk = stockDesk(server);
  desk.write('d.csv', 'petId,change\n1,1\n2,1\n');
  const words = ['apply', 'd.csv', '--relative', '--yes', '--concurrency', '1'];
  expect((await desk.summary(words)).code).toBe(4);
  server.misbehave = undefined;
  expect((await desk.summary(words)).code).toBe(2);
  expect(await desk.summary(['undo'])).toMatchObject({ code: 0, rows: 0 });
  expect(await desk.summary(words)).toMatchObject({ code: 0, applied: 2 });
});

test('an undo that stopped goes on when it is typed again, by undo, undo of its run, or resume', async () => {
  await using server = await stockServer(shelves(20, () => 1));
  const desk = await applied(server, 20, 4);
  let writes = 0;
  server.misbehave = ({ method }, response) => {
    if (method === 'GET') return undefined;
    writes += 1;
    return writes % 5 === 0 ? refuse(response, 401, 'no') : undefined;
  };
  const pace = ['--yes', '--concurrency', '1'];
  const first = await desk.summary(['undo', ...pace]);
  expect(first).toMatchObject({ code: 4, run: 'r2', applied: 4, unprocessed: 15 });
  expect(first.resume).toBe('petstore inventory undo r1');
  const refused = await desk.inventory(['resume', 'r1']);
  expect(refused.stderr).toContain('petstore inventory undo r1');
  expect((await desk.inventory(['undo', 'r2'])).stderr).toContain('petstore inventory undo r1');
  expect(await desk.summary(['undo', ...pace])).toMatchObject({ code: 4, run: 'r2', applied: 8 });
  expect(await desk.summary(['undo', 'r1', ...pace])).toMatchObject({ code: 4, run: 'r2', applied: 12 });
  expect(await desk.summary(['resume', ...pace])).toMatchObject({ code: 4, run: 'r2', applied: 16 });
  server.misbehave = undefined;
  expect(await desk.summary(['resume', 'r2', ...pace])).toMatchObject({ code: 0, applied: 20 });
  expect(server.stock.get('20')).toBe(1);
  expect(await listed(desk)).toEqual(['r2 finished', 'r1 undone']);
});

test('a pet that a later run wrote is left alone until that run is undone', async () => {
  await using server = await stockServer(shelves(3, () => 1));
  const desk = await applied(server, 3, 4);
  desk.write('later.csv', toCsv([[2, 9]]));
  await desk.summary(['apply', 'later.csv', '--yes']);
  // By chance it is what the first run wrote.
  server.stock.set('2', 4);
  const first = await desk.summary(['undo', 'r1', '--yes']);
  expect(first).toMatchObject({ code: 3, applied: 2, failed: 1, failures: [{ kind: 'written_later' }] });
  expect(JSON.stringify(first.failures)).toContain('run r2 has written this pet since: undo that run first');
  server.stock.set('2', 9);
  expect(await desk.summary(['undo', 'r2', '--yes'])).toMatchObject({ code: 0, applied: 1 });
  expect(await desk.summary(['undo', 'r1', '--yes'])).toMatchObject({ code: 0, applied: 1, unchanged: 2 });
  expect([...server.stock.values()]).toEqual([1, 1, 1]);
});

test('undo looks at rows of a killed run, and at those whose answer proves nothing', async () => {
  await using server = await stockServer(shelves(4, () => 5));
  server.misbehave = ({ method, petId, quantity }, response) => {
    if (method !== 'PUT' || petId !== '2') return undefined;
    server.stock.set('2', quantity ?? 0);
    return reply(response, 200, { petId: 2, quantity: 5, status: 'available' });
  };
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(4, () => 6)));
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({ applied: 3, unknown: 1 });
  server.misbehave = undefined;
  const path = desk.journal('r1');
  const text = readFileSync(path, 'utf8');
  // Killed: the outcomes were never on the disk.
  writeFileSync(path, text.slice(0, text.indexOf('\n', text.indexOf('"planned"')) + 1));
  server.stock.set('4', 5);
  const shown = await desk.inventory(['runs', 'show', 'r1', '-o', 'csv', '--fields', 'petId,state']);
  expect(shown.stdout).toBe('petId,state\n1,unknown\n2,unknown\n3,unknown\n4,unknown\n');
  expect(await desk.summary(['undo', '--yes'])).toMatchObject({ code: 0, applied: 3, unchanged: 1 });
  expect([...server.stock.values()]).toEqual([5, 5, 5, 5]);
});

/** Pet 1 is set from 5 to 6, and entries with these counts are created for the pets from 2 on. */
async function runThatMade(server: StockServer, counts: readonly number[]) {
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv([[1, 6], ...counts.map((count, at): [number, number] => [at + 2, count])]));
  const made = await desk.summary(['apply', 'stock.csv', '--yes', '--create-missing']);
  expect(made).toMatchObject({ code: 0, applied: counts.length + 1 });
  server.seen.length = 0;
  return desk;
}

test('removes the entries that a run created, and shows that in the plan', async () => {
  await using server = await stockServer([[1, 5]]);
  const desk = await runThatMade(server, [7, 1200]);
  const dry = await desk.inventory(['undo', '--dry-run']);
  expect(dry.stdout).toBe(
    'petId  name   now      new  change\n' +
      '    1           6        5      -1\n' +
      '    2           7  removed      -7\n' +
      '    3        1200  removed  -1,200\n',
  );
  expect(dry.stderr).toContain('plan: 3 of 3 rows to write: 3 pets down -1,208 (2 removed)\n');
  const json = await desk.inventory(['undo', '--dry-run', '-o', 'json']);
  expect(JSON.parse(json.stdout)[1]).toMatchObject({ petId: 2, now: 7, new: null, change: -7 });
  expect((await desk.inventory(['undo'])).stderr).toContain(
    'error: set 1 count and remove 2 entries: needs confirmation',
  );
  expect(server.writes()).toEqual([]);
  expect(await listed(desk)).toEqual(['r1 finished']);
  expect(await desk.summary(['undo', '--yes'])).toMatchObject({ code: 0, rows: 3, applied: 3 });
  expect([...server.stock]).toEqual([['1', 5]]);
});

test.each([
  ['an error', { code: 'broken', message: 'it is broken', status: 500 }],
  ['another pet', { petId: 999, quantity: 6, status: 'sold' }],
])('does not count a removal that was answered 200 with %s as done', async (_, body) => {
  await using server = await stockServer([[1, 5]]);
  const desk = await runThatMade(server, [6]);
  server.misbehave = ({ method }, response) => (method === 'DELETE' ? reply(response, 200, body) : undefined);
  expect(await desk.summary(['undo', '--yes'])).toMatchObject({ code: 3, applied: 1, unknown: 1 });
  server.misbehave = undefined;
  expect(await desk.summary(['undo', '--yes'])).toMatchObject({ code: 0, applied: 2 });
  expect(server.stock.has('2')).toBe(false);
});

test('does not remove an entry that somebody has changed, and finds one gone that is gone already', async () => {
  await using server = await stockServer([[1, 5]]);
  const desk = await runThatMade(server, [7, 7, 7]);
  server.stock.set('2', 8);
  server.stock.delete('3');
  let reads = 0;
  server.misbehave = ({ method, petId }) => {
    // Without ETags the entry is read again right before the write; somebody has changed it by then.
    if (method === 'GET' && petId === '4') reads += 1;
    if (reads === 2) server.stock.set('4', 9);
    return undefined;
  };
  const summary = await desk.summary(['undo', '--yes']);
  expect(summary).toMatchObject({ code: 3, applied: 1, unchanged: 1, failed: 2, requests: 7 });
  expect([...server.stock.values()]).toEqual([5, 8, 9]);
});

test('removes an entry only if it has the ETag that the plan saw', async () => {
  await using server = await stockServer([[1, 5]]);
  const desk = await runThatMade(server, [7, 7]);
  server.sendsETags = true;
  server.misbehave = ({ method, petId }) => {
    if (method === 'DELETE' && petId === '2') server.stock.set('2', 8);
    return undefined;
  };
  const summary = await desk.summary(['undo', '--yes']);
  expect(summary).toMatchObject({ code: 3, applied: 2, failed: 1 });
  expect([server.stock.get('2'), server.stock.has('3')]).toEqual([8, false]);
  const removals = server.seen.filter(({ method }) => method === 'DELETE');
  expect(removals.map(({ headers }) => headers['if-match'])).toEqual(['"7"', '"7"']);
});

test.each([
  ['without ETags', false],
  ['with ETags', true],
])('a removal whose answer was lost counts as done when the undo goes on, %s', async (_, sendsETags) => {
  await using server = await stockServer([[1, 5]]);
  const desk = await runThatMade(server, [7, 7]);
  server.sendsETags = sendsETags;
  server.misbehave = ({ method, petId = '' }, response) => {
    if (method !== 'DELETE') return undefined;
    // It is applied, but the answer is lost.
    if (petId === '2') server.stock.delete('2');
    response.destroy();
    return true;
  };
  const pace = ['--yes', '--retries', '0', '--max-errors', '1', '--concurrency', '1'];
  expect(await desk.summary(['undo', ...pace])).toMatchObject({
    code: 3,
    applied: 1,
    unknown: 1,
    unprocessed: 1,
  });
  server.misbehave = undefined;
  expect(await desk.summary(['undo', '--yes'])).toMatchObject({ code: 0, applied: 3 });
  expect([...server.stock]).toEqual([['1', 5]]);
});

/** Binds the service's description without one of its operations; returns the environment of that profile. */
async function bindWithout(desk: StockDesk, method: string, path: string) {
  const env = { PETSTORE_CONFIG_DIR: join(desk.folder, 'config') };
  const spec = JSON.parse((await runCli(['api', 'spec', '-o', 'json'])).stdout);
  delete spec.paths[path][method];
  writeFileSync(join(desk.folder, 'service.json'), JSON.stringify(spec));
  await runCli(['api', 'bind', join(desk.folder, 'service.json')], { env: { ...desk.env, ...env } });
  return env;
}

test('an entry that a run created stays, with exit code 3, if the service offers no deleteInventory', async () => {
  await using server = await stockServer([[1, 5]]);
  const desk = await runThatMade(server, [7]);
  const env = await bindWithout(desk, 'delete', '/store/inventory/{petId}');
  const summary = await desk.summary(['undo', '--yes'], { env });
  expect(summary).toMatchObject({ code: 3, applied: 1, failed: 1, failures: [{ kind: 'no_delete' }] });
  expect([...server.stock.values()]).toEqual([5, 7]);
  expect((await desk.inventory(['undo', 'r1', '--yes'])).code).toBe(0);
  expect([...server.stock]).toEqual([['1', 5]]);
});

test('undo reads the list if the service offers only the list', async () => {
  await using server = await stockServer(shelves(3, () => 1));
  const desk = await applied(server, 3, 4);
  const env = await bindWithout(desk, 'get', '/store/inventory/{petId}');
  server.stock.set('3', 9);
  expect(await desk.summary(['undo', '--yes'], { env })).toMatchObject({ code: 3, applied: 2, failed: 1 });
  expect([...server.stock.values()]).toEqual([1, 1, 9]);
});

test.each(['apply', 'undo'])('%s sends nothing if the service offers no way to set a count', async (verb) => {
  await using server = await stockServer(shelves(3, () => 1));
  const desk = await applied(server, 3, 4);
  const env = await bindWithout(desk, 'put', '/store/inventory/{petId}');
  const refused = await desk.inventory([verb, verb === 'undo' ? 'r1' : 'stock.csv', '--yes'], { env });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('updateInventory: the service offers no such operation');
  expect(server.seen).toEqual([]);
});

test('sends back what was read, also a negative count', async () => {
  await using server = await stockServer([
    [1, -5],
    [3, 1],
  ]);
  const desk = stockDesk(server);
  desk.write('stock.csv', 'petId,quantity\n1,4\n3,4\n');
  await desk.summary(['apply', 'stock.csv', '--yes']);
  expect(await desk.summary(['undo', '--yes'])).toMatchObject({ code: 0, applied: 2 });
  expect([...server.stock.values()]).toEqual([-5, 1]);
});

test('an undo that finds nothing to set back shows only the failures', async () => {
  await using server = await stockServer(shelves(2, () => 1));
  const desk = await applied(server, 2, 4);
  for (const petId of server.stock.keys()) server.stock.set(petId, 9);
  const terminal = await desk.inventory(['undo', '--dry-run'], {
    terminals: ['stderr'],
    env: { NO_COLOR: '1' },
  });
  expect(terminal.code).toBe(3);
  expect(terminal.stderr.replaceAll('\n', ' ')).toContain(
    'warning: 2 rows cannot be written: pet 1: changed since: the count is 9 now, not 4 as expected',
  );
});

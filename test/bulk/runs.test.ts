import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type StockDesk, stockDesk } from '../helpers/stock-desk.ts';
import { refuse, reply, type StockServer, shelves, stockServer, toCsv } from '../helpers/stock-server.ts';

/** A run of 6 rows that stopped after 3. */
async function stoppedRun(server: StockServer) {
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(6, (petId) => petId + 10)));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && Number(petId) > 3 ? refuse(response, 409, 'no') : undefined;
  const { run } = await desk.summary([
    ...['apply', 'stock.csv', '--yes', '--fail-fast', '--concurrency', '1'],
  ]);
  server.misbehave = undefined;
  return { desk, run: String(run) };
}

test('shows a run row by row', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const { desk, run } = await stoppedRun(server);
  const { stdout } = await desk.inventory([
    'runs',
    'show',
    run,
    '-o',
    'csv',
    '--fields',
    'petId,before,after,state,code',
  ]);
  expect(stdout).toBe(
    'petId,before,after,state,code\n1,1,11,applied,\n2,1,12,applied,\n3,1,13,applied,\n4,1,14,failed,no\n5,1,15,unprocessed,\n6,1,16,unprocessed,\n',
  );
});

test('discards a run: it cannot be resumed any more, but undone', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const { desk, run } = await stoppedRun(server);
  expect((await desk.inventory(['runs', 'discard', run])).code).toBe(0);
  const refused = await desk.inventory(['resume', run, '--yes']);
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toContain('it was given up');
  expect((await desk.inventory(['runs', 'discard', run])).code).toBe(2);
  expect((await desk.inventory(['runs', '-o', 'csv', '--fields', 'state'])).stdout).toBe(
    'state\ndiscarded\n',
  );
  expect((await desk.inventory(['undo', run, '--yes'])).code).toBe(0);
  expect([...server.stock.values()]).toEqual([1, 1, 1, 1, 1, 1]);
});

test('deletes old runs after asking, but no unfinished one', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const { desk, run } = await stoppedRun(server);
  desk.write('other.csv', toCsv([[1, 2]]));
  await desk.inventory(['apply', 'other.csv', '--yes']);
  expect((await desk.inventory(['runs', 'prune', '--yes'])).stderr).toContain('no runs to delete');
  const asked = await desk.inventory(['runs', 'prune', '--older-than', '0h']);
  expect(asked.code).toBe(2);
  expect(asked.stderr).toContain('delete 1 run');
  expect((await desk.inventory(['runs', 'prune', '--older-than', '0h', '--yes'])).code).toBe(0);
  expect((await desk.inventory(['runs', '-o', 'ids'])).stdout).toBe(`${run}\n`);
});

test('a run that was killed before its plan was complete leaves nothing', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const { desk, run } = await stoppedRun(server);
  const half = join(desk.folder, 'state', 'runs', '20200101-000000000-abcdef.jsonl.new');
  writeFileSync(half, readFileSync(desk.journal(run), 'utf8').slice(0, 300));
  expect((await desk.inventory(['runs', '-o', 'ids'])).stdout).toBe(`${run}\n`);
  desk.write('other.csv', toCsv([[1, 2]]));
  expect(await desk.summary(['apply', 'other.csv', '--yes'])).toMatchObject({ code: 0 });
  expect(readdirSync(join(half, '..')).filter((name) => !name.endsWith('.jsonl'))).toEqual([]);
});

test("lists the runs that set a pet's count, the newest first", async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const { desk, run } = await stoppedRun(server);
  desk.write('other.csv', toCsv([[2, 5]]));
  const other = await desk.summary(['apply', 'other.csv', '--yes']);
  const words = ['-o', 'csv', '--fields', 'run,file,before,after,state'];
  expect((await desk.inventory(['log', '2', ...words])).stdout).toBe(
    `run,file,before,after,state\n${other.run},other.csv,12,5,applied\n${run},stock.csv,1,12,applied\n`,
  );
  expect((await desk.inventory(['log', '5', ...words])).stdout).toBe('run,file,before,after,state\n');
});

test('the log of a pet tells which of its runs wrote to another service', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const { desk, run } = await stoppedRun(server);
  const elsewhere = ['--base-url', 'http://127.0.0.1:9'];
  const told = await desk.inventory(['log', '2', '-o', 'csv', '--fields', 'run,target', ...elsewhere]);
  expect(told).toEqual({
    code: 0,
    stdout: `run,target\n${run},${server.url}\n`,
    stderr: 'note: 1 of these runs did not write to http://127.0.0.1:9: see --fields run,target\n',
  });
  expect((await desk.inventory(['log', '2'])).stderr).toBe('');
});

test.each([
  ['a digit of an outcome', (text: string) => text.replace('"before":1,"after":11', '"before":7,"after":11')],
  ['a digit of the plan', (text: string) => text.replace('[5,6,1,16]', '[5,6,1,17]')],
  ['a lost outcome', (text: string) => text.replace(/\n\{"row":1,.*(?=\n)/, '')],
  ['a lost plan', (text: string) => text.replace(/\n\{"plan":.*(?=\n)/, '')],
  ['a plan that was cut off', (text: string) => text.replace(/\{"planned":[\s\S]*/, '')],
  ['another version', (text: string) => text.replace('"journal":3', '"journal":1')],
])('refuses a journal with %s, and writes nothing', async (_, damage) => {
  await using server = await stockServer(shelves(6, () => 1));
  const { desk, run } = await stoppedRun(server);
  const path = desk.journal(run);
  const text = readFileSync(path, 'utf8');
  expect(damage(text)).not.toBe(text);
  writeFileSync(path, damage(text));
  server.seen.length = 0;
  for (const verb of ['resume', 'undo']) {
    const refused = await desk.inventory([verb, run, '--yes']);
    expect(refused.code, verb).toBe(1);
    expect(refused.stderr).toMatch(/is damaged at byte \d+|does not fit|journal of another version/);
  }
  expect(server.writes()).toEqual([]);
});

test('a killed blind run that had left rows out has no negative counts', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', 'petId,quantity\n1,x\n2,x\n3,9\n4,9\n5,9\n6,9\n');
  const words = ['apply', 'stock.csv', '--yes', '--blind', '--skip-invalid', '--shard', '1/2'];
  const { run } = await desk.summary(words);
  const path = desk.journal(run);
  const [header, planned, sending] = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, `${header}\n${planned}\n${sending}\n`);
  const [listed] = JSON.parse((await desk.inventory(['runs', '-o', 'json'])).stdout);
  expect(listed).toMatchObject({ state: 'killed', rows: 6, unchanged: 0, invalid: 2 });
  expect(listed.skipped + listed.unprocessed + listed.unknown).toBe(4);
  const log = await desk.inventory(['log', '3']);
  expect(log.stderr).toContain(`warning: run ${run} was killed; with --blind it may have set this pet too`);
});

test('rows that a killed run may have sent are unknown until it is resumed', async () => {
  await using server = await stockServer(shelves(3, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 9)));
  const run = String((await desk.summary(['apply', 'stock.csv', '--yes'])).run);
  const path = desk.journal(run);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, text.indexOf('\n', text.indexOf('{"row":0')) + 1));
  const told = async () => {
    const [{ applied, unknown, unprocessed }] = JSON.parse(
      (await desk.inventory(['runs', '-o', 'json'])).stdout,
    );
    const { stdout } = await desk.inventory(['runs', 'show', run, '-o', 'csv', '--fields', 'petId,state']);
    return { applied, unknown, unprocessed, stdout };
  };
  const killed = {
    applied: 1,
    unknown: 2,
    unprocessed: 0,
    stdout: 'petId,state\n1,applied\n2,unknown\n3,unknown\n',
  };
  expect(await told()).toEqual(killed);
  await desk.inventory(['runs', 'discard', run]);
  expect(await told()).toEqual(killed);
  expect(await desk.summary(['undo', run, '--yes'])).toMatchObject({ code: 0, applied: 3 });
});

test('the log of a pet names a run whose write was answered with another quantity', async () => {
  await using server = await stockServer(shelves(2, () => 1));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(2, () => 100)));
  server.misbehave = ({ method, petId }, response) => {
    if (method !== 'PUT' || petId !== '2') return undefined;
    server.stock.set('2', 99);
    return reply(response, 200, { petId: 2, quantity: 99, status: 'sold' });
  };
  const { run } = await desk.summary(['apply', 'stock.csv', '--yes']);
  const { stdout } = await desk.inventory(['log', '2', '-o', 'csv', '--fields', 'run,state,code']);
  expect(stdout).toBe(`run,state,code\n${run},unknown,other_quantity\n`);
});

test('a run of which nothing could be set back is not undone', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId !== '1' ? refuse(response, 409, 'no') : undefined;
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(3, () => 6)));
  const words = ['apply', 'stock.csv', '--yes', '--fail-fast', '--concurrency', '1'];
  const { run } = await desk.summary(words);
  server.misbehave = undefined;
  server.stock.set('1', 40);
  expect(await desk.summary(['undo', String(run), '--yes'])).toMatchObject({ code: 1, failed: 1 });
  const [listed] = JSON.parse((await desk.inventory(['runs', '-o', 'json'])).stdout);
  expect(listed).toMatchObject({ state: 'stopped' });
  expect(await desk.summary(['resume', String(run), '--yes'])).toMatchObject({ code: 0, applied: 3 });
});

test('starts an undo again if the journal of a stopped one is damaged', async () => {
  await using server = await stockServer(shelves(6, () => 1));
  const { desk, run } = await stoppedRun(server);
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId !== '1' ? refuse(response, 409, 'no') : undefined;
  const undo = await desk.summary(['undo', run, '--yes', '--fail-fast', '--concurrency', '1']);
  expect(undo).toMatchObject({ applied: 1, failed: 1, unprocessed: 1 });
  server.misbehave = undefined;
  const path = desk.journal(undo.run);
  writeFileSync(path, readFileSync(path, 'utf8').replace('"state":"applied"', '"state":"unknown"'));
  const again = await desk.summary(['undo', run, '--yes']);
  expect(again).toMatchObject({ code: 0, applied: 2, unchanged: 1 });
  expect([...server.stock.values()]).toEqual([1, 1, 1, 1, 1, 1]);
});

/** An editor that runs the shell commands on its file. */
function editorOf(desk: StockDesk, commands: string): Record<string, string> {
  const path = join(desk.folder, 'editor.sh');
  writeFileSync(path, `#!/bin/sh\n${commands}\n`);
  chmodSync(path, 0o700);
  return { EDITOR: path };
}

test('edits counts in an editor, and applies what was saved', async () => {
  await using server = await stockServer(shelves(6, (petId) => petId));
  const desk = stockDesk(server);
  const env = editorOf(desk, `cp "$1" ${join(desk.folder, 'seen.csv')}\nsed -i 's/^2,2,2,/2,20,2,/' "$1"`);
  const summary = await desk.summary(['edit', '--below', '4', '--yes'], { env });
  expect(desk.read('seen.csv')).toMatch(
    /^#.*\n#.*\npetId,quantity,expected,status\n1,1,1,available\n2,2,2,available\n3,3,3,available\n$/,
  );
  expect(summary).toMatchObject({ code: 0, rows: 3, applied: 1, unchanged: 2 });
  expect(server.stock.get('2')).toBe(20);
  expect(readdirSync(join(desk.folder, 'state', 'edits'))).toEqual([]);
});

test('sends nothing if the text is unchanged, and keeps a text that could not be applied', async () => {
  await using server = await stockServer(shelves(3, (petId) => petId));
  const desk = stockDesk(server);
  const same = await desk.inventory(['edit', '--yes'], { env: editorOf(desk, 'true') });
  expect(same).toMatchObject({ code: 0, stderr: 'nothing changed, nothing was sent\n' });
  const wrong = await desk.inventory(['edit', '--yes'], { env: editorOf(desk, `sed -i 's/^2,2/2,x/' "$1"`) });
  expect(wrong.code).toBe(2);
  const path = /^the edited text is kept in (.*)$/m.exec(wrong.stderr)?.[1] ?? '';
  expect(readFileSync(path, 'utf8')).toContain('2,x,2,available');
  expect(wrong.stderr).toContain(':5:3: quantity "x"');
  expect(wrong.stderr).toContain(`to apply it: petstore inventory apply ${path}\n`);
  const nobody = await desk.inventory(['edit', '--yes'], { env: { EDITOR: '' } });
  expect(nobody.code).toBe(2);
  expect(nobody.stderr).toContain('there is no terminal to edit on');
  expect(server.writes()).toEqual([]);
});

test('exports the expected counts too, so that later changes are not overwritten', async () => {
  await using server = await stockServer(shelves(3, (petId) => petId));
  const desk = stockDesk(server);
  const { stdout } = await desk.inventory(['export', '--with-expected']);
  expect(stdout).toBe('petId,quantity,expected,status\n1,1,1,available\n2,2,2,available\n3,3,3,available\n');
  desk.write('stock.csv', stdout.replace('2,2,2', '2,20,2').replace('3,3,3', '3,30,3'));
  server.stock.set('3', 8);
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({
    code: 3,
    applied: 1,
    failed: 1,
  });
  expect(server.stock.get('3')).toBe(8);
});

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Run } from '../helpers/run-cli.ts';
import { startCli } from '../helpers/spawn-cli.ts';
import { type StockDesk, stockDesk } from '../helpers/stock-desk.ts';
import { refuse, type StockServer, shelves, stockServer } from '../helpers/stock-server.ts';

// What a person types after a stop, in the cases in which a delivery was once booked twice or a run was lost.

function deliveryOf(changes: readonly (readonly [number, number])[]): string {
  return `petId,change\n${changes.map(([petId, change]) => `${petId},${change}\n`).join('')}`;
}

/** The command that a hint or a summary names, as words after `petstore inventory`. */
function namedCommand(text: string): string[] {
  const found = /petstore inventory ((?:resume|undo|apply)[^"`;,\n]*)/.exec(text)?.[1];
  if (found === undefined) throw new Error(`no command is named in: ${text}`);
  return found.trim().split(/\s+/);
}

/** The `code` of the error that a command printed as JSON. */
function codeOf(stderr: string): string | undefined {
  return JSON.parse(stderr.trim().split('\n').at(-1) ?? '{}').error?.code;
}

/** Applies the first write of each pet and answers it with a status; later ones are answered as they should. */
function applyAndRefuse(server: StockServer, status: number): void {
  const met = new Set<string>();
  server.misbehave = ({ method, petId = '', quantity = 0 }, response) => {
    if (method !== 'PUT' || met.has(petId)) return undefined;
    met.add(petId);
    server.stock.set(petId, quantity);
    return refuse(response, status, 'gateway');
  };
}

function refuseFrom(server: StockServer, first: number, status = 401): void {
  let writes = 0;
  server.misbehave = ({ method }, response) => {
    if (method === 'GET') return undefined;
    writes += 1;
    return writes >= first ? refuse(response, status, 'no') : undefined;
  };
}

test.each([
  [503, true],
  [503, false],
  [408, true],
  [408, false],
  [500, false],
  [504, true],
])(
  'a delivery whose first write was applied and answered %i (ETags: %s) is booked once, whatever is typed next',
  async (status, sendsETags) => {
    await using server = await stockServer(shelves(3, () => 5));
    server.sendsETags = sendsETags;
    applyAndRefuse(server, status);
    const desk = stockDesk(server);
    desk.write('d.csv', deliveryOf(shelves(3, () => 5)));
    const words = ['apply', 'd.csv', '--relative', '--yes'];
    const first = await desk.summary([...words, '--retries', '0']);
    expect(first).toMatchObject({ failed: 0, unknown: 3 });
    expect(desk.files()).not.toContain('d.rejects.csv');
    const again = await desk.inventory([...words, '-o', 'json']);
    expect(again.code).toBe(2);
    expect(codeOf(again.stderr)).toBe('already_booked');
    expect(await desk.summary([...namedCommand(first.stderr), '--yes'])).toMatchObject({
      code: 0,
      applied: 3,
    });
    expect([...server.stock.values()]).toEqual([10, 10, 10]);
  },
);

async function killedDelivery(server: StockServer, desk: StockDesk, writes: number): Promise<void> {
  server.misbehave = async ({ method }) => {
    if (method === 'PUT') await sleep(2);
    return undefined;
  };
  const child = startCli(['inventory', 'apply', 'd.csv', '--relative', '--yes', '--concurrency', '2'], {
    env: desk.env,
    cwd: desk.folder,
  });
  const ended = once(child, 'exit');
  while (server.writes().length < writes && child.exitCode === null) await sleep(1);
  child.kill('SIGKILL');
  await ended;
  await sleep(10);
  server.misbehave = undefined;
}

test('a delivery that was killed, and whose journal lost what was not synced, is booked once by resume', async () => {
  await using server = await stockServer(shelves(40, () => 5));
  const desk = stockDesk(server);
  desk.write('d.csv', deliveryOf(shelves(40, (petId) => petId)));
  await killedDelivery(server, desk, 20);
  const [{ id }] = JSON.parse((await desk.inventory(['runs', '-o', 'json'])).stdout);
  const text = readFileSync(desk.journal(id), 'utf8');
  writeFileSync(desk.journal(id), text.slice(0, text.indexOf('\n', text.indexOf('"planned"')) + 1));
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 0, applied: 40 });
  expect([...server.stock]).toEqual(shelves(40, (petId) => 5 + petId).map(([id, n]) => [String(id), n]));
});

test.each([
  ['with CRLF', (text: string) => text.replaceAll('\n', '\r\n'), []],
  ['with empty lines at its end', (text: string) => `${text}\n\n`, []],
  ['without its last newline', (text: string) => text.trimEnd(), []],
  ['in another order', () => 'petId,change\n2,2\n1,1\n4,4\n3,3\n', []],
  [
    'as JSON lines',
    () => '{"petId":1,"change":1}\n{"id":2,"delta":2}\n{"petId":3,"change":3}\n{"petId":4,"change":4}\n',
    [],
  ],
  ['with a sign and another name for its column', () => 'id;delta\n1;+1\n2;+2\n3;+3\n4;+4\n', []],
  ['in two lines for a pet', () => 'petId,change\n1,1\n2,1\n2,1\n3,3\n4,4\n', ['--sum']],
  ['as a shard', (text: string) => text, ['--shard', '1/2']],
])('a delivery is not booked again %s', async (_, change, words) => {
  await using server = await stockServer(shelves(4, () => 5));
  const desk = stockDesk(server);
  const text = deliveryOf(shelves(4, (petId) => petId));
  desk.write('d.csv', text);
  desk.write('again.txt', change(text));
  expect(await desk.summary(['apply', 'd.csv', '--relative', '--yes'])).toMatchObject({ applied: 4 });
  const again = await desk.inventory(['apply', 'again.txt', '--relative', '--yes', '-o', 'json', ...words]);
  expect({ code: again.code, error: codeOf(again.stderr) }).toEqual({ code: 2, error: 'already_booked' });
  expect([...server.stock.values()]).toEqual([6, 7, 8, 9]);
});

test('a delivery of which one shard is booked is not booked as a whole, and its other shard is', async () => {
  await using server = await stockServer(shelves(4, () => 5));
  const desk = stockDesk(server);
  desk.write('d.csv', deliveryOf(shelves(4, (petId) => petId)));
  const apply = (...words: string[]) =>
    desk.inventory(['apply', 'd.csv', '--relative', '--yes', '-o', 'json', ...words]);
  expect((await apply('--shard', '1/2')).code).toBe(0);
  for (const words of [[], ['--shard', '1/3'], ['--shard', '1/2']]) {
    const refused = await apply(...words);
    expect({ words, code: refused.code }).toEqual({ words, code: 2 });
    expect(codeOf(refused.stderr)).toBe('already_booked');
  }
  expect((await apply('--shard', '2/2')).code).toBe(0);
  expect([...server.stock.values()]).toEqual([6, 7, 8, 9]);
});

/** A delivery of which pet 1 is refused at first, and the words that are typed; `d.rejects.csv` has that row. */
const waysToBookRejectsTwice: readonly (readonly [string, readonly string[], string])[] = [
  ['the whole file after its rejects and an undo', ['rejects', 'undo r1', 'whole'], 'undo r2'],
  ['old rejects after an undo and the whole file', ['undo r1', 'whole', 'rejects'], 'undo r3'],
  ['rejects twice', ['rejects', 'rejects'], 'undo r2'],
];

test.each(waysToBookRejectsTwice)('a row is not booked twice by %s', async (_, typed, named) => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  desk.write('d.csv', deliveryOf(shelves(3, (petId) => petId)));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '1' ? refuse(response, 409, 'no') : undefined;
  expect(await desk.summary(['apply', 'd.csv', '--relative', '--yes'])).toMatchObject({ failed: 1 });
  server.misbehave = undefined;
  const lines: Readonly<Record<string, string[]>> = {
    rejects: ['apply', 'd.rejects.csv', '--relative'],
    whole: ['apply', 'd.csv', '--relative'],
  };
  const outcomes: Run[] = [];
  for (const each of typed)
    outcomes.push(await desk.inventory([...(lines[each] ?? each.split(' ')), '--yes', '-o', 'json']));
  const last = outcomes.pop();
  expect(outcomes.map(({ code }) => code)).toEqual(outcomes.map(() => 0));
  expect({ code: last?.code, error: codeOf(last?.stderr ?? '') }).toEqual({
    code: 2,
    error: 'already_booked',
  });
  expect(namedCommand(last?.stderr ?? '').join(' ')).toBe(named);
  expect(server.stock.get('1')).toBe(6);
});

test('rows that two sessions rejected are booked once each, and the whole file no more', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  desk.write('d.csv', deliveryOf(shelves(3, (petId) => petId)));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' ? refuse(response, petId === '1' ? 409 : 401, 'no') : undefined;
  const words = ['d.csv', '--relative', '--yes', '--concurrency', '1'];
  expect((await desk.inventory(['apply', ...words])).code).toBe(4);
  server.misbehave = ({ method }, response) => (method === 'PUT' ? refuse(response, 422, 'no') : undefined);
  expect((await desk.inventory(['resume', '--yes'])).code).toBe(1);
  server.misbehave = undefined;
  for (const name of ['d.rejects.csv', 'd.rejects.2.csv'])
    expect((await desk.inventory(['apply', name, '--relative', '--yes'])).code).toBe(0);
  for (const name of ['d.csv', 'd.rejects.csv'])
    expect((await desk.inventory(['apply', name, '--relative', '--yes'])).code).toBe(2);
  expect([...server.stock.values()]).toEqual([6, 7, 8]);
});

test('a delivery of which nothing can be written leaves no rejects: it is applied again as a whole', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  const desk = stockDesk(server);
  desk.write('d.csv', 'petId,change\n1,-9\n2,0\n');
  expect(await desk.summary(['apply', 'd.csv', '--relative', '--yes'])).toMatchObject({ code: 3, failed: 1 });
  expect(desk.files()).not.toContain('d.rejects.csv');
  server.stock.set('1', 20);
  expect((await desk.inventory(['apply', 'd.csv', '--relative', '--yes'])).code).toBe(0);
  expect([...server.stock.values()]).toEqual([11, 5]);
});

test.each(['localhost', 'LOCALHOST', '[::1]', '127.0.0.2'])(
  'a delivery is not booked again by way of %s',
  async (name) => {
    await using server = await stockServer(shelves(2, () => 5));
    const desk = stockDesk(server);
    desk.write('d.csv', deliveryOf(shelves(2, () => 1)));
    const words = ['apply', 'd.csv', '--relative', '--yes', '-o', 'json'];
    expect((await desk.inventory(words)).code).toBe(0);
    const url = server.url.replace('127.0.0.1', name);
    const refused = await desk.inventory([...words, '--base-url', url]);
    expect({ code: refused.code, error: codeOf(refused.stderr) }).toEqual({
      code: 2,
      error: 'already_booked',
    });
    expect([...server.stock.values()]).toEqual([6, 6]);
  },
);

test('an undo that was stopped is finished by undo, by resume of it, and never by an undo of an older run', async () => {
  await using server = await stockServer(shelves(6, () => 5));
  const desk = stockDesk(server);
  desk.write('old.csv', deliveryOf([[6, 1]]));
  await desk.summary(['apply', 'old.csv', '--relative', '--yes']);
  desk.write('d.csv', deliveryOf(shelves(5, (petId) => petId)));
  refuseFrom(server, 4);
  const first = await desk.summary(['apply', 'd.csv', '--relative', '--yes', '--concurrency', '1']);
  expect(first).toMatchObject({ code: 4, applied: 3 });
  const run = String(first.run);
  refuseFrom(server, 2);
  const undo = await desk.summary(['undo', run, '--yes', '--concurrency', '1']);
  expect(undo).toMatchObject({ code: 4, applied: 1 });
  expect(namedCommand(undo.stderr)).toEqual(['undo', run]);
  refuseFrom(server, 2);
  expect(await desk.summary(['resume', String(undo.run), '--yes', '--concurrency', '1'])).toMatchObject({
    code: 4,
  });
  // A run that is being undone is not resumed.
  expect((await desk.inventory(['resume', run, '--yes'])).code).toBe(2);
  server.misbehave = undefined;
  expect(await desk.summary(['undo', '--yes'])).toMatchObject({ code: 0, unprocessed: 0 });
  expect([...server.stock.values()]).toEqual([5, 5, 5, 5, 5, 6]);
  expect((await desk.inventory(['undo', '--yes'])).stderr).toContain('nothing');
  expect([...server.stock.values()]).toEqual([5, 5, 5, 5, 5, 6]);
});

test('an apply that a guard stops leaves the stopped run before it as it was', async () => {
  await using server = await stockServer(shelves(5, () => 5));
  const desk = stockDesk(server);
  desk.write('d.csv', deliveryOf(shelves(5, (petId) => petId)));
  desk.write('stock.csv', 'petId,quantity\n1,70\n2,80\n3,90\n');
  refuseFrom(server, 3);
  const first = await desk.summary(['apply', 'd.csv', '--relative', '--yes', '--concurrency', '1']);
  expect(first).toMatchObject({ code: 4, applied: 2, unprocessed: 3 - Number(first.failed) });
  server.misbehave = undefined;
  const before = (await desk.inventory(['runs', '-o', 'json'])).stdout;
  const writes = server.writes().length;
  for (const words of [
    ['apply', 'stock.csv', '--max-changes', '1', '--yes'],
    ['apply', 'stock.csv', '--max-delta', '1', '--yes'],
    ['apply', 'stock.csv', '--dry-run'],
    ['apply', 'stock.csv'],
  ])
    expect((await desk.inventory(words)).code, words.join(' ')).toBe(words.includes('--dry-run') ? 0 : 2);
  expect((await desk.inventory(['runs', '-o', 'json'])).stdout).toBe(before);
  expect(server.writes()).toHaveLength(writes);
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 0, applied: 5 });
  expect([...server.stock.values()]).toEqual([6, 7, 8, 9, 10]);
});

test('a run that is killed while it writes its rejects has not ended, and resume writes them', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && petId === '2' ? refuse(response, 409, 'no') : undefined;
  const desk = stockDesk(server);
  desk.write('stock.csv', 'petId,quantity\n1,6\n2,7\n3,8\n');
  execFileSync('mkfifo', [`${desk.folder}/pipe`]);
  // Nobody reads the pipe, so the program waits there.
  const words = ['inventory', 'apply', 'stock.csv', '--yes', '--rejects', 'pipe', '--force'];
  const child = startCli(words, { env: desk.env, cwd: desk.folder });
  const ended = once(child, 'exit');
  while (server.writes().length < 3) await sleep(5);
  await sleep(300);
  child.kill('SIGKILL');
  await ended;
  const [listed] = JSON.parse((await desk.inventory(['runs', '-o', 'json'])).stdout);
  expect(listed).toMatchObject({ state: 'stopped' });
  const rest = await desk.summary(['resume', '--yes']);
  expect(rest).toMatchObject({ code: 3, applied: 2, failed: 1, rejects: 'stock.rejects.csv' });
  expect(desk.read('stock.rejects.csv').match(/^\d+,\d+/gm)).toEqual(['2,7']);
});

test('the rejects of a resumed run hold its invalid rows, and none of another shard or without a change', async () => {
  await using server = await stockServer(shelves(6, () => 5));
  const desk = stockDesk(server);
  desk.write('d.csv', `${deliveryOf(shelves(6, (petId) => (petId === 3 ? 0 : petId)))}7,many\n`);
  execFileSync('mkfifo', [`${desk.folder}/pipe`]);
  const words = ['apply', 'd.csv', '--relative', '--skip-invalid', '--shard', '2/2', '--yes'];
  // Nobody reads the pipe, so the program waits there with its rejects.
  const child = startCli(['inventory', ...words, '--rejects', 'pipe', '--force'], {
    env: desk.env,
    cwd: desk.folder,
  });
  const ended = once(child, 'exit');
  while (server.writes().length < 2) await sleep(5);
  await sleep(300);
  child.kill('SIGKILL');
  await ended;
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 3, applied: 2, invalid: 1 });
  expect(desk.read('d.rejects.csv').match(/^\d.*?,invalid/gm)).toEqual(['7,many,8,invalid']);
  expect(desk.read('d.rejects.csv').trim().split('\n')).toHaveLength(2);
});

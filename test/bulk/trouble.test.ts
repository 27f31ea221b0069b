import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stockDesk } from '../helpers/stock-desk.ts';
import { refuse, reply, type StockServer, shelves, stockServer, toCsv } from '../helpers/stock-server.ts';

/** A desk with `count` rows to write blind, and the words that do so. */
function deskWithRows(server: StockServer, count: number) {
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(count, () => 6)));
  const apply = (...words: string[]) =>
    desk.summary(['apply', 'stock.csv', '--yes', '--blind', '--restart', ...words]);
  return { desk, apply };
}

test('retries requests that an overloaded service refused, and counts the retries', async () => {
  await using server = await stockServer(shelves(20, () => 5));
  const refused = new Set<string>();
  server.misbehave = ({ petId = '' }, response) => {
    if (refused.has(petId) || Number(petId) % 4 !== 0) return undefined;
    refused.add(petId);
    return refuse(response, 503, 'busy', { 'retry-after': '0' });
  };
  const { apply } = deskWithRows(server, 20);
  expect(await apply()).toMatchObject({ code: 0, applied: 20, requests: 25, retries: 5 });
});

test('pauses all workers for as long as the service asks', async () => {
  await using server = await stockServer(shelves(200, () => 5));
  let askedAt = 0;
  server.misbehave = ({ at }, response) => {
    if (askedAt !== 0 || server.seen.length < 50) return undefined;
    askedAt = at;
    return refuse(response, 429, 'slow_down', { 'retry-after': '1' });
  };
  const { apply } = deskWithRows(server, 200);
  // The pause is longer than the time that one row may take.
  expect(await apply('--timeout', '700ms')).toMatchObject({ code: 0, applied: 200, retries: 1 });
  const during = server.seen.filter(({ at }) => at > askedAt + 100 && at < askedAt + 950);
  expect(during).toEqual([]);
});

test('halves the requests at once when the service is overloaded', async () => {
  await using server = await stockServer(shelves(120, () => 5));
  let overloadedAt = Number.POSITIVE_INFINITY;
  let isSettled = false;
  let afterwards = 0;
  server.misbehave = async (_, response) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    // Count requests, not time: those that were sent before the refusal was read have ended by then.
    const since = server.seen.length - overloadedAt;
    if (since >= 24 && !isSettled) server.mostAtOnce = 0;
    if (since >= 24) isSettled = true;
    if (since > 24) afterwards ||= server.mostAtOnce;
    if (server.seen.length < 40 || overloadedAt < Number.POSITIVE_INFINITY) return undefined;
    overloadedAt = server.seen.length;
    return refuse(response, 503, 'busy', { 'retry-after': '0' });
  };
  const { apply } = deskWithRows(server, 120);
  expect(await apply('--concurrency', '16')).toMatchObject({ code: 0, applied: 120 });
  expect(afterwards).toBeGreaterThan(0);
  expect(afterwards).toBeLessThanOrEqual(13);
});

test('stops if the service asks to wait too long, and can be resumed', async () => {
  await using server = await stockServer(shelves(50, () => 5));
  server.misbehave = (_, response) =>
    server.seen.length > 10 ? refuse(response, 429, 'slow_down', { 'retry-after': '3600' }) : undefined;
  const { desk, apply } = deskWithRows(server, 50);
  const summary = await apply();
  expect(summary).toMatchObject({ code: 6, applied: 10, failed: 0, unprocessed: 40 });
  expect(summary.stderr).toContain('asks to wait 3600 s, longer than --max-retry-wait 120 s');
  expect(summary.resume).toBe(`petstore inventory resume ${summary.run}`);
  server.misbehave = undefined;
  expect(await desk.summary(['resume', '--yes'])).toMatchObject({ code: 0, applied: 50, unprocessed: 0 });
  expect(server.stock.get('50')).toBe(6);
});

test('keeps to --rate, and counts every attempt', async () => {
  await using server = await stockServer(shelves(40, () => 5));
  const { apply } = deskWithRows(server, 40);
  expect(await apply('--rate', '100')).toMatchObject({ code: 0, applied: 40 });
  const times = server.seen.map(({ at }) => at);
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(370);
});

test('keeps to --rate also for the reads before it creates an entry', async () => {
  await using server = await stockServer([]);
  const { apply } = deskWithRows(server, 10);
  const summary = await apply('--rate', '100', '--create-missing');
  // For each row: a PUT that fails, a read of the pet, a POST.
  expect(summary).toMatchObject({ code: 0, applied: 10, requests: 30 });
  const times = server.seen.map(({ at }) => at);
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(270);
});

test('never has two requests for one pet at once, nor more than --concurrency', async () => {
  await using server = await stockServer(shelves(60, () => 5));
  server.misbehave = async ({ petId }, response) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
    const isFirst = server.seen.filter((each) => each.petId === petId).length === 1;
    return isFirst && Number(petId) % 3 === 0
      ? refuse(response, 503, 'busy', { 'retry-after': '0' })
      : undefined;
  };
  const { apply } = deskWithRows(server, 60);
  expect(await apply('--concurrency', '12')).toMatchObject({ code: 0, applied: 60, retries: 20 });
  expect(server.mostForOnePet).toBe(1);
  expect(server.mostAtOnce).toBeLessThanOrEqual(12);
});

test('a row that was sent and never answered is unknown, never failed', async () => {
  await using server = await stockServer(shelves(5, () => 5));
  server.misbehave = ({ petId }, response) => {
    if (petId === '2') return true;
    if (petId === '3') {
      server.stock.set('3', 6);
      response.destroy();
      return true;
    }
    return undefined;
  };
  const { desk, apply } = deskWithRows(server, 5);
  const summary = await apply('--timeout', '300ms', '--retries', '0');
  expect(summary).toMatchObject({ code: 3, applied: 3, failed: 0, unknown: 2 });
  expect(desk.read('stock.rejects.csv')).toMatch(/^2,6,3,unknown,,timeout,/m);
  expect(desk.read('stock.rejects.csv')).toMatch(/^3,6,4,unknown,,reset,/m);
});

test('a row is failed, not unknown, if its count could not be read before the write', async () => {
  await using server = await stockServer(shelves(120, () => 5));
  server.misbehave = ({ method, petId }, response) => {
    if (method !== 'GET' || petId !== '7') return undefined;
    response.destroy();
    return true;
  };
  const desk = stockDesk(server);
  const rows = shelves(120, () => 6).map(([petId, count]) => `${petId},${count},5\n`);
  desk.write('stock.csv', `petId,quantity,expected\n${rows.join('')}`);
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--retries', '0']);
  expect(summary).toMatchObject({ code: 3, applied: 119, failed: 1, unknown: 0 });
});

test('reads all rows back, however many are wrong', async () => {
  await using server = await stockServer(shelves(5, () => 5));
  server.misbehave = ({ method, petId, quantity }, response) =>
    method === 'PUT' ? reply(response, 200, { petId: Number(petId), quantity, status: 'sold' }) : undefined;
  const { apply } = deskWithRows(server, 5);
  const summary = await apply('--verify', '--fail-fast');
  expect(summary).toMatchObject({ code: 1, failed: 5, applied: 0, verified: 5 });
  expect(summary.stderr).toContain('stock.csv: 5 of 5 rows failed');
});

test('reports what it has written also if it cannot be read back', async () => {
  await using server = await stockServer(shelves(5, () => 5));
  server.misbehave = ({ method }, response) =>
    method === 'GET' ? refuse(response, 500, 'broken') : undefined;
  const { apply } = deskWithRows(server, 5);
  const summary = await apply('--verify', '--retries', '0');
  expect(summary).toMatchObject({ code: 6, applied: 5, unprocessed: 0 });
  expect(summary.stderr).toContain('"status":500,"method":"GET"');
});

test('settles unknown rows with --verify', async () => {
  await using server = await stockServer(shelves(5, () => 5));
  server.misbehave = ({ method, petId }, response) => {
    if (method !== 'PUT' || (petId !== '2' && petId !== '3')) return undefined;
    if (petId === '2') server.stock.set('2', 6);
    response.destroy();
    return true;
  };
  const { apply } = deskWithRows(server, 5);
  const summary = await apply('--retries', '0', '--verify');
  // The write of pet 3 may still be applied.
  expect(summary).toMatchObject({ code: 3, applied: 4, failed: 0, unknown: 1 });
  expect(summary.failures).toMatchObject([{ kind: 'reset', count: 1, example: { petId: 3 } }]);
});

test('a refused connection makes a row failed, not unknown, and exits 6 if there was no other answer', async () => {
  const listener = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => listener.on('listening', resolve));
  const { port } = listener.address() as { port: number };
  await new Promise((resolve) => listener.close(resolve));
  const desk = stockDesk({ url: `http://127.0.0.1:${port}` });
  desk.write('stock.csv', toCsv(shelves(5, () => 6)));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--blind', '--retries', '0']);
  expect(summary).toMatchObject({ code: 6, failed: 5, unknown: 0, failures: [{ kind: 'refused' }] });
  desk.write('many.csv', toCsv(shelves(200, () => 6)));
  const stopped = await desk.summary(['apply', 'many.csv', '--yes', '--blind', '--retries', '0']);
  expect(stopped).toMatchObject({ code: 6, failed: 20 + Number(stopped.failed) - 20 });
  expect(Number(stopped.failed)).toBeLessThan(30);
  expect(stopped.stderr).toContain('20 rows in a row got no answer');
});

test.each([
  [401, 4],
  [403, 4],
] as const)('stops at once at a %i', async (status, code) => {
  await using server = await stockServer(shelves(100, () => 5));
  server.misbehave = (_, response) =>
    server.seen.length > 30 ? refuse(response, status, 'no_entry_for_you') : undefined;
  const { apply } = deskWithRows(server, 100);
  const summary = await apply('--concurrency', '4');
  expect(summary.code).toBe(code);
  expect(server.seen.length).toBeLessThan(36);
  expect(Number(summary.unprocessed)).toBeGreaterThan(60);
  expect(summary.stderr).toMatch(/"hint":"give a token: .*; then go on with: petstore inventory resume /);
});

test('stops at once if the service redirects a write', async () => {
  await using server = await stockServer(shelves(100, () => 5));
  server.misbehave = (_, response) => {
    response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    return true;
  };
  const { apply } = deskWithRows(server, 100);
  const summary = await apply('--concurrency', '4');
  expect(summary).toMatchObject({ code: 1, applied: 0, unknown: 0 });
  expect(server.seen.length).toBeLessThan(8);
});

test.each([
  [['--max-errors', '5'], 5],
  [['--max-errors', '10%'], 10],
  [['--fail-fast'], 1],
] as const)('stops with %j', async (words, most) => {
  await using server = await stockServer(shelves(100, () => 5));
  server.misbehave = (_, response) => refuse(response, 409, 'no');
  const { apply } = deskWithRows(server, 100);
  const summary = await apply('--concurrency', '1', ...words);
  expect(summary).toMatchObject({ code: 1, failed: most, unprocessed: 100 - most });
});

test('writes the rejected rows with their own columns, and can apply that file', async () => {
  await using server = await stockServer(shelves(4, () => 5));
  server.misbehave = ({ method, petId }, response) =>
    method === 'PUT' && Number(petId) % 2 === 0 ? refuse(response, 409, 'in_use') : undefined;
  const desk = stockDesk(server);
  desk.write('stock.csv', 'note;Pet ID;stock\n"a;b";1;6\n"c""d";2;7\n;3;6\n" x";4;8\n');
  expect(await desk.summary(['apply', 'stock.csv', '--yes'])).toMatchObject({
    code: 3,
    failed: 2,
    rejects: 'stock.rejects.csv',
  });
  const lines = desk.read('stock.rejects.csv').split('\n');
  expect(lines[0]).toBe('note;Pet ID;stock;_line;_state;_status;_code;_message;_attempts;_request_id');
  expect(lines.slice(1).sort()).toEqual([
    '',
    expect.stringMatching(/^" x";4;8;5;failed;409;in_use;.*it says in_use.*;1;$/),
    expect.stringMatching(/^"c""d";2;7;3;failed;409;in_use;.*it says in_use.*;1;$/),
  ]);
  const again = await desk.summary(['apply', 'stock.rejects.csv', '--yes']);
  expect(again).toMatchObject({ code: 1, failed: 2, rejects: 'stock.rejects.rejects.csv' });
  expect(desk.read('stock.rejects.rejects.csv').split('\n')[0]).toBe(lines[0]);
  server.misbehave = undefined;
  expect(await desk.summary(['apply', 'stock.rejects.csv', '--yes'])).toMatchObject({ code: 0, applied: 2 });
});

test('the command that tries rejected rows again reads and writes them as the run did', async () => {
  await using server = await stockServer([]);
  server.misbehave = ({ method }, response) => (method === 'POST' ? refuse(response, 409, 'no') : undefined);
  const desk = stockDesk(server);
  desk.write('stock.csv', 'SKU,stock\n1,6\n');
  const words = ['apply', 'stock.csv', '--yes', '--map', 'petId=SKU', '--create-missing'];
  const { stderr } = await desk.inventory(words);
  const again = 'petstore inventory apply stock.rejects.csv --map petId=SKU --create-missing';
  expect(stderr).toContain(`hint: fix the cause, then run: ${again}\n`);
  server.misbehave = undefined;
  const summary = await desk.summary([...again.split(' ').slice(2), '--yes']);
  expect(summary).toMatchObject({ code: 0, applied: 1 });
});

test("makes the service's words visible in rejected JSON", async () => {
  await using server = await stockServer(shelves(1, () => 5));
  server.misbehave = ({ method }, response) =>
    method === 'PUT'
      ? reply(response, 409, { code: 'no', message: '\u001b[2Jgone\u202e\u009b1m', status: 409 })
      : undefined;
  const desk = stockDesk(server);
  desk.write('a.json', '[{"petId":1,"quantity":6}]');
  desk.write('b.jsonl', '{"petId":1,"quantity":7}\n');
  for (const name of ['a.json', 'b.jsonl']) await desk.inventory(['apply', name, '--yes']);
  const messages = [JSON.parse(desk.read('a.rejects.json'))[0], JSON.parse(desk.read('b.rejects.jsonl'))];
  for (const { _message } of messages) expect(_message).toBe('\\x1b[2Jgone\\u202e\\x9b1m (409 no)');
});

test('reports rejects that cannot be written, and keeps an existing file', async () => {
  await using server = await stockServer(shelves(2, () => 5));
  server.misbehave = ({ method, petId }, response) => {
    if (method !== 'PUT') return undefined;
    // Somebody creates a file of that name during the run.
    if (petId === '2') desk.write('mine.csv', 'precious');
    return petId === '1' ? refuse(response, 409, 'no') : undefined;
  };
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(2, () => 6)));
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--rejects', 'mine.csv']);
  expect(summary).toMatchObject({ code: 3, applied: 1, failed: 1 });
  expect(summary).not.toHaveProperty('rejects');
  expect(summary.stderr).toContain('mine.csv');
  expect(desk.read('mine.csv')).toBe('precious');
});

test('a plan that fails waits for all its requests', async () => {
  await using server = await stockServer(shelves(20, () => 5));
  let open = 0;
  server.misbehave = async ({ petId }, response) => {
    if (petId === '1') return refuse(response, 400, 'no');
    open += 1;
    await new Promise((resolve) => setTimeout(resolve, 100));
    open -= 1;
    return undefined;
  };
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(20, () => 6)));
  const { code } = await desk.inventory(['apply', 'stock.csv', '--yes', '--concurrency', '8']);
  expect(code).not.toBe(0);
  expect(open).toBe(0);
  expect(server.seen.length).toBe(8);
});

test('causes no warning about listeners, however many requests wait for a rate or a pause', async () => {
  await using server = await stockServer(shelves(64, () => 5));
  server.misbehave = (_, response) =>
    server.seen.length === 20 ? refuse(response, 429, 'slow', { 'retry-after': '1' }) : undefined;
  const warnings: string[] = [];
  const listen = ({ name }: Error) => warnings.push(name);
  process.on('warning', listen);
  const { apply } = deskWithRows(server, 64);
  expect(await apply('--concurrency', '32', '--rate', '200')).toMatchObject({ code: 0, applied: 64 });
  await new Promise(setImmediate);
  process.off('warning', listen);
  expect(warnings).toEqual([]);
});

test('writes rejected JSON as JSON, and keeps every digit', async () => {
  await using server = await stockServer([]);
  const desk = stockDesk(server);
  desk.write('a.json', '[{"id": 9223372036854775807,\n "count": 1, "x": [1, 2]}]');
  desk.write('b.jsonl', '{"petId":7,"quantity":1}\n');
  for (const name of ['a.json', 'b.jsonl']) await desk.inventory(['apply', name, '--yes', '--blind']);
  expect(desk.read('a.rejects.json')).toMatch(
    /^\[\n {2}\{"id":9223372036854775807,"count":1,"x":\[1, 2\],"_line":1,"_state":"failed"/,
  );
  expect(desk.read('b.rejects.jsonl')).toMatch(
    /^\{"petId":7,"quantity":1,"_line":1,"_state":"failed","_status":404/,
  );
  expect(await desk.summary(['apply', 'a.rejects.json', '--yes', '--blind'])).toMatchObject({ failed: 1 });
});

test('never overwrites a file without --force', async () => {
  await using server = await stockServer([]);
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv([[1, 2]]));
  desk.write('mine.csv', 'precious');
  for (const flag of ['--rejects', '--events']) {
    const run = await desk.inventory(['apply', 'stock.csv', '--yes', '--blind', flag, 'mine.csv']);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(`${flag} mine.csv: the file exists`);
  }
  const nowhere = await desk.inventory(['apply', 'stock.csv', '--yes', '--rejects', 'nowhere/mine.csv']);
  expect(nowhere.stderr).toContain('--rejects nowhere/mine.csv: no such folder, nothing was sent');
  expect(desk.read('mine.csv')).toBe('precious');
  expect(server.seen).toEqual([]);
  // What a killed process has left is in nobody's way.
  desk.write('mine.csv.new', 'half');
  await desk.inventory(['apply', 'stock.csv', '--yes', '--blind', '--rejects', 'mine.csv', '--force']);
  expect(desk.read('mine.csv')).toContain('1,2,2,failed');
  symlinkSync(join(desk.folder, 'stock.csv'), join(desk.folder, 'link'));
  const input = await desk.inventory(['apply', 'stock.csv', '--yes', '--events', 'link', '--force']);
  expect(input.stderr).toContain('--events link: it is the input');
  expect(desk.read('stock.csv')).toContain('1,2');
  desk.write('stock.rejects.csv', 'precious');
  await desk.inventory(['apply', 'stock.csv', '--yes', '--blind']);
  expect(desk.read('stock.rejects.csv')).toBe('precious');
  expect(desk.read('stock.rejects.2.csv')).toContain('1,2,2,failed');
});

test('an event is in its file before the journal has the outcome, so that a kill loses none', async () => {
  await using server = await stockServer(shelves(300, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(300, () => 6)));
  const runs = join(desk.folder, 'state', 'runs');
  const applied = (text: string) => text.split('"state":"applied"').length - 1;
  const ahead: number[] = [];
  server.misbehave = ({ method }) => {
    if (method !== 'PUT') return undefined;
    const journal = readdirSync(runs).find((name) => name.endsWith('.jsonl')) ?? '';
    const journalled = applied(readFileSync(join(runs, journal), 'utf8'));
    if (journalled > applied(desk.read('events.jsonl'))) ahead.push(journalled);
    return undefined;
  };
  const summary = await desk.summary(['apply', 'stock.csv', '--yes', '--events', 'events.jsonl']);
  expect(summary).toMatchObject({ code: 0, applied: 300 });
  expect(applied(desk.read('events.jsonl'))).toBe(300);
  expect(ahead).toEqual([]);
});

test('writes an event for every outcome', async () => {
  await using server = await stockServer(shelves(3, () => 5));
  const desk = stockDesk(server);
  desk.write('stock.csv', 'petId,quantity\n1,6\n2,5\n1,6\n9,1\nx,1\n');
  const words = ['apply', 'stock.csv', '--yes', '--skip-invalid'];
  const run = await desk.inventory([...words, '--events', '-']);
  expect(run.code).toBe(3);
  const events = run.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.sort((one, other) => one.line - other.line)).toEqual([
    { line: 2, petId: 1, quantity: 6, before: 5, state: 'applied', status: 200, attempts: 1 },
    { line: 3, petId: 2, quantity: 5, before: 5, state: 'unchanged' },
    { line: 4, petId: 1, quantity: 6, state: 'skipped' },
    {
      line: 5,
      petId: 9,
      quantity: 1,
      before: null,
      state: 'failed',
      status: 404,
      code: 'no_entry',
      message: 'no inventory entry; --create-missing makes one',
    },
    { line: 6, state: 'invalid' },
  ]);
  expect(run.stderr).toContain('applied');
  await desk.inventory([...words, '--events', 'events.jsonl']);
  expect(desk.read('events.jsonl').trim().split('\n')).toHaveLength(5);
});

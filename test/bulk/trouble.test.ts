import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stockDesk } from '../helpers/stock-desk.ts';
import { refuse, reply, type StockServer, shelves, stockServer, toCsv } from '../helpers/stock-server.ts';

/** A desk with `count` rows to write, and the words that do so. */
function deskWithRows(server: StockServer, count: number) {
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv(shelves(count, () => 6)));
  const apply = (...words: string[]) => desk.summary(['apply', 'stock.csv', '--yes', ...words]);
  return { desk, apply };
}

test('retries requests that an overloaded service refused, and counts the retries', async () => {
  await using server = await stockServer(shelves(20, () => 5));
  const refused = new Set<string>();
  server.misbehave = ({ method, petId = '' }, response) => {
    if (method !== 'PUT' || refused.has(petId) || Number(petId) % 4 !== 0) return undefined;
    refused.add(petId);
    return refuse(response, 503, 'busy', { 'retry-after': '0' });
  };
  const { apply } = deskWithRows(server, 20);
  expect(await apply()).toMatchObject({ code: 0, applied: 20, requests: 45, retries: 5 });
});

test('pauses all workers for as long as the service asks', async () => {
  await using server = await stockServer(shelves(200, () => 5));
  let askedAt = 0;
  server.misbehave = ({ at }, response) => {
    if (askedAt !== 0 || server.writes().length < 50) return undefined;
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
  server.misbehave = ({ method }, response) =>
    method === 'PUT' && server.writes().length > 10
      ? refuse(response, 429, 'slow_down', { 'retry-after': '3600' })
      : undefined;
  const { desk, apply } = deskWithRows(server, 50);
  const summary = await apply();
  expect(summary).toMatchObject({ code: 6, applied: 10, failed: 0, unprocessed: 40 });
  expect(summary.stderr).toContain('asks to wait 3600 s, longer than 120 s');
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
  // For each row: a read of its count, a PUT that fails, a read of the pet, a POST.
  expect(summary).toMatchObject({ code: 0, applied: 10, requests: 40 });
  const times = server.seen.map(({ at }) => at);
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(270);
});

test('never has two requests for one pet at once, nor more than --concurrency', async () => {
  await using server = await stockServer(shelves(60, () => 5));
  server.misbehave = async ({ method, petId }, response) => {
    await new Promise((resolve) => setTimeout(resolve, Number(petId) % 5));
    const isFirst = server.writes().filter((each) => each.petId === petId).length === 1;
    return method === 'PUT' && isFirst && Number(petId) % 3 === 0
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
  server.misbehave = ({ method, petId }, response) => {
    if (method !== 'PUT') return undefined;
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

test('20 rows in a row without an answer stop the run; a connection that was refused leaves them failed, not unknown', async () => {
  await using server = await stockServer(shelves(200, () => 5));
  server.misbehave = ({ method }, response) => {
    if (method !== 'PUT') return undefined;
    // Later connections are refused.
    void server[Symbol.asyncDispose]();
    response.destroy();
    return true;
  };
  const { apply } = deskWithRows(server, 200);
  const summary = await apply('--retries', '0', '--concurrency', '1');
  expect(summary).toMatchObject({ code: 6, failed: 19, unknown: 1, unprocessed: 180 });
  expect(summary.stderr).toContain('20 rows in a row got no answer');
});

test.each([
  [401, 4],
  [403, 4],
] as const)('stops at once at a %i', async (status, code) => {
  await using server = await stockServer(shelves(100, () => 5));
  server.misbehave = ({ method }, response) =>
    method === 'PUT' && server.writes().length > 30
      ? refuse(response, status, 'no_entry_for_you')
      : undefined;
  const { apply } = deskWithRows(server, 100);
  const summary = await apply('--concurrency', '4');
  expect(summary.code).toBe(code);
  expect(server.writes().length).toBeLessThan(36);
  expect(Number(summary.unprocessed)).toBeGreaterThan(60);
  expect(summary.stderr).toMatch(/"hint":"give a token: .*; then go on with: petstore inventory resume /);
});

test('stops at once if the service redirects a write', async () => {
  await using server = await stockServer(shelves(100, () => 5));
  server.misbehave = ({ method }, response) => {
    if (method !== 'PUT') return undefined;
    response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    return true;
  };
  const { apply } = deskWithRows(server, 100);
  const summary = await apply('--concurrency', '4');
  expect(summary).toMatchObject({ code: 1, applied: 0, unknown: 0 });
  expect(server.writes().length).toBeLessThan(8);
});

test.each([
  [['--max-errors', '5'], 5],
  [['--max-errors', '10%'], 10],
  [['--max-errors', '1'], 1],
] as const)('stops with %j', async (words, most) => {
  await using server = await stockServer(shelves(100, () => 5));
  server.misbehave = ({ method }, response) => (method === 'PUT' ? refuse(response, 409, 'no') : undefined);
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
  expect(lines[0]).toBe('note;Pet ID;stock;_line;_state;_status;_code;_message;_attempts;_request_id;_run');
  expect(lines.slice(1).sort()).toEqual([
    '',
    expect.stringMatching(/^ x;4;8;5;failed;409;in_use;.*it says in_use.*;1;;r1$/),
    expect.stringMatching(/^"c""d";2;7;3;failed;409;in_use;.*it says in_use.*;1;;r1$/),
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
  expect(stderr).toContain(`hint: correct the rejected rows, then run: ${again}\n`);
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
  const messages = ['a.rejects.jsonl', 'b.rejects.jsonl'].map((name) => JSON.parse(desk.read(name)));
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
  for (const name of ['a.json', 'b.jsonl']) await desk.inventory(['apply', name, '--yes']);
  expect(desk.read('a.rejects.jsonl')).toMatch(
    /^\{"id":9223372036854775807,"count":1,"x":\[1, 2\],"_line":1,"_state":"failed"/,
  );
  expect(desk.read('b.rejects.jsonl')).toMatch(
    /^\{"petId":7,"quantity":1,"_line":1,"_state":"failed","_status":404/,
  );
  expect(await desk.summary(['apply', 'a.rejects.jsonl', '--yes'])).toMatchObject({ failed: 1 });
});

test('never overwrites a file without --force', async () => {
  await using server = await stockServer([]);
  const desk = stockDesk(server);
  desk.write('stock.csv', toCsv([[1, 2]]));
  desk.write('mine.csv', 'precious');
  const run = await desk.inventory(['apply', 'stock.csv', '--yes', '--rejects', 'mine.csv']);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain('--rejects mine.csv: the file exists');
  const nowhere = await desk.inventory(['apply', 'stock.csv', '--yes', '--rejects', 'nowhere/mine.csv']);
  expect(nowhere.stderr).toContain('--rejects nowhere/mine.csv: no such folder, nothing was sent');
  expect(desk.read('mine.csv')).toBe('precious');
  expect(server.seen).toEqual([]);
  // What a killed process has left is in nobody's way.
  desk.write('mine.csv.new', 'half');
  await desk.inventory(['apply', 'stock.csv', '--yes', '--rejects', 'mine.csv', '--force']);
  expect(desk.read('mine.csv')).toContain('1,2,2,failed');
  symlinkSync(join(desk.folder, 'stock.csv'), join(desk.folder, 'link'));
  const input = await desk.inventory(['apply', 'stock.csv', '--yes', '--rejects', 'link', '--force']);
  expect(input.stderr).toContain('--rejects link: it is the input');
  expect(desk.read('stock.csv')).toContain('1,2');
  desk.write('stock.rejects.csv', 'precious');
  await desk.inventory(['apply', 'stock.csv', '--yes']);
  expect(desk.read('stock.rejects.csv')).toBe('precious');
  expect(desk.read('stock.rejects.2.csv')).toContain('1,2,2,failed');
});

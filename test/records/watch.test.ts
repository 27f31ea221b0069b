import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { fakeIo, runAt, runCli } from '../helpers/run-cli.ts';
import { openShop } from '../helpers/shop.ts';

const bella = { id: 1, name: 'Bella', categoryId: 1, status: 'available' };
const max = { id: 2, name: 'Max', categoryId: 1, status: 'sold' };

/** Watches a list, gives each poll the next answer, and presses Ctrl-C after the last. */
async function watch(
  answers: readonly object[],
  argv: readonly string[],
  options: Parameters<typeof fakeIo>[0] = {},
) {
  let polls = 0;
  await using server = await recordingServer({}, ({ path }) => {
    if (!path.startsWith('/pets')) return { body: [] };
    const answer = answers[Math.min(polls, answers.length - 1)];
    polls += 1;
    return Array.isArray(answer) ? { body: answer } : (answer as object);
  });
  const io = fakeIo(options);
  const code = main(
    ['pets', 'list', '--watch', '1s', ...argv, '--retries', '0', '--base-url', server.url],
    io,
  );
  for (let waited = 0; polls < answers.length && waited < 8000; waited += 20) await sleep(20);
  await sleep(100);
  io.raise('SIGINT');
  return { code: await code, stdout: io.written('stdout'), stderr: io.written('stderr') };
}

test('a watch in a pipe prints each change as a JSON line, all records as added first', async () => {
  const sold = { ...bella, status: 'sold' };
  const run = await watch([[bella, max], [bella, max], [sold]], []);
  expect([run.code, run.stderr]).toEqual([130, '']);
  expect(
    run.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { event: 'added', record: bella },
    { event: 'added', record: max },
    { event: 'deleted', record: max },
    { event: 'changed', record: sold },
  ]);
});

test('a poll ends with the page that reaches --limit', async () => {
  await using server = await recordingServer({}, ({ path }) =>
    path.startsWith('/pets')
      ? { body: [bella, max], headers: { link: '</pets?limit=2&after=2>; rel="next"' } }
      : { body: [] },
  );
  const argv = ['pets', 'list', '--limit', '2', '--watch', '60s', '--base-url', server.url];
  const io = fakeIo();
  const code = main(argv, io);
  for (let waited = 0; io.written('stdout') === '' && waited < 4000; waited += 20) await sleep(20);
  io.raise('SIGINT');
  expect(await code).toBe(130);
  expect(server.calls().filter((call) => call.includes('/pets'))).toEqual(['GET /pets?limit=2']);
});

test('notes a failed poll, and polls again', async () => {
  const run = await watch([[bella], { status: 500 }, [bella, max]], ['-o', 'jsonl']);
  expect(run.stderr).toMatch(/note: list pets: GET .*\/pets\S*: .*; the next attempt is in 1 s\n/);
  expect(run.stdout.trim().split('\n')).toHaveLength(2);
});

test('a watch waits as long as Retry-After asks', async () => {
  const began = Date.now();
  await watch([[bella], { status: 503, headers: { 'retry-after': '3' } }, [bella]], []);
  expect(Date.now() - began).toBeGreaterThan(3900);
});

test('a watch on a terminal redraws the table and marks changed records', async () => {
  const run = await watch(
    [
      [bella, max],
      [{ ...bella, status: 'sold' }, max],
    ],
    [],
    {
      terminals: ['stdout', 'stderr'],
    },
  );
  const plain = run.stdout.replace(/\x1b\[[\d;?]*[a-zA-Z]/g, '');
  expect(plain).toContain('1 changed');
  expect(plain).toMatch(/│ \* │ +1 │ Bella/);
  expect(run.stdout).toContain('\x1b[H');
});

test.each([
  [['--watch', '-o', 'csv'], '--watch: prints changes as jsonl, but the output format is csv'],
  [['--watch', '-o', 'table'], '--watch: prints changes as jsonl'],
  [['--watch', '500ms'], "--watch '500ms': must be a duration of at least 1s"],
  [['--watch', 'often'], "--watch 'often': must be a duration"],
])('refuses %j with exit 2', async (flags, message) => {
  const run = await runCli(['--offline', 'pets', 'list', ...flags]);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr).toContain(message);
});

test.each([
  [['pets', 'list', '--fail-if', 'any'], 8],
  [['pets', 'list', '--fail-if', 'none'], 0],
  [['pets', 'list', '--name', 'nobody', '--fail-if', 'none'], 8],
  [['pets', 'list', '--name', 'nobody', '--fail-if', 'any'], 0],
  [['orders', 'list', '--open', '--fail-if', 'none', '--limit', '1'], 0],
  [['inventory', 'list', '--below', '0', '--fail-if', 'none'], 8],
])('%j exits %i, and the list is printed', async (argv, code) => {
  const run = await runCli(['--offline', ...argv]);
  expect(run).toMatchObject({ code, stderr: '' });
  expect(run.stdout).not.toBe('');
});

test('get --until waits until a field has a value, and prints the record', async () => {
  let reads = 0;
  await using server = await recordingServer({}, ({ path }) => {
    if (!path.startsWith('/pets/')) return { body: [] };
    reads += 1;
    return { body: { ...bella, status: reads > 1 ? 'sold' : 'available' } };
  });
  const run = await runAt(server, 'pets get 1 --until status=sold -o json');
  expect(run).toMatchObject({ code: 0, stdout: '{"id":1,"name":"Bella","categoryId":1,"status":"sold"}\n' });
  expect(reads).toBe(2);
});

test('get --until looks once more right before the time is over', async () => {
  using shop = openShop();
  const argv = ['inventory', 'get', '1', '--until', 'quantity=77', '--timeout', '1500ms', '-o', 'ids'];
  const waiting = shop.run(argv);
  await sleep(300);
  await shop.run('inventory set 1 77');
  expect(await waiting).toMatchObject({ code: 0, stdout: '1\n' });
});

test('get --until exits 6 at the timeout, and names the last value', async () => {
  using shop = openShop();
  const run = await shop.run('inventory get 1 --until quantity=77 --timeout 1s');
  expect(run).toMatchObject({ code: 6, stdout: '' });
  expect(run.stderr).toMatch(
    /quantity was not 77 within 1 s: quantity is \d+\nhint: allow more time with --timeout/,
  );
  const absent = await shop.run('pets get 1 --until constructor=red --timeout 1s');
  expect(absent.stderr).toContain('it has no constructor');
  expect((await shop.run('pets get 999 --until status=sold')).code).toBe(5);
  expect((await shop.run('pets get 1 --until status')).code).toBe(2);
});

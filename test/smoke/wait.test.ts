import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { main } from '../../src/main.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { bindTo } from './bind.ts';
import { smoke } from './run.ts';
import { refusal, startService, withBody, withFields } from './service.ts';

/** A service that is old for some milliseconds, by its header and at `/version`. */
async function deployedAfter(ms: number) {
  const startedMs = performance.now();
  return startService({
    spoil({ target }, answer) {
      const commit = performance.now() - startedMs < ms ? 'old' : '4f2a9c1';
      const versioned = withFields(answer, { 'x-commit': commit });
      return target === '/version'
        ? { ...withBody(versioned, { build: { commit } }), status: 200 }
        : versioned;
    },
  });
}

test('--wait waits for a service that starts late', async () => {
  const first = await startService();
  await first.close();
  const io = fakeIo();
  const code = main(['smoke', '--base-url', first.url, '--wait', '15s', '--only', 'op/listPets'], io);
  const noted = /waiting up to 15 s for the service: .*connection refused/;
  await vi.waitFor(() => expect(io.written('stderr').replace(/\s+/g, ' ')).toMatch(noted), {
    timeout: 10_000,
  });
  await using _ = await startService({ port: first.port });
  expect(await code).toBe(0);
}, 30_000);

test.each([
  ['a placeholder page', 'text/html', 200],
  ['a gateway', 'application/json', 503],
])('--wait continues while %s answers', async (_, type, status) => {
  const startedMs = performance.now();
  await using service = await startService({
    spoil: (_seen, answer) =>
      performance.now() - startedMs < 700
        ? { ...withFields(withBody(answer, '<h1>Soon</h1>'), { 'content-type': type }), status }
        : answer,
  });
  expect((await smoke(service.url, ['--wait', '20s', '--only', 'op/listPets'])).code).toBe(0);
});

test('a wait that runs out fails once, says what was there, and exits 6', async () => {
  await using service = await startService({ spoil: (_, answer) => refusal(answer, 500) });
  const run = await smoke(service.url, ['--wait', '600ms']);
  expect(run.code).toBe(6);
  expect(run.ids('fail')).toEqual(['reach/http']);
  expect(run.check('reach/http').reason).toBe(
    'listPets answered 500 Internal Server Error, after waiting 600 ms',
  );
});

test.each([401, 403])('%i ends the wait at once, with exit code 4', async (status) => {
  await using service = await startService({ spoil: (_, answer) => refusal(answer, status) });
  const startedMs = performance.now();
  const run = await smoke(service.url, ['--wait-for', 'header x-commit=4f2a9c1']);
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  expect(run.code).toBe(4);
  expect(run.ids('fail')).toEqual(['reach/http']);
});

test('--wait-for waits until every condition holds', async () => {
  await using service = await deployedAfter(700);
  const conditions = [
    'header x-commit=4f2a9c1',
    'GET /version /build/commit^=4f2',
    'GET /version text*=4f2a9c1',
  ];
  const run = await smoke(
    service.url,
    conditions.flatMap((each) => ['--wait-for', each]),
  );
  expect(run.code).toBe(0);
  expect(run.check('reach/version')).toMatchObject({ result: 'pass', reason: 'held 3 times in a row' });
  expect(run.stderr.replace(/\s+/g, ' ')).toContain('waiting up to 60 s for the service: x-commit is old');
});

test.each([
  ['header x-commit=nope', /^x-commit is old, after waiting 400 ms$/],
  ['GET /pets/1 /name=Nobody', /^GET \/pets\/1: \/name is Bella, after waiting 400 ms$/],
  ['GET /nowhere', /^GET \/nowhere answered 404 Not Found, after waiting 400 ms$/],
])('a service with another version than %s is exit 7, whatever is left out', async (condition, reason) => {
  await using service = await deployedAfter(1e9);
  for (const flags of [[], ['--skip', 'reach'], ['--only', 'op/*']]) {
    const run = await smoke(service.url, ['--wait', '400ms', '--wait-for', condition, ...flags]);
    expect(run.code).toBe(7);
    expect(run.ids('fail')).toEqual(['reach/version']);
    expect(run.check('reach/version').reason).toMatch(reason);
    expect(run.check('op/listPets').result).toBe('skip');
  }
});

test('a condition that is never answered does not prolong the wait', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) => (target === '/version' ? 'hang' : answer),
  });
  const startedMs = performance.now();
  const run = await smoke(service.url, ['--wait', '500ms', '--wait-for', 'GET /version 200']);
  expect(performance.now() - startedMs).toBeLessThan(5000);
  expect(run.code).toBe(7);
  expect(run.check('reach/version').reason).toMatch(/no answer within [\d.]+ s/);
});

test('one replica of four with the new version does not satisfy --wait-for', async () => {
  let answers = 0;
  await using service = await startService({
    spoil(_, answer) {
      answers += 1;
      return withFields(answer, { 'x-commit': answers % 4 === 0 ? 'new' : 'old' });
    },
  });
  const run = await smoke(service.url, ['--wait', '3s', '--wait-for', 'header x-commit=new']);
  expect(run.code).toBe(7);
  expect(run.check('reach/version').reason).toMatch(
    /^x-commit is old, after waiting 3 s; it held in \d+ of \d+ looks$/,
  );
});

test('answers of another deployment after the wait fail reach/version with their number', async () => {
  let answers = 0;
  await using service = await startService({
    spoil(_, answer) {
      answers += 1;
      return withFields(answer, { 'x-commit': answers > 5 && answers % 3 === 0 ? 'old' : 'new' });
    },
  });
  const { stdout, code } = await runCli([
    ...['smoke', '--base-url', service.url, '--wait-for', 'header x-commit=new'],
  ]);
  expect(code).toBe(7);
  expect(stdout).toMatch(/^fail {3}reach\/version: \d+ of \d+ answers come from another deployment/);
});

test('each look is on a new connection', async () => {
  const ports = new Set<unknown>();
  await using service = await startService({
    spoil({ fields }, answer) {
      if (fields.connection === 'close') ports.add(fields);
      return withFields(answer, { 'x-commit': 'new' });
    },
  });
  await smoke(service.url, ['--wait-for', 'header x-commit=new', '--only', 'op/listPets']);
  expect(ports.size).toBe(3);
});

test('a service without any GET is reached by the first --expect', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target === '/health' ? { ...withBody(answer, { status: 'ok' }), status: 200 } : refusal(answer, 404),
  });
  const env = await bindTo(service.url, ({ paths }) => {
    for (const item of Object.values(paths)) delete item.get;
  });
  const run = await smoke(service.url, ['--expect', 'GET /health 200 /status=ok'], { env });
  expect(run.code).toBe(0);
  expect(run.check('expect/1').result).toBe('pass');
});

test('an expected 503 is not retried, and not flaky', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target === '/sick' ? { ...withBody(answer, { status: 'DOWN' }), status: 503 } : answer,
  });
  const run = await smoke(service.url, [
    '--strict',
    '--only',
    'expect',
    '--expect',
    'GET /sick 503 /status=DOWN',
  ]);
  expect(run.code).toBe(0);
  expect(service.seen.filter(({ target }) => target === '/sick')).toHaveLength(1);
});

test.each([
  [{ 'retry-after': '0' }, 'flaky'],
  [{}, 'flaky'],
  [{ 'retry-after': '3600' }, 'fail'],
])('a 429 with %j is tried once more if that is in time: %s', async (fields, result) => {
  let isFirst = true;
  await using service = await startService({
    spoil({ target }, answer) {
      if (target !== '/categories/1' || !isFirst) return answer;
      isFirst = false;
      return withFields(refusal(answer, 429), fields);
    },
  });
  const run = await smoke(service.url, ['--only', 'op/getCategory']);
  expect(run.check('op/getCategory')).toMatchObject({ result });
  if (result === 'flaky') expect(run.check('op/getCategory').first).toBe('429 Too Many Requests');
});

test('a check ends within --timeout, its retry included', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) => (target === '/categories/1' ? 'hang' : answer),
  });
  const startedMs = performance.now();
  const run = await smoke(service.url, ['--timeout', '700ms', '--only', 'op/getCategory']);
  expect(performance.now() - startedMs).toBeLessThan(2500);
  expect(run.check('op/getCategory')).toMatchObject({ result: 'fail' });
});

test('an operation that answers once and then hangs is over every limit', async () => {
  let calls = 0;
  await using service = await startService({
    spoil({ target }, answer) {
      if (target !== '/store/orders') return answer;
      calls += 1;
      return calls > 1 ? 'hang' : answer;
    },
  });
  const flags = ['--only', 'latency/listOrders', '--max-latency', '2s', '--timeout', '500ms'];
  const run = await smoke(service.url, flags);
  expect(run.code).toBe(7);
  expect(run.check('latency/listOrders').reason).toMatch(/^p95 without an answer is over the limit; \d of 4/);
});

test('a slow operation is over the limit; latency is measured only if it is asked for', async () => {
  await using service = await startService({
    async spoil({ target }, answer) {
      if (target === '/store/orders') await new Promise((resolve) => setTimeout(resolve, 250));
      return answer;
    },
  });
  const limited = await smoke(service.url, ['--only', 'latency/list*', '--max-latency', '200ms,p50']);
  expect(limited.ids('fail')).toEqual(['latency/listOrders']);
  expect(limited.check('latency/listOrders').expected).toBe('p50 of at most 200 ms');
  const plain = await smoke(service.url);
  expect(plain.checks.some(({ id }) => id.startsWith('latency/'))).toBe(false);
});

test('the answer to X-Api-Key is not said to have come without a token', async () => {
  await using service = await startService({ spoil: (_, answer) => refusal(answer, 403) });
  const folder = await mkdtemp(join(tmpdir(), 'petstore-key-'));
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ 'auth-header': 'X-Api-Key' }), { mode: 0o600 });
  const env = { PETSTORE_CONFIG_DIR: folder, PETSTORE_TOKEN: 'wrong-token', PETSTORE_BASE_URL: service.url };
  const { stdout, code } = await runCli(['smoke'], { env });
  expect(code).toBe(4);
  expect(stdout.split('\n')[0]).toMatch(
    /listPets answered 403 Forbidden; the token of PETSTORE_TOKEN was sent/,
  );
  expect(stdout).not.toContain('wrong-token');
});

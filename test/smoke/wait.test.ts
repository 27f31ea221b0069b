import { setTimeout } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { main } from '../../src/main.ts';
import { openConfig } from '../helpers/config-folder.ts';
import { failed, fakeIo, runCli } from '../helpers/run-cli.ts';
import { boundTo, smoke, smokeOf } from './run.ts';
import {
  asPage,
  type Change,
  counting,
  on,
  refusing,
  startService,
  withBody,
  withHeaders,
  withRefusal,
} from './service.ts';

/** Shows a commit in a header and at `/version`. */
const showing =
  (commit: string): Change =>
  (answer, { path }) => {
    const versioned = withHeaders(answer, { 'x-commit': commit });
    return path === '/version' ? { ...withBody(versioned, { build: { commit } }), status: 200 } : versioned;
  };

/** Shows the commit `new`, but `old` in the answers whose number, from 1, is chosen. */
function replicas(isOld: (count: number) => boolean): Change {
  const old = counting(isOld, showing('old'));
  return (answer, request) => old(showing('new')(answer, request) as HttpResponse, request);
}

const waitForNew = ['--wait-for', 'header x-commit=new'];

// The tests run concurrently, because they spend most of their time waiting.
describe.concurrent('the wait for a service', () => {
  test('--wait waits for a service that starts late', async () => {
    const first = await startService();
    await first[Symbol.asyncDispose]();
    const io = fakeIo();
    const code = main(['smoke', '--base-url', first.url, '--wait', '60s', '--only', 'op/listPets'], io);
    const note = /waiting up to 60 s for the service: reach\/connect: .*connection refused/;
    const hasNote = () => expect(io.written('stderr')).toMatch(note);
    await vi.waitFor(hasNote, { timeout: 50_000 });
    await using _ = await startService({ port: Number(new URL(first.url).port) });
    expect(await code).toBe(0);
  });

  test.each<[title: string, place: string, change: Change]>([
    ['a placeholder page', '/pets', (answer) => ({ ...asPage(answer, '<h1>Soon</h1>'), status: 200 })],
    ['orders that are not ready', '/store/orders', refusing(503)],
  ])('--wait runs the checks again while there is %s; --write follows once', async (_, place, change) => {
    const spoil = on(
      place,
      counting((count) => count <= 2, change),
    );
    const only = ['--write', '--only', 'op/list*,write/category'];
    const run = await smokeOf(spoil, ['--wait', '30s', '--retries', '0', ...only]);
    expect(run.code).toBe(0);
    expect(run.stderr).toContain('waiting');
    expect(run.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('nothing is written if the read checks never pass', async () => {
    const never = await smokeOf(on('/store/orders', refusing(500)), ['--wait', '500ms', '--write']);
    expect(never.code).toBe(7);
    const reason = 'op/listOrders failed';
    expect(never.check('write/pet')).toMatchObject({ result: 'skip', reason });
    expect(new Set(never.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  });

  test.each([401, 403])('%i ends the wait at once, with exit code 4', async (status) => {
    const run = await smokeOf(refusing(status), waitForNew);
    expect(run.code).toBe(4);
    expect(run.stderr).not.toContain('waiting');
    expect(run.stderr).toMatch(/^--wait ends: reach\/http does not pass with time\n/);
    expect(run.ids('fail')).toEqual(['reach/http']);
  });
});

describe.concurrent('the wait for a deployment', () => {
  test('--wait-for waits until every condition holds, ten times in a row', async () => {
    const conditions = ['header x-commit=new', 'GET /version /build/commit=new', 'GET /version text*=new'];
    const run = await smokeOf(
      replicas((count) => count <= 2),
      conditions.flatMap((condition) => ['--wait-for', condition]),
    );
    expect(run.code).toBe(0);
    const reason = 'each condition held in 10 answers in a row, each on a new connection';
    expect(run.check('reach/version')).toMatchObject({ result: 'pass', reason });
    const note = 'waiting up to 60 s for the service: reach/version: header x-commit is old';
    expect(run.stderr).toContain(note);
  });

  test('a check whose answer has another header than --wait-for asks for fails', async () => {
    const spoil: Change = (answer, request) =>
      showing(request.headers.connection === 'close' ? 'new' : 'old')(answer, request);
    const run = await smokeOf(spoil, ['--wait', '100ms', '--only', 'op/getCategory', ...waitForNew]);
    expect(run.code).toBe(7);
    expect(run.check('op/getCategory')).toMatchObject({ result: 'fail', reason: 'header x-commit is old' });
  });

  test.each([
    ['by its header', 'header x-commit=new'],
    ['by a body', 'GET /version /build/commit=new'],
  ])('one old replica of ten fails %s, with the number of its answers', async (_, condition) => {
    const spoil = replicas((count) => count % 10 === 7);
    const run = await smokeOf(spoil, ['--wait', '1500ms', '--wait-for', condition]);
    expect(run.code).toBe(7);
    expect(run.ids('fail')).toEqual(['reach/version']);
    expect(run.check('reach/version').reason).toMatch(/ is old, in \d+ of \d+ answers$/);
  });

  test.each<[condition: string, reason: RegExp, flags: readonly string[], spoil: Change]>([
    ['header x-commit=nope', /x-commit is old/, [], showing('old')],
    ['GET /nowhere', /\/nowhere: answered 404 Not Found/, ['--only', 'op/*'], showing('old')],
    ['GET /version 200', /no answer within 1 s/, ['--timeout', '1m'], on('/version', () => 'hang')],
  ])(
    'a service that never meets %s is exit 7, when the wait is over: %s',
    async (condition, reason, flags, spoil) => {
      const run = await smokeOf(spoil, ['--wait', '400ms', '--wait-for', condition, ...flags]);
      expect(run.code).toBe(7);
      expect(run.ids('fail')).toEqual(['reach/version']);
      expect(run.check('reach/version').reason).toMatch(reason);
      expect(run.check('op/listPets').result).toBe('skip');
    },
  );
});

test('without --wait, each look has a new connection: 10 before the checks, 10 after them, within 10 min', async () => {
  using timers = vi.spyOn(globalThis, 'setTimeout');
  const run = await smokeOf(showing('new'), [...waitForNew, '--only', 'op/listPets']);
  const isLook = run.requests.map(({ headers }) => headers.connection === 'close');
  expect(isLook.filter(Boolean)).toHaveLength(20);
  expect(isLook.slice(isLook.lastIndexOf(false) + 1)).toHaveLength(10);
  expect(timers.mock.calls.map(([, ms]) => ms)).toContain(600_000);
});

test('without a signal, the cleanup has the time of --max-time', async () => {
  using timers = vi.spyOn(globalThis, 'setTimeout');
  await smokeOf(showing('new'), ['--write', '--only', 'write/category', '--timeout', '20s']);
  expect(timers.mock.calls.map(([, ms]) => ms)).not.toContain(10_000);
});

describe.concurrent('how an answer is judged', () => {
  test('a service without any GET is reached by the first --expect', async () => {
    await using service = await startService({
      spoil: (answer, { path }) =>
        path === '/health'
          ? { ...withBody(answer, { status: 'ok' }), status: 200 }
          : withRefusal(answer, 404),
    });
    const env = await boundTo(service.url, ({ paths }) => {
      for (const item of Object.values(paths)) delete item.get;
    });
    const run = await smoke(service.url, ['--expect', 'GET /health 200 /status=ok'], { env });
    expect(run.code).toBe(0);
    expect(run.check('expect/1').result).toBe('pass');
  });

  test('a condition on a whole URL leaves the base path, but not the service', async () => {
    await using service = await startService({
      route: (path) => path.replace(/^\/v1/, ''),
      spoil: on('/health', (answer) => ({ ...withBody(answer, { status: 'ok' }), status: 200 })),
    });
    const expecting = (condition: string) =>
      runCli(['smoke', '--base-url', `${service.url}/v1`, '--only', 'expect', '--expect', condition]);
    expect(await expecting('GET /../health')).toMatchObject(failed(2, 'must be a whole URL'));
    expect((await expecting(`GET ${service.url}/health 200 /status=ok`)).code).toBe(0);
    expect(await expecting('GET http://other.example/health')).toMatchObject(
      failed(2, 'its origin is not that of'),
    );
  });

  test('an expected 503 is not retried, and not flaky', async () => {
    const sick: Change = (answer) => ({ ...withBody(answer, { status: 'DOWN' }), status: 503 });
    const flags = ['--strict', '--only', 'expect', '--expect', 'GET /sick 503 /status=DOWN'];
    const run = await smokeOf(on('/sick', sick), flags);
    expect(run.code).toBe(0);
    expect(run.requests.filter(({ path }) => path === '/sick')).toHaveLength(1);
  });

  test.each([
    ['0', [], 'flaky', /^429 Too Many Requests first, then: 200 OK/, /^$/],
    ['0', ['--retries', '1'], 'fail', /^answered 429/, /^the service limits requests: .* --retries/],
    ['3600', [], 'fail', /^answered 429/, /^the service asks to wait 60 min/],
  ] as const)(
    'two answers with 429 and Retry-After %s, with %j: %s',
    async (seconds, flags, result, reason, hint) => {
      const limit = (answer: HttpResponse) =>
        withHeaders(withRefusal(answer, 429), { 'retry-after': seconds });
      const spoil = on(
        '/categories/1',
        counting((count) => count <= 2, limit),
      );
      const run = await smokeOf(spoil, ['--only', 'op/getCategory', ...flags]);
      expect(run.check('op/getCategory')).toMatchObject({ result, reason: expect.stringMatching(reason) });
      expect(run.check('op/getCategory').hint ?? '').toMatch(hint);
    },
  );

  test('the reason for a refused X-Api-Key says that a token was sent', async () => {
    await using service = await startService({ spoil: refusing(403) });
    const token = { PETSTORE_TOKEN: 'wrong-token', PETSTORE_BASE_URL: service.url };
    const env = { ...openConfig({ 'auth-header': 'X-Api-Key' }).env, ...token };
    const { stdout, code } = await runCli(['smoke'], { env });
    expect(code).toBe(4);
    expect(stdout).toContain('; the token of PETSTORE_TOKEN was sent in the header X-Api-Key as Bearer; ');
  });
});

const late =
  (ms: number): Change =>
  (answer) =>
    setTimeout(ms, answer);

describe.concurrent('limits of time', () => {
  test('--timeout limits one call, so a check of many slow calls passes', async () => {
    const run = await smokeOf(late(60), ['--write', '--timeout', '2s', '--only', 'write/*']);
    expect(run.code).toBe(0);
    expect(run.requests.length * 60).toBeGreaterThan(2000);
  });

  test('--max-time stops the checks, skips the checks that have not begun, and fails', async () => {
    const run = await smokeOf(late(200), ['--max-time', '900ms']);
    expect(run.code).toBe(7);
    expect(run.ids('fail')).toEqual(['run/complete']);
    const reason = 'the time of 900 ms is over (--max-time)';
    expect(run.check('run/complete').reason).toBe(reason);
    expect(run.check('error/not-found')).toMatchObject({ result: 'skip', reason });
  });

  test('records that were written before --max-time are removed', async () => {
    await using service = await startService({ spoil: on(/^\/categories\//, () => 'hang', 'PUT') });
    const count = service.store.categories.all.length;
    const flags = ['--write', '--only', 'write/category', '--max-time', '6s', '--timeout', '1m'];
    const run = await smoke(service.url, flags);
    expect(run.code).toBe(7);
    expect(run.check('write/cleanup')).toMatchObject({ result: 'pass', reason: '1 removed' });
    expect(service.store.categories.all.length).toBe(count);
  });
});

import { describe, expect, test, vi } from 'vitest';
import { main } from '../../src/main.ts';
import { fakeIo, runCli } from '../helpers/run-cli.ts';
import { bindTo, configured, smoke, smokeOf } from './run.ts';
import { asPage, type Change, on, refusal, refusing, startService, withBody, withFields } from './service.ts';

/** A service whose first answers are old, by their header and at `/version`. */
function deployedAfter(oldAnswers: number): Change {
  let answers = 0;
  return (answer, { target }) => {
    answers += 1;
    const commit = answers <= oldAnswers ? 'old' : '4f2a9c1';
    const versioned = withFields(answer, { 'x-commit': commit });
    return target === '/version' ? { ...withBody(versioned, { build: { commit } }), status: 200 } : versioned;
  };
}

/** Commits as a load balancer shows them: `of` gives that of each answer, counted from 1. */
function replicas(of: (count: number) => string): Change {
  let answers = 0;
  return (answer) => {
    answers += 1;
    return withFields(answer, { 'x-commit': of(answers) });
  };
}

const category = (change: Change) => on('/categories/1', change);
const waitForNew = ['--wait-for', 'header x-commit=new'];

// Beside each other, because most of the time is spent waiting.
describe.concurrent('the wait for a deployment', () => {
  test('--wait waits for a service that starts late', async () => {
    const first = await startService();
    await first[Symbol.asyncDispose]();
    const io = fakeIo();
    const code = main(['smoke', '--base-url', first.url, '--wait', '15s', '--only', 'op/listPets'], io);
    const noted = /waiting up to 15 s for the service: .*connection refused/;
    await vi.waitFor(() => expect(io.written('stderr').replace(/\s+/g, ' ')).toMatch(noted), {
      timeout: 10_000,
    });
    await using _ = await startService({ port: first.port });
    expect(await code).toBe(0);
  });

  test.each([
    ['a placeholder page', (answer) => ({ ...asPage(answer, '<h1>Soon</h1>'), status: 200 })],
    ['a gateway', refusing(503)],
  ] as [string, Change][])('--wait continues while %s answers', async (_, change) => {
    let looks = 0;
    const spoil: Change = (answer, seen) => {
      looks += 1;
      return looks <= 2 ? change(answer, seen) : answer;
    };
    expect((await smokeOf(spoil, ['--wait', '20s', '--only', 'op/listPets'])).code).toBe(0);
  });

  test.each([401, 403])('%i ends the wait at once, with exit code 4', async (status) => {
    const startedMs = performance.now();
    const run = await smokeOf(refusing(status), waitForNew);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    expect(run.code).toBe(4);
    expect(run.ids('fail')).toEqual(['reach/http']);
  });

  test('--wait-for waits until every condition holds', async () => {
    const conditions = [
      'header x-commit=4f2a9c1',
      'GET /version /build/commit^=4f2',
      'GET /version text*=4f2a9c1',
    ];
    const run = await smokeOf(
      deployedAfter(2),
      conditions.flatMap((each) => ['--wait-for', each]),
    );
    expect(run.code).toBe(0);
    expect(run.check('reach/version')).toMatchObject({ result: 'pass', reason: 'held 3 times in a row' });
    expect(run.stderr.replace(/\s+/g, ' ')).toContain('waiting up to 60 s for the service: x-commit is old');
  });

  test('a condition that is never answered does not prolong the wait', async () => {
    const startedMs = performance.now();
    const run = await smokeOf(
      on('/version', () => 'hang'),
      ['--wait', '500ms', '--wait-for', 'GET /version 200'],
    );
    expect(performance.now() - startedMs).toBeLessThan(5000);
    expect(run.code).toBe(7);
    expect(run.check('reach/version').reason).toMatch(/no answer within [\d.]+ s/);
  });

  test('answers of another deployment after the wait fail reach/version with their number', async () => {
    const run = await smokeOf(
      replicas((count) => (count > 5 && count % 3 === 0 ? 'old' : 'new')),
      waitForNew,
    );
    expect(run.code).toBe(7);
    expect(run.check('reach/version').reason).toMatch(/^\d+ of \d+ answers come from another deployment/);
  });

  test('each look is on a new connection', async () => {
    const run = await smokeOf(
      replicas(() => 'new'),
      [...waitForNew, '--only', 'op/listPets'],
    );
    expect(run.seen.filter(({ fields }) => fields.connection === 'close')).toHaveLength(3);
  });
});

describe.concurrent('a wait that runs out', () => {
  test('a wait that runs out fails once, says what was there, and exits 6', async () => {
    const run = await smokeOf(refusing(500), ['--wait', '600ms']);
    expect(run.code).toBe(6);
    expect(run.ids('fail')).toEqual(['reach/http']);
    expect(run.check('reach/http').reason).toBe(
      'listPets answered 500 Internal Server Error, after waiting 600 ms',
    );
  });

  test.each([
    ['header x-commit=nope', 'x-commit is old', []],
    ['GET /pets/1 /name=Nobody', 'GET /pets/1: /name is Bella', ['--skip', 'reach']],
    ['GET /nowhere', 'GET /nowhere answered 404 Not Found', ['--only', 'op/*']],
  ] as const)(
    'a service with another version than %s is exit 7, whatever is left out: %s, %j',
    async (condition, reason, flags) => {
      const wait = ['--wait', '400ms', '--wait-for', condition];
      const run = await smokeOf(deployedAfter(Infinity), [...wait, ...flags]);
      expect(run.code).toBe(7);
      expect(run.ids('fail')).toEqual(['reach/version']);
      expect(run.check('reach/version').reason).toBe(`${reason}, after waiting 400 ms`);
      expect(run.check('op/listPets').result).toBe('skip');
    },
  );

  test('one replica of four with the new version does not satisfy --wait-for', async () => {
    const run = await smokeOf(
      replicas((count) => (count % 4 === 2 ? 'new' : 'old')),
      ['--wait', '1200ms', ...waitForNew],
    );
    expect(run.code).toBe(7);
    expect(run.check('reach/version').reason).toMatch(
      /^x-commit is old, after waiting 1\.2 s; it held in \d+ of \d+ looks$/,
    );
  });
});

describe.concurrent('what an answer is worth', () => {
  test('a service without any GET is reached by the first --expect', async () => {
    await using service = await startService({
      spoil: (answer, { target }) =>
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
    const run = await smokeOf(
      on('/sick', (answer) => ({ ...withBody(answer, { status: 'DOWN' }), status: 503 })),
      ['--strict', '--only', 'expect', '--expect', 'GET /sick 503 /status=DOWN'],
    );
    expect(run.code).toBe(0);
    expect(run.seen.filter(({ target }) => target === '/sick')).toHaveLength(1);
  });

  test.each([
    [{ 'retry-after': '0' }, 'flaky', '429 Too Many Requests'],
    [{}, 'flaky', '429 Too Many Requests'],
    [{ 'retry-after': '3600' }, 'fail', undefined],
  ] as const)('a 429 with %j is tried once more if that is in time: %s', async (fields, result, first) => {
    let isFirst = true;
    const run = await smokeOf(
      category((answer) => {
        const given = isFirst ? withFields(refusal(answer, 429), fields) : answer;
        isFirst = false;
        return given;
      }),
      ['--only', 'op/getCategory'],
    );
    expect(run.check('op/getCategory')).toMatchObject({ result });
    expect(run.check('op/getCategory').first).toBe(first);
  });

  test('a check ends within --timeout, its retry included', async () => {
    const startedMs = performance.now();
    const run = await smokeOf(
      category(() => 'hang'),
      ['--timeout', '700ms', '--only', 'op/getCategory'],
    );
    expect(performance.now() - startedMs).toBeLessThan(2500);
    expect(run.check('op/getCategory')).toMatchObject({ result: 'fail' });
  });

  test('an operation that answers once and then hangs is over every limit', async () => {
    let calls = 0;
    const run = await smokeOf(
      on('/store/orders', (answer) => {
        calls += 1;
        return calls > 1 ? 'hang' : answer;
      }),
      ['--only', 'latency/listOrders', '--max-latency', '2s', '--timeout', '500ms'],
    );
    expect(run.code).toBe(7);
    expect(run.check('latency/listOrders').reason).toMatch(
      /^p95 without an answer is over the limit; \d of 4/,
    );
  });

  test('a slow operation is over the limit; latency is measured only if it is asked for', async () => {
    const slow = on('/store/orders', async (answer) => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return answer;
    });
    const [limited, plain] = await Promise.all([
      smokeOf(slow, ['--only', 'latency/list*', '--max-latency', '350ms,p50']),
      smokeOf(slow, []),
    ]);
    expect(limited.ids('fail')).toEqual(['latency/listOrders']);
    expect(limited.check('latency/listOrders').expected).toBe('p50 of at most 350 ms');
    expect(plain.checks.some(({ id }) => id.startsWith('latency/'))).toBe(false);
  });

  test('the answer to X-Api-Key is not said to have come without a token', async () => {
    await using service = await startService({ spoil: refusing(403) });
    const token = { PETSTORE_TOKEN: 'wrong-token', PETSTORE_BASE_URL: service.url };
    const env = { ...configured({ 'auth-header': 'X-Api-Key' }), ...token };
    const { stdout, code } = await runCli(['smoke'], { env });
    expect(code).toBe(4);
    expect(stdout.split('\n')[0]).toMatch(
      /listPets answered 403 Forbidden; the token of PETSTORE_TOKEN was sent/,
    );
    expect(stdout).not.toContain('wrong-token');
  });
});

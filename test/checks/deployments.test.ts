import { createServer, type Server } from 'node:http';
import { expect, test } from 'vitest';
import type { HttpResponse } from '../../src/api/http.ts';
import { listenHere } from '../helpers/listen.ts';
import { runCli } from '../helpers/run-cli.ts';
import { smoke } from './run.ts';
import { startService, withBody, withFields } from './service.ts';

/** A page instead of an answer. */
const page = (answer: HttpResponse, text: string): HttpResponse => ({
  ...withBody(withFields(answer, { 'content-type': 'text/html', link: undefined }), text),
  status: 200,
});

const refused = (answer: HttpResponse, status: number): HttpResponse => ({
  ...withBody(answer, { code: 'refused', message: 'no', status }),
  status,
});

/** Runs smoke, which must fail only in reach/http and skip the rest for that reason. */
async function failsOnce(
  url: string,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
) {
  const run = await smoke(url, flags, { env });
  expect(run.ids('fail')).toEqual(['reach/http']);
  expect(run.ids('error')).toEqual([]);
  expect(run.check('op/listPets')).toMatchObject({ result: 'skip' });
  expect(run.check('op/listPets').reason).toMatch(/^reach\/http failed: /);
  const human = await runCli(['smoke', '--base-url', url], { env });
  expect(human.stdout.match(/^fail /gm)).toHaveLength(1);
  return { ...run, http: run.check('reach/http') };
}

test('a web page instead of JSON fails once, with a hint', async () => {
  await using service = await startService({ spoil: (_, answer) => page(answer, '<h1>Deploying…</h1>') });
  const { code, http } = await failsOnce(service.url);
  expect(code).toBe(6);
  expect(http).toMatchObject({
    reason: 'listPets answered 200 OK with a web page',
    expected: 'JSON',
    got: '<h1>Deploying…</h1>',
  });
  expect(http.hint).toContain('is the base URL that of the API');
});

test('a redirect to a login page fails once and names the page', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target.startsWith('/login')
        ? page(answer, '<title>Sign in</title>')
        : { ...withFields(answer, { location: '/login' }), status: 302, body: '' },
  });
  const { code, http } = await failsOnce(service.url);
  expect(code).toBe(6);
  expect(http.reason).toBe(`listPets answered 200 OK with a web page, redirected to ${service.url}/login`);
  expect(http.hint).toContain('login');
});

test('a wrong base path fails once, with a hint', async () => {
  await using service = await startService();
  const { code, http } = await failsOnce(`${service.url}/wrong/path`);
  expect(code).toBe(6);
  expect(http).toMatchObject({ reason: 'listPets answered 404 Not Found', status: 404 });
  expect(http.hint).toContain('is the path of the base URL right?');
});

test.each([401, 403])(
  'a credential that is refused with %i ends with 4, and names where it came from',
  async (status) => {
    await using service = await startService({ spoil: (_, answer) => refused(answer, status) });
    const without = await failsOnce(service.url);
    expect(without.code).toBe(4);
    expect(without.http.reason).toMatch(/, and no token was sent$/);
    const env = { PETSTORE_TOKEN: 'wrong-token', PETSTORE_BASE_URL: service.url };
    const given = await failsOnce(service.url, [], env);
    expect(given.code).toBe(4);
    expect(given.http.reason).not.toContain('no token was sent');
    expect(given.http.hint).toContain('PETSTORE_TOKEN');
    expect(JSON.stringify(given)).not.toContain('wrong-token');
  },
);

test('a service is reached if one operation answers with JSON', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) => (target.startsWith('/pets') ? page(answer, '<h1>no</h1>') : answer),
  });
  const run = await smoke(service.url);
  expect(run.code).toBe(7);
  expect(run.check('reach/http')).toMatchObject({ result: 'pass', reason: 'listCategories answered 200 OK' });
  expect(run.check('op/listPets')).toMatchObject({ result: 'fail', reason: 'the content type is text/html' });
});

test('https on a plain port fails with a reason in plain words', async () => {
  await using service = await startService();
  const run = await smoke(service.url.replace('http:', 'https:'));
  expect(run.code).toBe(6);
  expect(run.ids('fail')).toEqual(['tls/valid']);
  expect(run.check('tls/valid')).toMatchObject({
    reason: 'the TLS handshake failed: wrong version number; the server may speak plain http',
    hint: 'is the base URL http:// instead?',
  });
});

test('a next link that points at its own page fails the list, whatever the order of its parameters', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target.startsWith('/pets?')
        ? withFields(answer, { link: `<${target}#next>; rel="next"` })
        : withFields(answer, { link: undefined }),
  });
  const run = await smoke(service.url, ['--only', 'op/listPets']);
  expect(run.check('op/listPets')).toMatchObject({
    result: 'fail',
    reason: 'the next link points at its own page',
  });
});

test('a next page that begins with the last record of the page before fails the list', async () => {
  const pet = (id: number) => ({ id, name: 'Rex', categoryId: 1, status: 'sold' });
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target === '/pets'
        ? withFields(withBody(answer, [pet(1), pet(2)]), { link: '</pets?after=2>; rel="next"' })
        : target === '/pets?after=2'
          ? withBody(answer, [pet(2), pet(3)])
          : answer,
  });
  const run = await smoke(service.url, ['--only', 'op/listPets']);
  expect(run.check('op/listPets')).toMatchObject({
    result: 'fail',
    reason: 'the next page repeats records of the page before',
    got: 'id 2',
  });
});

test('a next link that gives the same records again fails the list', async () => {
  await using service = await startService({
    route: (target) => target.replace(/&page=\d+/, ''),
    spoil: ({ target }, answer) =>
      target.startsWith('/pets?')
        ? withFields(answer, { link: `</pets?limit=1&page=${target.length}>; rel="next"` })
        : answer,
  });
  const run = await smoke(service.url, ['--only', 'op/listPets']);
  expect(run.check('op/listPets').reason).toBe('the next link gives the same records again');
});

test('a 200 for an unknown id fails, unless the body is the record with that id', async () => {
  const answering = async (record: (id: string) => unknown) => {
    await using service = await startService({
      spoil({ target }, answer) {
        const id = /^\/categories\/(9\d+)$/.exec(target)?.[1];
        if (id === undefined) return answer;
        const body = JSON.stringify(record(id)).replace(/"(\d{18,})"/, '$1');
        return { ...withBody(answer, body), status: 200 };
      },
    });
    return (await smoke(service.url, ['--only', 'error/not-found'])).check('error/not-found');
  };
  expect(await answering(() => ({ id: 1, name: 'Dogs' }))).toMatchObject({
    result: 'fail',
    reason: 'an unknown id is answered as if it were found',
    expected: '404',
  });
  expect(await answering((id) => ({ id, name: 'Dogs' }))).toMatchObject({
    result: 'skip',
    reason: 'getCategory finds a record for every large id that was tried',
  });
});

test('checks that fail for one reason are shown together, failures before skips', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target.startsWith('/pets') ? answer : withFields(refused(answer, 500), { 'x-request-id': 'req-7' }),
  });
  const { stdout } = await runCli(['smoke', '--base-url', service.url, '--only', 'op,error', '--brief']);
  expect(stdout).toMatch(/^failed: 6 checks: answered 500 Internal Server Error \(op\/listCategories, /m);
  expect(stdout.match(/request id {2}req-7/g)).toHaveLength(1);
  expect(stdout).toMatch(/^fail {3}op\/listOrders +[\d.]+ ms {2}same as op\/listCategories$/m);
  expect(stdout).not.toMatch(/^(pass|skip|Smoke)/m);
  const run = await smoke(service.url, ['--only', 'op,error']);
  expect(run.check('op/listOrders')).toMatchObject({ requestId: 'req-7' });
  expect(run.check('op/getOrder').reason).toBe(
    'listOrders answered 500 Internal Server Error, so there is no orderId to ask for',
  );
});

test('--brief shows only the total if nothing failed', async () => {
  await using service = await startService();
  const { stdout } = await runCli(['smoke', '--base-url', service.url, '--only', 'op', '--brief']);
  expect(stdout).toMatch(/^8 checks in [\d.]+ m?s: 8 passed\n$/);
});

test('latency is measured only if it is asked for', async () => {
  await using service = await startService();
  const groups = async (...flags: string[]) =>
    new Set((await smoke(service.url, flags)).checks.map(({ id }) => id.split('/')[0]));
  expect(await groups()).not.toContain('latency');
  expect(await groups('--samples', '1')).toContain('latency');
  expect(await groups('--max-latency', '30s')).toContain('latency');
});

test('a sample that got no answer is mentioned, and is not a failure', async () => {
  let calls = 0;
  await using service = await startService({
    spoil({ target }, answer) {
      if (target !== '/categories') return answer;
      calls += 1;
      return calls === 3 ? { ...answer, status: 503 } : answer;
    },
  });
  const run = await smoke(service.url, ['--only', 'latency/listCategories', '--samples', '4']);
  expect(run).toMatchObject({ code: 0, totals: { pass: 1 } });
  expect(run.check('latency/listCategories').reason).toMatch(
    /of 3; 1 of 4 not counted: answered 503 Service Unavailable$/,
  );
});

test('--retries limits how often a request is sent again, and a flaky pass names the first result', async () => {
  let failures = 0;
  await using service = await startService({
    spoil({ target }, answer) {
      if (target !== '/categories/1' || failures === 0) return answer;
      failures -= 1;
      return { ...answer, status: 503 };
    },
  });
  const run = async (count: number, ...flags: string[]) => {
    failures = count;
    return (await smoke(service.url, ['--only', 'op/getCategory', ...flags])).check('op/getCategory');
  };
  expect(await run(1)).toMatchObject({ result: 'pass', flaky: true, first: '503 Service Unavailable' });
  expect(await run(1, '--retries', '0')).toMatchObject({ result: 'fail', status: 503 });
  expect(await run(2)).toMatchObject({ result: 'fail', status: 503 });
  expect(await run(2, '--retries', '2')).toMatchObject({ result: 'pass', flaky: true });
});

/** A service whose answers change with time. */
async function changing(
  answer: (
    url: string,
    ms: number,
  ) => [status: number, type: string, body: string, fields?: Record<string, string>],
) {
  const startedMs = performance.now();
  const server: Server = createServer(({ url = '' }, response) => {
    const [status, type, body, fields] = answer(url, performance.now() - startedMs);
    response.writeHead(status, { 'content-type': type, ...fields }).end(body);
  });
  const port = await listenHere(server);
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: close };
}

test('--wait continues while the service serves an HTML placeholder', async () => {
  using service = await changing((_, ms) =>
    ms < 600 ? [200, 'text/html', '<h1>Soon</h1>'] : [200, 'application/json', '[]'],
  );
  const run = await smoke(service.url, ['--wait', '20s', '--only', 'reach']);
  expect(run).toMatchObject({ code: 0, totals: { pass: 3 } });
  expect(run.stderr).toContain('waiting up to 20 s for the service: answered 200 OK with text/html');
});

test('--wait-for waits for the deployment that each condition describes', async () => {
  using service = await changing((url, ms) => {
    const commit = ms < 700 ? 'old' : '4f2a9c1';
    if (url === '/version') return [200, 'application/json', JSON.stringify({ build: { commit } })];
    return [200, 'application/json', '[]', { 'X-Commit': commit }];
  });
  const conditions = ['header x-commit=4f2a9c1', 'GET /version 200', 'GET /version /build/commit=4f2a9c1'];
  const flags = conditions.flatMap((condition) => ['--wait-for', condition]);
  const run = await smoke(service.url, [...flags, '--only', 'reach']);
  expect(run).toMatchObject({ code: 0, totals: { pass: 3 } });
  expect(run.stderr).toContain(
    'waiting up to 60 s for the service: x-commit is old, expected x-commit: 4f2a9c1',
  );
});

test('a deployment that does not come fails once and exits 6', async () => {
  await using service = await startService();
  const run = await smoke(service.url, ['--wait', '300ms', '--wait-for', 'GET /pets/1 /name=Nobody']);
  expect(run.code).toBe(6);
  expect(run.ids('fail')).toEqual(['reach/http']);
  expect(run.check('reach/http').reason).toMatch(
    /^--wait-for does not hold after waiting 300 ms: GET \/pets\/1: \/name is .*, expected Nobody$/,
  );
  expect(run.check('reach/http').url).toBe(`${service.url}/pets/1`);
});

test('a condition that is never answered does not prolong the wait', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) => (target === '/version' ? new Promise<typeof answer>(() => {}) : answer),
  });
  const run = await smoke(service.url, ['--wait', '500ms', '--wait-for', 'GET /version 200']);
  expect(run.code).toBe(6);
  expect(run.check('reach/http').reason).toMatch(/GET .*\/version: no answer within [\d.]{1,5} s$/);
});

test('--expect adds checks of one’s own, each with an id', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target === '/health'
        ? { ...withBody(answer, { status: 'ok', parts: [{ up: true }], n: '5' }), status: 200 }
        : answer,
  });
  const expects = [
    'GET /health 200 /status=ok /parts/0/up=true',
    'GET /health 204',
    'GET /health /status=not ok',
    'GET /health /nothing=1',
    'GET /nowhere',
  ];
  const flags = expects.flatMap((each) => ['--expect', each]);
  const run = await smoke(service.url, ['--only', 'expect', ...flags]);
  expect(run.code).toBe(7);
  expect(run.checks.map(({ id, result }) => [id, result])).toEqual([
    ['expect/1', 'pass'],
    ['expect/2', 'fail'],
    ['expect/3', 'fail'],
    ['expect/4', 'fail'],
    ['expect/5', 'fail'],
  ]);
  expect(run.check('expect/2')).toMatchObject({ expected: '204', status: 200 });
  expect(run.check('expect/3')).toMatchObject({ pointer: '/status', expected: 'not ok', got: 'ok' });
  expect(run.check('expect/4')).toMatchObject({ got: 'no such value' });
  expect(run.check('expect/5')).toMatchObject({ expected: 'a 2xx', status: 404 });
});

import { expect, test } from 'vitest';
import { runCli } from '../helpers/run-cli.ts';
import { smoke } from './run.ts';
import { startService, withBody, withFields } from './service.ts';

test('a correct service passes every check that applies to it, and sees only GET', async () => {
  await using service = await startService();
  const run = await smoke(service.url, ['--only', '**', '--samples', '2']);
  expect(run).toMatchObject({ code: 0, exitCode: 0 });
  expect([...run.ids('fail'), ...run.ids('error'), ...run.ids('warn')]).toEqual([]);
  expect(run.ids('skip')).toEqual(['tls/valid', 'tls/expiry', 'tls/protocol', 'auth/missing', 'auth/wrong']);
  expect(run.totals).toMatchObject({ checks: 34, pass: 29, skip: 5, flaky: 0 });
  expect(new Set(service.seen.map(({ method }) => method))).toEqual(new Set(['GET']));
});

test('a wrong status fails only that operation, and shows the expected and the actual status', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target.startsWith('/categories/1')
        ? { ...withBody(answer, { code: 'internal', message: 'boom', status: 500 }), status: 500 }
        : answer,
  });
  const run = await smoke(service.url);
  expect(run.code).toBe(7);
  expect(run.ids('fail')).toEqual(['op/getCategory']);
  expect(run.check('op/getCategory')).toMatchObject({
    status: 500,
    reason: 'answered 500 Internal Server Error',
    expected: '200',
    got: '{"code":"internal","message":"boom","status":500}',
  });
});

test('an HTML page is a wrong content type; its first 200 bytes are shown', async () => {
  const page = `<html>${'x'.repeat(300)}`;
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target.startsWith('/store/inventory/1')
        ? withBody(withFields(answer, { 'content-type': 'text/html; charset=utf-8' }), page)
        : answer,
  });
  const run = await smoke(service.url);
  expect(run.ids('fail')).toEqual(['op/getInventory']);
  expect(run.check('op/getInventory')).toMatchObject({
    reason: 'the content type is text/html',
    expected: 'application/json',
    got: `${page.slice(0, 200)}...`,
  });
});

test.each([
  ['an id that is text', { id: '1' }, '/0/id', 'an integer (int64)', '"1"'],
  [
    'a status that is not one of the three',
    { status: 'asleep' },
    '/0/status',
    'one of "available", "pending", "sold"',
    '"asleep"',
  ],
  ['a name that is null', { name: null }, '/0/name', 'a string', 'null'],
  ['a fraction', { categoryId: 1.5 }, '/0/categoryId', 'an integer (int64)', '1.5'],
])('%s breaks the schema, and the pointer says where', async (_, change, pointer, expected, got) => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target === '/pets'
        ? withBody(answer, [{ id: 1, name: 'Rex', categoryId: 1, status: 'sold', ...change }])
        : answer,
  });
  const run = await smoke(service.url, ['--only', 'op/listPets']);
  expect(run).toMatchObject({ code: 7, totals: { checks: 1, fail: 1 } });
  expect(run.check('op/listPets')).toMatchObject({
    reason: `${pointer} must be ${expected}`,
    pointer,
    expected,
    got,
  });
});

test('an answer about another record than the one that was asked for fails', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target === '/store/inventory/1' ? withBody(answer, { petId: 2, quantity: 3, status: 'sold' }) : answer,
  });
  const run = await smoke(service.url, ['--only', 'op/getInventory']);
  expect(run.code).toBe(7);
  expect(run.check('op/getInventory')).toMatchObject({
    reason: 'the answer is about another record',
    pointer: '/petId',
    expected: '1',
    got: '2',
  });
});

test('a missing field is named, with the object that lacks it', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) => (target.startsWith('/categories/') ? withBody(answer, { id: 1 }) : answer),
  });
  const run = await smoke(service.url, ['--only', 'op/getCategory']);
  expect(run.check('op/getCategory')).toMatchObject({
    reason: 'the body lacks the field "name"',
    pointer: '/name',
    expected: 'the field "name"',
    got: '{"id":1}',
  });
});

test.each([
  ['9223372036854775807', 'pass'],
  ['9223372036854775808', 'fail'],
  ['-9223372036854775808', 'pass'],
  ['-9223372036854775809', 'fail'],
])('an id of %s: %s', async (id, result) => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target.startsWith('/categories') ? withBody(answer, `[{"id":${id},"name":"Dogs"}]`) : answer,
  });
  const run = await smoke(service.url, ['--only', 'op/listCategories']);
  expect(run.check('op/listCategories').result).toBe(result);
});

test('a truncated body, or one that is not JSON, fails with that reason', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) => (target === '/pets' ? withBody(answer, '[{"id":1,') : answer),
  });
  const run = await smoke(service.url, ['--only', 'op/listPets']);
  expect(run.check('op/listPets')).toMatchObject({ expected: 'JSON', got: '[{"id":1,' });
  expect(run.check('op/listPets').reason).toMatch(/^the body is not JSON: /);
});

test('a body in another encoding than UTF-8 fails with that reason', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target === '/categories/1'
        ? { ...answer, body: Buffer.from('{"id":1,"name":"B\xe4r"}', 'latin1') }
        : answer,
  });
  const run = await smoke(service.url, ['--only', 'op/getCategory']);
  expect(run.check('op/getCategory')).toMatchObject({ result: 'fail', reason: 'the body is not UTF-8' });
});

test('a next link that leaves the service, or repeats its page, fails the list', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) => {
      if (target.startsWith('/pets?'))
        return withFields(answer, { link: '<http://elsewhere.example/pets?after=1>; rel="next"' });
      if (target.startsWith('/categories?')) return withFields(answer, { link: `<${target}>; rel="next"` });
      return answer;
    },
  });
  const run = await smoke(service.url, ['--only', 'op/list*']);
  expect(run.ids('fail')).toEqual(['op/listPets', 'op/listCategories']);
  expect(run.check('op/listPets')).toMatchObject({
    reason: 'the next link leaves the service',
    got: 'http://elsewhere.example/pets?after=1',
  });
  expect(run.check('op/listCategories').reason).toBe('the next link points at its own page');
});

test('if a list is empty, the operation that needs an id is skipped, never passed', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) => (target.startsWith('/store/orders') ? withBody(answer, []) : answer),
  });
  const run = await smoke(service.url, ['--only', 'op/*']);
  expect(run.code).toBe(0);
  expect(run.check('op/getOrder')).toMatchObject({
    result: 'skip',
    reason: 'no list has a record that gives orderId',
  });
});

test('error/not-found fails if an unknown id is found, or is refused with another status or in HTML', async () => {
  const spoiled = async (status: number, body: unknown, type = 'application/json') => {
    await using service = await startService({
      spoil: ({ target }, answer) =>
        target.startsWith('/categories/9')
          ? { ...withBody(withFields(answer, { 'content-type': type }), body), status }
          : answer,
    });
    return (await smoke(service.url, ['--only', 'error/*'])).check('error/not-found');
  };
  const error = { code: 'not_found', message: 'no', status: 404 };
  expect(await spoiled(500, error)).toMatchObject({ result: 'fail', expected: '404' });
  expect(await spoiled(404, '<h1>Not Found</h1>', 'text/html')).toMatchObject({
    reason: 'the content type is text/html',
  });
  expect(await spoiled(404, { ...error, status: 400 })).toMatchObject({
    pointer: '/status',
    expected: '404',
    got: '400',
  });
  expect(await spoiled(404, { message: 'no' })).toMatchObject({
    pointer: '/code',
    expected: 'the field "code"',
  });
  expect(await spoiled(404, error)).toMatchObject({ result: 'pass' });
});

test('a 5xx for an id that is not a number fails error/bad-request', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) => (target.endsWith('/not-a-number') ? { ...answer, status: 500 } : answer),
  });
  const run = await smoke(service.url, ['--only', 'error/*']);
  expect(run.ids('fail')).toEqual(['error/bad-request']);
  expect(run.check('error/bad-request').expected).toBe('400 or 404');
});

test('a service that refuses every credential ends the run with 4', async () => {
  await using service = await startService({
    spoil: (_, answer) => ({
      ...withBody(answer, { code: 'unauthorized', message: 'who?', status: 401 }),
      status: 401,
    }),
  });
  const run = await smoke(service.url);
  expect(run.code).toBe(4);
  expect(run.ids('fail')).toEqual(['reach/http']);
  expect(run.check('reach/http')).toMatchObject({
    status: 401,
    reason: 'listPets answered 401 Unauthorized, and no token was sent',
    hint: 'give a token: PETSTORE_TOKEN, PETSTORE_TOKEN_FILE, or token-file in the profile',
  });
});

test('a failure of a beta operation is a warning, unless all stabilities count', async () => {
  await using service = await startService({
    spoil: ({ method, target }, answer) =>
      method === 'PUT' && target.startsWith('/store/orders/') ? { ...answer, status: 500 } : answer,
  });
  const soft = await smoke(service.url, ['--write', '--only', 'write/order']);
  expect(soft).toMatchObject({ code: 0 });
  expect(soft.check('write/order')).toMatchObject({ result: 'warn' });
  expect(soft.check('write/order').reason).toContain('updateOrder is beta');
  const strict = await smoke(service.url, ['--write', '--only', 'write/order', '--stability', 'all']);
  expect(strict.code).toBe(7);
  const failing = await smoke(service.url, ['--write', '--only', 'write/order', '--fail-on', 'warn']);
  expect(failing.check('write/order').result).toBe('fail');
});

test('the report for people is on stdout, or on stderr if stdout carries data', async () => {
  await using service = await startService();
  const base = ['smoke', '--base-url', service.url, '--only', 'reach'];
  const human = await runCli(base);
  expect(human.stdout).toMatch(/^pass {3}reach\/http +[\d.]+ ms {2}listPets answered 200 OK$/m);
  expect(human.stderr).toBe('');
  const json = await runCli([...base, '-o', 'json']);
  expect(json.stderr.replace(/ *[\d.]+ m?s/g, '')).toBe(human.stdout.replace(/ *[\d.]+ m?s/g, ''));
  const ids = await runCli([...base, '-o', 'ids', '-q']);
  expect(ids).toMatchObject({ stdout: 'reach/dns\nreach/connect\nreach/http\n', stderr: '' });
});

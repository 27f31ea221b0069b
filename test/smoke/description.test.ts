import { describe, expect, test } from 'vitest';
import { openConfig } from '../helpers/config-folder.ts';
import type { Description } from '../helpers/own-description.ts';
import { boundTo, smoke, smokeOf } from './run.ts';
import {
  type Change,
  changing,
  counting,
  on,
  refusing,
  startService,
  withBody,
  withHeaders,
} from './service.ts';

describe.concurrent('what a description says, and what it does not', () => {
  test('operations that are not bound are listed as skipped, with the reason', async () => {
    await using service = await startService();
    const env = await boundTo(service.url, ({ paths }) => {
      delete paths['/store/orders']?.get;
      delete paths['/store/orders/{orderId}']?.get;
    });
    const run = await smoke(service.url, [], { env });
    expect(run.code).toBe(0);
    for (const id of ['op/listOrders', 'op/getOrder'])
      expect(run.check(id)).toMatchObject({ result: 'skip', reason: expect.stringMatching(/./) });
  });

  test('an operation whose required header nobody gives is skipped, with the reason', async () => {
    await using service = await startService();
    const env = await boundTo(service.url, ({ paths }) => {
      const parameters = paths['/store/orders']?.get?.parameters as object[];
      parameters.push({ name: 'X-Shop', in: 'header', required: true, schema: { type: 'string' } });
    });
    const run = await smoke(service.url, ['--only', 'op'], { env });
    expect(run.code).toBe(0);
    const reason = 'the header X-Shop is required: give it with --header (listOrders)';
    expect(run.check('op/listOrders')).toMatchObject({ result: 'skip', reason });
    const withHeader = await smoke(service.url, ['--only', 'op', '-H', 'X-Shop: 7'], { env });
    expect(withHeader.check('op/listOrders').result).toBe('pass');
  });

  const deprecation = '@1735689600';
  const stale = changing((record: object) => ({ ...record, name: 'Before' }));
  const staleOnce = counting(
    (count) => count === 1,
    (answer) => withHeaders(stale(answer), { deprecation }),
  );
  const sunset = 'Thu, 02 Jan 2025 00:00:00 GMT';
  test.each<[id: string, reason: RegExp, spoil: Change]>([
    [
      'op/listInventory',
      /^the filter status=\w+ finds nothing, although listInventory shows a record with it$/,
      on(/^\/store\/inventory\?.*status=/, (answer) => withBody(answer, [])),
    ],
    [
      'op/listCategories',
      /; listCategories: only its header says that it is deprecated$/,
      on('/categories', (answer) => withHeaders(answer, { deprecation })),
    ],
    [
      'op/getPet',
      /; getPet: only its description says that it is deprecated$/,
      on('/pets/1', (answer) => withHeaders(answer, { deprecation: undefined, sunset: undefined })),
    ],
    ['op/getCategory', /; getCategory: only its header says/, on('/categories/1', staleOnce)],
    [
      'op/getPet',
      /; getPet: its sunset passed on 2025-01-02$/,
      on('/pets/1', (answer) => withHeaders(answer, { sunset })),
    ],
  ])('a suspicion is a warning of %s: %s', async (id, reason, spoil) => {
    const run = await smokeOf(spoil, ['--only', id]);
    expect(run.code).toBe(0);
    expect(run.check(id)).toMatchObject({ result: 'warn', reason: expect.stringMatching(reason) });
  });

  test.each<[id: string, reason: RegExp, place: string | RegExp, fault: Change]>([
    ['op/getCategory', /^name differs from what listCategories shows, in one of two/, '/categories/1', stale],
    [
      'op/getCategory',
      /^answered 404 Not Found, but listCategories shows categoryId 1, in one of two readings$/,
      '/categories/1',
      refusing(404),
    ],
    ['op/listOrders', /^503 Service Unavailable first, then: /, /orders/, refusing(503)],
  ])('a fault of %s that is seen once is flaky: %s', async (id, reason, place, fault) => {
    const spoil = () =>
      on(
        place,
        counting((count) => count === 1, fault),
      );
    const run = await smokeOf(spoil(), []);
    expect(run.code).toBe(0);
    expect(run.check(id)).toMatchObject({ result: 'flaky', reason: expect.stringMatching(reason) });
    expect(run.ids('flaky')).toEqual([id]);
    expect((await smokeOf(spoil(), ['--strict'])).code).toBe(7);
  });

  test('an error of another shape is a warning for a bound service, a 5xx a failure', async () => {
    const wrong = (status: number) =>
      on(/^\/categories\/(1006|not-a-number)$/, (answer) => ({
        ...withBody(answer, { detail: 'Not found.' }),
        status,
      }));
    await using service = await startService({ spoil: wrong(404) });
    const bound = await smoke(service.url, ['--only', 'error'], {
      env: await boundTo(service.url, () => {}),
    });
    expect(bound.code).toBe(0);
    expect(bound.ids('warn')).toEqual(['error/not-found', 'error/bad-request']);
    expect(bound.check('error/not-found').reason).toMatch(/lacks the field/);
    const unbound = await smokeOf(wrong(404), ['--only', 'error']);
    expect(unbound.ids('fail')).toEqual(['error/not-found', 'error/bad-request']);
    expect((await smokeOf(wrong(500), ['--only', 'error'])).ids('fail')).toHaveLength(2);
  });

  test.each<[title: string, spoil: Change, result: string, reason: string]>([
    ['too large', on('/categories/1006', refusing(400)), 'pass', '404 Not Found'],
    ['never known', on(/^\/categories\/\d{3,}$/, refusing(400)), 'fail', 'answered 400 Bad Request'],
  ])('an unused id that is %s is followed by 2147483647', async (_, spoil, result, reason) => {
    const run = await smokeOf(spoil, ['--only', 'error']);
    expect(run.check('error/not-found')).toMatchObject({ result, reason });
    expect(run.requests.map(({ path }) => path)).toContain('/categories/2147483647');
  });

  const writeOnly = ({ components: { schemas } }: Description) => {
    const { NewCategory, Category } = schemas;
    for (const schema of [NewCategory, Category])
      Object.assign(schema?.properties ?? {}, { description: { type: 'string', writeOnly: true } });
    Object.assign(Category ?? {}, { required: ['id', 'name', 'description'] });
  };

  test('a field that is only written is neither demanded of an answer nor compared with one', async () => {
    const spoil: Change = (answer, { path }) =>
      path.startsWith('/categories') ? changing(withoutDescription)(answer) : answer;
    await using service = await startService({ spoil });
    const env = await boundTo(service.url, writeOnly);
    const flags = ['--write', '--only', 'op/*Categor*,write/category'];
    const run = await smoke(service.url, flags, { env });
    expect(run.ids('fail')).toEqual([]);
    expect(run.check('write/category').result).toBe('pass');
    const unbound = await smoke(service.url, flags, { env: openConfig({}).env });
    expect(unbound.check('write/category').reason).toMatch(/^create: .*no description/);
  });

  test('a required page size is sent, and a delete without a stated answer may answer anything', async () => {
    const spoil: Change = (answer, { method, path }) => {
      if (method === 'DELETE' && answer.status === 204)
        return withBody({ ...answer, status: 200 }, { deleted: true });
      return /^\/categories(\?(?!.*limit=)|$)/.test(path) && method === 'GET'
        ? refusing(422)(answer)
        : answer;
    };
    await using service = await startService({ spoil });
    const env = await boundTo(service.url, ({ paths }) => {
      const parameters = paths['/categories']?.get?.parameters as { name: string; required?: boolean }[];
      for (const parameter of parameters) parameter.required = parameter.name === 'limit';
      const { responses, ...bare } = paths['/categories/{categoryId}']?.delete ?? {};
      Object.assign(paths['/categories/{categoryId}'] ?? {}, { delete: bare });
    });
    const run = await smoke(service.url, ['--write', '--only', 'op/*Categor*,write/category'], { env });
    for (const id of ['op/listCategories', 'op/getCategory', 'write/category'])
      expect(run.check(id)).toMatchObject({ result: 'pass' });
  });
});

function withoutDescription(json: object): unknown {
  if (Array.isArray(json)) return json.map(withoutDescription);
  const { description, ...rest } = json as { readonly description?: unknown };
  return rest;
}

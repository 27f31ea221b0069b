import { describe, expect, test } from 'vitest';
import { bindTo, configured, type Description, smoke, smokeOf } from './run.ts';
import { changing, on, refusal, startService, withBody } from './service.ts';

describe.concurrent('what a description says, and what it does not', () => {
  test('operations that are not bound are listed as skipped, with the reason', async () => {
    await using service = await startService();
    const env = await bindTo(service.url, ({ paths }) => {
      delete paths['/store/orders']?.get;
      delete paths['/store/orders/{orderId}']?.get;
    });
    const run = await smoke(service.url, [], { env });
    expect(run.code).toBe(0);
    for (const id of ['op/listOrders', 'op/getOrder']) {
      expect(run.check(id).result).toBe('skip');
      expect(run.check(id).reason).not.toBe('');
    }
  });

  test('a refusal that the description does not list is a warning, a 5xx a failure', async () => {
    const wrong = (status: number) => on(/not-a-number/, (answer) => refusal(answer, status));
    const soft = await smokeOf(wrong(422), ['--only', 'error']);
    expect(soft.code).toBe(0);
    expect(soft.check('error/bad-request')).toMatchObject({
      result: 'warn',
      reason: 'answered 422 Unprocessable Entity, which the description does not have',
    });
    expect((await smokeOf(wrong(500), ['--only', 'error'])).ids('fail')).toEqual(['error/bad-request']);
  });

  test('a GET of the description that is none of ours is listed as skipped, by its operationId or its path', async () => {
    await using service = await startService();
    const env = await bindTo(service.url, ({ paths }) => {
      const responses = { 200: { description: 'ok' } };
      paths['/users'] = { get: { operationId: 'listUsers', responses } };
      paths['/clinics/{name}'] = { get: { responses } };
    });
    const run = await smoke(service.url, [], { env });
    expect(run.code).toBe(0);
    for (const id of ['op/listUsers', 'op/GET /clinics/{name}'])
      expect(run.check(id)).toMatchObject({ result: 'skip', reason: 'petstore has no operation like it' });
    expect(service.requests.some(({ target }) => /users|clinics/.test(target))).toBe(false);
  });

  test('a list with a required filter is asked for with its first value', async () => {
    await using service = await startService({
      spoil: on('/pets', (answer, { target }) =>
        target.includes('status=') ? answer : refusal(answer, 400),
      ),
    });
    const env = await bindTo(service.url, ({ paths }) => {
      const parameters = (paths['/pets']?.get?.parameters ?? []) as { name: string; required?: boolean }[];
      for (const parameter of parameters) if (parameter.name === 'status') parameter.required = true;
    });
    const run = await smoke(service.url, ['--only', 'op/*Pet*'], { env });
    expect(run.code).toBe(0);
    expect(run.ids('pass')).toEqual(expect.arrayContaining(['reach/http', 'op/listPets', 'op/getPet']));
  });

  test.each([
    ['null', [null]],
    ['a text among records', [{ id: 1, name: 'Luna', categoryId: 1, status: 'sold' }, 'x']],
  ])('%s in a list is a failure, although the schema allows it, as in list', async (_, body) => {
    await using service = await startService({ spoil: on('/pets', (answer) => withBody(answer, body)) });
    // Without a type, `required` says nothing about a value that is no object.
    const properties = { id: { type: 'integer' }, name: { type: 'string' } };
    const env = await bindTo(service.url, ({ components: { schemas } }) => {
      schemas.Pet = { required: ['id', 'name'], properties };
    });
    const run = await smoke(service.url, ['--only', 'op/listPets'], { env });
    expect(run.code).toBe(7);
    expect(run.check('op/listPets').reason).toMatch(/^the body is not a Pet: \/\d must be an object$/);
  });

  test('a documented 400 for a very large id is no failure: smaller ids are tried', async () => {
    const isUnsafe = (target: string) => !Number.isSafeInteger(Number(target.split('/').at(-1)));
    const spoil = on(/^\/categories\/\d+$/, (answer, { target }) =>
      isUnsafe(target) ? refusal(answer, 400) : answer,
    );
    const run = await smokeOf(spoil, ['--only', 'error']);
    expect(run.code).toBe(0);
    expect(run.check('error/not-found').reason).toBe('404 Not Found');
    const small = on(/^\/categories\/\d{5,}$/, (answer) => refusal(answer, 400));
    expect((await smokeOf(small, ['--only', 'error'])).code).toBe(0);
    const never = on(/^\/categories\/\d{3,}$/, (answer) => refusal(answer, 400));
    const refused = await smokeOf(never, ['--only', 'error']);
    expect(refused.check('error/not-found').reason).toBe('answered 400 Bad Request');
  });

  test('if the only id is negative, the reason says so', async () => {
    const spoil = on(
      '/store/orders',
      changing(() => [{ id: -5, petId: 1, quantity: 1, complete: true }]),
    );
    const run = await smokeOf(spoil, ['--only', 'op/getOrder,op/listPets']);
    expect(run.check('op/getOrder')).toMatchObject({
      result: 'skip',
      reason: 'getOrder takes no orderId such as -5, and listOrders shows no other',
    });
  });

  /** Marks the description of a category as written only, and requires it. */
  const writeOnly = ({ components: { schemas } }: Description) => {
    // A category is a new category with an id.
    const { NewCategory, Category } = schemas;
    if (NewCategory) NewCategory.properties.description = { type: 'string', writeOnly: true };
    const [, ofCategory] = (Category?.allOf ?? []) as unknown as { required: string[] }[];
    ofCategory?.required.push('description');
  };

  test('a field that is only written is neither demanded of an answer nor compared with one', async () => {
    const spoil = on(/^\/categories/, changing(withoutDescription));
    const write = (answer: Parameters<typeof spoil>[0], request: Parameters<typeof spoil>[1]) =>
      request.method === 'GET' ? spoil(answer, request) : changing(withoutDescription)(answer);
    await using service = await startService({ spoil: write });
    const env = await bindTo(service.url, writeOnly);
    const flags = ['--write', '--only', 'op/*Categor*,write/category'];
    const run = await smoke(service.url, flags, { env });
    expect(run.ids('fail')).toEqual([]);
    expect(run.check('write/category').result).toBe('pass');
    const unbound = await smoke(service.url, flags, { env: configured({}) });
    expect(unbound.check('write/category').reason).toBe('create: description is not what was sent');
  });
});

function withoutDescription(json: object): unknown {
  if (Array.isArray(json)) return json.map(withoutDescription);
  const { description, ...rest } = json as { readonly description?: unknown };
  return rest;
}

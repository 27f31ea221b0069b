import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import type { JsonObject } from '../../src/process/exact-json.ts';
import { runCli } from '../helpers/run-cli.ts';
import { smoke } from './run.ts';
import { type Service, startService, withBody, withFields } from './service.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-smoke-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Binds a new profile to the description of the local server, changed by `change`. */
async function bind(service: Service, change: (document: Description) => void): Promise<string[]> {
  const document = structuredClone(toOpenApi({ serverUrl: service.url })) as unknown as Description;
  change(document);
  const home = await mkdtemp(join(folder, 'bound-'));
  const file = join(home, 'openapi.json');
  await writeFile(file, JSON.stringify(document));
  await writeFile(join(home, 'config.json'), JSON.stringify({ 'base-url': service.url }));
  const env = { PETSTORE_CONFIG_DIR: home };
  const bound = await runCli(['api', 'bind', file], { env });
  if (bound.code !== 0) throw new Error(bound.stderr);
  return [home];
}

interface Description {
  paths: Record<string, Record<string, JsonObject & { responses: Record<string, JsonObject> }>>;
  components: {
    schemas: Record<string, JsonObject & { properties: Record<string, JsonObject> }>;
  } & JsonObject;
  security?: JsonObject[];
}

async function smokeBound(
  service: Service,
  home: readonly string[],
  flags: readonly string[],
  token?: string,
) {
  const [folderOfConfig = ''] = home;
  const env = { PETSTORE_CONFIG_DIR: folderOfConfig, ...(token && { PETSTORE_TOKEN: token }) };
  return smoke(service.url, flags, { env });
}

test('bodies are judged by the schema of the description that is bound', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target.startsWith('/pets/')
        ? withBody(answer, { id: 1, name: 'Rex', categoryId: 1, status: 'reserved', weight: 'heavy' })
        : answer,
  });
  const home = await bind(service, ({ components: { schemas } }) => {
    schemas.PetStatus = { type: 'string', enum: ['available', 'pending', 'sold', 'reserved'] } as never;
    if (schemas.NewPet) schemas.NewPet.properties.weight = { type: 'number', nullable: true };
  });
  const run = await smokeBound(service, home, ['--only', 'op/getPet']);
  expect(run.check('op/getPet')).toMatchObject({
    pointer: '/weight',
    expected: 'a number or null',
    got: '"heavy"',
  });
  const unbound = await smoke(service.url, ['--only', 'op/getPet']);
  expect(unbound.check('op/getPet').pointer).toBe('/status');
});

test('paths follow the description, and operations that it lacks are not checked', async () => {
  await using service = await startService({
    route: (target) => target.replace('/kinds', '/categories'),
    spoil: (_, answer) => {
      const { link } = answer.fields;
      return link ? withFields(answer, { link: String(link).replace('/categories', '/kinds') }) : answer;
    },
  });
  const home = await bind(service, ({ paths }) => {
    for (const path of Object.keys(paths).filter((each) => each.startsWith('/categories'))) {
      const item = paths[path];
      if (item) paths[path.replace('/categories', '/kinds')] = item;
      delete paths[path];
    }
    delete paths['/store/orders/{orderId}'];
  });
  const run = await smokeBound(service, home, []);
  expect(run.code).toBe(0);
  expect(run.checks.some(({ id }) => id === 'op/getOrder')).toBe(false);
  expect(service.seen.some(({ target }) => target === '/kinds')).toBe(true);
  expect(service.seen.some(({ target }) => target.startsWith('/categories'))).toBe(false);
});

test('the sunset dates of header and description must agree', async () => {
  await using service = await startService({ sunset: '2098-01-02' });
  const home = await bind(service, ({ paths }) => {
    Object.assign(paths['/pets/{petId}']?.get ?? {}, { 'x-deprecated-sunset': '2098-01-01' });
  });
  const run = await smokeBound(service, home, ['--only', 'lifecycle/getPet']);
  expect(run.check('lifecycle/getPet')).toMatchObject({
    result: 'fail',
    reason: 'the sunset dates differ',
    expected: '2098-01-01, as the description says',
    got: 'Thu, 02 Jan 2098 00:00:00 GMT',
  });
  const unbound = await smoke(service.url, ['--only', 'lifecycle/getPet']);
  expect(unbound.check('lifecycle/getPet').result).toBe('pass');
});

/** A service that requires this token; undefined for none. */
function guarded(token: string | undefined): Promise<Service> {
  return startService({
    spoil: ({ fields }, answer) =>
      token === undefined || fields.authorization === `Bearer ${token}`
        ? answer
        : { ...withBody(answer, { code: 'unauthorized', message: 'who?', status: 401 }), status: 401 },
  });
}

function declareSecurity(document: Description): void {
  document.security = [{ token: [] }];
  document.components.securitySchemes = { token: { type: 'http', scheme: 'bearer' } };
}

test('a service that declares security and enforces it passes auth', async () => {
  await using service = await guarded('right-token');
  const home = await bind(service, declareSecurity);
  const run = await smokeBound(service, home, [], 'right-token');
  expect(run.code).toBe(0);
  expect(run.check('auth/missing')).toMatchObject({ result: 'pass', reason: '401 Unauthorized' });
  expect(run.check('auth/wrong')).toMatchObject({ result: 'pass' });
  const withoutToken = await smokeBound(service, home, []);
  expect(withoutToken.code).toBe(4);
});

test('a key in a cookie is omitted and falsified like one in a header', async () => {
  await using service = await startService({
    spoil: ({ fields }, answer) =>
      fields.cookie === 'key=right'
        ? answer
        : { ...withBody(answer, { code: 'unauthorized', message: 'who?', status: 401 }), status: 401 },
  });
  const home = await bind(service, (document) => {
    document.security = [{ key: [] }];
    document.components.securitySchemes = { key: { type: 'apiKey', in: 'cookie', name: 'key' } };
  });
  const run = await smokeBound(service, home, ['-H', 'Cookie: key=right']);
  expect(run.code).toBe(0);
  expect(run.check('auth/missing')).toMatchObject({ result: 'pass', reason: '401 Unauthorized' });
  expect(run.check('auth/wrong')).toMatchObject({ result: 'pass', reason: '401 Unauthorized' });
});

test('a key in the query is sent, omitted and falsified, and does not appear in any report', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      new URL(target, 'http://any').searchParams.get('k') === 'right key'
        ? answer
        : { ...withBody(answer, { code: 'unauthorized', message: target, status: 401 }), status: 401 },
  });
  const home = await bind(service, (document) => {
    document.security = [{ key: [] }];
    document.components.securitySchemes = { key: { type: 'apiKey', in: 'query', name: 'k' } };
  });
  const run = await smokeBound(service, home, ['--write', '-v'], 'right key');
  expect(run.code).toBe(0);
  expect(run.check('auth/missing')).toMatchObject({ result: 'pass', reason: '401 Unauthorized' });
  expect(run.check('auth/wrong')).toMatchObject({ result: 'pass', reason: '401 Unauthorized' });
  expect(run.stderr).toContain('k=***');
  expect(JSON.stringify(run) + run.stderr).not.toMatch(/right.{1,3}key/);
  const keys = service.seen.map(({ target }) => new URL(target, 'http://any').searchParams.getAll('k'));
  expect(keys.filter(([key]) => key === undefined)).toHaveLength(1);
  expect(keys.every(({ length }) => length < 2)).toBe(true);
});

test('a pattern that a hostile name keeps busy ends in a warning', async () => {
  await using service = await startService({
    spoil: ({ target }, answer) =>
      target === '/categories/1' ? withBody(answer, { id: 1, name: `${'a'.repeat(60)}!` }) : answer,
  });
  const home = await bind(service, ({ components: { schemas } }) => {
    if (schemas.NewCategory)
      schemas.NewCategory.properties.name = { type: 'string', pattern: '^(a+)+$|^[A-Z]' };
  });
  const run = await smokeBound(service, home, ['--only', 'op/*Category']);
  expect(run.code).toBe(0);
  expect(run.check('op/getCategory')).toMatchObject({
    result: 'warn',
    reason: '200 OK; getCategory: the body could not be checked within 2 s',
  });
});

test('a service that declares security but lets anybody in fails auth', async () => {
  await using service = await guarded(undefined);
  const home = await bind(service, declareSecurity);
  const run = await smokeBound(service, home, ['--only', 'auth'], 'right-token');
  expect(run.code).toBe(7);
  expect(run.ids('fail')).toEqual(['auth/missing', 'auth/wrong']);
  expect(run.check('auth/missing')).toMatchObject({
    reason: 'let in with no credential',
    expected: '401 or 403',
  });
});

test('a service that breaks without a credential has let nobody in', async () => {
  await using service = await startService({
    spoil: ({ fields }, answer) =>
      fields.authorization === 'Bearer right-token' ? answer : { ...answer, status: 500 },
  });
  const home = await bind(service, declareSecurity);
  const run = await smokeBound(service, home, ['--only', 'auth'], 'right-token');
  expect(run.check('auth/missing').reason).toBe('answered 500 Internal Server Error with no credential');
  expect(run.check('auth/wrong').reason).toBe('answered 500 Internal Server Error with a wrong credential');
});

test('a service that redirects to a login does not let anybody in, but fails auth', async () => {
  await using service = await startService({
    spoil: ({ fields, target }, answer) =>
      target === '/login'
        ? { ...answer, status: 200 }
        : fields.authorization === 'Bearer right-token'
          ? answer
          : { ...withFields(answer, { location: '/login' }), status: 302 },
  });
  const home = await bind(service, declareSecurity);
  const run = await smokeBound(service, home, ['--only', 'auth'], 'right-token');
  expect(run.check('auth/missing').reason).toBe(`redirected to ${service.url}/login with no credential`);
});

test('a token that the service sends back does not appear in any report', async () => {
  const token = 'very-secret-token';
  await using service = await startService({
    spoil: ({ target, fields }, answer) =>
      target === '/pets'
        ? withFields(withBody(answer, `${'x'.repeat(190)}${fields.authorization}`), {
            'content-type': 'text/plain',
          })
        : answer,
  });
  const file = join(folder, 'masked.xml');
  const env = { PETSTORE_TOKEN: token, GITHUB_STEP_SUMMARY: join(folder, 'summary.md') };
  const flags = ['--only', 'op/listPets', '-v', '-v', '--report', `junit=${file}`, '--report', 'github'];
  const run = await runCli(['smoke', '--base-url', service.url, '-o', 'json', ...flags], { env });
  const { readFile } = await import('node:fs/promises');
  const written = await Promise.all([file, env.GITHUB_STEP_SUMMARY].map((path) => readFile(path, 'utf8')));
  expect(run.code).toBe(7);
  for (const text of [run.stdout, run.stderr, ...written]) {
    expect(text).toContain('listPets');
    expect(text.replaceAll('\\', '')).not.toContain('very-sec');
  }
});

/** Runs the write checks against a description that limits names; gives the pet names that the service got. */
async function withShortNames(maxLength: number) {
  const names: string[] = [];
  await using service = await startService({
    spoil({ method, target }, answer) {
      if (method === 'POST' && target === '/pets') names.push(JSON.parse(String(answer.body)).name);
      return answer;
    },
  });
  const home = await bind(service, ({ components: { schemas } }) => {
    for (const schema of [schemas.NewPet, schemas.NewCategory])
      Object.assign(schema?.properties.name ?? {}, { maxLength });
  });
  const run = await smokeBound(service, home, ['--write', '--only', 'write']);
  return { run, names, methods: new Set(service.seen.map(({ method }) => method)) };
}

test('a short name keeps its random end', async () => {
  const { run, names } = await withShortNames(24);
  expect(run.code).toBe(0);
  expect(names).toHaveLength(2);
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^[0-9a-f-]{11}-[0-9a-f]{12}$/);
});

test('a list that requires a filter is asked with one of its values, also by doctor', async () => {
  await using service = await startService();
  const home = await bind(service, ({ paths }) => {
    const list = paths['/pets']?.get?.parameters as unknown as JsonObject[];
    const status = list.find(({ name }) => name === 'status');
    Object.assign(status ?? {}, { required: true, schema: { type: 'array', items: status?.schema } });
    for (const path of Object.keys(paths)) if (!path.startsWith('/pets')) delete paths[path];
  });
  const run = await smokeBound(service, home, ['--write', '--yes']);
  expect(run.check('reach/http')).toMatchObject({ result: 'pass' });
  expect(run.check('op/getPet')).toMatchObject({ result: 'pass' });
  const lists = () =>
    service.seen.filter(({ method, target }) => method === 'GET' && /^\/pets(\?|$)/.test(target));
  await runCli(['doctor'], { env: { PETSTORE_CONFIG_DIR: home[0] ?? '' } });
  expect(lists().length).toBeGreaterThan(1);
  for (const { target } of lists()) expect(target).toMatch(/[?&]status=(available|pending|sold)/);
});

test('nothing is created if the caller must choose the id, which might overwrite a record', async () => {
  await using service = await startService();
  const home = await bind(service, ({ components: { schemas } }) => {
    const { NewPet } = schemas;
    if (!NewPet) return;
    NewPet.properties.id = { type: 'integer' };
    (NewPet.required as string[]).push('id');
  });
  const { check } = await smokeBound(service, home, ['--write', '--yes', '--only', 'write/*']);
  expect(check('write/category').result).toBe('pass');
  for (const id of ['write/pet', 'write/order', 'write/inventory'])
    expect(check(id)).toMatchObject({
      result: 'skip',
      reason: expect.stringContaining('createPet: the caller chooses the id'),
    });
});

test('nothing is written if names may have fewer than 20 characters', async () => {
  const { run, methods } = await withShortNames(19);
  expect(run.code).toBe(2);
  expect([...methods]).toEqual(['GET']);
  for (const name of ['category', 'pet', 'inventory', 'order'])
    expect(run.check(`write/${name}`)).toMatchObject({
      result: 'skip',
      reason: 'names may have only 19 characters, too few to be certainly ours',
    });
});

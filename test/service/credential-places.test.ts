import { describe, expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import { bindTo } from '../helpers/bound.ts';
import { type Reply, recordingServer, type Seen } from '../helpers/recording-server.ts';
import { type Run, runCli } from '../helpers/run-cli.ts';

const token = 'a secret+key';
const rex = { id: 1, name: 'Rex', categoryId: 1, status: 'sold' };

/** Adds security schemes to the description of the table. */
function description(schemes: Record<string, unknown>): object {
  const document = toOpenApi();
  return {
    ...document,
    components: { ...(document.components as object), securitySchemes: schemes },
    security: Object.keys(schemes).map((name) => ({ [name]: [] })),
  };
}

/** Binds a service with these security schemes, and runs the program against it with a token. */
async function secured(schemes: Record<string, unknown>, answer: (seen: Seen) => Reply) {
  const server = await recordingServer({ '/openapi.json': description(schemes) }, answer);
  const bound = await bindTo(server, undefined, { PETSTORE_TOKEN: token });
  return { server, ...bound, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const inQuery = { key: { type: 'apiKey', in: 'query', name: 'k' } };
const pets = (): Reply => ({ body: [rex] });

function expectNoToken({ stdout, stderr }: Run): void {
  expect(stdout + stderr).not.toContain('secret');
}

test('a profile that puts the token elsewhere is told how to leave the place to the description', async () => {
  await using service = await secured(inQuery, pets);
  const { run, done, server } = service;
  await done(`profile create p --base-url ${server.url}`);
  await done('profile use p');
  await done('config set --profile p auth-header X-Mine');
  const { words } = await run('api bind');
  const [, line = ''] = /to leave it to the description: `petstore (.*?)`/.exec(words) ?? [];
  expect((await run(line)).stderr).toBe('profiles.p.auth-header is no longer set\n');
});

describe('a service that takes its key in the query', () => {
  test('gets it in every request: on the next page and after a redirect too, once, without Authorization', async () => {
    await using service = await secured(inQuery, ({ path }) => {
      if (path.startsWith('/pets?after=1')) return { body: [{ ...rex, id: 2 }] };
      if (path.startsWith('/moved'))
        return { body: [rex], headers: { link: '</pets?after=1&k=a%20secret%2Bkey>; rel="next"' } };
      return { status: 307, headers: { location: '/moved' } };
    });
    expect((await service.run('pets list --status sold -o ids')).stdout).toBe('1\n2\n');
    const sent = 'k=a%20secret%2Bkey';
    expect(service.server.seen.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      [`/pets?status=sold&limit=1000&${sent}`, undefined],
      [`/moved?${sent}`, undefined],
      [`/pets?after=1&${sent}`, undefined],
    ]);
  });

  test('never shows it: in traces, dry runs or errors', async () => {
    await using service = await secured(inQuery, ({ path }) => ({
      status: 500,
      body: { code: 'x', message: `no ${path}`, status: 500 },
    }));
    const failed = await service.run('pets get 1 -v -v --retries 0 -o json');
    expect(failed.code).toBe(6);
    expect(failed.stderr).toContain('/pets/1?k=***');
    expectNoToken(failed);
    const planned = await service.run('pets create --name a --category 1 --dry-run');
    expect(planned.stdout).toContain('/pets?k=***');
    expectNoToken(planned);
    const raw = await service.run('api request GET /pets --dry-run -o json');
    expect(JSON.parse(raw.stdout).url).toBe(`${service.server.url}/pets?k=***`);
  });

  test("gets the caller's key instead if the request has one", async () => {
    await using service = await secured(inQuery, pets);
    await service.run('api request GET /pets?k=other');
    expect(service.server.seen[0]?.path).toBe('/pets?k=other');
  });

  test('is mentioned by bind, doctor and explain', async () => {
    await using service = await secured(inQuery, pets);
    const binding = await service.run('api bind --dry-run');
    expect(binding.words).toContain('in the query parameter k, as the description asks');
    expect((await service.run('doctor')).stdout).toContain('sent in the query parameter k');
    const explained = await service.run('config explain -o json');
    const row = JSON.parse(explained.stdout).find(({ key }: { key: string }) => key === 'token');
    expect(row.value).toBe('set, sent in the query parameter k');
  });
});

test('each operation gets the token in its own place, and one that no token can serve is named', async () => {
  const document = toOpenApi() as { paths: Record<string, Record<string, object>> };
  const operation = (path: string, method: string, security: object[]) => ({
    [path]: { ...document.paths[path], [method]: { ...document.paths[path]?.[method], security } },
  });
  const both = operation('/pets/{petId}', 'get', [{ key: [] }]);
  Object.assign(both['/pets/{petId}']?.delete ?? {}, { security: [{ tls: [] }] });
  const paths = {
    ...document.paths,
    ...both,
    ...operation('/pets', 'get', [{ oauth: ['read'] }]),
    ...operation('/store/orders', 'get', [{ inQuery: [] }, { key: [] }]),
  };
  const securitySchemes = {
    oauth: { type: 'oauth2', flows: {} },
    key: { type: 'apiKey', in: 'header', name: 'api_key' },
    inQuery: { type: 'apiKey', in: 'query', name: 'k' },
    tls: { type: 'mutualTLS' },
  };
  const components = { ...(document as { components?: object }).components, securitySchemes };
  await using server = await recordingServer(
    { '/openapi.json': { ...document, paths, components } },
    ({ path }) => ({ body: path.startsWith('/pets/') ? rex : [] }),
  );
  const { run } = await bindTo(server, undefined, { PETSTORE_TOKEN: token });
  const { words } = await run('api bind --dry-run');
  expect(words).toContain('of getPet the token is sent in the header api_key');
  expect(words).toContain('of listOrders the token is sent in the query parameter k');
  expect(words).toContain('no token serves deletePet: the description requires tls of it');
  server.seen.length = 0;
  for (const line of ['categories list', 'pets get 1', 'orders list']) await run(line);
  const sent = server.seen.map(({ path, headers: { authorization, api_key: key } }) => [
    path.split(/[?/]/)[1],
    path.includes('k=a%20secret'),
    authorization,
    key,
  ]);
  const bearer = `Bearer ${token}`;
  expect(sent).toContainEqual(['categories', false, bearer, undefined]);
  expect(sent).toContainEqual(['pets', false, undefined, token]);
  expect(sent).toContainEqual(['store', true, undefined, undefined]);
  expectNoToken(await run('orders list -vv'));
  expectNoToken(await run('pets get 1 -vv'));
});

test.each<[what: string, schemes: Record<string, unknown>, setting: string, headers: object]>([
  [
    'Authorization, if the service accepts it',
    { ...inQuery, token: { type: 'http', scheme: 'bearer' } },
    'output table',
    { authorization: `Bearer ${token}` },
  ],
  ['the header in the config', inQuery, 'auth-header X-Own', { 'x-own': `Bearer ${token}` }],
])('%s takes precedence over the query', async (_, schemes, setting, headers) => {
  await using service = await secured(schemes, pets);
  await service.run(`config set ${setting}`);
  await service.run('orders get 1');
  expect(service.server.seen[0]).toMatchObject({ path: '/store/orders/1', headers });
});

test.each([
  [{ type: 'apiKey', in: 'header', name: 'Content-Type' }, 'the header content-type, which cannot hold it'],
  [{ type: 'apiKey', in: 'header', name: 'X Key' }, 'the header x key, which cannot hold it'],
  [{ type: 'apiKey', in: 'query', name: 'status' }, 'the query status, which is a parameter of listPets'],
])('a place that requests need for something else is refused: %j', async (key, why) => {
  const argv = ['api', 'bind', '-', '--base-url', 'http://service.test', '--dry-run'];
  const refused = await runCli(argv, { stdin: JSON.stringify(description({ key })) });
  expect(refused.code).toBe(2);
  expect(refused.stderr.replace(/\s+/g, ' ')).toContain(`the description puts the token into ${why}`);
});

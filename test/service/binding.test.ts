import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import { ambiguous, json, sparse, warehouse } from '../helpers/descriptions.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { failed, type Line, type Run, runCli } from '../helpers/run-cli.ts';
import { cliPath, nodeBinary, spawnCli } from '../helpers/spawn-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

// `api bind` stores a binding for a profile or an origin, and reports the matches.

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

function run(line: Line, address = 'http://service.test', env = {}) {
  return runCli(line, { env: { PETSTORE_CONFIG_DIR: folder, PETSTORE_BASE_URL: address, ...env } });
}

/** The rows of a JSON table by operation. */
function rows({ stdout }: Run): Record<string, Record<string, unknown>> {
  return Object.fromEntries(JSON.parse(stdout).map((row: { operation: string }) => [row.operation, row]));
}

async function file(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function sourceOf(flags = '', address?: string): Promise<unknown> {
  return rows(await run(`api operations -o json ${flags}`.trim(), address)).listOrders?.source;
}

describe('a binding', () => {
  test('is shown as a table with its reasons, and summed up in one line', async () => {
    const result = await run(['api', 'bind', await file('openapi.yaml', warehouse)]);
    expect(result.code).toBe(0);
    const lines = result.stdout.split('\n', 4);
    expect(lines.map((line) => line.trimEnd().split(/ {2,}/))).toEqual([
      ['operation', 'method', 'path', 'why'],
      ['listPets', 'GET', '/animals', 'its operationId is the same'],
      ['createPet', 'POST', '/animals', 'its operationId is the same'],
      ['getPet', 'GET', '/animals/{pet_id}', 'its operationId is the same'],
    ]);
    expect(result.stderr).toBe(
      '9 of 20 operations bound, below http://service.test; stored for http://service.test\n',
    );
  });

  test('is one line if every operation is as built in', async () => {
    const result = await run(['api', 'bind', await file('built-in.json', toOpenApi())]);
    expect([result.code, result.stdout]).toEqual([0, '']);
    expect(result.stderr).toContain('all 20 operations bound as built in, below http://service.test; stored');
  });

  test('is stored: operations come from it until `api unbind`', async () => {
    await run(['api', 'bind', await file('openapi.json', toOpenApi({ sunset: '2027-12-31' }))]);
    const operation = { operation: 'getPet', method: 'GET', path: '/pets/{petId}', tag: 'Pets' };
    const state = { stability: 'stable', deprecated: true, sunset: '2027-12-31', tryIt: true };
    const match = { source: 'bound', why: 'its operationId is the same' };
    const { getPet } = rows(await run('api operations -o json'));
    expect(getPet).toEqual({ ...operation, ...state, ...match });
    const removed =
      'removed the binding of http://service.test; http://service.test has the built-in contract\n';
    expect(await run('api unbind')).toMatchObject({ code: 0, stdout: '', stderr: removed });
    expect(await sourceOf()).toBe('stated');
    expect((await run('api unbind')).stderr).toMatch(/^no binding is stored; /);
  });

  test('belongs to the origin and the profile that were bound, and to no other address', async () => {
    const profiles = {
      one: { 'base-url': 'http://one.test' },
      also: { 'base-url': 'http://one.test' },
      two: { 'base-url': 'http://two.test' },
    };
    await file('config.json', { profiles });
    const path = await file('sparse.json', sparse);
    const boundWith = async (...flags: string[]) => {
      const sources = await Promise.all(flags.map(async (flag) => [flag, await sourceOf(flag, '')]));
      return sources.flatMap(([flag, source]) => (source === 'bound' ? [flag] : []));
    };
    await run(['api', 'bind', path, '--profile', 'one'], '');
    const others = ['--profile two', '--profile also', '--base-url http://one.test', '--offline'];
    const elsewhere = '--profile one --base-url http://other.test';
    expect(await boundWith('--profile one', ...others, elsewhere)).toEqual(['--profile one']);
    await run(['api', 'bind', path, '--base-url', 'http://two.test/v1'], '');
    const addresses = ['--profile two', '--base-url http://two.test', '--base-url http://two.test:81'];
    expect(await boundWith(...addresses)).toEqual(['--profile two', '--base-url http://two.test']);
    await run('api unbind --base-url http://two.test', '');
    expect(await boundWith(...addresses)).toEqual([]);
  });

  test('is named by its profile, and a config that was copied without its file is exit 2', async () => {
    await file('config.json', { profiles: { one: { 'base-url': 'http://one.test' } } });
    await run(['api', 'bind', await file('sparse.json', sparse), '--profile', 'one'], '');
    const config = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'));
    expect(config.profiles.one).toEqual({ 'base-url': 'http://one.test', contract: 'contracts/one.json' });
    await rm(join(folder, 'contracts'), { recursive: true });
    expect(await run('orders list --profile one', '')).toMatchObject(
      failed(2, 'contracts/one.json: there is no such file, and profile one names it'),
    );
    expect(await run('api unbind --profile one', '')).toMatchObject({ code: 0 });
    expect(await sourceOf('--profile one', '')).toBe('stated');
  });

  test('is deleted with its profile', async () => {
    await run('profile create one --base-url http://one.test');
    await run(['api', 'bind', await file('sparse.json', sparse), '--profile', 'one'], '');
    await run('profile delete one --yes');
    await run('profile create one --base-url http://one.test');
    expect(await sourceOf('--profile one', '')).toBe('stated');
  });

  test('does not apply to the command of `serve --` at its address, nor does the protected profile', async () => {
    const { url, ...server } = await recordingServer({});
    await run(['api', 'bind', await file('sparse.json', sparse)], url);
    await run(`profile create shop --base-url ${url}`);
    await run('config set --profile shop protected true');
    await server[Symbol.asyncDispose]();
    const command = [nodeBinary, cliPath, 'orders', 'delete', '1', '--yes'];
    const env = { PETSTORE_CONFIG_DIR: folder };
    const served = await spawnCli(['serve', '--port', new URL(url).port, '--', ...command], { env });
    expect(served.code).toBe(0);
  });

  test('needs an address, and is refused for the embedded store', async () => {
    const path = await file('sparse.json', sparse);
    for (const argv of [['api', 'bind', path], 'api bind', 'api unbind']) {
      const refused = await run(argv, '');
      expect(refused).toMatchObject(failed(2, 'no base URL is set'));
    }
    expect(await run(['api', 'bind', path, '--offline'], '')).toMatchObject(
      failed(2, 'error: api bind: the embedded store has the built-in contract\n'),
    );
  });
});

test('a tie stays unbound and is reported with exit code 3; the rest is stored', async () => {
  const result = await run(['api', 'bind', await file('a.json', ambiguous), '-o', 'json']);
  expect(result.code).toBe(3);
  expect(rows(result).listInventory).toMatchObject({
    method: null,
    why: "2 operations fit equally: --map listInventory='GET /a/inventory', --map listInventory='GET /b/inventory'",
  });
  expect(JSON.parse(result.stderr.split('\n').at(-2) ?? '').error).toMatchObject({ kind: 'partial' });
  expect(rows(await run('api operations -o json')).listPets).toMatchObject({ source: 'bound' });
});

const stored = 'contracts/origins/http%3A%2F%2Fservice.test.json';

test('a document that cannot be bound leaves the binding as it was', async () => {
  await run(['api', 'bind', await file('good.json', sparse)]);
  const before = await readFile(join(folder, stored), 'utf8');
  for (const document of [{ hello: 'world' }, { openapi: '3.0.0', paths: { '/health': { get: {} } } }])
    expect((await run(['api', 'bind', await file('bad.json', document)])).stderr).toMatch(
      /^error: (description .*bad.json: is not OpenAPI 3|api bind .*\nhint: it has GET \/health: name its operations with --map )/,
    );
  expect(await readFile(join(folder, stored), 'utf8')).toBe(before);
});

test('a default that may leave out records of a list is a note, until --map sets its parameter', async () => {
  const query = (name: string, schema: object) => ({ name, in: 'query', schema });
  const parameters = [
    query('min_quantity', { type: 'integer', default: 1 }),
    query('include_archived', { type: 'boolean', default: false }),
    query('scope', { type: 'string', enum: ['active', 'all'], default: 'active' }),
    query('zones', { type: 'array', items: { enum: ['a', 'b'] }, default: ['a'] }),
    { ...query('reviewed', { type: 'boolean', default: true }), required: true },
    query('view', { type: 'string', enum: ['short', 'full'], default: 'full' }),
    query('page', { type: 'integer', default: 1 }),
    query('sort_desc', { type: 'boolean', default: false }),
    query('q', { type: 'string', default: '' }),
    query('max_quantity', { type: 'integer' }),
  ];
  const paths = { '/stock/inventory': { get: { parameters, responses: {} } } };
  const path = await file('defaults.json', { openapi: '3.0.3', paths });
  const { stderr } = await run(['api', 'bind', path]);
  expect(stderr).toContain(
    "note: listInventory may lack records, because the service has the default min_quantity=1, include_archived=false, scope=active, zones=a, reviewed=true; to send another value, add a flag like --map listInventory='GET /stock/inventory?min_quantity=<value>'\n",
  );
  const map =
    'listInventory=GET /stock/inventory?min_quantity=0&include_archived=true&scope=all&zones=b&reviewed=false';
  expect((await run(['api', 'bind', path, '--map', map])).stderr).not.toContain('note');
});

test('a noun whose fields have other names is a note with the flag that names them', async () => {
  const items = { type: 'object', properties: { id: { type: 'integer' }, title: {} } };
  const get = { responses: { 200: json({ type: 'array', items }) } };
  const paths = { '/categories': { get }, '/pets': { get: { responses: {} } } };
  const path = await file('named.json', { openapi: '3.0.3', paths });
  const { stderr } = await run(['api', 'bind', path]);
  expect(stderr).toMatch(/^note: listCategories: .* id, title: .* --map categories.name=<field>$/m);
});

describe('the servers of a description', () => {
  test.each(['/v1', 'relative'])('give the path below which its operations lie: %s', async (kind) => {
    await using server = await recordingServer({}, () => ({ body: [] }));
    const url = kind === 'relative' ? './v1/' : `${server.url}/v1`;
    const path = await file('v1.json', {
      ...sparse,
      servers: [{ url: 'https://elsewhere.test/v0' }, { url }],
    });
    const result = await run(['api', 'bind', path], server.url);
    expect(result.stderr).toContain(`bound, below ${server.url}/v1; stored`);
    expect(await run('orders list', server.url)).toMatchObject({ code: 0 });
    expect(await run('orders list', `${server.url}/own`)).toMatchObject({ code: 0 });
    expect(server.calls()).toEqual(['GET /v1/store/orders', 'GET /own/store/orders']);
  });

  test('are overridden by --base-path', async () => {
    await using server = await recordingServer({}, ({ path }) =>
      path.startsWith('/v1/') ? { status: 404 } : { body: [{ id: 1 }] },
    );
    const path = await file('v1.json', { ...sparse, servers: [{ url: '/v1' }] });
    await run(['api', 'bind', path], server.url);
    expect(await run('orders list', server.url)).toMatchObject({ code: 6 });
    const bound = await run(['api', 'bind', path, '--base-path', '/'], server.url);
    expect(bound.stderr).toContain(`bound, below ${server.url}; stored`);
    expect(await run('orders list', server.url)).toMatchObject({ code: 0 });
    await run(['api', 'bind', path, '--base-path', '/v2/'], server.url);
    expect(await run('orders get 1 --dry-run', server.url)).toMatchObject({ code: 2 });
    await run('orders list', server.url);
    expect(server.calls().at(-1)).toBe('GET /v2/store/orders');
    for (const wrong of ['v2', '/a?b', '/../x', ''])
      expect(await run(['api', 'bind', path, '--base-path', wrong], server.url)).toMatchObject(
        failed(2, /^error: --base-path.*: must be a path such as /),
      );
    expect(await run(['api', 'bind', path, '--base-path', '/v2'], `${server.url}/own`)).toMatchObject(
      failed(2, '/own has a path already'),
    );
  });

  test('and the base URL may have the path that all operations have too: it is taken once', async () => {
    await using server = await recordingServer({}, ({ path }) =>
      path.startsWith('/api/v1/pets') ? { body: [] } : { status: 404 },
    );
    const get = { responses: {} };
    const paths = { '/api/v1/pets': { get }, '/api/v1/old/{id}': { get }, '/api/v1/orders': { get } };
    const path = await file('prefix.json', { openapi: '3.0.3', paths });
    const base = `${server.url}/api/v1`;
    const bound = await run(['api', 'bind', path, '--map', 'getPet=GET /api/v1/old/{id}'], base);
    expect(bound.stderr).toBe(`3 of 20 operations bound, below ${base}; stored for ${server.url}\n`);
    expect(bound.stdout).toMatch(/getPet +GET +\/old\/\{id\}/);
    for (const url of [base, server.url]) expect(await run('pets list', url)).toMatchObject({ code: 0 });
    expect(server.calls()).toEqual(['GET /api/v1/pets', 'GET /api/v1/pets']);
    const wrong = await run('orders list', base);
    expect(wrong).toMatchObject(failed(6, 'the paths in `petstore api operations`'));
    await run(['api', 'bind', path], `${server.url}/api/v`);
    await run('pets list', `${server.url}/api/v`);
    expect(server.calls().at(-1)).toBe('GET /api/v/api/v1/pets');
  });

  test('of one operation leave it unbound, unless they are those of the document', async () => {
    const servers = [{ url: '/v1' }];
    const get = { responses: {} };
    const path = await file('own.json', {
      openapi: '3.0.3',
      servers,
      paths: {
        '/orders': { get: { ...get, servers: [{ url: '/v2' }] } },
        '/pets': { servers: [{ url: 'https://elsewhere.test/v1' }], get },
        '/categories': { get, servers },
      },
    });
    const { stdout } = await run(['api', 'bind', path]);
    expect(stdout).toMatch(
      /listPets +GET \/pets does not fit: it has a server of its own, https:\/\/elsewhere/,
    );
    expect(stdout).toMatch(/listOrders +GET \/orders does not fit: it has a server of its own, \/v2/);
    expect(stdout).toMatch(/listCategories +GET +\/categories/);
  });
});

test.each(['{"version": 6,', '{"version": 3}', '[]', '{"openapi": "3.0.3"}'])(
  'a stored contract that cannot be read stops each command, until it is unbound: %s',
  async (text) => {
    const path = join(folder, stored);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: 0o600 });
    for (const line of ['pets list', 'pets delete 1 --yes', 'smoke', 'inventory export']) {
      const refused = await run(line);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain('api unbind --base-url http://service.test');
      expect(refused.stderr).toContain(path);
    }
    expect(await readFile(path, 'utf8')).toBe(text);
    const env = { PETSTORE_CONTRACT: path };
    expect(await run('pets list', undefined, env)).toMatchObject(failed(2, 'hint: unset PETSTORE_CONTRACT'));
    const warning = expect.stringMatching(/^removed .*\.test\nwarning: PETSTORE_CONTRACT is set/);
    expect(await run('api unbind', undefined, env)).toMatchObject({ code: 0, stderr: warning });
    expect(await run('api operations')).toMatchObject({ code: 0 });
  },
);

test.each(['Host', 'content-length', 'Transfer-Encoding', 'Connection', 'Cookie', 'X Y', 'X:Y', ''])(
  'a description cannot set a header of the connection: %j',
  async (name) => {
    const header = { name, in: 'header', required: true, schema: { enum: ['elsewhere.test'] } };
    const paths = { '/pets': { get: { parameters: [header], responses: {} } } };
    const path = await file('h.json', { openapi: '3.0.3', paths });
    expect(rows(await run(['api', 'bind', '-o', 'json', path])).listPets).toMatchObject({
      method: null,
      why: `GET /pets does not fit: it needs the header parameter ${name}, which petstore has no value for`,
    });
  },
);

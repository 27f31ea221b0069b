import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toOpenApi } from '../../../src/api/openapi.ts';
import { ambiguous, sparse, unnamed, warehouse, wrapped } from '../../helpers/descriptions.ts';
import { runTyping } from '../../helpers/person.ts';
import { recordingServer } from '../../helpers/recording-server.ts';
import { type Run, type RunOptions, runCli } from '../../helpers/run-cli.ts';
import { cliPath, nodeBinary } from '../../helpers/spawn-cli.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-bind-'));
});
afterEach(() => rm(folder, { recursive: true }));

function run(argv: readonly string[], { env = {}, ...options }: RunOptions = {}): Promise<Run> {
  return runCli(argv, { ...options, env: { PETSTORE_CONFIG_DIR: folder, ...env } });
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

describe('a binding', () => {
  test('is shown as a table with confidence and reason, and summed up in one line', async () => {
    const bound = await run(['api', 'bind', await file('openapi.yaml', warehouse)]);
    expect(bound.code).toBe(0);
    expect(bound.stdout.split('\n').slice(0, 4)).toEqual(
      [
        'operation        state    method  path                 confidence  why',
        'listPets         bound    GET     /animals             high        answers Pets',
        'createPet        bound    POST    /animals             high        takes NewPet',
        'getPet           bound    GET     /animals/{animal_id}  high       answers Pet',
      ].map((line) => expect.stringMatching(new RegExp(line.replace(/[{}/]/g, '\\$&').replace(/ +/g, ' +')))),
    );
    expect(bound.stderr).toContain('9 of 20 operations bound');
    expect(bound.stderr).toContain('the top level of the config');
  });

  test('is stored: operations come from it until `api unbind`', async () => {
    await run(['api', 'bind', await file('openapi.json', toOpenApi())]);
    const operations = rows(await run(['api', 'operations', '-o', 'json']));
    expect(operations.getPet).toEqual({
      operation: 'getPet',
      method: 'GET',
      path: '/pets/{petId}',
      tag: 'Pets',
      source: 'bound',
      stability: 'stable',
      deprecated: true,
      sunset: '2027-12-31',
      tryIt: true,
    });
    expect(await run(['api', 'unbind'])).toMatchObject({ code: 0, stdout: '' });
    expect(rows(await run(['api', 'operations', '-o', 'json'])).getPet).toMatchObject({ source: 'stated' });
    expect(await run(['api', 'unbind'])).toMatchObject({ code: 0 });
  });

  test('is not stored with --dry-run', async () => {
    const shown = await run(['api', 'bind', await file('openapi.json', toOpenApi()), '--dry-run']);
    expect(shown.code).toBe(0);
    expect(rows(await run(['api', 'operations', '-o', 'json'])).listPets).toMatchObject({ source: 'chosen' });
  });

  test('belongs to the active profile; the one of the top level applies to profiles without one', async () => {
    const profiles = { one: { 'base-url': 'http://one.test' }, two: { 'base-url': 'http://two.test' } };
    await file('config.json', { profiles });
    const sourceIn = async (...flags: string[]) =>
      rows(await run(['api', 'operations', '-o', 'json', ...flags])).listOrders?.source;
    await run(['api', 'bind', await file('sparse.json', sparse), '--profile', 'one']);
    expect(await sourceIn('--profile', 'one')).toBe('bound');
    expect(await sourceIn('--profile', 'two')).toBe('stated');
    expect(await sourceIn()).toBe('stated');
    await run(['api', 'bind', join(folder, 'sparse.json')]);
    expect(await sourceIn('--profile', 'two')).toBe('bound');
    expect(await sourceIn('--offline')).toBe('stated');
  });

  test('is refused for the embedded store', async () => {
    const refused = await run(['api', 'bind', await file('sparse.json', sparse), '--offline']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('a tie', () => {
  test('stays unbound and is reported with exit code 3; the rest is stored', async () => {
    const bound = await run(['api', 'bind', await file('a.json', ambiguous), '-o', 'json']);
    expect(bound.code).toBe(3);
    expect(rows(bound).updateInventory).toMatchObject({ state: 'ambiguous', method: null });
    expect(JSON.parse(bound.stderr).error).toMatchObject({ kind: 'partial' });
    expect(JSON.parse(bound.stderr).error.hint).toContain('--map');
    expect(rows(await run(['api', 'operations', '-o', 'json'])).listPets).toMatchObject({ source: 'bound' });
  });

  test('is settled by --map', async () => {
    const path = await file('a.json', ambiguous);
    const maps = ['--map', 'updateInventory=PATCH /stock/{petId}', '--map', 'getPet=get /pets/{id}'];
    const bound = await run(['api', 'bind', path, ...maps, '-o', 'json']);
    expect(bound.code).toBe(0);
    expect(rows(bound).updateInventory).toMatchObject({
      state: 'bound',
      method: 'PATCH',
      path: '/stock/{id}',
    });
  });

  test('is settled by the user on a terminal', async () => {
    const down = '\u001b[B';
    const path = await file('a.json', ambiguous);
    const answers = [
      ['Which one is getPet?', '\r'],
      ['Which one is updateInventory?', `${down}\r`],
    ] as const;
    const env = { PETSTORE_CONFIG_DIR: folder };
    const bound = await runTyping(['api', 'bind', path, '-o', 'json'], answers, { env });
    expect(bound.code).toBe(0);
    expect(rows(bound).getPet).toMatchObject({ state: 'bound', path: '/pets/{id}', why: 'you said so' });
    expect(rows(bound).updateInventory).toMatchObject({ state: 'bound', method: 'PATCH' });
  });

  test.each([
    ['updateInventory', 'must be <operation>=<METHOD> <path>'],
    ['updateStock=PUT /stock/{id}', 'there is no such operation'],
    ['updateInventory=PUT /nowhere', 'the description has no PUT /nowhere'],
    ['deletePet=GET /pets', 'deletePet takes one id, and its path has none'],
  ])('a --map of %s is an error and changes nothing', async (map, why) => {
    const refused = await run(['api', 'bind', await file('a.json', ambiguous), '--map', map]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(why);
    expect(rows(await run(['api', 'operations', '-o', 'json'])).listPets).toMatchObject({ source: 'chosen' });
  });
});

describe('a bad document changes nothing', () => {
  test.each([
    [
      'nothing of ours in it',
      { openapi: '3.0.0', info: {}, paths: { '/health': { get: { responses: {} } } } },
    ],
    ['no OpenAPI', { hello: 'world' }],
    ['no JSON', '{"openapi": "3.0.0", '],
    [
      'a reference that leads nowhere',
      { openapi: '3.0.0', paths: { '/a': { $ref: '#/components/pathItems/a' } } },
    ],
    [
      'a reference to another host',
      { openapi: '3.0.0', paths: { '/a': { $ref: 'http://127.0.0.1:9/a.yaml' } } },
    ],
    [
      'a reference out of its folder',
      { openapi: '3.0.0', paths: { '/a': { $ref: '../../../../../etc/passwd' } } },
    ],
    [
      'a reference that is no path',
      { openapi: '3.0.0', paths: { '/a': { $ref: 'file://elsewhere/a.yaml' } } },
    ],
  ])('%s', async (_, document) => {
    await run(['api', 'bind', await file('good.json', sparse)]);
    const before = await readFile(join(folder, 'contract.json'), 'utf8');
    const refused = await run(['api', 'bind', await file('bad.json', document)]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/^error: /);
    expect(refused.stderr).not.toContain('root:');
    expect(await readFile(join(folder, 'contract.json'), 'utf8')).toBe(before);
  });

  test('a file that does not exist', async () => {
    const refused = await run(['api', 'bind', join(folder, 'none.yaml')]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('no such file');
  });

  test('the URL of a file on another machine', async () => {
    const refused = await run(['api', 'bind', 'file://elsewhere/openapi.json']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^error: description file:\/\/elsewhere\/openapi.json: /);
  });
});

describe('a document from a URL', () => {
  test('is fetched, with the documents on its origin that it refers to', async () => {
    const list = {
      content: { 'application/json': { schema: { type: 'array', items: { $ref: 'Pet.yaml' } } } },
    };
    await using server = await recordingServer({
      '/docs/openapi.json': { openapi: '3.0.0', paths: { '/a': { get: { responses: { 200: list } } } } },
      '/docs/Pet.yaml': 'type: object\nproperties: { id: {}, name: {}, categoryId: {} }',
    });
    const bound = await run(['api', 'bind', `${server.url}/docs/openapi.json`, '-o', 'json']);
    expect(bound.code).toBe(0);
    expect(rows(bound).listPets).toMatchObject({ path: '/a', why: 'answers an array of Pet (no status)' });
  });

  test('is not followed to another origin, and the message names the place', async () => {
    const location = 'https://docs.invalid/v2/openapi.json';
    await using plain = await recordingServer({}, () => ({ status: 301, headers: { location } }));
    const refused = await run(['api', 'bind', `${plain.url}/openapi.json`]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(location);
  });

  test('must not refer to another origin, which is never asked', async () => {
    await using other = await recordingServer({ '/a.yaml': 'get: {}' });
    await using server = await recordingServer({
      '/openapi.json': { openapi: '3.0.0', paths: { '/a': { $ref: `${other.url}/a.yaml` } } },
    });
    const refused = await run(['api', 'bind', `${server.url}/openapi.json`]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('of its own origin only');
    expect(other.seen).toEqual([]);
  });

  test('is asked with the credential only with --with-token, and only on the origin of the service', async () => {
    await using docs = await recordingServer({ '/openapi.json': sparse });
    const env = { PETSTORE_TOKEN: 'secret' };
    const url = `${docs.url}/openapi.json`;
    await run(['profile', 'create', 'far', '--base-url', 'http://127.0.0.1:9']);
    await run(['profile', 'create', 'near', '--base-url', `${docs.url}/v1`]);
    const far = await run(['api', 'bind', url, '--profile', 'far', '--with-token'], { env });
    expect(far).toMatchObject({ code: 0 });
    await run(['api', 'bind', url, '--profile', 'near'], { env });
    await run(['api', 'bind', url, '--base-url', 'http://127.0.0.1:9', '--with-token'], { env });
    expect(docs.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined, undefined]);
    await run(['api', 'bind', url, '--profile', 'near', '--with-token'], { env });
    expect(docs.seen.at(-1)?.headers.authorization).toBe('Bearer secret');
  });

  test('is looked up at the well-known paths if the address redirects to another origin', async () => {
    await using login = await recordingServer({ '/': sparse });
    await using server = await recordingServer({ '/openapi.json': sparse }, ({ path }) =>
      path === '/' ? { status: 302, headers: { location: login.url } } : { status: 404 },
    );
    const bound = await run(['api', 'bind', server.url, '--retries', '0']);
    expect(bound).toMatchObject({ code: 0 });
    expect(bound.stderr).toContain(`found the description at ${server.url}/openapi.json`);
    expect(login.seen).toEqual([]);
  });

  test('that does not exist is an error that lists what was tried', async () => {
    await using server = await recordingServer({});
    const refused = await run(['api', 'bind', `${server.url}/openapi.json`, '--retries', '0']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(`${server.url}/openapi.json (404)`);
  });
});

describe('the servers of a description', () => {
  const baseUrl = async () => (await run(['config', 'get', 'base-url'])).stdout.trim();

  test('are offered if no base URL is set, and --yes takes the first', async () => {
    const path = await file('w.yaml', warehouse);
    const bound = await run(['api', 'bind', path]);
    expect(bound.stderr).toContain('config set base-url https://eu.warehouse.test/api/v2');
    expect(bound.stderr).toContain('a token is sent in the header x-api-key, as the description asks');
    await run(['api', 'bind', path, '--yes']);
    expect(await baseUrl()).toBe('https://eu.warehouse.test/api/v2');
  });

  test('do not change an existing base URL', async () => {
    await run(['config', 'set', 'base-url', 'http://mine.test']);
    const bound = await run(['api', 'bind', await file('w.yaml', warehouse), '--yes']);
    expect(bound.stderr).toContain('commands go to http://mine.test');
    expect(await baseUrl()).toBe('http://mine.test');
  });
});

test('deleting a profile deletes its contract', async () => {
  await run(['profile', 'create', 'one', '--base-url', 'http://one.test']);
  await run(['api', 'bind', await file('sparse.json', sparse), '--profile', 'one']);
  await run(['profile', 'delete', 'one', '--yes']);
  await run(['profile', 'create', 'one', '--base-url', 'http://one.test']);
  const operations = rows(await run(['api', 'operations', '-o', 'json', '--profile', 'one']));
  expect(operations.listOrders).toMatchObject({ source: 'stated' });
});

test.each(['no document', '{"swagger": "2.0"}', '{"openapi": "3.0.3", "paths": {}}'])(
  'the error about a document from stdin calls it stdin: %s',
  async (stdin) => {
    const refused = await run(['api', 'bind', '-'], { stdin });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/^error: (description|api bind) stdin: /);
  },
);

test('reads a document from stdin', async () => {
  const bound = await run(['api', 'bind', '-', '-o', 'json'], { stdin: JSON.stringify(unnamed) });
  expect(bound.code).toBe(0);
  expect(rows(bound).listPets).toMatchObject({ path: '/v1/beasts' });
});

test('reports a list that is wrapped in an object as unbindable', async () => {
  const bound = await run(['api', 'bind', await file('w.json', wrapped), '-o', 'json']);
  expect(bound.code).toBe(0);
  expect(rows(bound).listPets).toMatchObject({ state: 'unbindable', path: '/pets', confidence: null });
  const refused = await run(['pets', 'list', '--base-url', 'http://127.0.0.1:9']);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('holds the list in its field data');
});

test('a stored contract that does not parse is an error with a hint', async () => {
  await mkdir(folder, { recursive: true });
  await file('contract.json', '{"version": 1,');
  const refused = await run(['api', 'operations']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('contract.json');
  expect(refused.stderr).toContain('petstore api unbind');
  expect(await run(['api', 'unbind'])).toMatchObject({ code: 0 });
  expect(await run(['api', 'operations'])).toMatchObject({ code: 0 });
});

test('the hint about an unreadable contract of a profile names the profile', async () => {
  await mkdir(join(folder, 'contracts', 'b.json'), { recursive: true });
  await file('config.json', JSON.stringify({ profile: 'a', profiles: { a: {}, b: {} } }));
  const { stderr } = await run(['api', 'operations', '--profile', 'b']);
  expect(stderr).toMatch(/b\.json: is a folder\n/);
  expect(stderr.replace(/\s+/g, ' ')).toContain('with `petstore api unbind --profile b`');
});

test('converts a Swagger 2.0 description and says so', async () => {
  const text = await readFile('test/fixtures/petstore-expanded-2.0.yaml', 'utf8');
  const bound = await run(['api', 'bind', '-', '-o', 'json'], { stdin: text });
  expect(bound.code).toBe(0);
  expect(rows(bound).listPets).toMatchObject({
    method: 'GET',
    path: '/pets',
    why: 'answers an array of Pet (no categoryId, status)',
  });
  expect(bound.stderr).toContain('the description is Swagger 2.0: converted to OpenAPI 3.0');
  expect(bound.stderr).toContain('config set base-url http://petstore.swagger.io/api');
});

test('accepts any method that the user names', async () => {
  const answer = {
    description: 'ok',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Category' } } },
  };
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
  const path = await file('kinds.json', {
    openapi: '3.0.3',
    paths: {
      '/kinds/{id}': { parameters: [id], get: { responses: { 200: answer } } },
      '/kinds/{id}/retire': { parameters: [id], post: { responses: { 204: { description: 'gone' } } } },
    },
    components: { schemas: { Category: { type: 'object', properties: { id: {}, name: {} } } } },
  });
  const bound = await run([
    'api',
    'bind',
    path,
    '--map',
    'deleteCategory=POST /kinds/{id}/retire',
    '-o',
    'json',
  ]);
  expect(bound.code).toBe(0);
  expect(rows(bound).deleteCategory).toMatchObject({
    state: 'bound',
    method: 'POST',
    path: '/kinds/{id}/retire',
  });
  await using server = await recordingServer({}, () => ({ status: 204 }));
  const argv = ['categories', 'delete', '4', '--yes', '--base-url', server.url];
  expect(await run(argv)).toMatchObject({ code: 0 });
  expect(server.calls()).toContain('POST /kinds/4/retire');
});

describe('a description that is hard to read', () => {
  const within = async (limitMs: number, work: () => Promise<Run>) => {
    const start = Date.now();
    const result = await work();
    expect(Date.now() - start).toBeLessThan(limitMs);
    return result;
  };

  test('with 100,000 keys in one mapping ends in time', async () => {
    const keys = Array.from({ length: 100_000 }, (_, at) => `  key${at}: value\n`).join('');
    const text = `openapi: 3.0.3\npaths: {}\nx-keys:\n${keys}`;
    // Read, and then nothing to bind; on a slow machine refused after ten seconds.
    const refused = await within(20_000, () => run(['api', 'bind', '-'], { stdin: text }));
    expect(refused.code).toBe(2);
  }, 40_000);

  test('with thousands of aliases is refused', async () => {
    const anchors = Array.from(
      { length: 20_000 },
      (_, at) => `  key${at}: &a${at} [*a${Math.max(0, at - 1)}]\n`,
    );
    const text = `openapi: 3.0.3\npaths: {}\nx-keys:\n  key: &a0 1\n${anchors.slice(1).join('')}`;
    const refused = await within(15_000, () => run(['api', 'bind', '-'], { stdin: text }));
    expect(refused).toMatchObject({ code: 2, stdout: '' });
  }, 30_000);

  test('is refused if it refers to a pipe, which only the user may name', async () => {
    const pipe = join(folder, 'pipe.yaml');
    execFileSync('mkfifo', [pipe]);
    const document = { openapi: '3.0.0', paths: { '/a': { $ref: 'pipe.yaml' } } };
    const referred = await run(['api', 'bind', await file('a.json', document)]);
    expect(referred).toMatchObject({ code: 2, stdout: '' });
    expect(referred.stderr).toContain('is not a regular file');
  });
});

test('a description cannot set a header of the connection or a path above its base URL', async () => {
  const list = (parameters: object[]) => ({
    get: {
      parameters,
      responses: {
        200: {
          description: 'ok',
          content: {
            'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Pet' } } },
          },
        },
      },
    },
  });
  const header = (name: string) => ({
    name,
    in: 'header',
    required: true,
    schema: { enum: ['elsewhere.test'] },
  });
  const bind = async (paths: object) =>
    run([
      'api',
      'bind',
      await file('h.json', {
        openapi: '3.0.3',
        paths,
        components: { schemas: { Pet: { type: 'object', properties: { id: {}, name: {} } } } },
      }),
      '-o',
      'json',
    ]);
  for (const name of [
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'Cookie',
    'X Y',
    'X:Y',
    '',
  ])
    expect(rows(await bind({ '/pets': list([header(name)]) })).listPets).toMatchObject({
      state: 'unbindable',
      why: `it needs the header parameter ${name}, which petstore has no value for`,
    });
  expect((await bind({ '/%2e%2e/admin/pets': list([]) })).code).toBe(2);
});

test('reads a description from a pipe that the shell has opened', async () => {
  const source = await file('sparse.json', sparse);
  const line = 'cat "$0" | { exec 3<&0 </dev/null; "$1" "$2" api bind /dev/fd/3 -o json; }';
  const env = { PATH: process.env.PATH, PETSTORE_CONFIG_DIR: folder };
  const { stdout } = await promisify(execFile)('sh', ['-c', line, source, nodeBinary, cliPath], { env });
  expect(stdout).toContain('"state":"bound"');
});

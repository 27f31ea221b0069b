import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toOpenApi } from '../../src/api/openapi.ts';
import { sparse, warehouse } from '../helpers/descriptions.ts';
import { runTyping } from '../helpers/person.ts';
import { type RecordingServer, recordingServer } from '../helpers/recording-server.ts';
import { type Run, runCli } from '../helpers/run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstore-bound-'));
const animals = [
  { id: 1, name: 'Rex', categoryId: 1, status: 'sold' },
  { id: 2, name: 'Mia', categoryId: 2, status: 'available' },
  { id: 3, name: 'Tom', categoryId: 2, status: 'sold' },
];

beforeAll(() => {
  writeFileSync(join(folder, 'warehouse.yaml'), warehouse);
  writeFileSync(join(folder, 'sparse.yaml'), JSON.stringify(sparse));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Binds the service, and runs a command against it. */
async function run(name: 'warehouse' | 'sparse', { url }: RecordingServer, ...words: string[]): Promise<Run> {
  const env = { PETSTORE_CONFIG_DIR: join(folder, name), PETSTORE_BASE_URL: url };
  await runCli(['api', 'bind', join(folder, `${name}.yaml`)], { env });
  return runCli(words, { env });
}

test('an export asks for the largest pages that the description allows', async () => {
  const document = toOpenApi() as { paths: Record<string, { get: { parameters: object[] } }> };
  const list = document.paths['/store/inventory']?.get;
  list?.parameters.splice(0, Infinity, {
    name: 'limit',
    in: 'query',
    schema: { type: 'integer', maximum: 50 },
  });
  const config = join(folder, 'small-pages');
  writeFileSync(join(folder, 'small-pages.json'), JSON.stringify(document));
  const env = { PETSTORE_CONFIG_DIR: config };
  await using server = await recordingServer({}, () => ({
    body: [{ petId: 1, quantity: 2, status: 'sold' }],
  }));
  await runCli(['api', 'bind', join(folder, 'small-pages.json'), '--base-url', server.url], { env });
  const exported = await runCli(['inventory', 'export', '--base-url', server.url], { env });
  expect(exported).toMatchObject({ code: 0, stdout: 'petId,quantity,status\n1,2,sold\n' });
  expect(server.calls()).toEqual(['GET /store/inventory?limit=50']);
});

test('checks every record of a file against the bounds of the description before it sends the first', async () => {
  await using server = await recordingServer({});
  const file = join(folder, 'pets.jsonl');
  writeFileSync(
    file,
    `{"name":"ok","categoryId":1,"status":"sold"}\n{"name":"${'x'.repeat(200)}","categoryId":1,"status":"sold"}\n`,
  );
  const failed = await run('warehouse', server, 'pets', 'create', '--from', file);
  expect(failed).toMatchObject({ code: 2, stdout: '' });
  expect(failed.stderr).toContain('pets.jsonl:2: createPet: name must have at most');
  expect(server.seen).toEqual([]);
});

test('a required field without a flag is named with an example, and is sent from a file', async () => {
  const document = structuredClone(toOpenApi()) as unknown as {
    components: { schemas: { NewPet: { required: string[]; properties: Record<string, object> } } };
  };
  const { NewPet } = document.components.schemas;
  NewPet.required.push('chip');
  NewPet.properties.chip = { type: 'string' };
  const file = join(folder, 'chip.json');
  writeFileSync(file, JSON.stringify(document));
  const env = { PETSTORE_CONFIG_DIR: join(folder, 'chip') };
  await using server = await recordingServer({}, () => ({ status: 201, body: animals[0] }));
  await runCli(['api', 'bind', file, '--base-url', server.url], { env });
  const create = ['pets', 'create', '--base-url', server.url];
  const refused = await runCli([...create, '--name', 'Rex', '--category', '1'], { env });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/create pet: --field chip=\S+ is missing/);
  expect(server.seen).toEqual([]);
  const person = await runCli(create, { env, terminals: ['stdin', 'stderr'] });
  expect(person.code).toBe(2);
  const stdin = '{"name":"Rex","categoryId":1,"chip":"x1"}';
  expect(await runCli([...create, '--from', '-', '-o', 'ids'], { env, stdin })).toMatchObject({
    code: 0,
    stdout: '1\n',
    stderr: '',
  });
  expect(server.seen.find(({ method }) => method === 'POST')?.body).toBe(
    '{"name":"Rex","categoryId":1,"chip":"x1"}',
  );
});

test.each([
  [['--name', 'Rex', '--category', '2'], ''],
  [['--name', 'Rex', '--category', 'cats'], ''],
  [['--from', '-'], 'name,category\nRex,cats\n'],
  [['--from', '-'], '{"name":"Rex","categoryId":2}'],
])(
  'creates a pet with the category as the object that the service requires, from %j %j',
  async (flags, stdin) => {
    const document = structuredClone(toOpenApi()) as unknown as {
      components: { schemas: { NewPet: { required: string[]; properties: Record<string, object> } } };
    };
    const { NewPet } = document.components.schemas;
    delete NewPet.properties.categoryId;
    NewPet.properties.category = { type: 'object', properties: { id: { type: 'integer' } } };
    NewPet.required = ['name', 'category'];
    const file = join(folder, 'category.json');
    writeFileSync(file, JSON.stringify(document));
    const env = { PETSTORE_CONFIG_DIR: join(folder, 'category') };
    await using server = await recordingServer({}, ({ path }) =>
      path.startsWith('/categories')
        ? { body: [{ id: 2, name: 'Cats' }] }
        : { status: 201, body: animals[0] },
    );
    await runCli(['api', 'bind', file, '--base-url', server.url], { env });
    const argv = ['pets', 'create', ...flags, '-o', 'ids', '--base-url', server.url];
    expect(await runCli(argv, { env, stdin })).toEqual({ code: 0, stdout: '1\n', stderr: '' });
    expect(server.seen.find(({ method }) => method === 'POST')?.body).toBe(
      '{"name":"Rex","category":{"id":2}}',
    );
  },
);

describe('a service of another shape', () => {
  const json = (schema: object) => ({ content: { 'application/json': { schema } } });
  const integer = { type: 'integer' };
  const text = { type: 'string' };
  const status = { type: 'string', enum: ['available', 'pending', 'sold'] };
  const id = { name: 'id', in: 'path', required: true, schema: integer };
  const query = (name: string, schema: object) => ({ name, in: 'query', schema });
  const record = (properties: object) => ({ type: 'object', required: Object.keys(properties), properties });
  const listOf = (items: object, ...parameters: object[]) => ({
    parameters,
    responses: { 200: json({ type: 'array', items }) },
  });

  /** Binds to a document with these paths, and gives a function that runs commands against the server. */
  async function bound(server: RecordingServer, paths: object) {
    const env = await bindTo(server, paths);
    return (words: string, stdin = '') => runCli(words.split(' '), { env, stdin });
  }

  async function bindTo({ url }: RecordingServer, paths: object) {
    const PETSTORE_CONFIG_DIR = mkdtempSync(join(folder, 'shape-'));
    const file = join(PETSTORE_CONFIG_DIR, 'openapi.json');
    writeFileSync(file, JSON.stringify({ openapi: '3.1.0', info: {}, paths }));
    const env = { PETSTORE_CONFIG_DIR, PETSTORE_BASE_URL: url };
    expect(await runCli(['api', 'bind', file], { env })).toMatchObject({ code: 0 });
    return env;
  }

  test('trusts its filters if its records do not show the field', async () => {
    await using server = await recordingServer({}, ({ path }) => ({
      body: [{ id: path.includes('sold') ? 2 : 1, name: 'Rex' }],
    }));
    const pet = record({ id: integer, name: text });
    const list = listOf(pet, query('status', status), query('categoryId', integer));
    const run = await bound(server, { '/pets': { get: list } });
    expect((await run('pets list --status sold -o ids')).stdout).toBe('2\n');
    expect((await run('pets list --category 4 -o ids')).stdout).toBe('1\n');
    expect((await run('pets list --status sold --status pending -o ids')).stdout).toBe('2\n1\n');
  });

  test('may have the category as a name, or as an id with the name category', async () => {
    await using server = await recordingServer({}, ({ method, body }) => {
      const sent = method === 'POST' ? JSON.parse(body) : undefined;
      const pet = { id: 1, name: 'Rex', category: 'dog' };
      return { body: sent ? { ...sent, id: 2 } : [pet, { id: 3, name: 'Tom', category: 7 }] };
    });
    for (const [category, given, sent] of [
      [{ ...text, enum: ['dog', 'cat'] }, 'dog', '"dog"'],
      [integer, '7', '7'],
    ] as const) {
      const pet = record({ id: { ...integer, readOnly: true }, name: text, category });
      const paths = { '/pets': { get: listOf(pet), post: { requestBody: json(pet), responses: {} } } };
      const run = await bound(server, paths);
      expect((await run('pets list')).stdout.split('\n').slice(1, 3)).toEqual([
        ' 1  Rex   dog',
        ' 3  Tom   7',
      ]);
      expect((await run(`pets create --name Rex --category ${given}`)).code).toBe(0);
      expect(server.seen.at(-1)?.body).toBe(`{"name":"Rex","category":${sent}}`);
      const file = `name,category\nRex,${given}\n`;
      expect((await run('pets create --from -', file)).code).toBe(0);
      expect(server.seen.at(-1)?.body).toBe(`{"name":"Rex","category":${sent}}`);
      expect((await run(`pets list --category ${given} -o json`)).stdout).toContain(`"category":${sent}}]`);
    }
  });

  test('that requires If-Match gets the ETag of the record as it was read', async () => {
    await using server = await recordingServer({}, () => ({
      headers: { etag: '"7"' },
      body: { petId: 1, quantity: 2 },
    }));
    const entry = record({ petId: integer, quantity: integer });
    const match = { name: 'If-Match', in: 'header', required: true, schema: text };
    const responses = { 200: json(entry) };
    const put = { parameters: [match], requestBody: json(record({ quantity: integer })), responses };
    const run = await bound(server, { '/inventory/{id}': { parameters: [id], get: { responses }, put } });
    expect((await run('inventory adjust 1 +0')).code).toBe(0);
    expect(server.seen.at(-1)).toMatchObject({ method: 'PUT', headers: { 'if-match': '"7"' } });
    expect((await run('inventory set 1 5')).stderr).toContain('the header If-Match is required');
  });

  test('may want the id of a new record from its caller', async () => {
    await using server = await recordingServer({}, ({ body }) => ({ status: 201, body }));
    const pet = record({ id: integer, name: text });
    const paths = { '/pets': { post: { requestBody: json(pet), responses: { 201: json(pet) } } } };
    const run = await bound(server, paths);
    const refused = await run('pets create --name Rex');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('create pet: --field id=1 is missing');
    expect((await run('pets create --name Rex --field id=9007199254740993')).code).toBe(0);
    expect(server.seen.at(-1)?.body).toBe('{"name":"Rex","id":9007199254740993}');
    expect((await run('pets create --from - -o ids', 'id,name\n7,Rex\n')).stdout).toBe('7\n');
    expect((await run('pets create --from - -o ids', '{"id":8,"name":"Rex"}')).stdout).toBe('8\n');
  });

  test('is asked for no list of categories that it lacks when a person creates a pet', async () => {
    await using server = await recordingServer({}, () => ({ status: 201 }));
    const requestBody = json(record({ name: text, category: text }));
    const env = await bindTo(server, { '/pets': { post: { requestBody, responses: { 201: {} } } } });
    const answers = [
      ['Name', 'Rex\r'],
      ['Category', 'dog\r'],
    ] as const;
    expect((await runTyping(['pets', 'create'], answers, { env })).code).toBe(0);
    expect(server.seen.at(-1)?.body).toBe('{"name":"Rex","category":"dog"}');
  });

  test('gets a new entry without the status that it does not ask for', async () => {
    await using server = await recordingServer({}, () => ({ status: 201 }));
    const requestBody = json(record({ petId: integer, quantity: integer }));
    const run = await bound(server, { '/inventory': { post: { requestBody, responses: { 201: {} } } } });
    expect((await run('inventory create 3 4')).code).toBe(0);
    expect(server.seen.map(({ body }) => body)).toEqual(['{"petId":3,"quantity":4}']);
  });
});

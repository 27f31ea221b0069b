import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { ok, pet } from '../helpers/descriptions.ts';
import { runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

// `api bind` reads descriptions, and refuses other documents in one line.

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const head = { openapi: '3.1.0', info: { title: 'x', version: '1' } };
const listOf = (schema: unknown) => ({ get: { responses: ok(schema) } });

/** Writes a document and binds it. `bound` has the operations. */
async function bind(document: unknown) {
  const content = typeof document === 'string' ? document : JSON.stringify(document);
  writeFileSync(join(folder, 'openapi.json'), content, 'latin1');
  return bindAt(join(folder, 'openapi.json'));
}

async function bindAt(location: string, stdin = '') {
  const argv = ['api', 'bind', location, '--base-url', 'http://service.test', '--dry-run', '-o', 'json'];
  const run = await runCli(argv, { stdin });
  const rows: { operation: string; path: string | null }[] = run.stdout === '' ? [] : JSON.parse(run.stdout);
  const bound = rows.filter(({ path }) => path !== null).map(({ operation }) => operation);
  const { message = '' } = run.code === 0 ? {} : JSON.parse(run.stderr.split('\n').at(-2) ?? '').error;
  return { ...run, bound, message };
}

test('a reference in a cycle is followed once, and a reference in an example is ignored', async () => {
  const items = { $ref: '#/components/schemas/Pet' };
  const example = { 'application/json': { example: { $ref: '#/nowhere' } } };
  const paths = {
    '/pets': listOf({ type: 'array', items }),
    '/a': listOf({ $ref: '#/components/schemas/A' }),
    '/b': { get: { responses: { 200: { description: 'ok', content: example } } } },
  };
  const friends = { type: 'array', items };
  const Pet = { ...pet, properties: { ...pet.properties, friends } };
  const [A, B] = ['B', 'A'].map((name) => ({ allOf: [{ $ref: `#/components/schemas/${name}` }] }));
  expect((await bind({ ...head, paths, components: { schemas: { Pet, A, B } } })).bound).toEqual([
    'listPets',
  ]);
});

test.each<[what: string, document: unknown, why: string | RegExp]>([
  ['no text', '', 'is not an OpenAPI document'],
  ['a web page', '<!doctype html><html></html>', 'is not an OpenAPI document'],
  ['JSON that breaks off', '{"openapi": "3.0.0"', 'openapi.json: '],
  ['YAML that breaks off', 'openapi: [3.0.0', 'openapi.json: '],
  ['bytes that are not UTF-8', '\xff', 'is not UTF-8 text'],
  ['a list', '[]', 'is not an OpenAPI document'],
  ['another object', { hello: 'world' }, 'is not OpenAPI 3.0 to 3.2 or Swagger 2.0'],
  ['Swagger 1', '{"swagger":"1.2","paths":{}}', 'is not OpenAPI 3.0 to 3.2 or Swagger 2.0'],
  ['OpenAPI 4', '{"openapi":"4.0.0","paths":{}}', 'is not OpenAPI 3.0 to 3.2 or Swagger 2.0'],
  ['a number for a version', 'openapi: 3.0\npaths: {}', 'is not OpenAPI 3.0 to 3.2 or Swagger 2.0'],
  ['no paths', '{"openapi":"3.1.0"}', 'has no paths'],
  ['nesting without end', '['.repeat(100_000), 'nested deeper'],
  ['YAML nesting without end', `a: ${'[ '.repeat(8_000)}`, 'call stack size exceeded'],
  ['schemas nested without end', nested(3_000), 'its schemas are nested too deeply'],
  ['aliases without measure', bomb(), 'alias count'],
  ...['http://127.0.0.1:9/a.yaml', '../../etc/passwd', 'Pet.yaml#/one', 'http://['].map(
    (reference): [string, unknown, string] => [
      `a reference to ${reference}`,
      { ...head, paths: { '/a': { $ref: reference } } },
      `refers to ${reference}, which is in another document`,
    ],
  ),
])('%s is refused in one line', async (_, document, why) => {
  const { code, stdout, message } = await bind(document);
  expect([code, stdout]).toEqual([2, '']);
  expect(message).toMatch(why);
  expect(message).not.toMatch(/\n|root:/);
  expect(message.length).toBeLessThan(300);
});

test.each([
  [join('nowhere', 'none.yaml'), '', 'no such file'],
  ['-', 'no document', 'description stdin: '],
  ['-', '{"swagger": "2.0"}', 'description stdin: '],
  ['-', '{"openapi": "3.0.3", "paths": {}}', 'api bind stdin: '],
])('the error about a description at %s (%s) names it', async (location, stdin, why) => {
  const { code, message } = await bindAt(location, stdin);
  expect(code).toBe(2);
  expect(message).toContain(why);
});

test('Swagger 2.0 and OpenAPI 3.2 are read', async () => {
  const { code, bound } = await bindAt('-', readFileSync('test/fixtures/petstore-expanded-2.0.yaml', 'utf8'));
  expect([code, bound]).toEqual([0, ['listPets', 'createPet', 'getPet', 'deletePet']]);
  const newest = { ...head, openapi: '3.2.0', paths: { '/orders': { get: {} } } };
  expect((await bind(newest)).bound).toEqual(['listOrders']);
});

test('parts that are not objects are skipped', async () => {
  const { bound } = await bind({
    ...head,
    security: 'none',
    servers: [null, { url: 5 }, { url: 'ftp://x' }],
    tags: 7,
    components: { schemas: { Pet: null, Pets: 'text' }, securitySchemes: [] },
    paths: {
      '/a': null,
      '/b': { get: null, post: 'text', parameters: 'none' },
      '/c': {
        get: { parameters: [null, { name: 5 }, { name: 'x', in: 'query', schema: 7 }], responses: [] },
      },
      '/d/{id}': {
        put: { requestBody: { content: { 'application/json': null } }, responses: { 200: null } },
      },
      '/orders': { get: {} },
      'x-other': { get: {} },
    },
  });
  expect(bound).toEqual(['listOrders']);
});

test.each([
  '#/components/schemas/Order',
  '#/__proto__',
  '#/components/constructor',
  '#/components/schemas/A',
])('a reference that leads nowhere describes nothing: %s', async ($ref) => {
  const samples = { 'x-codeSamples': [{ lang: 'C#', source: { $ref: './missing.cs' } }] };
  const list = listOf({ type: 'array', items: { $ref: '#/components/schemas/Pet' } });
  const { bound } = await bind({
    ...head,
    paths: {
      '/pets': { get: { ...list.get, ...samples } },
      '/orders': listOf({ type: 'array', items: { $ref } }),
      '/orders/{id}': { delete: { responses: { 404: { $ref: '#/components/responses/none' } } } },
      '/categories': { $ref: '#/components/pathItems/none' },
    },
    components: { schemas: { Pet: pet, A: { $ref: '#/components/schemas/A' } } },
  });
  expect(bound).toEqual(['listPets', 'listOrders', 'deleteOrder']);
});

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 10; level += 1) {
    lines.push(`a${level}: &a${level} [${`*a${level - 1}, `.repeat(9)}]`);
  }
  return lines.join('\n');
}

/** Describes a list whose schema refers to the next one, and so on. */
function nested(depth: number): object {
  const next = (index: number) => ({ allOf: [{ $ref: `#/components/schemas/S${index}` }] });
  const schemas = Object.fromEntries(Array.from({ length: depth }, (_, i) => [`S${i}`, next(i + 1)]));
  return { ...head, paths: { '/pets': listOf(next(0)) }, components: { schemas } };
}

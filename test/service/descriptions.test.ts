import { describe, expect, test } from 'vitest';
import { matchContract } from '../../src/binding/bound-contract.ts';
import { type Description, readDescription } from '../../src/binding/description.ts';
import { serversOf } from '../../src/binding/document.ts';
import { UsageError } from '../../src/process/errors.ts';

const url = 'http://service.test/v2/openapi.json';

function read(document: unknown, others: Readonly<Record<string, string>> = {}): Promise<Description> {
  const content = typeof document === 'string' ? document : JSON.stringify(document);
  return readDescription({
    url,
    content,
    async read(other) {
      const found = others[other];
      if (found === undefined) throw new UsageError(`may not read ${other}`);
      return found;
    },
  });
}

const head = { openapi: '3.1.0', info: { title: 'x', version: '1' } };
const listOf = (schema: unknown) => ({
  get: { responses: { 200: { description: 'ok', content: { 'application/json': { schema } } } } },
});
const pet = `
type: object
required: [id, name, categoryId]
properties:
  id: { type: integer }
  name: { type: string }
  categoryId: { type: integer }
`;

describe('a reference', () => {
  test('may lead to another document, whose name then counts as a schema name', async () => {
    const description = await read(
      {
        ...head,
        paths: { '/a': { $ref: 'paths/pets.yaml' }, '/pet/{id}': { $ref: 'paths/pets.yaml#/one' } },
      },
      {
        'http://service.test/v2/paths/pets.yaml': `
get:
  responses: { 200: { description: ok, content: { application/json: { schema: { type: array, items: { $ref: ../Pet.yaml } } } } } }
one:
  get:
    responses: { 200: { description: ok, content: { application/json: { schema: { $ref: '../Pet.yaml' } } } } }
`,
        'http://service.test/v2/Pet.yaml': pet,
      },
    );
    expect(bound(description)).toEqual(['listPets', 'getPet']);
  });

  test('that must not be followed is refused with the reason of the reader', async () => {
    const document = { ...head, paths: { '/a': { $ref: 'https://elsewhere.test/paths.yaml' } } };
    await expect(read(document)).rejects.toThrow('may not read https://elsewhere.test/paths.yaml');
  });

  test('that leads nowhere is an error', async () => {
    const document = { ...head, paths: { '/a': listOf({ $ref: '#/components/schemas/Nothing' }) } };
    await expect(read(document)).rejects.toThrow(/Nothing/);
  });

  test('in a cycle is followed once', async () => {
    const description = await read({
      ...head,
      paths: { '/a': listOf({ type: 'array', items: { $ref: '#/components/schemas/A' } }) },
      components: {
        schemas: {
          A: { allOf: [{ $ref: '#/components/schemas/B' }] },
          B: { allOf: [{ $ref: '#/components/schemas/A' }] },
        },
      },
    });
    expect(bound(description)).toEqual([]);
  });

  test.each(['#/components/schemas/A', '#/__proto__', '#/components/constructor'])(
    'to %s, which is itself or no part of the document, is an error',
    async ($ref) => {
      const schema = { type: 'array', items: { $ref: '#/components/schemas/A' } };
      const document = {
        ...head,
        paths: { '/pets': listOf(schema) },
        components: { schemas: { A: { $ref } } },
      };
      await expect(read(document)).rejects.toThrow(/reference .* leads nowhere|does not exist|Pointer/);
    },
  );

  test('in an example is ignored', async () => {
    const document = {
      ...head,
      paths: {
        '/a': {
          get: {
            responses: {
              200: { description: 'ok', content: { 'application/json': { example: { $ref: '#/nowhere' } } } },
            },
          },
        },
      },
    };
    await expect(read(document)).resolves.toBeDefined();
  });
});

describe('a bad document is refused in one line', () => {
  test.each([
    ['no text', '', 'is not an OpenAPI document'],
    ['a web page', '<!doctype html><html></html>', 'is not an OpenAPI document'],
    ['JSON that breaks off', '{"openapi": "3.0.0"', ''],
    ['YAML that breaks off', 'openapi: [3.0.0', ''],
    ['a list', '[]', 'is not an OpenAPI document'],
    ['Swagger 1', '{"swagger":"1.2","paths":{}}', 'it states version 1.2'],
    ['OpenAPI 4', '{"openapi":"4.0.0","paths":{}}', 'it states version 4.0.0'],
    ['a number for a version', 'openapi: 3.0\npaths: {}', 'it states version 3'],
    ['no paths', '{"openapi":"3.1.0"}', 'has no paths'],
    ['nesting without end', '['.repeat(100_000), 'nested deeper'],
    ['YAML nesting without end', `a: ${'[ '.repeat(8_000)}`, 'is nested too deeply'],
    ['aliases without measure', bomb(), ''],
  ])('%s', async (_, text, why) => {
    const error = await read(text).then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(UsageError);
    expect(error.message).toContain(why);
    expect(error.message).not.toContain('\n');
    expect(error.message.length).toBeLessThan(300);
  });
});

test('skips parts that are not objects', async () => {
  const description = await read({
    ...head,
    security: 'none',
    servers: [null, { url: 5 }, { url: 'ftp://x' }],
    tags: 7,
    components: { schemas: { Pet: null, Pets: 'text' }, securitySchemes: [] },
    paths: {
      '/a': null,
      '/b': { get: null, put: 'x', parameters: 'y' },
      '/c': { get: { responses: [], parameters: [null, 5, { name: 1 }] } },
      '/d/{id}': {
        put: { requestBody: { content: { 'application/json': null } }, responses: { 200: null } },
      },
      'x-other': { get: {} },
    },
  });
  expect(bound(description)).toEqual([]);
});

test('resolves servers against the document, fills in variables and drops trailing slashes', async () => {
  const servers = [
    { url: '/api/' },
    { url: 'https://{host}/v1', variables: { host: { default: 'shop.test' } } },
    { url: '../v3' },
  ];
  expect(serversOf(await read({ ...head, servers, paths: {} }))).toEqual([
    'http://service.test/api',
    'https://shop.test/v1',
    'http://service.test/v3',
  ]);
  expect(serversOf(await read({ ...head, paths: {} }))).toEqual(['http://service.test']);
});

test('does not bind an operation with another server', async () => {
  const schema = { type: 'array', items: { $ref: '#/components/schemas/Pet' } };
  const description = await read({
    ...head,
    servers: [{ url: '/' }],
    paths: { '/a': { servers: [{ url: 'https://other.test' }], ...listOf(schema) } },
    components: { schemas: { Pet: { type: 'object' } } },
  });
  expect(bound(description)).toEqual([]);
});

function bound(description: Description): string[] {
  const matches = matchContract(description, new Map());
  return [...matches].flatMap(([id, { state }]) => (state === 'bound' ? id : []));
}

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 10; level += 1)
    lines.push(
      `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    );
  return lines.join('\n');
}

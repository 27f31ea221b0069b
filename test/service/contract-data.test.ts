import { expect, test } from 'vitest';
import { bind } from '../../src/binding/binding.ts';
import { readDescription } from '../../src/binding/description.ts';
import type { JsonObject } from '../../src/process/exact-json.ts';

// What an operation can do is data on the operation, whether it is bound or built in.

const text = { type: 'string' };
const pet = {
  type: 'object',
  required: ['id', 'name', 'pin'],
  properties: {
    id: { type: 'integer', readOnly: true },
    name: text,
    pin: { ...text, writeOnly: true },
    owner: { type: 'object', required: ['key'], properties: { key: { ...text, writeOnly: true } } },
  },
};

/** Binds a description of pets. @param schema the schema of a pet */
async function bindPets(schema: JsonObject = pet, more: JsonObject = {}) {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } };
  const answer = { description: 'ok', content };
  const list = {
    'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Pet' } } },
  };
  const parameters = [{ name: 'petId', in: 'path', required: true, schema: { type: 'integer' } }];
  const document: JsonObject = {
    openapi: '3.0.3',
    info: { title: 'x', version: '1' },
    paths: {
      '/pets': {
        get: { responses: { 200: { description: 'ok', content: list } } },
        post: { requestBody: { content }, responses: { 201: answer } },
      },
      '/pets/{petId}': {
        parameters,
        get: { responses: { 200: answer } },
        put: { requestBody: { content }, responses: { 200: answer } },
      },
    },
    components: { schemas: { Pet: schema } },
    ...more,
  };
  const source = { url: 'file:///openapi.json', label: 'x', document };
  return bind(await readDescription(source), { operations: new Map(), fields: new Map() }).contract;
}

test('a field that is only written is marked in the body, is no column, and is not required of an answer', async () => {
  const { operations, definitions } = await bindPets();
  const { body, records } = operations.get('updatePet') ?? {};
  expect(
    Object.entries(body?.fields ?? {}).map(([name, field]) => [name, field.required, field.isWriteOnly]),
  ).toEqual([
    ['name', true, undefined],
    ['pin', true, true],
    ['owner', false, undefined],
  ]);
  expect(records?.furtherFields).toEqual(['owner']);
  expect(definitions.Pet).toMatchObject({
    required: ['id', 'name'],
    properties: { owner: { required: [] } },
  });
});

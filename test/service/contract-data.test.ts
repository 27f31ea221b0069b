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

test('a field that is only written is marked in the body, and is no column', async () => {
  const ref = { $ref: '#/components/schemas/Pet' };
  const json = (schema: JsonObject) => ({ 'application/json': { schema } });
  const responses = { 200: { description: 'ok', content: json(ref) } };
  const list = { responses: { 200: { description: 'ok', content: json({ type: 'array', items: ref }) } } };
  const parameters = [{ name: 'petId', in: 'path', required: true, schema: { type: 'integer' } }];
  const document: JsonObject = {
    openapi: '3.0.3',
    paths: {
      '/pets': { get: list },
      '/pets/{petId}': { parameters, put: { requestBody: { content: json(ref) }, responses } },
    },
    components: { schemas: { Pet: pet } },
  };
  const source = { url: 'file:///openapi.json', label: 'x', document };
  const maps = { operations: new Map(), fields: new Map() };
  const { operations } = (await bind(await readDescription(source), maps)).contract;
  const { body, records } = operations.get('updatePet') ?? {};
  expect(
    Object.entries(body?.fields ?? {}).map(([name, field]) => [name, field.required, field.isWriteOnly]),
  ).toEqual([
    ['name', true, undefined],
    ['pin', true, true],
    ['owner', false, undefined],
  ]);
  expect(records?.furtherFields).toEqual(['owner']);
});

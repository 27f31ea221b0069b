import { describe, expect, test } from 'vitest';
import { bindTo } from '../helpers/bound.ts';
import { describeLines } from '../helpers/corpus.ts';
import type { Description } from '../helpers/own-description.ts';
import { recordingServer } from '../helpers/recording-server.ts';

/** Describes a list of pets with one more field, and other schemas. */
function describeField(openapi: string, field: object, schemas: object = {}) {
  // Null is allowed for a field that is not required.
  const document = describeLines('Pet: id#! name! field!', 'GET /pets -> Pet[]') as unknown as Description;
  const { Pet } = document.components.schemas;
  Object.assign(Pet?.properties ?? {}, { field });
  const others = { Tag: { type: 'object' }, Word: { type: 'string' }, ...schemas };
  return { ...document, openapi, components: { schemas: { Pet, ...others } } };
}

/** Returns the verdict of smoke on a list with one pet. */
async function judge(description: object, pet: object) {
  await using service = await recordingServer({ '/pets': [{ id: 1, name: 'Luna', ...pet }] });
  const bound = await bindTo(service, description);
  const { code, stdout } = await bound.run('smoke --only op/listPets -o json');
  const { checks } = JSON.parse(stdout) as { checks: { id: string; reason: string }[] };
  return { code, reason: checks.find(({ id }) => id === 'op/listPets')?.reason };
}

const tag = { $ref: '#/components/schemas/Tag' };
const word = { $ref: '#/components/schemas/Word' };

describe('null is a value in OpenAPI 3.0', () => {
  test.each([
    ['beside a type', { type: 'string', nullable: true }],
    ['beside choices', { type: 'string', nullable: true, enum: ['a'] }],
    ['beside a reference', { ...tag, nullable: true }],
    ['beside an allOf', { nullable: true, allOf: [tag] }],
    ['beside a oneOf', { nullable: true, oneOf: [tag, word] }],
    ['beside an anyOf', { nullable: true, anyOf: [tag, word] }],
  ])('if it says nullable %s', async (_, field) => {
    expect(await judge(describeField('3.0.3', field), { field: null })).toEqual({
      code: 0,
      reason: '200 OK, 1 record',
    });
    const { nullable, ...without } = field;
    const { reason } = await judge(describeField('3.0.3', without), { field: null });
    expect(reason).toContain('/0/field');
  });

  test('but not another value', async () => {
    const description = describeField('3.0.3', { nullable: true, allOf: [tag] });
    expect(await judge(description, { field: 1 })).toMatchObject({ code: 7 });
  });
});

describe('keywords beside a reference', () => {
  const base = { Base: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } } };
  const both = { $ref: '#/components/schemas/Base', required: ['b'], properties: { b: { type: 'integer' } } };

  test.each([
    [{ a: 1, b: 1 }, 0],
    [{ a: 1 }, 7],
    [{ b: 1 }, 7],
    [{ a: 'x', b: 1 }, 7],
  ])('count in 3.1 as those of its target: %j', async (field, code) => {
    expect(await judge(describeField('3.1.0', both, base), { field })).toMatchObject({ code });
  });
});

import { expect, test } from 'vitest';
import { findMismatch } from '../../src/checks/body-schema.ts';
import { type JsonObject, parseJson } from '../../src/process/exact-json.ts';

const check = (schema: JsonObject, text: string) => findMismatch(schema, parseJson(text));

test('the mismatch is the innermost, through references and compositions', () => {
  const definitions = {
    '#/$defs/Pets': { type: 'array', items: { $ref: '#/$defs/Pet' } },
    '#/$defs/Pet': { allOf: [{ properties: { 'a/b ~c': { $ref: '#/$defs/Name' } } }] },
    '#/$defs/Name': { type: 'string' },
  };
  const body = parseJson('[{"a/b ~c":"Rex"},{"a/b ~c":5}]');
  expect(findMismatch({ $ref: '#/$defs/Pets' }, body, definitions)).toEqual({
    reason: '/1/a~1b ~0c must be a string',
    pointer: '/1/a~1b ~0c',
    expected: 'a string',
    got: '5',
  });
});

test('if all alternatives fail, the mismatch blames none of them, and shows every digit', () => {
  const schema = { properties: { id: { anyOf: [{ type: 'string' }, { type: 'null' }] } } };
  expect(check(schema, '{"id":9007199254740993}')).toMatchObject({ pointer: '/id', got: '9007199254740993' });
});

test.each([
  ['{"type":"array","items":{"type":"integer"}}', '[1, 2.0, 9007199254740993]', undefined],
  ['{"type":"integer","format":"int64"}', '9223372036854775807', undefined],
  ['{"type":"integer","format":"int64"}', '9223372036854775808', 'an integer (int64)'],
  ['{"type":"integer","format":"int64"}', '-9223372036854775809', 'an integer (int64)'],
  ['{"type":"integer","format":"int64"}', '123456789012345678901234567890', 'an integer (int64)'],
  ['{"format":"int64"}', '9223372036854775808', 'a value (int64)'],
  ['{"type":"integer","format":"int32"}', '2147483648', 'an integer (int32)'],
  ['{"minimum":3,"additionalProperties":false}', '2', undefined],
  ['{"type":"integer"}', '1.5', 'an integer'],
  ['{"type":"number"}', '1.0000000000000000001', undefined],
  ['{"type":["string","null"]}', '1', 'a string or null'],
  ['{"format":"date-time"}', '"2026-02-30T00:00:00Z"', 'a value (date-time)'],
  ['{"format":"date-time"}', '"2026-02-28T00:00:00Z"', undefined],
  ['{"enum":["a","b"]}', '"c"', 'one of "a", "b"'],
  ['{"type":["string","null"],"enum":["a"]}', 'null', undefined],
  ['{"oneOf":[{"type":"integer"},{"type":"null"}]}', '"1"', 'one of 2 alternatives'],
  // Frameworks send null for a field without a value.
  ['{"properties":{"note":{"type":"string"}}}', '{"note":null}', undefined],
])('%s holds %s to: %s', (schema, text, expected) => {
  expect(check(parseJson(schema) as JsonObject, text)?.expected).toBe(expected);
});

test('a comparison that would take too long is given up', () => {
  const schema = { items: { $ref: '#' }, anyOf: [{ $ref: '#/x' }, { $ref: '#/x' }] };
  const inner = { items: schema, type: ['array', 'integer'] };
  const text = `${'['.repeat(60)}"no"${']'.repeat(60)}`;
  const definitions = { '#': schema, '#/x': { items: { $ref: '#' }, type: ['array', 'null'] } };
  expect(() => findMismatch(inner, parseJson(text), definitions, 1000)).toThrow('too many alternatives');
});

test('a reference to itself is an error of the schema, and one that leads nowhere allows everything', () => {
  // The call stack ends it.
  expect(() => findMismatch({ $ref: '#' }, 1, { '#': { $ref: '#' } })).toThrow('Maximum call stack');
  expect(findMismatch({ $ref: '#/nowhere' }, 1)).toBeUndefined();
});

test('a time may lack its offset, and must be a time', () => {
  const schema = { properties: { at: { type: 'string', format: 'date-time' } } };
  expect(check(schema, '{"at":"2026-11-28T09:00:00.123"}')).toBeUndefined();
  expect(check(schema, '{"at":"2026-11-28 9 h"}')?.pointer).toBe('/at');
});

test('null for a required field or an item is a mismatch, and an allowed null hides no other', () => {
  const properties = { note: { type: 'string' }, id: { type: 'integer' } };
  expect(check({ required: ['note'], properties }, '{"note":null}')?.expected).toBe('a string');
  expect(check({ type: 'array', items: { type: 'string' } }, '[null]')?.pointer).toBe('/0');
  expect(check({ properties }, '{"note":null,"id":"7"}')?.pointer).toBe('/id');
});

import { expect, test } from 'vitest';
import { checkBody } from '../../src/checks/body-schema.ts';
import { type JsonObject, parseJson } from '../../src/process/exact-json.ts';

/** A limit that a check does not reach, even on a busy machine. */
const enough = 10_000;
/** Checks the value in a JSON text. */
const check = (schema: JsonObject, text: string, limitMs = enough) =>
  checkBody(schema, parseJson(text), limitMs);

test('the fault is the innermost, through references and compositions', () => {
  const schema = {
    $ref: '#/$defs/Pets',
    $defs: {
      Pets: { type: 'array', items: { $ref: '#/$defs/Pet' } },
      Pet: { allOf: [{ properties: { 'a/b ~c': { $ref: '#/$defs/Name' } } }] },
      Name: { type: 'string', minLength: 2 },
    },
  };
  expect(check(schema, '[{"a/b ~c":"Rex"},{"a/b ~c":"R"}]').fault).toEqual({
    reason: '/1/a~1b ~0c must be a string of at least 2 characters',
    pointer: '/1/a~1b ~0c',
    expected: 'a string of at least 2 characters',
    got: 'R',
  });
});

test('if all alternatives fail, the fault blames none of them, and shows every digit', () => {
  const schema = { properties: { id: { anyOf: [{ type: 'string' }, { type: 'null' }] } } };
  const { fault } = check(schema, '{"id":9007199254740993}');
  expect(fault).toMatchObject({ pointer: '/id', got: 9007199254740993n });
});

test.each([
  ['{"type":"array","items":{"type":"integer"}}', '[1, 2.0, 9007199254740993]', undefined],
  ['{"type":"integer","format":"int64"}', '9223372036854775807', undefined],
  ['{"type":"integer","format":"int64"}', '9223372036854775808', 'an integer (int64)'],
  ['{"type":"integer","format":"int64"}', '-9223372036854775809', 'an integer (int64)'],
  ['{"type":"integer","format":"int64"}', '123456789012345678901234567890', 'an integer (int64)'],
  ['{"format":"int64"}', '9223372036854775808', 'an integer (int64)'],
  ['{"type":"integer","format":"int32"}', '2147483648', 'an integer (int32)'],
  ['{"type":"integer","format":"int64","minimum":0}', '-1', 'an integer (int64)'],
  ['{"type":"integer","maximum":9223372036854775807}', '9223372036854775807', undefined],
  ['{"type":"integer"}', '1.5', 'an integer'],
  ['{"type":"number"}', '1.0000000000000000001', undefined],
  ['{"type":["string","null"]}', '1', 'a string or null'],
  ['{"format":"date-time"}', '"2026-02-30T00:00:00Z"', 'a string of the format date-time'],
  ['{"format":"date-time"}', '"2026-02-28T00:00:00Z"', undefined],
  ['{"enum":["a","b"]}', '"c"', 'one of "a", "b"'],
  ['{"const":1}', '2', '1'],
  ['{"minimum":3}', '2', 'a number of at least 3'],
  ['{"additionalProperties":false}', '{"x":1}', 'absent'],
  ['{"pattern":"^a"}', '"b"', 'a string that matches ^a'],
  // Escapes of older expressions, a field with the name of a keyword, and a constant that is not a schema.
  ['{"pattern":"^\\\\d{4}\\\\-\\\\d{2}$"}', '"2020-02"', undefined],
  ['{"pattern":"^[\\\\w\\\\-\\\\.]+\\\\@x$"}', '"a-b.c@x"', undefined],
  ['{"pattern":"^\\\\p{L}+$"}', '"Ä"', undefined],
  [
    '{"properties":{"pattern":{"type":"string"}},"const":{"pattern":"(?i)"}}',
    '{"pattern":"(?i)"}',
    undefined,
  ],
])('%s holds %s to: %s', (schema, text, expected) => {
  const { fault, remark } = check(parseJson(schema) as JsonObject, text);
  expect({ expected: fault?.expected, remark }).toEqual({ expected, remark: undefined });
});

const evil = '^(a+)+$';
const hostile = `"${'a'.repeat(60)}!"`;
const long = JSON.stringify(Array.from({ length: 30_000 }, (_, id) => ({ id })));

test.each([
  ['a pattern on a value', { pattern: evil }, hostile],
  ['a pattern on a name', { patternProperties: { [evil]: {} } }, `{${hostile}:1}`],
  ['a long list', { uniqueItems: true }, long],
])('a check that takes too long is given up, and nothing is blamed for it: %s', (_, schema, text) => {
  expect(check(schema, text, 50)).toEqual({ remark: 'the body could not be checked within 0.05 s' });
});

test.each([
  ['{"type":"string","pattern":"(?i)^rex\\\\Z","maxLength":3}', '"Rex"', '(?i)^rex\\Z'],
  ['{"patternProperties":{"(?i)a":{"type":"string"}},"additionalProperties":false}', '{"b":1}', '(?i)a'],
])('a pattern that is not an expression is left out, and the report says so: %s', (text, body, pattern) => {
  const schema = parseJson(text) as JsonObject;
  const remark = `the pattern ${pattern} is not an expression that can be tried`;
  expect(check(schema, body)).toEqual({ fault: undefined, remark });
  const stricter = { ...schema, not: {} };
  expect(check(stricter, body).fault).toBeDefined();
});

test.each([
  ['{"properties":{"note":{"type":"string"}}}', '{"note":null}', '/note must be a string'],
  [
    '{"properties":{"at":{"type":"string","format":"date-time"}}}',
    '{"at":"2026-11-28T09:00:00.123"}',
    '/at must be a string of the format date-time',
  ],
])('a liberty that frameworks take is a remark: %s, %s', (schema, text, remark) => {
  expect(check(parseJson(schema) as JsonObject, text)).toEqual({ remark });
});

test('a liberty hides no fault: a required field, an item of a list, and what stands behind it', () => {
  const properties = { note: { type: 'string' }, id: { type: 'integer' } };
  expect(check({ required: ['note'], properties }, '{"note":null}').fault?.expected).toBe('the field "note"');
  expect(check({ type: 'array', items: { type: 'string' } }, '[null]').fault?.pointer).toBe('/0');
  expect(check({ properties }, '{"note":null,"id":"7"}').fault?.pointer).toBe('/id');
});

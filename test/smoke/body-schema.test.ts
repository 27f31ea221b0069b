import { expect, test } from 'vitest';
import { checkBody } from '../../src/checks/body-schema.ts';
import { type JsonObject, type JsonValue, parseJson } from '../../src/process/exact-json.ts';

/** The fault of the value in a JSON text. */
const faultOf = (schema: JsonObject, text: string) => checkBody(schema, parseJson(text), 10_000).fault;

test('a value that fits has no fault', () => {
  expect(
    faultOf({ type: 'array', items: { type: 'integer' } }, '[1, 2.0, 9007199254740993]'),
  ).toBeUndefined();
});

test('the fault is the innermost, through references and compositions', () => {
  const schema = {
    $ref: '#/$defs/Pets',
    $defs: {
      Pets: { type: 'array', items: { $ref: '#/$defs/Pet' } },
      Pet: { allOf: [{ properties: { 'a/b ~c': { $ref: '#/$defs/Name' } } }] },
      Name: { type: 'string', minLength: 2 },
    },
  };
  expect(faultOf(schema, '[{"a/b ~c":"Rex"},{"a/b ~c":"R"}]')).toEqual({
    reason: '/1/a~1b ~0c must be a string of at least 2 characters',
    pointer: '/1/a~1b ~0c',
    expected: 'a string of at least 2 characters',
    got: 'R',
  });
});

test('if all alternatives fail, the fault blames none of them', () => {
  const fault = faultOf(
    { properties: { id: { anyOf: [{ type: 'string' }, { type: 'null' }] } } },
    '{"id":1}',
  );
  expect(fault).toMatchObject({ pointer: '/id', got: 1 });
});

test.each([
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
  ['{"pattern":"^a"}', '"b"', 'a string that matches ^a'],
  ['{"minimum":3}', '2', 'a number of at least 3'],
  ['{"additionalProperties":false}', '{"x":1}', 'absent'],
])('%s holds %s to: %s', (schema, text, expected) => {
  expect(faultOf(parseJson(schema) as JsonObject, text)?.expected).toBe(expected);
});

test('the shown value keeps every digit', () => {
  const got: JsonValue | undefined = faultOf({ type: 'string' }, '9007199254740993')?.got;
  expect(got).toBe(9007199254740993n);
});

const evil = '^(a+)+$';
const hostile = `${'a'.repeat(60)}!`;
/** For checks that end by themselves, on a busy machine too. */
const enough = 10_000;
const check = (schema: Record<string, unknown>, body: unknown, limitMs = 300) =>
  checkBody(schema as never, body as never, limitMs);

test.each([
  ['a value', { properties: { name: { type: 'string', pattern: evil } } }, { name: hostile }],
  ['a name', { patternProperties: { [evil]: {} } }, { [hostile]: 1 }],
])('a pattern that would take years on %s is given up, and nothing is blamed for it', (_, schema, body) => {
  expect(check(schema, body)).toEqual({ unchecked: 'its patterns could not be tried within 0.3 s' });
});

test('a pattern for names that is not an expression is left out, and forbids nothing then', () => {
  const schema = { patternProperties: { '(?i)a': { type: 'string' } }, additionalProperties: false };
  expect(check(schema, { b: 1 }, enough)).toEqual({
    unchecked: 'the pattern (?i)a is not an expression that can be tried',
  });
});

test('a check that takes long without a pattern is given up too', () => {
  const body = Array.from({ length: 30_000 }, (_, id) => ({ id }));
  expect(check({ uniqueItems: true }, body, 20)).toEqual({
    unchecked: 'the body could not be checked within 0.02 s',
  });
});

test.each([
  ['^\\d{4}\\-\\d{2}$', '2020-02', '2020_02'],
  ['^[\\w\\-\\.]+\\@x\\.org$', 'a-b.c@x.org', 'a-b.c#x.org'],
  ['^\\p{L}+$', 'Ä', '1'],
])('older escapes are read: %s', (pattern, right, wrong) => {
  expect(check({ pattern }, right, enough)).toEqual({ fault: undefined, unchecked: undefined });
  expect(check({ pattern }, wrong, enough).fault).toBeDefined();
});

test('a pattern that is not an expression is left out, and the report says so', () => {
  const schema = { type: 'string', pattern: '(?i)^rex\\Z', maxLength: 3 };
  expect(check(schema, 'Rex', enough)).toEqual({
    fault: undefined,
    unchecked: 'the pattern (?i)^rex\\Z is not an expression that can be tried',
  });
  expect(check(schema, 'Rexy', enough).fault).toMatchObject({ expected: 'a string of at most 3 characters' });
});

test('a field that is named pattern, and a constant, are not patterns', () => {
  const schema = { properties: { pattern: { type: 'string' } }, const: { pattern: '(?i)' } };
  expect(check(schema, { pattern: '(?i)' }, enough)).toEqual({ fault: undefined, unchecked: undefined });
});

import { expect, test } from 'vitest';
import { checkBody } from '../../src/checks/schema.ts';

const evil = '^(a+)+$';
const hostile = `${'a'.repeat(60)}!`;
/** For what ends by itself, on a busy machine too. */
const enough = 10_000;
const check = (schema: Record<string, unknown>, body: unknown, limitMs = 300) =>
  checkBody(schema as never, body as never, limitMs);

test('a pattern that would take years is given up, and nothing is blamed for it', () => {
  const schema = { type: 'object', properties: { name: { type: 'string', pattern: evil } } };
  expect(check(schema, { name: hostile })).toEqual({
    fault: undefined,
    remark: `the pattern ${evil} could not be tried within 0.3 s`,
  });
  expect(check(schema, { name: 'aaa!' }, enough).fault).toMatchObject({ pointer: '/name' });
});

test('everything else is checked all the same', () => {
  const schema = { properties: { name: { pattern: evil }, id: { type: 'integer' } } };
  expect(check(schema, { name: hostile, id: 'x' })).toMatchObject({ fault: { pointer: '/id' } });
});

test('a pattern for names is given up likewise, and forbids nothing then', () => {
  const schema = { patternProperties: { [evil]: { type: 'string' } }, additionalProperties: false };
  expect(check(schema, { [hostile]: 1 })).toMatchObject({ fault: undefined });
  expect(check(schema, { b: 1 }, enough)).toMatchObject({ fault: { pointer: '/b', expected: 'absent' } });
});

test('what takes long without a pattern is given up too', () => {
  const body = Array.from({ length: 30_000 }, (_, id) => ({ id }));
  expect(check({ uniqueItems: true }, body, 20)).toEqual({
    fault: undefined,
    remark: 'the body could not be checked within 0.02 s',
  });
});

test.each([
  ['^\\d{4}\\-\\d{2}$', '2020-02', '2020_02'],
  ['^[\\w\\-\\.]+\\@x\\.org$', 'a-b.c@x.org', 'a-b.c#x.org'],
  ['^\\p{L}+$', 'Ä', '1'],
])('older escapes are read: %s', (pattern, right, wrong) => {
  expect(check({ pattern }, right, enough)).toEqual({ fault: undefined, remark: undefined });
  expect(check({ pattern }, wrong, enough).fault).toBeDefined();
});

test('a pattern that is not an expression is left out, and the report says so', () => {
  const schema = { type: 'string', pattern: '(?i)^rex\\Z', maxLength: 3 };
  expect(check(schema, 'Rex', enough)).toEqual({
    fault: undefined,
    remark: 'the pattern (?i)^rex\\Z is not an expression that can be tried',
  });
  expect(check(schema, 'Rexy', enough).fault).toMatchObject({ expected: 'a string of at most 3 characters' });
});

test('a field that is named pattern, and data, are no patterns', () => {
  const schema = { properties: { pattern: { type: 'string' } }, const: { pattern: '(?i)' } };
  expect(check(schema, { pattern: '(?i)' }, enough)).toEqual({ fault: undefined, remark: undefined });
});

import { expect, test } from 'vitest';
import { checkBody } from '../../src/checks/schema.ts';

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
  expect(check(schema, body)).toEqual({ remark: 'the body could not be checked within 0.3 s' });
});

test('a pattern for names that is not an expression is left out, and forbids nothing then', () => {
  const schema = { patternProperties: { '(?i)a': { type: 'string' } }, additionalProperties: false };
  expect(check(schema, { b: 1 }, enough)).toEqual({
    remark: 'the pattern (?i)a is not an expression that can be tried',
  });
});

test('a check that takes long without a pattern is given up too', () => {
  const body = Array.from({ length: 30_000 }, (_, id) => ({ id }));
  expect(check({ uniqueItems: true }, body, 20)).toEqual({
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

test('a field that is named pattern, and a constant, are not patterns', () => {
  const schema = { properties: { pattern: { type: 'string' } }, const: { pattern: '(?i)' } };
  expect(check(schema, { pattern: '(?i)' }, enough)).toEqual({ fault: undefined, remark: undefined });
});

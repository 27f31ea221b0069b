import { expect, test } from 'vitest';
import { parseJson, printJson } from '../src/json.ts';

test('keeps the largest int64 exact', () => {
  expect(parseJson('{"id":9223372036854775807}')).toEqual({
    id: 9223372036854775807n,
  });
  expect(printJson(parseJson('{"id":9223372036854775807,"n":9007199254740993}'))).toBe(
    '{"id":9223372036854775807,"n":9007199254740993}',
  );
});

test('refuses a number that is not finite', () => {
  expect(() => parseJson('[1e400]')).toThrow('not finite');
});

test('refuses what is nested deeper than 100, but not brackets in a string', () => {
  expect(() => parseJson(`${'['.repeat(101)}${']'.repeat(101)}`)).toThrow('deeper than 100');
  expect(parseJson(`["${'['.repeat(300)}\\""]`)).toHaveLength(1);
  expect(() => parseJson(`${'['.repeat(100)}${']'.repeat(100)}`)).not.toThrow();
});

test('keeps every digit of a decimal that a double would change', () => {
  expect(printJson(parseJson('[0.12345678901234567890]'))).toBe('[0.12345678901234567890]');
});

test('drops a BOM, keeps __proto__ as data', () => {
  expect(printJson(parseJson('\ufeff{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
});

test('writes controls as escapes', () => {
  expect(printJson({ name: 'a\u001b[31m\u009b\u202e' })).toBe('{"name":"a\\u001b[31m\\u009b\\u202e"}');
});

test('prints a record of any fields as JSON does, ids exact', () => {
  const fields = [
    'Rex',
    '',
    'say "hi"',
    'a\\b',
    'Zoë',
    '猫',
    0,
    -0,
    1.5,
    1e21,
    Number.NaN,
    null,
    true,
    undefined,
    [1],
    {},
  ];
  for (const field of fields)
    for (const key of ['name', 'a b', '"', 'é'])
      expect(printJson({ id: 1, [key]: field, last: false })).toBe(
        JSON.stringify({ id: 1, [key]: field, last: false }),
      );
  expect(printJson({ id: 9223372036854775807n, at: new Date(0) })).toBe(
    '{"id":9223372036854775807,"at":"1970-01-01T00:00:00.000Z"}',
  );
});

import { expect, test } from 'vitest';
import { parseJson, parseJsonArray, printJson } from '../src/process/exact-json.ts';

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

test('reads long numbers exactly at any place, and leaves long digits in strings alone', () => {
  const text =
    '[-9223372036854775808,{"a":[12345678901234567890,"12345678901234567890"],"b":0.1234567890123456789},1e22,1.0000000000000000]';
  expect(parseJson(text)).toMatchObject([
    -9223372036854775808n,
    { a: [12345678901234567890n, '12345678901234567890'] },
    1e22,
    {},
  ]);
  expect(printJson(parseJson(text)).startsWith(text.slice(0, 100))).toBe(true);
});

test.each([
  '{12345678901234567890:1}',
  '[01234567890123456789]',
  '[12345678901234567890abc]',
  '[1234567890123456.]',
  '[-]',
  '[1.2.3.4.5.6.7.8.9.0]',
  '["a" 12345678901234567890]',
])('%s is not JSON', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test('keeps a duplicate key of long numbers as the last one, and __proto__ as data', () => {
  expect(printJson(parseJson('{"a":12345678901234567890,"a":2,"__proto__":12345678901234567891}'))).toBe(
    '{"a":2,"__proto__":12345678901234567891}',
  );
});

test('reading a text with one long number takes linear time', () => {
  const rows = Array.from({ length: 200_000 }, (_, id) => `{"id":${id},"name":"Rex \\"${id}\\""}`).join(',');
  const started = performance.now();
  expect(parseJson(`[${rows},{"id":9007199254740993}]`)).toHaveLength(200_001);
  expect(performance.now() - started).toBeLessThan(3000);
});

test('reads a long array in parts, with the same values', () => {
  const rows = Array.from({ length: 120_000 }, (_, id) => `{"id":${id},"name":"[{,\\"${id}"}`);
  const text = ` [${rows.join(',')},{"id":9007199254740993}] `;
  const parts = [...parseJsonArray(text)!];
  expect(parts.length).toBeGreaterThan(2);
  expect(parts.flat()).toEqual(parseJson(text));
  expect(parseJsonArray('[1]')).toBeUndefined();
  expect(parseJsonArray(`{${' '.repeat(3_000_000)}}`)).toBeUndefined();
});

test.each([
  ['a comma too much', (rows: string) => `[${rows},]`],
  ['a comma in front', (rows: string) => `[${' '.repeat(1_100_000)},${rows}]`],
  ['no end', (rows: string) => `[${rows}`],
  ['more behind its end', (rows: string) => `[${rows}]]`],
  ['another array behind it', (rows: string) => `[${rows}],[${rows}]`],
])('a long array with %s is not JSON', (_, make) => {
  const rows = Array.from({ length: 120_000 }, (_, id) => `{"id":${id}, "name":"Rex"}`).join(',');
  expect(() => [...parseJsonArray(make(rows))!]).toThrow(SyntaxError);
});

test('prints what JSON.stringify prints, indented or not', () => {
  const value = {
    a: [1, [], {}, [undefined, () => 1, null, Number.NaN]],
    b: undefined,
    at: new Date(0),
    'k"': { c: 'x\ud800' },
  };
  for (const indent of [0, 2]) expect(printJson(value, indent)).toBe(JSON.stringify(value, null, indent));
});

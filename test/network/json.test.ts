import { expect, test } from 'vitest';
import { parseJson, parseJsonArray, printJson } from '../../src/process/exact-json.ts';

test.each([
  '{"id":9223372036854775807,"n":9007199254740993}',
  '[-9223372036854775808,{"a":[12345678901234567890,"12345678901234567890"],"b":0.1234567890123456789},1e+22]',
  '{"__proto__":{"a":12345678901234567891}}',
  '{"__proto__":{"a":1}}',
  `["${'['.repeat(300)}\\""]`,
  `${'['.repeat(100)}${']'.repeat(100)}`,
])('%s is printed as it was read', (text) => {
  expect(printJson(parseJson(text))).toBe(text);
});

test.each([
  ['\ufeff{"id":1}', '{"id":1}'],
  ['{"a":12345678901234567890,"a":2}', '{"a":2}'],
])('%j is printed as %s', (text, printed) => {
  expect(printJson(parseJson(text))).toBe(printed);
});

test.each([
  ['[1e400]', 'not finite'],
  [`${'['.repeat(101)}${']'.repeat(101)}`, 'deeper than 100'],
])('%s is refused: %s', (text, why) => {
  expect(() => parseJson(text)).toThrow(why);
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

test('what has no long number is printed as JSON.stringify does, controls as escapes', () => {
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
  ];
  const nested = [[1], {}, [], [undefined, () => 1, null], new Date(0), { c: 'x\ud800' }];
  for (const field of [...fields, ...nested])
    for (const key of ['name', 'a b', '"', 'é'])
      for (const indent of [0, 2]) {
        const value = { id: 1, [key]: field, last: false };
        expect(printJson(value, indent)).toBe(JSON.stringify(value, null, indent));
      }
  expect(printJson({ name: 'a\u001b[31m\u009b\u202e' })).toBe('{"name":"a\\u001b[31m\\u009b\\u202e"}');
});

/** An array of so many records that it is read in parts. */
const rows = Array.from({ length: 120_000 }, (_, id) => `{"id":${id},"name":"[{,\\"${id}"}`).join(',');

test('a long array is read in parts, in linear time, with the values of the whole', () => {
  const text = ` [${rows},{"id":9007199254740993}] `;
  const started = performance.now();
  const parts = [...parseJsonArray(text)!];
  expect(performance.now() - started).toBeLessThan(3000);
  expect(parts.length).toBeGreaterThan(2);
  expect(printJson(parts.flat())).toBe(printJson(parseJson(text)));
  expect(parseJsonArray('[1]')).toBeUndefined();
  expect(parseJsonArray(`{${' '.repeat(3_000_000)}}`)).toBeUndefined();
});

test.each([
  ['a comma too much', `[${rows},]`],
  ['a comma in front', `[${' '.repeat(1_100_000)},${rows}]`],
  ['no end', `[${rows}`],
  ['more behind its end', `[${rows}]]`],
  ['another array behind it', `[${rows}],[${rows}]`],
])('a long array with %s is not JSON', (_, text) => {
  expect(() => [...parseJsonArray(text)!]).toThrow(SyntaxError);
});

import { expect, test } from 'vitest';
import { parseJson, printJson } from '../../src/process/exact-json.ts';

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
  [`[${'['.repeat(200)}`, 'deeper than 100'],
  ['{"a":\n "s3cret" "b"}', 'an unexpected character at line 2, column 11'],
  ['{"a":1', 'it ends too early'],
])('%s is refused: %s', (text, why) => {
  expect(() => parseJson(text)).toThrow(why);
});

const broken = String.raw`
{12345678901234567890:1}
[01234567890123456789]
[12345678901234567890abc]
[1234567890123456.]
[1.2.3.4.5.6.7.8.9.0]
["a" 12345678901234567890]
[-]  [1,]  [,1]  [1 2]  [1]]  [1  {"a" 1}  {"a":1,}  {a:1}  "a  "\x"  tru  +1  .5  1e`;

test.each([...broken.trim().split(/\n| {2}/), '"a\tb"', '\u00a01', ''])(
  '%j is not JSON, whatever its length',
  (text) => {
    for (const spaces of ['', ' '.repeat(300)]) expect(() => parseJson(text + spaces)).toThrow(SyntaxError);
  },
);

test.each([
  '900719925474099e2',
  '9007199254743e5',
  '90071992547409905e-1',
  '1.0000000000000000000001e0',
  '1e-400',
  '-2e-324',
])('%s keeps its digits', (digits) => {
  expect(printJson(parseJson(`{"id":${digits}}`))).toBe(`{"id":${digits}}`);
  expect(printJson(parseJson(digits))).toBe(digits);
});

test('a long text has the values that JSON.parse reads', () => {
  const values = JSON.parse(
    String.raw`[0, -0, -1, 10, 1.5, -2e-7, 1e21, true, false, null, "", "Zoë", "a\"b\\\u0000😀", [], {}]`,
  );
  const nested = values.map((value: unknown, index: number) => ({
    [`key ${index}`]: value,
    list: [value, [value]],
    '"': { value },
  }));
  for (const text of [JSON.stringify(nested), JSON.stringify(nested, undefined, '\t')])
    expect(parseJson(text)).toEqual(JSON.parse(text));
});

test('what has no long number is printed as JSON.stringify does, controls as escapes', () => {
  const texts = ['Rex', '', 'say "hi"', 'a\\b', 'Zoë', '猫'];
  const fields = [...texts, 0, -0, 1.5, 1e21, Number.NaN, null, true, undefined];
  const nested = [[1], {}, [], [undefined, () => 1, null], new Date(0), { c: 'x\ud800' }];
  for (const field of [...fields, ...nested])
    for (const key of ['name', 'a b', '"', 'é'])
      for (const indent of [0, 2]) {
        const value = { id: 1, [key]: field, last: false };
        expect(printJson(value, indent)).toBe(JSON.stringify(value, null, indent));
      }
  expect(printJson({ name: 'a\u001b[31m\u009b\u202e' })).toBe('{"name":"a\\u001b[31m\\u009b\\u202e"}');
});

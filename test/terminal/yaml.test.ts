import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type JsonValue, parseJson } from '../../src/process/exact-json.ts';
import { loadYaml } from '../../src/process/exact-yaml.ts';
import { below, createRandom, oneOf } from '../../src/server/seed.ts';
import { printPets } from '../helpers/print-pets.ts';

async function yaml(value: JsonValue): Promise<string> {
  const { stdout } = await printPets([[{ value }]], { format: 'yaml' });
  return stdout;
}

test.each([...'no on 1:30 0x10 2027-01-01 -5 1e3 null ~ [ *'.split(' '), '', ' x', '# x', 'a: b'])(
  'the text %j stays text for readers of YAML 1.1 and 1.2',
  async (text) => {
    const printed = await yaml(text);
    expect(parse(printed, { version: '1.1' })).toEqual([{ value: text }]);
    expect(parse(printed, { version: '1.2' })).toEqual([{ value: text }]);
  },
);

test('text of several lines and of any length is read back exactly', async () => {
  const text = `line 1\nline 2\n\n  indented\n${'word '.repeat(100)}`;
  expect(parse(await yaml(text))).toEqual([{ value: text }]);
});

test('numbers keep every digit', async () => {
  const value = parseJson('[9223372036854775807, 0.12345678901234567890123, 1.5, -0.1]');
  expect(await yaml(value)).toBe(
    '- value:\n    - 9223372036854775807\n    - 0.12345678901234567890123\n    - 1.5\n    - -0.1\n',
  );
});

test('controls are escaped, and read back exactly', async () => {
  const text = 'a\x1b[2J\x00\x07\x7f\x85\x9b\u202e\u2028\u200b\ufeff"\\ \n';
  const printed = await yaml(text);
  expect(printed).toMatch(/^[\x20-\x7e\n]*$/);
  expect(parse(printed)).toEqual([{ value: text }]);
});

test('a record that comes twice is written twice', async () => {
  const rex = { id: 1n };
  const { stdout } = await printPets([[rex, rex]], { format: 'yaml' });
  expect(stdout).toBe('- id: 1\n- id: 1\n');
});

test('any record is read back exactly by readers of YAML 1.1 and 1.2', async () => {
  const pieces = [
    ...'a Z e5 E+1 y No null true .inf nan 0 12 1_0 0x1f 2027-01-01 12:30 : # - ? , [ ] { } & * ! | > % @'.split(
      ' ',
    ),
    ...[
      ' ',
      '  ',
      ': ',
      ' #',
      '- ',
      '? ',
      "'",
      '"',
      '`',
      '\\',
      '\t',
      '\n',
      '\r',
      '\x1b',
      '\x7f',
      '\x85',
      '\xa0',
    ],
    ...'\u200d \u2028 \ufeff ~ = << é e\u0301 猫 ペット هرة א 😀 👩‍👧 🇩🇪 👍🏽 ❤️ ½ ٣ … --- ...'.split(' '),
  ];
  const random = createRandom(1);
  const texts = Array.from({ length: 1000 }, () =>
    Array.from({ length: 1 + below(random, 4) }, () => oneOf(random, pieces)).join(''),
  );
  const records = [...pieces, ...texts].map((text, at) => ({
    id: 9007199254740993n + BigInt(at),
    text,
    [oneOf(random, pieces)]: text,
    none: null,
    flag: at % 2 === 0,
    count: at - 10,
  }));
  const { stdout } = await printPets([records], { format: 'yaml' });
  const expected = records.map((record) => ({ ...record, flag: record.flag, count: BigInt(record.count) }));
  for (const version of ['1.1', '1.2'] as const)
    expect(parse(stdout, { version, intAsBigInt: true, merge: false })).toEqual(expected);
});

test('plain records are written as the package writes them', async () => {
  const { print } = await loadYaml();
  const plain = "Rex,O'Brien,no,y,nan,e5,12,2026-03-02T09:00:00Z,猫,😀 a,x ".split(',');
  const texts = [...plain, 'Rex, the 2nd (old)'];
  const records = texts.map((name, at) => ({ id: BigInt(at), name, y: null, quantity: -at, complete: true }));
  const { stdout } = await printPets([records], { format: 'yaml' });
  expect(stdout).toBe(print(records));
});

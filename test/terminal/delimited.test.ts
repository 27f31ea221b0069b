import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/process/exact-json.ts';
import { printPets, terminal } from '../helpers/print-pets.ts';

async function cell(format: 'csv' | 'tsv' | 'ids', name: JsonValue, run = {}): Promise<string> {
  const { stdout } = await printPets([[{ id: 1n, name }]], { format, fields: ['name'], header: false }, run);
  return stdout.slice(0, -1);
}

test.each([
  ['Rex', 'Rex'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['a\tb', 'a\tb'],
  [' spaces ', ' spaces '],
  ['', ''],
  [null, ''],
  [true, 'true'],
  [{ a: [1] }, '"{""a"":[1]}"'],
])('csv writes %j as %j', async (name, text) => {
  expect(await cell('csv', name)).toBe(text);
});

test.each([
  ['=1+1', "'=1+1"],
  ['+49', "'+49"],
  ['-5', "'-5"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\tx', "'\tx"],
  ['\rx', '"\'\rx"'],
  ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
])('csv guards the text %j, which a spreadsheet would take for a formula', async (name, text) => {
  expect(await cell('csv', name)).toBe(text);
});

test.each([
  [-5, '-5'],
  [-9223372036854775807n, '-9223372036854775807'],
])('csv does not guard the number %s', async (value, text) => {
  expect(await cell('csv', value)).toBe(text);
});

test('a reader of csv gets back what was written', async () => {
  const names = ['plain', 'a,b', '"', '""', 'x\ny', 'x\r\ny', '猫', ' ', 'a\\b', '👩\u200d🚀'];
  const records = names.map((name, at) => ({ id: BigInt(at), name, status: 'sold' }));
  const { stdout } = await printPets([records], { format: 'csv' });
  const read: string[][] = parse(stdout);
  expect(read.slice(1).map(([, name]) => name)).toEqual(names);
});

test.each([
  ['a\tb', 'a\\tb'],
  ['a\nb', 'a\\nb'],
  ['a\r\nb', 'a\\r\\nb'],
  ['a\\b', 'a\\\\b'],
  ['=1+1', '=1+1'],
  ['"', '"'],
])('tsv writes %j as %j', async (name, text) => {
  expect(await cell('tsv', name)).toBe(text);
});

test.each(['csv', 'tsv', 'ids'] as const)('%s contains no control characters', async (format) => {
  const name = 'a\x1b[2J\x00\x07\x7f\x9b\u202e\u2028\ufeff\ud800';
  const shown = 'a\\x1b[2J\\x00\\x07\\x7f\\x9b\\u202e\\u2028\\ufeff\\ud800';
  expect(await cell(format, name)).toBe(shown);
  expect(await cell(format, name, terminal)).toBe(shown);
});

test('a carriage return in csv never reaches a terminal, because it would overwrite the line', async () => {
  expect(await cell('csv', 'a\rb', terminal)).toBe('a\\x0db');
});

test('a record without an id has no line among ids, and a warning counts it', async () => {
  const records = [{ id: 1n }, { name: 'Rex' }, { id: null }, { id: 4n }];
  expect(await printPets([records], { format: 'ids' })).toEqual({
    stdout: '1\n4\n',
    stderr: 'warning: left out 2 records without id\n',
  });
  expect((await printPets([records], { format: 'ids', quiet: true })).stderr).toBe('');
});

test('an id per line stays one line', async () => {
  expect(await cell('ids', 'a\nb')).toBe('a\\x0ab');
});

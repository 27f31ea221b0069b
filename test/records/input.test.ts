import { parse as parseCsv } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { decodeUtf8, splitInput } from '../../src/input/input-file.ts';
import type { SplitRecord } from '../../src/input/splitters.ts';
import { randomOf } from '../helpers/random.ts';

function read(text: string, options: { name?: string; columns?: readonly string[] } = {}): SplitRecord[] {
  const { name = 'input', columns = [] } = options;
  return [...(splitInput({ name, text }, (cell) => columns.includes(cell))?.records ?? [])];
}

const cellsOf = (records: SplitRecord[]) => records.map(({ cells }) => cells);
const linesOf = (records: SplitRecord[]) => records.map(({ line }) => line);

test('reads CSV with line ends of all kinds, quotes, a blank line, and a last line without an end', () => {
  const records = read('petId,quantity,note\r\n1,2,a\r3,4,"b\r\n""c"""\n\n5,6,é\r\n7,8,"x"');
  const rows = ['petId|quantity|note', '1|2|a', '3|4|b\r\n"c"', '5|6|é', '7|8|x'];
  expect(cellsOf(records).map((cells) => cells?.join('|'))).toEqual(rows);
  expect(linesOf(records)).toEqual([1, 2, 3, 6, 7]);
});

test('splits random CSV as csv-parse does', () => {
  const seed = Number(process.env.PETSTORE_TEST_SEED ?? 1);
  const random = randomOf(seed);
  const cells = ['1', '', 'abc', '"a,b"', '"x""y"', '"l\ni"', '"c\r\nd"', 'é', '""'];
  for (let round = 0; round < 200; round += 1) {
    const rows = Array.from({ length: 1 + random.below(6) }, () =>
      [random.pick(cells), random.pick(cells), 'end'].join(','),
    );
    const text = rows.map((row) => row + random.pick(['\n', '\r\n', '\r'])).join('');
    const expected = parseCsv(text, { record_delimiter: ['\r\n', '\n', '\r'] });
    expect(cellsOf(read(text, { name: 'a.csv' })), `seed ${seed}`).toEqual(expected);
  }
});

test('a backslash before the last quote of a tab-separated cell is refused', () => {
  const records = read('id\tname\n1\t"a\\"b"\n', { name: 'a.tsv' });
  expect(records[1]).toMatchObject({ line: 2, problem: { message: 'text follows a closing quote' } });
});

const long = 'x'.repeat(2 ** 20);

test.each([
  ['a.jsonl', `1\n{"a":"${long}"}\n2\n`],
  ['a.json', `[1,{"a":"${long}"},2]`],
])('reading stops at a JSON record beyond 1 MiB: %s', (name, text) => {
  expect(() => read(text, { name })).toThrow('the record is longer than 1 MiB');
});

test.each([
  ['id;name, size, colour;count\n1;a, b, c;2\n', ['id', 'count'], ['1', 'a, b, c', '2']],
  ['id;price\n1;5,0\n', ['id'], ['1', '5,0']],
  ['id|name\n1|a\n', ['id', 'name'], ['1', 'a']],
  ['"id","a;b;c"\n"1","x"\n', ['id'], ['1', 'x']],
])('the delimiter is the one that makes most columns of ours: %j', (text, columns, row) => {
  expect(cellsOf(read(text, { columns }))[1]).toEqual(row);
});

test('numbers the records of a JSON array, with their text', () => {
  const text = '\n[{"a":"]},\\"","b":[1,{}]} ,\r\n  2, "x"\n, {"a":\n1}]\n';
  expect(read(text)).toMatchObject([
    { line: 1, text: '{"a":"]},\\"","b":[1,{}]}' },
    { line: 2, text: '2' },
    { line: 3, text: '"x"' },
    { line: 4, text: '{"a":\n1}' },
  ]);
});

test.each([
  ['[{"a":1}', 'it ends too early'],
  ['[1,\n]', 'an unexpected character at line 2, column 1'],
  ['[1] 2', 'an unexpected character at line 1, column 5'],
])('the broken JSON %s is refused', (text, message) => {
  expect(() => read(text)).toThrow(message);
});

test('one JSON object over several lines is read, and JSONL of whole lines', () => {
  expect(read('{\n "a": 1\n}\n')).toMatchObject([{ line: 1, text: '{\n "a": 1\n}' }]);
  const lines = read('{"a":1}\r\n\r{"a":2}\n{"a":\n');
  expect(lines.map(({ line, text }) => `${line} ${text}`)).toEqual(['1 {"a":1}', '3 {"a":2}', '4 {"a":']);
});

test.each([
  ['a.csv', Buffer.from('\ufeffa,b\n', 'utf16le'), 'a.csv: not UTF-8 at byte 1', 'iconv -f UTF-16 '],
  ['a', Buffer.from('a,b\r\n3,caf\xe9\r\n', 'latin1'), 'a: not UTF-8 at byte 11', 'iconv -f WINDOWS-1252 '],
  ['a.xlsx', Buffer.from('PK\x03\x04'), 'a.xlsx: this is a workbook or another ZIP archive', 'as CSV'],
])('%s is refused, because it is not text, with how to make it so', (name, bytes, message, hint) => {
  const refusal = { message, details: expect.objectContaining({ hint: expect.stringContaining(hint) }) };
  expect(() => decodeUtf8(bytes, name)).toThrow(expect.objectContaining(refusal));
});

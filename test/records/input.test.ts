import { parse as parseCsv } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { splitInput } from '../../src/input/input-file.ts';
import type { SplitRecord } from '../../src/input/splitters.ts';
import { randomOf } from '../helpers/random.ts';

/** Reads a text, cut into pieces of `size` bytes. */
async function read(
  text: string | Uint8Array,
  options: { name?: string; columns?: readonly string[]; size?: number } = {},
): Promise<SplitRecord[]> {
  const { size = 1_000_000, name = 'input', columns = [] } = options;
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const records: SplitRecord[] = [];
  const file = { name, path: undefined, bytes: pieces() };
  const { pages } = await splitInput(file, (cell) => columns.includes(cell));
  for await (const page of pages) records.push(...page);
  return records;
}

const cellsOf = (records: SplitRecord[]) => records.map(({ cells }) => cells);
const linesOf = (records: SplitRecord[]) => records.map(({ line }) => line);

test.each([1, 2, 3, 7, 64])('returns the same CSV records for pieces of %i bytes', async (size) => {
  const text = 'petId,quantity,note\r\n1,2,a\r3,4,"b\r\n""c"""\n\n5,6,é\r\n7,8,"x"';
  const records = await read(text, { size });
  const rows = ['petId|quantity|note', '1|2|a', '3|4|b\r\n"c"', '5|6|é', '7|8|x'];
  expect(cellsOf(records).map((cells) => cells?.join('|'))).toEqual(rows);
  expect(linesOf(records)).toEqual([1, 2, 3, 6, 7]);
});

test('splits random CSV as csv-parse does, however it is cut', async () => {
  const seed = Number(process.env.PETSTORE_TEST_SEED ?? 1);
  const random = randomOf(seed);
  const cells = ['1', '', 'abc', '"a,b"', '"x""y"', '"l\ni"', '"c\r\nd"', 'é', '""'];
  for (let round = 0; round < 200; round += 1) {
    const rows = Array.from({ length: 1 + random.below(6) }, () =>
      [random.pick(cells), random.pick(cells), 'end'].join(','),
    );
    const text = rows.map((row) => row + random.pick(['\n', '\r\n', '\r'])).join('');
    const expected = parseCsv(text, { record_delimiter: ['\r\n', '\n', '\r'] });
    const size = 1 + random.below(9);
    expect(cellsOf(await read(text, { size, name: 'a.csv' })), `seed ${seed}`).toEqual(expected);
  }
});

test('a backslash before the last quote of a tab-separated cell is refused', async () => {
  const records = await read('id\tname\n1\t"a\\"b"\n', { name: 'a.tsv' });
  expect(records[1]).toMatchObject({ line: 2, problem: { message: 'text follows a closing quote' } });
});

const long = 'x'.repeat(2 ** 20);
const tooLong = 'the record is longer than 1 MiB';

test.each([
  ['a.jsonl', `1\n{"a":"${long}"}\n2\n`],
  ['a.json', `[1,{"a":"${long}"},2]`],
])('reading stops at a JSON record beyond 1 MiB: %s', async (name, text) => {
  const [first, broken] = await read(text, { size: 65_536, name });
  expect(first?.text).toBe('1');
  expect(broken).toMatchObject({ problem: { message: tooLong }, isBroken: true });
});

test.each([
  ['id;name, size, colour;count\n1;a, b, c;2\n', ['id', 'count'], ['1', 'a, b, c', '2']],
  ['id;price\n1;5,0\n', ['id'], ['1', '5,0']],
  ['id|name\n1|a\n', ['id', 'name'], ['1', 'a']],
  ['"id","a;b;c"\n"1","x"\n', ['id'], ['1', 'x']],
])('the delimiter is the one that makes most columns of ours: %j', async (text, columns, row) => {
  expect(cellsOf(await read(text, { columns }))[1]).toEqual(row);
});

test('numbers the records of a JSON array, with their text', async () => {
  const text = '\n[{"a":"]},\\"","b":[1,{}]} ,\r\n  2, "x"\n, {"a":\n1}]\n';
  expect(await read(text, { size: 5 })).toMatchObject([
    { line: 1, text: '{"a":"]},\\"","b":[1,{}]}' },
    { line: 2, text: '2' },
    { line: 3, text: '"x"' },
    { line: 4, text: '{"a":\n1}' },
  ]);
});

test.each([
  ['[{"a":1}', 'input.json: not valid JSON: it ends too early'],
  ['[1,\n]', 'input.json: not valid JSON: an unexpected character at line 2, column 1'],
  ['[1] 2', 'input.json: not valid JSON: an unexpected character at line 1, column 5'],
])('the broken JSON %s is refused', async (text, message) => {
  await expect(read(text, { name: 'input.json' })).rejects.toThrow(message);
});

test('one JSON object over several lines is read, and JSONL of whole lines', async () => {
  expect(await read('{\n "a": 1\n}\n')).toMatchObject([{ line: 1, text: '{\n "a": 1\n}' }]);
  const lines = await read('{"a":1}\r\n\r{"a":2}\n{"a":\n', { size: 2 });
  expect(lines.map(({ line, text }) => `${line} ${text}`)).toEqual(['1 {"a":1}', '3 {"a":2}', '4 {"a":']);
});

test('a JSON document over 256 MiB is refused', async () => {
  async function* bytes() {
    const piece = Buffer.alloc(2 ** 24, ' ').fill('[', 0, 1);
    for (let count = 0; count <= 16; count += 1) yield piece;
  }
  const { message } = await splitInput({ name: 'a.json', path: undefined, bytes: bytes() }, () => false).then(
    () => expect.unreachable('it was read'),
    (error) => error,
  );
  expect(message).toBe('a.json: is longer than 256 MiB');
});

test.each<[string, Uint8Array, message: string, hint: RegExp]>([
  ['a.csv', Buffer.from('\ufeffa,b\n', 'utf16le'), 'a.csv: not UTF-8 at byte 1', /-f UTF-16/],
  ['a', Buffer.from('a,b\r\n3,caf\xe9\r\n', 'latin1'), 'a: not UTF-8 at byte 11', /-f WINDOWS-1252/],
  ['a.xlsx', Buffer.from('PK\x03\x04'), 'a.xlsx: is a workbook or another ZIP archive', /CSV UTF-8/],
])('%s is refused, because it is not text', async (name, bytes, message, hint) => {
  const details = { hint: expect.stringMatching(hint) };
  await expect(read(bytes, { name })).rejects.toMatchObject({ message, details });
});

import { expect, test } from 'vitest';
import type { ReadOptions } from '../../src/bulk/parse.ts';
import { checkRows, type RowInput, readRows } from '../../src/bulk/read.ts';
import { defaultFlags, parseColumnMap, parseShard, shardOf } from '../../src/bulk/run-flags.ts';
import type { Source } from '../../src/input/source.ts';

function sourceOf(text: string, name = 'stock.csv'): Source {
  return {
    name,
    path: undefined,
    async *bytes() {
      yield Buffer.from(text);
    },
    close: async () => {},
  };
}

function read(text: string, options: Partial<ReadOptions> & { name?: string } = {}): Promise<RowInput> {
  const { name, ...rest } = options;
  return readRows(sourceOf(text, name), { ...defaultFlags, ...rest });
}

function valuesOf({ rows }: RowInput) {
  return Array.from({ length: rows.length }, (_, row) => [rows.id(row), rows.after(row), rows.state(row)]);
}

const issuesOf = ({ issues }: RowInput) =>
  issues.first.map(({ line, column, message }) => `${line}:${column}: ${message}`);

test('keeps the largest id and the largest quantity exact', async () => {
  const input = await read('petId,quantity\n9223372036854775807,9007199254740991\n9007199254740993,0\n');
  expect(valuesOf(input)).toEqual([
    [9223372036854775807n, 9007199254740991, 'unprocessed'],
    [9007199254740993n, 0, 'unprocessed'],
  ]);
});

test.each([
  '',
  ' ',
  '12.0',
  '1e3',
  '+5',
  '-1',
  '0x10',
  '1,000',
  'NaN',
  '5 6',
  '007',
  '٣',
  '9007199254740992',
])('refuses %j as a quantity, in every format', async (value) => {
  const csv = await read(`petId;quantity\n7;3\n8;${value}\n`);
  expect(csv.issues.count).toBe(1);
  expect(issuesOf(csv)[0]).toMatch(/^3:3: quantity (is empty|".*"): must be a whole number from 0 to/);
  const json = await read(JSON.stringify([{ petId: 8, quantity: value }]), { name: 'a.json' });
  expect(json.issues.count).toBe(1);
});

test.each(['-1', '', '1.0', '01', '9223372036854775808', 'abc', '1e3'])(
  'refuses %j as an id',
  async (value) => {
    expect(issuesOf(await read(`petId,quantity\n${value},3\n`))[0]).toMatch(
      /^2:1: petId (is empty|".*"): must be/,
    );
  },
);

test('judges a JSON number as it is written', async () => {
  const input = await read(
    '{"petId":1,"quantity":12.0}\n{"petId":"2","quantity":"3"}\n{"petId":3,"quantity":1e3}\n{"petId":4,"quantity":null}\n{"petId":9223372036854775807,"quantity":9007199254740991}\n',
    { name: 'a.jsonl' },
  );
  expect(issuesOf(input)).toEqual([
    '1:23: quantity "12.0": must be a whole number from 0 to 9007199254740991, in digits alone',
    '3:23: quantity "1e3": must be a whole number from 0 to 9007199254740991, in digits alone',
    '4:23: quantity is empty: must be a whole number from 0 to 9007199254740991, in digits alone',
  ]);
  expect(valuesOf(input)[1]).toEqual([2n, 3, 'unprocessed']);
  expect(valuesOf(input)[4]).toEqual([9223372036854775807n, 9007199254740991, 'unprocessed']);
});

test.each(['Pet_ID,Quantity', 'id,stock', 'PET,count', '"pet id",QUANTITY', ' petId , quantity '])(
  'matches the header %j',
  async (header) => {
    expect(valuesOf(await read(`${header}\n1,2\n`))).toEqual([[1n, 2, 'unprocessed']]);
  },
);

test('ignores other columns, in any order', async () => {
  const input = await read('name,quantity,_line,petId\nRex,2,9,1\n');
  expect(valuesOf(input)).toEqual([[1n, 2, 'unprocessed']]);
  const json = await read('[{"status":"sold","quantity":2,"petId":1}]', { name: 'a.json' });
  expect(valuesOf(json)).toEqual([[1n, 2, 'unprocessed']]);
});

test('finds columns by the names of --map', async () => {
  const map = parseColumnMap(['petId=SKU', 'quantity=On hand']);
  expect(valuesOf(await read('id,sku,quantity,on_hand\n9,1,8,2\n', { map }))).toEqual([
    [1n, 2, 'unprocessed'],
  ]);
  expect(() => parseColumnMap(['sku'])).toThrow("--map 'sku': must be petId=<column>");
  expect(() => parseColumnMap(['petId=a', 'pet_id=b'])).toThrow('given twice');
});

test.each([
  ['sku,quantity\n1,2\n', 'stock.csv:1: no column petId (or id, pet); the header has sku, quantity'],
  [
    'petId,Delta\n1,2\n',
    'stock.csv:1: no column quantity (or qty, stock, count); Delta is a column for --relative;',
  ],
  ['petId,name\n1,2\n', 'stock.csv:1: no column quantity (or qty, stock, count); the header has petId, name'],
  [
    'id,petId,quantity\n1,1,2\n',
    'stock.csv:1: the columns id and petId may both be petId; the header has id, petId, quantity',
  ],
  ['petId,count,count\n1,1,2\n', 'stock.csv:1: duplicate column count'],
  ['1,2\n3,4\n', 'stock.csv:1: no column petId (or id, pet); the header has 1, 2'],
])('refuses the header of %j, and lists the names in it', async (text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});

test('reports line and length of a row that is too long or too short', async () => {
  const input = await read('petId,quantity\n1,2\n3\n4,5,6\n\n7,8\n');
  expect(issuesOf(input)).toEqual([
    '3:1: the row has 1 cell, the header has 2',
    '4:1: the row has 3 cells, the header has 2',
  ]);
  expect(input.rows.countStates()).toMatchObject({ invalid: 2, unprocessed: 2 });
});

test('reports what is wrong with a JSON record, and its position', async () => {
  const input = await read('{"petId":1}\n{"petId":1,"quantity":2\n[1,2]\n', {
    name: 'a.jsonl',
  });
  expect(issuesOf(input)).toEqual([
    '1:1: no column quantity (or qty, stock, count); its names are petId',
    expect.stringMatching(/^2:1: not valid JSON: /),
    '3:1: "[1,2]" is not a JSON object',
  ]);
  const names = await read('{}\n{"id":1,"pet":2,"count":3}\n', { name: 'a.jsonl' });
  expect(issuesOf(names)).toEqual([
    '1:1: no column petId (or id, pet); the object is empty',
    '2:1: the columns id and pet may both be petId; its names are id, pet, count',
  ]);
});

test('counts a repeated row once', async () => {
  const input = await read('petId,quantity\n1,2\n3,4\n1,2\n1,2\n');
  expect(input).toMatchObject({ repeated: 2, summed: 0 });
  expect(valuesOf(input).map(([, , state]) => state)).toEqual([
    'unprocessed',
    'unprocessed',
    'skipped',
    'skipped',
  ]);
});

test('names both lines if two rows for one pet differ', async () => {
  const { issues } = await read('petId,quantity\n1,2\n3,4\n1,5\n1,2\n');
  expect(issues).toMatchObject({ count: 1, conflicts: 1 });
  expect(issues.first).toMatchObject([{ line: 4, message: 'pet 1 has 5 here and 2 on line 2' }]);
});

test('reads the counts that rows expect', async () => {
  const { rows, issues } = await read('petId,quantity,expected\n1,2,0\n3,4,\n5,6,x\n');
  expect([rows.expected(0), rows.expected(1)]).toEqual([0, undefined]);
  expect(issues.first).toMatchObject([{ line: 4, column: 5 }]);
});

test('finds every row by its id, over many segments', async () => {
  const count = 70_000;
  const lines = Array.from({ length: count }, (_, at) => `${BigInt(at + 1) * 61_489_146_912_365n},${at}`);
  const { rows, repeated } = await read(`petId,quantity\n${lines.join('\n')}\n`);
  expect([rows.length, repeated]).toEqual([count, 0]);
  for (let row = 0; row < count; row += 997) expect(rows.find(rows.id(row))).toBe(row);
  expect(rows.find(5n)).toBeUndefined();
});

test('splits a file into shards so that each pet is in one, counted from 0 or from 1', async () => {
  const ids = Array.from({ length: 3000 }, (_, at) => BigInt(at + 1));
  const sizes = [0, 0, 0];
  for (const id of ids) sizes[shardOf(id, 3)]! += 1;
  expect(Math.min(...sizes)).toBeGreaterThan(900);
  expect(parseShard('3/3')).toEqual(parseShard('0/3'));
  expect(() => parseShard('4/3')).toThrow("--shard '4/3': must be <i>/<n>");
  const text = `petId,quantity\n${ids.map((id) => `${id},1`).join('\n')}`;
  const taken = await Promise.all(
    ['1/3', '2/3', '3/3'].map((each) => read(text, { shard: parseShard(each) })),
  );
  const counts = taken.map(({ rows }) => rows.countStates());
  expect(counts.reduce((sum, each) => sum + each.unprocessed, 0)).toBe(3000);
  expect(counts.every(({ unprocessed, skipped }) => unprocessed + skipped === 3000)).toBe(true);
});

test('gives the hash of the bytes, and no rows for an empty input', async () => {
  const empty = await read('');
  expect(empty.sha256).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect([empty.rows.length, empty.layout]).toEqual([0, undefined]);
  expect((await read('petId,quantity\n')).rows.length).toBe(0);
});

test('reads changes, signed or not, with --relative', async () => {
  const input = await read('petId,delta\n1,+24\n2,-3\n3,0\n4, 7 \n5,+ 1\n6,--1\n7,1.0\n', { relative: true });
  const changes = [0, 1, 2, 3].map((row) => input.rows.change(row));
  expect(changes).toEqual([24, -3, 0, 7]);
  expect(issuesOf(input).map((text) => text.split(':')[0])).toEqual(['6', '7', '8']);
  await expect(read('petId,change,quantity\n1,2,3\n', { relative: true })).rejects.toThrow(
    'the columns change and quantity may both be quantity',
  );
});

test('adds up the changes of one pet with --sum, and otherwise refuses them, also equal ones', async () => {
  const text = 'petId,change\n1,+5\n2,1\n1,+5\n1,-2\n';
  const summed = await read(text, { relative: true, sum: true });
  expect([summed.rows.change(0), summed.summed, summed.issues.count]).toEqual([8, 2, 0]);
  expect((await read(text, { relative: true })).issues.conflicts).toBe(2);
});

test('uses the names of --columns for a file without a header', async () => {
  const input = await read('7,Rex,3\n8,Tom,4\n', { columns: ['petId', 'name', 'qty'] });
  expect(valuesOf(input)).toEqual([
    [7n, 3, 'unprocessed'],
    [8n, 4, 'unprocessed'],
  ]);
});

test.each([
  ['.', '1.234', 1234],
  [',', '"1,234,567"', 1234567],
  [' ', '1 234', 1234],
  [' ', '1\u00a0234', 1234],
  ['.', '12', 12],
  ['.', '1.23', undefined],
  ['.', '1234.567', undefined],
  ['.', '0.123', undefined],
] as const)('strips the separator %j from %j, if it groups thousands', async (thousands, value, expected) => {
  const input = await read(`petId;quantity\n1;${value}\n`, { thousands, delimiter: ';' });
  expect(valuesOf(input)[0]?.[1]).toBe(expected ?? 0);
  expect(input.issues.count).toBe(expected === undefined ? 1 : 0);
});

test("accepts Excel's sep line, rows of empty cells and spaces around cells, and keeps the numbers of lines", async () => {
  const input = await read('sep=;\r\npetId;quantity\r\n1; 5 \r\n;\r\n ; \r\n2;x\r\n');
  expect(valuesOf(input)[0]).toEqual([1n, 5, 'unprocessed']);
  expect(input.rows.length).toBe(2);
  expect(issuesOf(input)[0]).toMatch(/^6:3: quantity "x"/);
});

test('names the line of a quote that is never closed, and of a record over 1 MiB', async () => {
  await expect(read('petId,quantity\n1,2\n2,"3\n4,5\n')).rejects.toThrow(
    /^stock.csv:3: the quote opened on line 3/,
  );
  await expect(read(`petId,quantity\n1,${'5'.repeat(2 ** 20)}\n`)).rejects.toThrow(
    'stock.csv:2: the record is longer than 1 MiB',
  );
});

test('ends at a line of JSON that breaks off, because a truncated file is not a bad row', async () => {
  const text = '{"petId":1,"quantity":5}\n{"petId":2,"quan';
  await expect(read(text, { name: 'stock.jsonl', skipInvalid: true })).rejects.toMatchObject({
    message: 'stock.jsonl:2: the value that begins here is never closed',
    details: { hint: 'the file may be cut off: nothing was sent' },
  });
  expect(issuesOf(await read('{"petId":1,"quantity":5}\nnonsense', { name: 'stock.jsonl' }))).toHaveLength(1);
});

test('says how to convert an Excel workbook', async () => {
  await expect(read('PK\u0003\u0004rest', { name: 'stock.xlsx' })).rejects.toMatchObject({
    message: 'stock.xlsx: not text: the file looks like an Excel workbook',
    details: { hint: 'in Excel, save the workbook as CSV UTF-8' },
  });
});

test('knows a delivery by its pets and changes, whatever its bytes, its order and its shard are', async () => {
  const relative = { relative: true };
  const { delivery } = await read('petId,change\n2,+3\n1,5\n', relative);
  expect(delivery).toMatch(/^[0-9a-f]{64}$/);
  const same = ['petId;delta\r\n1;+5\r\n2;3\r\n\r\n', '{"id":1,"change":5}\n{"id":"2","change":"+3"}\n'];
  for (const text of same) expect((await read(text, { ...relative, name: 'x' })).delivery).toBe(delivery);
  const summed = await read('petId,change\n1,2\n1,3\n2,3\n', { ...relative, sum: true });
  expect(summed.delivery).toBe(delivery);
  const shard = await read('petId,change\n1,5\n2,3\n', { ...relative, shard: parseShard('1/2') });
  expect(shard.delivery).toBe(delivery);
  expect((await read('petId,change\n1,5\n2,4\n', relative)).delivery).not.toBe(delivery);
  expect((await read('petId,quantity\n1,5\n')).delivery).toBeUndefined();
});

test.each([
  ['petId,quantity\n1,1.234\n2,5.000\n3,x\n', {}, 'if that separates the thousands, add --thousands .'],
  ['petId,quantity\n1,+5\n2,-3\n', {}, 'if the rows are changes, add --relative'],
  ['petId,change\n1,+5\n1,+3\n', { relative: true }, 'if they are several deliveries, --sum adds them up'],
  [`petId,quantity\n1,x\n${'2,1\n'.repeat(30)}`, {}, '--skip-invalid applies the other rows'],
  ['petId,quantity\n1,x\n2,1\n', {}, undefined],
])('the hint fits what is wrong: %j', async (text, options, hint) => {
  const input = await read(text, options);
  const error = await Promise.resolve(input)
    .then(checkRows)
    .catch((thrown) => thrown);
  expect(error.details).toMatchObject({ code: 'invalid_input', hint });
});

test('shows the first three problems, and how many more there are', async () => {
  const input = await read(`petId,quantity\n${'1,x\n'.repeat(330)}`);
  expect(() => checkRows(input)).toThrow('stock.csv: 330 rows are invalid; nothing was sent');
  const error = await Promise.resolve(input)
    .then(checkRows)
    .catch((thrown) => thrown);
  expect(error.errors.map(({ message }: Error) => message).at(-2)).toBe('and 327 more like this');
  expect(error.errors).toHaveLength(5);
});

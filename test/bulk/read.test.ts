import { expect, test } from 'vitest';
import type { ReadOptions } from '../../src/bulk/parse.ts';
import { checkRows, type RowInput, readRows } from '../../src/bulk/read.ts';
import { defaultFlags, parseColumnMap, parseShard } from '../../src/bulk/run-flags.ts';

type Options = Partial<ReadOptions> & { readonly name?: string };

function read(text: string, { name = 'stock.csv', ...options }: Options = {}): Promise<RowInput> {
  async function* bytes() {
    yield Buffer.from(text);
  }
  const source = { name, path: undefined, bytes, close: async () => {} };
  return readRows(source, { ...defaultFlags, ...options });
}

/** The valid rows as `pet=count`, or `pet=change` of a relative input. */
function rowsOf({ rows }: RowInput): string {
  const all = Array.from(rows.where(() => true));
  return all.map((row) => `${rows.id(row)}=${rows.change(row) ?? rows.after(row)}`).join(' ');
}

const issuesOf = ({ issues }: RowInput) =>
  issues.first.map(({ line, column, message }) => `${line}:${column}: ${message}`);

const quantityRule = 'must be a whole number from 0 to 9007199254740991, in digits alone';
const json = { name: 'a.json' };
const lines = { name: 'a.jsonl' };
const relative = { relative: true };
const largest = '9223372036854775807=9007199254740991';

test.each<[text: string, rows: string, options?: Options]>([
  // Every digit counts.
  [
    'petId,quantity\n9223372036854775807,9007199254740991\n9007199254740993,0\n',
    `${largest} 9007199254740993=0`,
  ],
  [
    '{"petId":"2","quantity":"3"}\n{"petId":9223372036854775807,"quantity":9007199254740991}',
    `2=3 ${largest}`,
    lines,
  ],
  // Headers match regardless of case, spaces and underscores; other columns are ignored.
  ...['Pet_ID,Quantity', 'id,stock', 'PET,count', '"pet id",QUANTITY', ' petId , quantity '].map(
    (header): [string, string] => [`${header}\n1,2\n`, '1=2'],
  ),
  ['name,quantity,_line,petId\nRex,2,9,1\n', '1=2'],
  ['[{"status":"sold","quantity":2,"petId":1}]', '1=2', json],
  ['id,sku,quantity,on_hand\n9,1,8,2\n', '1=2', { map: parseColumnMap(['petId=SKU', 'quantity=On hand']) }],
  ['7,Rex,3\n8,Tom,4\n', '7=3 8=4', { columns: ['petId', 'name', 'qty'] }],
  // Only what groups digits in threes is a separator.
  ['petId;quantity\n1;1.234\n2;12\n', '1=1234 2=12', { thousands: '.' }],
  ['petId,quantity\n1,"1,234,567"\n', '1=1234567', { thousands: ',' }],
  ['petId,quantity\n1,1 234\n2,1\u00a0234\n', '1=1234 2=1234', { thousands: ' ' }],
  ['petId,delta\n1,+24\n2,-3\n3,0\n4, 7 \n', '1=24 2=-3 3=0 4=7', relative],
  ['petId,change\n1,+5\n2,1\n1,+5\n1,-2\n', '1=8 2=1', { relative: true, sum: true }],
  // A row that is repeated counts once.
  ['petId,quantity\n1,2\n3,4\n1,2\n1,2\n', '1=2 3=4'],
  ['petId,quantity\n', ''],
  ['', ''],
])('reads %j', async (text, rows, options) => {
  const input = await read(text, options);
  expect({ rows: rowsOf(input), issues: issuesOf(input) }).toEqual({ rows, issues: [] });
});

test.each([
  ...['', ' ', '12.0', '1e3', '+5', '-1', '0x10', '1,000', 'NaN', '5 6', '007', '٣', '9007199254740992'],
])('refuses %j as a quantity, in every format', async (value) => {
  const csv = await read(`petId;quantity\n7;3\n8;${value}\n`);
  expect(issuesOf(csv)).toHaveLength(1);
  expect(issuesOf(csv)[0]).toMatch(/^3:3: quantity (is empty|".*"): must be a whole number from 0 to/);
  expect((await read(JSON.stringify([{ petId: 8, quantity: value }]), json)).issues.count).toBe(1);
});

test.each(['-1', '', '1.0', '01', '9223372036854775808', 'abc', '1e3'])('refuses %j as an id', async (id) => {
  const [issue] = issuesOf(await read(`petId,quantity\n${id},3\n`));
  expect(issue).toMatch(/^2:1: petId (is empty|".*"): must be/);
});

test.each<[text: string, issues: readonly unknown[], options?: Options]>([
  [
    'petId,quantity\n1,2\n3\n4,5,6\n\n7,8\n',
    ['3:1: the row has 1 cell, the header has 2', '4:1: the row has 3 cells, the header has 2'],
  ],
  // Excel's line, empty rows and spaces keep the numbers of lines.
  ['sep=;\r\npetId;quantity\r\n1; 5 \r\n;\r\n ; \r\n2;x\r\n', [`6:3: quantity "x": ${quantityRule}`]],
  ['petId,quantity,expected\n1,2,0\n3,4,\n5,6,x\n', [`4:5: expected "x": ${quantityRule}`]],
  ['petId,quantity\n1,2\n3,4\n1,5\n1,2\n', ['4:1: pet 1 has 5 here and 2 on line 2']],
  [
    'petId;quantity\n1;1.23\n2;1234.567\n3;0.123\n',
    [2, 3, 4].map((line) => expect.stringContaining(`${line}:3: quantity`)),
    { thousands: '.' },
  ],
  [
    'petId,delta\n1,+ 1\n2,--1\n3,1.0\n',
    [2, 3, 4].map((line) => expect.stringContaining(`${line}:3: delta`)),
    relative,
  ],
  ['petId,change\n1,+5\n1,+5\n', ['3:1: pet 1 has 5 here and 5 on line 2'], relative],
  [
    '{"petId":1,"quantity":12.0}\n{"petId":3,"quantity":1e3}\n{"petId":4,"quantity":null}\n',
    [
      `1:23: quantity "12.0": ${quantityRule}`,
      `2:23: quantity "1e3": ${quantityRule}`,
      `3:23: quantity is empty: ${quantityRule}`,
    ],
    lines,
  ],
  [
    '{"petId":1}\n{"petId":1,"quantity":2\n[1,2]\n',
    [
      '1:1: no column quantity (or qty, stock, count); its names are petId',
      expect.stringMatching(/^2:1: not valid JSON: /),
      '3:1: "[1,2]" is not a JSON object',
    ],
    lines,
  ],
  [
    '{}\n{"id":1,"pet":2,"count":3}\n',
    [
      '1:1: no column petId (or id, pet); the object is empty',
      '2:1: the columns id and pet may both be petId; its names are id, pet, count',
    ],
    lines,
  ],
  ['{"petId":1,"quantity":5}\nnonsense', [expect.stringContaining('2:1: not valid JSON')], lines],
])('says what is wrong in %j, and where', async (text, issues, options) => {
  expect(issuesOf(await read(text, options))).toEqual(issues);
});

test.each<[text: string, message: string | RegExp, options?: Options]>([
  ['sku,quantity\n1,2\n', 'stock.csv:1: no column petId (or id, pet); the header has sku, quantity'],
  ['petId,Delta\n1,2\n', 'no column quantity (or qty, stock, count); Delta is a column for --relative;'],
  ['petId,name\n1,2\n', 'no column quantity (or qty, stock, count); the header has petId, name'],
  [
    'id,petId,quantity\n1,1,2\n',
    'the columns id and petId may both be petId; the header has id, petId, quantity',
  ],
  ['petId,count,count\n1,1,2\n', 'duplicate column count'],
  ['petId,change,quantity\n1,2,3\n', 'the columns change and quantity may both be quantity', relative],
  ['1,2\n3,4\n', 'no column petId (or id, pet); the header has 1, 2'],
  // A truncated file is not a bad row.
  ['petId,quantity\n1,2\n2,"3\n4,5\n', /^stock.csv:3: the quote opened on line 3/, { skipInvalid: true }],
  [
    `petId,quantity\n1,${'5'.repeat(2 ** 20)}\n`,
    'stock.csv:2: the record is longer than 1 MiB',
    { skipInvalid: true },
  ],
  [
    '{"petId":1,"quantity":5}\n{"petId":2,"quan',
    'a.jsonl:2: the value that begins here is never closed',
    { ...lines, skipInvalid: true },
  ],
  [
    'PK\u0003\u0004rest',
    'stock.xlsx: not text: the file looks like an Excel workbook',
    { name: 'stock.xlsx' },
  ],
])('refuses all of %.40j', async (text, message, options) => {
  await expect(read(text, options)).rejects.toThrow(message);
});

test('finds every row by its id, over many segments', async () => {
  const count = 70_000;
  const texts = Array.from({ length: count }, (_, at) => `${BigInt(at + 1) * 61_489_146_912_365n},${at}`);
  const { rows, repeated } = await read(`petId,quantity\n${texts.join('\n')}\n`);
  expect([rows.length, repeated]).toEqual([count, 0]);
  for (let row = 0; row < count; row += 997) expect(rows.find(rows.id(row))).toBe(row);
  expect(rows.find(5n)).toBeUndefined();
});

test('splits a file into shards so that each pet is in one, counted from 0 or from 1', async () => {
  expect(parseShard('3/3')).toEqual(parseShard('0/3'));
  const text = `petId,quantity\n${Array.from({ length: 3000 }, (_, at) => `${at + 1},1`).join('\n')}`;
  const parts = await Promise.all(
    ['1/3', '2/3', '3/3'].map((each) => read(text, { shard: parseShard(each) })),
  );
  const ids = parts.flatMap(({ rows }) =>
    Array.from(
      rows.where(() => true),
      (row) => rows.id(row),
    ),
  );
  expect(new Set(ids).size).toBe(3000);
  for (const { rows, skipped } of parts) {
    expect(rows.length).toBeGreaterThan(900);
    expect(rows.length + skipped).toBe(3000);
  }
});

test.each([
  [() => parseColumnMap(['sku']), "--map 'sku': must be petId=<column>"],
  [() => parseColumnMap(['petId=a', 'pet_id=b']), 'given twice'],
  [() => parseShard('4/3'), "--shard '4/3': must be <i>/<n>"],
])('refuses the flag of %s', (parse, message) => {
  expect(parse).toThrow(message);
});

test('knows a delivery by its pets and changes, whatever its bytes, its order and its shard are', async () => {
  const { delivery } = await read('petId,change\n2,+3\n1,5\n', relative);
  expect(delivery).toMatch(/^[0-9a-f]{64}$/);
  const deliveryOf = async (text: string, options: Options = {}) =>
    (await read(text, { ...relative, ...options })).delivery;
  expect(await deliveryOf('petId;delta\r\n1;+5\r\n2;3\r\n\r\n')).toBe(delivery);
  expect(await deliveryOf('{"id":1,"change":5}\n{"id":"2","change":"+3"}\n', lines)).toBe(delivery);
  expect(await deliveryOf('petId,change\n1,2\n1,3\n2,3\n', { sum: true })).toBe(delivery);
  expect(await deliveryOf('petId,change\n1,5\n2,3\n', { shard: parseShard('1/2') })).toBe(delivery);
  expect(await deliveryOf('petId,change\n1,5\n2,4\n')).not.toBe(delivery);
  expect((await read('petId,quantity\n1,5\n')).delivery).toBeUndefined();
});

test.each([
  ['petId,quantity\n1,1.234\n2,5.000\n3,x\n', {}, 'if that separates the thousands, add --thousands .'],
  ['petId,quantity\n1,+5\n2,-3\n', {}, 'if the rows are changes, add --relative'],
  ['petId,change\n1,+5\n1,+3\n', relative, 'if they are several deliveries, --sum adds them up'],
  [`petId,quantity\n1,x\n${'2,1\n'.repeat(30)}`, {}, '--skip-invalid applies the other rows'],
  ['petId,quantity\n1,x\n2,1\n', {}, undefined],
])('the hint fits what is wrong: %j', async (text, options, hint) => {
  const input = await read(text, options);
  expect(() => checkRows(input)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ code: 'invalid_input', hint }) }),
  );
});

test('shows the first three problems, and how many more there are', async () => {
  const input = await read(`petId,quantity\n${'1,x\n'.repeat(330)}`);
  const errors = [
    ...Array(3).fill(expect.anything()),
    expect.objectContaining({ message: 'and 327 more like this' }),
    expect.anything(),
  ];
  expect(() => checkRows(input)).toThrow(
    expect.objectContaining({ message: 'stock.csv: 330 rows are invalid; nothing was sent', errors }),
  );
});

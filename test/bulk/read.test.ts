import { expect, test } from 'vitest';
import { createCountLayout } from '../../src/bulk/count-layout.ts';
import type { RunFlags } from '../../src/bulk/run.ts';
import { applyFlags } from '../../src/commands/shared-flags.ts';
import { parseColumnMap } from '../../src/input/field-columns.ts';
import { decodeUtf8 } from '../../src/input/input-file.ts';
import { readRows } from '../../src/input/read-rows.ts';
import { type CliError, ManyError } from '../../src/process/errors.ts';

type Options = Partial<RunFlags> & Parameters<typeof readRows>[2] & { readonly name?: string };

async function read(text: string, options: Options = {}) {
  const { name = 'stock.csv', skipInvalid = true, ...flags } = options;
  const inputFile = { name, path: `/${name}`, text: decodeUtf8(Buffer.from(text), name) };
  return readRows(inputFile, createCountLayout(flags), { skipInvalid });
}

type CountInput = Awaited<ReturnType<typeof read>>;

async function refusal(text: string, options: Options = {}): Promise<CliError> {
  return read(text, { skipInvalid: false, ...options }).then(
    () => expect.unreachable('it was read'),
    (error) => error,
  );
}

/** The valid rows as `pet=count`, or `pet=change` of a relative input. */
function rowsOf({ rows }: CountInput): string {
  return rows
    .map(({ id, intent }) => `${id}=${intent.kind === 'add' ? intent.change : intent.value}`)
    .join(' ');
}

const issuesOf = ({ invalid }: CountInput) => invalid.map(({ line, message }) => `${line}: ${message}`);

const idRule = 'must be a whole number from 0 to 9223372036854775807';
const quantityRule = 'must be a whole number from 0 to 9007199254740991';
const signedRule = /^4: expected 'x': must be a whole number with or without a sign/;
const json = { name: 'a.json' };
const lines = { name: 'a.jsonl' };
const skipping = { skipInvalid: true };
const relative = { relative: true };
const largest = '9223372036854775807=9007199254740991';

/** The beginnings of the issues of a column, one a line. */
const issuesIn = (column: string, ...lines: number[]) =>
  lines.map((line) => expect.stringContaining(`${line}: ${column}`));

test.each<[text: string, rows: string, options?: Options]>([
  // Every digit counts.
  ['id,qty\n9223372036854775807,9007199254740991\n9007199254740993,0\n', `${largest} 9007199254740993=0`],
  ['{"id":"2","qty":"3"}\n{"id":9223372036854775807,"qty":9007199254740991}', `2=3 ${largest}`, lines],
  // Headers match regardless of case, spaces and underscores; other columns are ignored.
  ...['Pet_ID,Quantity', 'id,stock', 'PET,count', '"pet id",QUANTITY', ' petId , quantity '].map(
    (header): [string, string] => [`${header}\n1,2\n`, '1=2'],
  ),
  ['name,quantity,_line,petId\nRex,2,9,1\n', '1=2'],
  ['id,sku,quantity,on_hand\n9,1,8,2\n', '1=2', { map: parseColumnMap(['petId=SKU', 'quantity=On hand']) }],
  // As shops, spreadsheets and databases write them.
  [
    '\ufeffID,Type,SKU,Name,"In stock?",Stock\n1,simple,b-1,"Bella ""B""",1,12\n2,simple,,"Line\nbreak",0,0\n',
    '1=12 2=0',
  ],
  [
    '\ufeffsep=;\r\nArtikel;Bestand;Preis\r\n1;1.234;9,99\r\n2;12;\r\n;;\r\n',
    '1=1234 2=12',
    { map: parseColumnMap(['petId=Artikel,quantity=Bestand']), thousands: '.' },
  ],
  ['petId\tquantity\tname\tpath\r\n1\t4\t"Bella, x"\tC:\\new\r\n2\t5\t"two\nlines"\t\r\n', '1=4 2=5'],
  ['"","petId","quantity"\n"1",1,8\n"2",2,0\n', '1=8 2=0'],
  ['petId\tquantity\tname\n1\t8\ta\\\\b\\tc\n2\t0\t\\N\n', '1=8 2=0'],
  ['petId\tquantity\tname\n1\t8.00\t"Bella" the dog\n2\t0.00\tNULL\n', '1=8 2=0'],
  ['[{"id":"1","n":"8.00000","at":["x"]}]', '1=8', { ...json, map: parseColumnMap(['quantity=n']) }],
  // Numbers may be padded with zeros.
  ['id,qty\n000000000000007001,007\n', '7001=7'],
  ['id,change\n01,+05\n2,-007\n', '1=5 2=-7', relative],
  ['petId,quantity\n1,"1\'234"\n', '1=1234', { thousands: "'" }],
  ['"petId"\t"quantity"\n"1"\t"2"\n', '1=2'],
  // A character is a separator only if it groups digits in threes.
  ['petId,quantity\n1,"1,234,567"\n', '1=1234567', { thousands: ',' }],
  ['petId,quantity\n1,1 234\n2,1\u00a0234\n', '1=1234 2=1234', { thousands: ' ' }],
  ['petId,delta\n1,+24\n2,-3\n3,0\n4, 7 \n', '1=24 2=-3 3=0 4=7', relative],
  ['petId,change\n1,+5\n2,1\n1,+5\n1,-2\n', '1=8 2=1', { relative: true, sum: true }],
  // Two places of one pet, and equal lines too, add up.
  ['petId,place,quantity\n4,Shop,5\n4,Cellar,5\n5,Shop,1\n4,Shop,5\n', '4=15 5=1', { sum: true }],
  // A fraction of zeros that cannot be a group of thousands.
  ['petId;quantity\n1;8.0\n2;0.000\n3;8.0000\n', '1=8 2=0 3=8'],
  ['petId;quantity\n1;8,00\n2;8,000\n', '1=8 2=8', { decimal: ',' }],
  // Cells that nobody reads may be there or not.
  ['petId,quantity,note\n1,2\n3,4,,,\n', '1=2 3=4'],
  ['[{"petId":1.0,"quantity":8.0},{"petId":2,"quantity":1.000}]', '1=8 2=1', json],
  ['[{"petId":1,"quantity":"1.234"},{"petId":2,"quantity":2.0}]', '1=1234 2=2', { ...json, thousands: '.' }],
  ['petId;delta\n1;-1.234,00\n2;+8,0\n', '1=-1234 2=8', { relative: true, thousands: '.' }],
  ['petId;quantity\n1;1.234,00\n2;8,000\n', '1=1234 2=8', { thousands: '.' }],
  ['petId;quantity\n1;8.000\n2;1,234.0\n', '1=8 2=1234', { thousands: ',' }],
  ['petId;quantity\n1;8.000\n2;7\n', '1=8 2=7', { decimal: '.' }],
  ['petId;quantity\n1;1\u202f234,0\n', '1=1234', { thousands: ' ', decimal: ',' }],
  // A row that is repeated counts once.
  ['petId,quantity\n1,2\n3,4\n1,2\n1,2\n', '1=2 3=4'],
  ['petId,quantity\n', ''],
  ['[]', '', json],
])('reads %j', async (text, rows, options) => {
  const input = await read(text, options);
  expect({ rows: rowsOf(input), issues: issuesOf(input) }).toEqual({ rows, issues: [] });
});

test('the count that a row expects stands beside a count or a change', async () => {
  for (const [text, options] of [
    ['petId,quantity,expected\n1,5,9\n2,5,\n', {}],
    ['petId,expected,change\n1,9,+5\n2,,5\n', relative],
  ] as const) {
    const { rows } = await read(text, options);
    expect(rows.map(({ intent }) => intent.expected)).toEqual([9, undefined]);
  }
});

test.each([...['', ' ', '12.5', '1e3', '+5', '-1', '0x10', '1,234', 'NaN', '5 6', '٣', '9007199254740992']])(
  'refuses %j as a quantity, in every format',
  async (value) => {
    const csv = await read(`petId;quantity\n7;3\n8;${value}\n`);
    expect(issuesOf(csv)).toHaveLength(1);
    expect(issuesOf(csv)[0]).toMatch(/^3: quantity '.*': must be a whole number from 0 to/);
    expect((await read(JSON.stringify([{ petId: 8, quantity: value }]), json)).invalid).toHaveLength(1);
  },
);

test.each(['-1', '', '1.5', '9007199254740993.0', '9223372036854775808', 'abc', '1e3'])(
  'refuses %j as an id',
  async (id) => {
    const [issue] = issuesOf(await read(`petId,quantity\n${id},3\n`));
    expect(issue).toMatch(/^2: petId '.*': must be/);
  },
);

test.each<[text: string, issues: readonly unknown[], options?: Options]>([
  [
    'id,qty\n1,2\n3\n4,5,6\n\n7,8\n',
    [`3: qty '': ${quantityRule}`, '4: the row has 3 cells, the header has 2'],
  ],
  ['petId,quantity,expected\n1,2\n', ['2: the row ends before the column expected']],
  ['petId,quantity\n1.000,5\n', [expect.stringContaining("2: petId '1.000': must be")]],
  ['{"petId":1,"quantity":5,"quantity":5}\n', ['1: the key quantity occurs twice'], lines],
  // Excel's line, empty rows and spaces keep the numbers of lines.
  ['sep=;\r\npetId;quantity\r\n1; 5 \r\n;\r\n ; \r\n2;x\r\n', [`6: quantity 'x': ${quantityRule}`]],
  ['petId,quantity,expected\n1,2,0\n3,4,\n5,6,x\n', [expect.stringMatching(signedRule)]],
  ['petId,quantity\n1,−3\n', [`2: quantity '−3': ${quantityRule}`]],
  ['petId,quantity\n1,2\n3,4\n1,5\n1,2\n', [2, 4].map((line) => `${line}: line 2 and line 4 are for pet 1`)],
  ['petId;quantity\n1;1.23\n2;1234.567\n3;0.123\n', issuesIn('quantity', 2, 3, 4), { thousands: '.' }],
  ['petId,delta\n1,+ 1\n2,--1\n3,1-\n4,−1\n', issuesIn('delta', 2, 3, 4, 5), relative],
  ['petId,change\n1,+5\n1,+5\n', [2, 3].map((line) => `${line}: line 2 and line 3 are for pet 1`), relative],
  [
    '{"id":1,"qty":12.5}\n{"id":3,"qty":1e3}\n{"id":4,"qty":null}\n',
    [`1: qty 12.5: ${quantityRule}`, `2: qty 1e3: ${quantityRule}`, `3: qty '': ${quantityRule}`],
    lines,
  ],
  [
    '{"petId":1}\n{"petId":1,"quantity":2\n[1,2]\n',
    [
      '1: no column quantity (or qty, stock, count); it has: petId',
      expect.stringMatching(/^2: not valid JSON: /),
      "3: '[1,2]' is not a JSON object",
    ],
    lines,
  ],
  [
    '{}\n{"id":1,"pet":2,"count":3}\n',
    ['1: no column petId (or id, pet); it has none', '2: the columns id and pet both mean petId'],
    lines,
  ],
  ['{"id":[3],"qty":1}\n{"id":4,"qty":["5"]}\n', [`1: id: ${idRule}`, `2: qty: ${quantityRule}`], lines],
  ['petId;quantity\n1;8,00\n', [expect.stringContaining("2: quantity '8,00': must be")], { decimal: '.' }],
  ['id,place,qty\n4,a,5\n4,b,5\n', [2, 3].map((line) => `${line}: line 2 and line 3 are for pet 4`)],
  [
    '[{"petId":1,"quantity":5},\n{"petId":1,"quantity":"x"},{"petId":1,"quantity":6}]',
    [
      '1: record 1 and record 3 are for pet 1',
      expect.stringContaining("2: quantity 'x'"),
      '3: record 1 and record 3 are for pet 1',
    ],
    json,
  ],
  ['{"petId":1,"quantity":5}\nnonsense', [expect.stringContaining('2: not valid JSON')], lines],
])('says what is wrong in %j, and where', async (text, issues, options) => {
  expect(issuesOf(await read(text, options))).toEqual(issues);
});

test.each<[text: string, message: string | RegExp, options?: Options]>([
  ['', 'stock.csv: the file is empty'],
  ['sku,quantity\n1,2\n', 'stock.csv:1: no column petId (or id, pet); it has: sku, quantity'],
  ['petId,Delta\n1,2\n', 'no column quantity (or qty, stock, count); it has: petId, Delta'],
  ['id,petId,quantity\n1,1,2\n', 'the columns id and petId both mean petId'],
  ['petId,count,count\n1,1,2\n', 'the columns count and count both mean quantity'],
  // A header is checked even if no row follows.
  ['sku,2\n', 'no column petId (or id, pet); it has: sku, 2'],
  ['petId,change,quantity\n1,2,3\n', 'the columns change and quantity both mean quantity', relative],
  // A truncated file is an error of the file, not of a row.
  ['petId,quantity\n1,2\n2,"3\n4,5\n', /^stock.csv:3: a quote is opened and never closed/, skipping],
  [`id,qty\n1,${'5'.repeat(2 ** 20)}\n`, 'stock.csv:2: the record is longer than 1 MiB', skipping],
])('refuses all of %.40j', async (text, message, options) => {
  await expect(read(text, options)).rejects.toThrow(message);
});

test.each([
  [() => parseColumnMap(['sku']), 'must be petId=<column>'],
  [() => parseColumnMap(['petId=a', 'pet_id=b']), 'gives petId two columns'],
  [() => applyFlags.shard.parse?.('4/3', undefined), "--shard '4/3': must be <i>/<n>"],
])('refuses the flag of %s', (parse, message) => {
  expect(parse).toThrow(message);
});

const columnsHint = 'name the columns with --map petId=<column>,quantity=<column>; changes need --relative';
const hintOf = (mark: string) =>
  `give --thousands ${mark} if it separates thousands, or --decimal ${mark} if a fraction follows it`;

test.each<[text: string, hint: string | undefined, options?: Options]>([
  ['petId;quantity\n1;1.250,00\n2;abc\n', 'give --thousands . --decimal ,'],
  ['petId,quantity\n1,"1,000.0"\n', 'give --thousands , --decimal .'],
  ['petId,quantity\n1,1.234.567\n', 'give --thousands . if it separates thousands'],
  ['petId,quantity\n1,"8,00"\n', 'give --decimal , if a fraction follows it'],
  ['petId,quantity\n1,"8,000"\n', undefined, { decimal: '.' }],
  ["petId,quantity\n1,1'234\n", `give --thousands "'" if it separates thousands`],
  ['petId,quantity\n1,1 234\n', 'give --thousands " " if it separates thousands'],
  ['petId,change\n1,-1.234\n', hintOf('.'), relative],
  ['petId,quantity\n1,8.000\n', hintOf('.')],
  ['petId,quantity\n1,1.5\n', undefined],
  ['petId,delta\n1,3\n', columnsHint],
  ['sku,quantity\n1,5\n', columnsHint],
  ['petId,change\n1,+5\n1,+3\n', '--sum adds up the rows of a pet', relative],
  ['petId,quantity\n1,5\n1,3\n', '--sum adds up the rows of a pet'],
  ['petId,quantity\n"1"x,5\n', 'within quotes, write each quote twice'],
])('the hint fits what is wrong: %.60j', async (text, hint, options) => {
  const error = await refusal(text, options);
  const [first = error] = error instanceof ManyError ? error.errors : [];
  expect(first.details).toMatchObject({ code: 'invalid_input' });
  expect(first.details.hint).toBe(hint);
});

test('the error has one problem of each kind with the lines of its like, and the number of all', async () => {
  const text = `petId,quantity\n${'1,x\n'.repeat(330)}2,\n3,4\n3,5\n`;
  const error = await refusal(text);
  expect(error).toBeInstanceOf(ManyError);
  const { errors, message } = error as ManyError;
  expect(message).toBe('stock.csv: 333 rows are invalid; nothing was sent');
  expect(errors.map((each) => each.message)).toEqual([
    `stock.csv:2: quantity 'x': ${quantityRule} (and 330 more like this: lines 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 320 more)`,
    'stock.csv:333: line 333 and line 334 are for pet 3',
    message,
  ]);
});

test('counts the rows that are left out, and says why', async () => {
  const input = await read('petId,quantity\n1,2\n1,2\n3,x\n4,5\n4,6\n');
  expect(rowsOf(input)).toBe('1=2');
  expect(input).toMatchObject({ skipped: 1, invalid: [{ line: 4 }, { line: 5 }, { line: 6 }] });
  expect(input.notices.map(([, text]) => text)).toEqual([
    'stock.csv: 3 rows are invalid and skipped',
    `stock.csv:4: quantity 'x': ${quantityRule}`,
    'stock.csv:5: line 5 and line 6 are for pet 4',
    'stock.csv: 1 row is repeated, and counted once',
  ]);
});

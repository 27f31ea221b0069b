import stringWidth from 'fast-string-width';
import { expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { printJson } from '../../src/process/exact-json.ts';
import { listPages, mia, printPets, rex, terminal } from '../helpers/list-pets.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { fakeIo, runAt, runCli } from '../helpers/run-cli.ts';

const rexJson = '{"id":1,"name":"Rex","categoryId":7,"status":"available","chip":"x1"}';
const miaJson = '{"id":9223372036854775807,"name":"Mia","categoryId":8,"status":"sold"}';

const aligned = 'id  name  category  status\n';
const rexYaml = 'id: 1\nname: "Rex"\ncategoryId: 7\nstatus: "available"\nchip: "x1"\n';
const rexItem = `- ${rexYaml.trimEnd().replaceAll('\n', '\n  ')}\n`;
const miaItem = '- id: 9223372036854775807\n  name: "Mia"\n  categoryId: 8\n  status: "sold"\n';
const csv = 'id,name,category,status\n';
const [miaCsv, rexCsv] = ['9223372036854775807,Mia,8,sold\n', '1,Rex,7,available\n'];
const tabbed = (text: string) => text.replaceAll(',', '\t');
const miaRow = '9223372036854775807  Mia   8         sold\n';
const jsonLine = (json: string) => `${json}\n`;

/** By format: the header, two pets of a list, what ends it, and `--fields categoryId,name` of the first pet. */
const formats = [
  ['table', aligned, ' 1  Rex   7         available\n', miaRow, '', 'categoryId  name\n         7  Rex\n'],
  ['json', '[', rexJson, `,${miaJson}`, ']\n', '[{"categoryId":7,"name":"Rex"}]\n'],
  ['jsonl', '', jsonLine(rexJson), jsonLine(miaJson), '', '{"categoryId":7,"name":"Rex"}\n'],
  ['csv', csv, rexCsv, miaCsv, '', 'categoryId,name\n7,Rex\n'],
  ['tsv', tabbed(csv), tabbed(rexCsv), tabbed(miaCsv), '', 'categoryId\tname\n7\tRex\n'],
  ['yaml', '', rexItem, miaItem, '', '- categoryId: 7\n  name: "Rex"\n'],
  ['ids', '', '1\n', '9223372036854775807\n', '', '7\n'],
] as const;

test.each(formats)('%s prints a list of several pages and an empty one, with exact ids', async (...row) => {
  const [format, head, one, two, end] = row;
  const flags = `-o ${format}`;
  const stdout = head + one + two + end;
  expect(await listPages([[rex], [], [mia]], flags)).toEqual({ code: 0, stdout, stderr: '' });
  expect(await printPets([], flags)).toBe(format === 'yaml' ? '[]\n' : head + end);
});

test.each(formats)('%s prints one record', async (format, head, one) => {
  await using server = await recordingServer({ '/pets/1': printJson(rex), '/categories': [] });
  const record = { yaml: rexYaml, json: jsonLine(rexJson) }[format as string] ?? head + one;
  expect((await runAt(server, `pets get 1 -q -o ${format}`)).stdout).toBe(record);
});

test.each(formats)('%s prints the columns of --fields, and no header with --no-header', async (...row) => {
  const [format, , one, , , picked] = row;
  expect(await printPets([rex], `--fields categoryId,name -o ${format}`)).toBe(picked);
  const bare = { table: '1  Rex  7  available\n', json: `[${rexJson}]\n` }[format as string] ?? one;
  expect(await printPets([rex], `--no-header -o ${format}`)).toBe(bare);
});

test.each(formats)('%s is written page by page, and does not look whole if it breaks off', async (...row) => {
  const [format, head, one] = row;
  const flags = `-o ${format}`;
  expect(await listPages([[rex], undefined], flags)).toMatchObject({ code: 1, stdout: head + one });
  expect(await listPages([undefined], flags, terminal)).toMatchObject({ code: 1, stdout: '' });
  const io = fakeIo();
  let printed = '';
  await using server = await recordingServer({ '/categories': [] }, ({ path }) => {
    const isFirst = !path.includes('after');
    if (!isFirst) printed = io.written('stdout');
    const link = { link: '</pets?after=1>; rel="next"' };
    return isFirst ? { body: printJson([rex]), headers: link } : { body: printJson([mia]) };
  });
  expect(await main(['pets', 'list', ...flags.split(' '), '--base-url', server.url], io)).toBe(0);
  expect(printed).toBe(head + one);
});

test('JSON is indented on a terminal, and a picked field that a record lacks is null', async () => {
  const indented =
    '[\n  {\n    "id": 1,\n    "status": "available"\n  },\n  {\n    "id": 2,\n    "status": null\n  }\n]\n';
  const pets = [rex, { id: 2n, name: 'Max', categoryId: 1n }];
  expect(await printPets(pets, '--json --fields id,status', terminal)).toBe(indented);
});

const orders = [
  { id: 10n, petId: 2n, quantity: 2n, shipDate: 'b' },
  { id: 9n, petId: 1n, quantity: 10n, shipDate: 'a' },
  { id: 9223372036854775807n, quantity: null, shipDate: 'b' },
  { id: 9223372036854775806n, petId: 3n, quantity: -1n, shipDate: 'B' },
];

test.each([
  ['id', '9 10 9223372036854775806 9223372036854775807'],
  ['-id', '9223372036854775807 9223372036854775806 10 9'],
  ['shipDate', '9223372036854775806 9 10 9223372036854775807'],
  ['-shipDate', '10 9223372036854775807 9 9223372036854775806'],
  ['quantity', '9223372036854775806 10 9 9223372036854775807'],
  ['-quantity', '9 10 9223372036854775806 9223372036854775807'],
])('--sort %s: numbers by value, text by code unit, stable, absent values last', async (sort, ids) => {
  await using server = await recordingServer({ '/store/orders': printJson(orders) });
  const run = await runAt(server, `orders list -o ids --sort ${sort}`);
  expect(run.stdout.trim().split('\n').join(' ')).toBe(ids);
});

test('a warning counts the records that -o ids leaves out because they have no id', async () => {
  await using server = await recordingServer({
    '/store/orders': [{ id: 1 }, { quantity: -1 }, { id: null }, { id: 4 }],
  });
  const stderr = 'warning: left out 2 records without id\n';
  expect(await runAt(server, 'orders list -o ids')).toEqual({ code: 0, stdout: '1\n4\n', stderr });
  expect((await runAt(server, 'orders list -o ids -q')).stderr).toBe(stderr);
  const cells = await runAt(server, 'orders list -o csv --fields id,quantity --no-header');
  expect(cells.stdout).toBe('1,\n,-1\n,\n4,\n');
});

test.each([
  ['csv', 'two\r\nlines', '"two\r\nlines"'],
  ['csv', '=1+1', "'=1+1"],
  ['csv', '\n=1', '"\'\n=1"'],
  ['csv', '\rx', '"\'\rx"'],
  ['csv', '=LINK("x","y")', '"\'=LINK(""x"",""y"")"'],
  ['tsv', 'a\r\nb', 'a\\r\\nb'],
  ['tsv', 'a\\b', 'a\\\\b'],
  ['tsv', '"', '\\"'],
  ['tsv', 'a "b"', 'a "b"'],
])('%s writes %j as %j', async (format, name, text) => {
  expect(await printPets([{ ...rex, name }], `-o ${format} --fields name --no-header`)).toBe(`${text}\n`);
});

test.each(['table', 'csv', 'tsv', 'yaml', 'ids'])(
  'a control is a visible escape in %s on a terminal; in a file it is data, but in a table',
  async (format) => {
    const name = 'a\x1b[2Jb\x00\x07\x7f\x9b\u202e\ud800';
    const escaped = 'a\\x1b[2Jb\\x00\\x07\\x7f\\x9b\\u202e\\ud800';
    const inYaml = 'a\\e[2Jb\\0\\a\\u007f\\u009b\\u202e\\ud800';
    const shown = format === 'yaml' ? inYaml : escaped;
    const flags = `-o ${format} --fields name --color never`;
    expect(await printPets([{ ...rex, name }], flags, terminal)).toContain(shown);
    const joined = 'می\u200cخواهم \u202e\u2067';
    const data = { table: shown, yaml: 'a\\e[2Jb\\0\\a\\u007f\\u009b\u202e\\ud800' }[format];
    const pets = [name, joined].map((each) => ({ ...rex, name: each }));
    const stdout = await printPets(pets, flags);
    // UTF-8 has no bytes for half of a pair.
    expect(stdout).toContain(data ?? name.replace('\ud800', '\\ud800'));
    if (format !== 'table') expect(stdout).toContain(joined);
  },
);

const length = 30_000;

test.each(
  Object.entries({
    words: 'a '.repeat(length / 2),
    emoji: '😀'.repeat(length / 2),
    families: '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'.repeat(length / 8),
    'accents on one letter': `e${'\u0301'.repeat(1000)}`,
  }),
)('a name that is nothing but %s, very many of them, is shown', async (_, name) => {
  for (const options of [{}, terminal])
    expect(await printPets([{ ...rex, name }], '--fields id,name', options)).toContain('id');
});

const flags = '--color never --fields id,name,status';

function drawn(pets: readonly object[], columns = 80): Promise<string> {
  return printPets(pets, flags, { ...terminal, columns });
}

test('an empty table is its header; without a header it has none', async () => {
  expect(await drawn([])).toMatchInlineSnapshot(`
    "id  name  status
    "
  `);
  expect(await printPets([rex], `${flags} --no-header`, terminal)).toMatchInlineSnapshot(`
    "┌───┬─────┬───────────┐
    │ 1 │ Rex │ available │
    └───┴─────┴───────────┘
    "
  `);
  expect(await printPets([], `${flags} --no-header`, terminal)).toBe('');
});

test('the header is bold and a status has its colour; in a pipe only with --color always', async () => {
  const pets = ['available', 'pending', 'sold'].map((status) => ({ ...rex, status }));
  for (const stdout of [await printPets(pets, '', terminal), await printPets(pets, '--color always')]) {
    expect(stdout).toMatch(/\x1b\[1m.*name.*\x1b\[22m/);
    expect(stdout).toContain('\x1b[32mavailable\x1b[39m');
    expect(stdout).toContain('\x1b[33mpending\x1b[39m');
    expect(stdout).toContain('\x1b[2msold\x1b[22m');
  }
  expect(await printPets(pets)).not.toContain('\x1b');
  const stdin = 'petId,quantity\n99,1\n';
  const failed = await runCli('inventory diff - --offline --color always', { stdin });
  expect(failed.stdout).toContain('\x1b[31mfailed\x1b[39m');
});

const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';
const texts = [
  'Rex',
  '猫のミケ',
  '한국어 이름이 아주 길어서 줄을 바꿔야 하는 경우',
  '🐶👍🏽',
  'e\u0301clair',
  '🇩🇪 Dackel',
  'x'.repeat(200),
  '猫'.repeat(100),
  'a\x1b[31mred\u202e',
  family.repeat(200),
];

test('every line of a frame is as wide, and no character is lost or cut', async () => {
  const pets = texts.map((name, at) => ({ ...rex, id: 10n ** BigInt(at), name }));
  const lines = (await drawn(pets, 450)).trimEnd().split('\n');
  expect(new Set(lines.map((line) => stringWidth(line))).size).toBe(1);
  const cells = lines.filter((line) => line.startsWith('│')).map((line) => line.split('│')[2]?.trim());
  const name = `name${texts.join('')}`.replace('\x1b', '\\x1b').replace('\u202e', '\\u202e');
  expect(cells.join('')).toBe(name);
});

test('a table that is wider than the terminal is aligned columns', async () => {
  expect(await drawn([rex], 25)).toContain('│');
  expect(await drawn([rex], 24)).toBe('id  name  status\n 1  Rex   available\n');
});

/** A page of so many pets, from this id on. */
function page(from: number, name = 'Rex'): object[] {
  return Array.from({ length: 150 }, (_, at) => ({ ...rex, id: BigInt(from + at), name }));
}

test('up to 300 records of any pages are one frame, ids to the right', async () => {
  const { stdout } = await listPages([page(1), page(1001, 'Maximilian')], flags, terminal);
  const lines = stdout.split('\n');
  expect(lines).toHaveLength(300 + 5);
  expect([...lines.slice(0, 4), ...lines.slice(-3)].join('\n')).toMatchInlineSnapshot(`
    "┌──────┬────────────┬───────────┐
    │   id │ name       │ status    │
    ├──────┼────────────┼───────────┤
    │    1 │ Rex        │ available │
    │ 1150 │ Maximilian │ available │
    └──────┴────────────┴───────────┘
    "
  `);
});

test('a longer list is aligned columns, printed before its last page has arrived', async () => {
  const pages = [page(1), page(201), page(401), undefined];
  const { code, stdout } = await listPages(pages, flags, terminal);
  expect({ code, lines: stdout.trimEnd().split('\n').length }).toEqual({ code: 1, lines: 451 });
  expect(stdout).toMatch(/^ id {2}name {2}status\n {2}1 {2}Rex {3}available\n/);
});

test('a piped table has the same columns, two spaces apart, and no space at the end of a line', async () => {
  const { status: _, ...cat } = { ...rex, id: 2n, name: '猫' };
  const long = { ...mia, name: 'x'.repeat(99) };
  expect(await printPets([rex, cat, long], '--fields id,name,status')).toBe(
    [
      `                 id  name${' '.repeat(97)}status`,
      `                  1  Rex${' '.repeat(98)}available`,
      '                  2  猫',
      `9223372036854775807  ${'x'.repeat(99)}  sold`,
      '',
    ].join('\n'),
  );
});

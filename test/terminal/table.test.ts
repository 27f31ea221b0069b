import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import type { View } from '../../src/output/columns.ts';
import { Printer } from '../../src/output/print.ts';
import {
  mia,
  type PetRecord,
  petView,
  printerDefaults,
  printPets,
  rex,
  terminal,
} from '../helpers/print-pets.ts';
import { fakeIo } from '../helpers/run-cli.ts';

const plain = { color: 'never' } as const;

async function drawn(records: PetRecord[], columns = 80): Promise<string> {
  return (await printPets([records], plain, { ...terminal, columns })).stdout;
}

test('a terminal gets a frame, ids to the right', async () => {
  expect(await drawn([rex, mia])).toMatchInlineSnapshot(`
    "┌─────────────────────┬──────┬───────────┐
    │                  id │ name │ status    │
    ├─────────────────────┼──────┼───────────┤
    │                   1 │ Rex  │ available │
    │ 9223372036854775807 │ Mia  │ sold      │
    └─────────────────────┴──────┴───────────┘
    "
  `);
});

test('an empty table is its header', async () => {
  expect(await drawn([])).toMatchInlineSnapshot(`
    "┌────┬──────┬────────┐
    │ id │ name │ status │
    └────┴──────┴────────┘
    "
  `);
});

test('a table without header has none', async () => {
  const { stdout } = await printPets([[rex]], { ...plain, header: false }, terminal);
  expect(stdout).toMatchInlineSnapshot(`
    "┌───┬─────┬───────────┐
    │ 1 │ Rex │ available │
    └───┴─────┴───────────┘
    "
  `);
  expect((await printPets([], { ...plain, header: false }, terminal)).stdout).toBe('');
});

test('the header is bold and a status has its colour', async () => {
  const records = ['available', 'pending', 'sold', 'lost'].map((status) => ({ id: 1n, name: 'Rex', status }));
  const { stdout } = await printPets([records], { color: 'always' }, terminal);
  expect(stdout).toContain('\x1b[1mname\x1b[22m');
  expect(stdout).toContain('\x1b[32mavailable\x1b[39m');
  expect(stdout).toContain('\x1b[33mpending\x1b[39m');
  expect(stdout).toContain('\x1b[2msold\x1b[22m');
  expect(stdout).toContain('│ lost ');
});

test('a cell that is too wide is wrapped, nothing is cut', async () => {
  const name = 'A name that goes on and on, and Donaudampfschifffahrtsgesellschaftskapitän';
  expect(await drawn([{ ...rex, name }], 40)).toMatchInlineSnapshot(`
    "┌────┬─────────────────────┬───────────┐
    │ id │ name                │ status    │
    ├────┼─────────────────────┼───────────┤
    │  1 │ A name that goes on │ available │
    │    │ and on, and         │           │
    │    │ Donaudampfschifffah │           │
    │    │ rtsgesellschaftskap │           │
    │    │ itän                │           │
    └────┴─────────────────────┴───────────┘
    "
  `);
});

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
];

test.each([16, 20, 33, 40, 80, 140])(
  'every line of a frame is as wide, and fits %i columns',
  async (columns) => {
    const records = texts.map((name, at) => ({ id: 10n ** BigInt(at), name, status: 'available' }));
    const lines = (await drawn(records, columns)).trimEnd().split('\n');
    const widths = new Set(lines.map((line) => stringWidth(line)));
    expect([...widths]).toHaveLength(1);
    expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
  },
);

test('nothing of a wrapped text is lost', async () => {
  const name = texts.join('');
  const lines = (await drawn([{ ...rex, name }], 40)).split('\n').filter((line) => line.startsWith('│'));
  const cells = lines.slice(1).map((line) => line.split('│')[2]?.trim() ?? '');
  expect(cells.join('').replaceAll(' ', '')).toBe(
    name.replace('\x1b', '\\x1b').replace('\u202e', '\\u202e').replaceAll(' ', ''),
  );
});

test('a terminal too narrow for any frame gets aligned columns', async () => {
  expect(await drawn([rex], 12)).toBe('id  name  status\n 1  Rex   available\n');
});

/** So many records that they are not joined with those of the next page. */
function page(record: PetRecord): PetRecord[] {
  return Array.from({ length: 50 }, () => record);
}

test('up to 300 records of any pages are one frame', async () => {
  const wide: PetRecord = { id: 1234n, name: 'Maximilian', status: 'sold' };
  const { stdout } = await printPets([page(rex), page(wide), page(rex)], plain, terminal);
  const lines = stdout.split('\n');
  expect(lines).toHaveLength(150 + 5);
  expect(
    [...lines.slice(0, 4), ...lines.slice(52, 54), ...lines.slice(-2)].join('\n'),
  ).toMatchInlineSnapshot(`
    "┌──────┬────────────┬───────────┐
    │   id │ name       │ status    │
    ├──────┼────────────┼───────────┤
    │    1 │ Rex        │ available │
    │    1 │ Rex        │ available │
    │ 1234 │ Maximilian │ sold      │
    └──────┴────────────┴───────────┘
    "
  `);
});

test('a longer list is printed as aligned columns before its last records have arrived', async () => {
  const io = fakeIo(terminal);
  const pages = (function* () {
    for (let at = 0; at < 8; at += 1) yield page(rex);
    expect(io.written('stdout')).toMatch(/^id {2}name {2}status\n 1 {2}Rex {3}available\n/);
    yield page(rex);
  })();
  await new Printer(io, { ...printerDefaults, ...plain }).records(pages, petView);
  expect(io.written('stdout').trimEnd().split('\n')).toHaveLength(451);
});

test('20,000 records are printed in seconds, though cli-table3 would take a minute', async () => {
  const records = Array.from({ length: 20_000 }, (_, at) => ({
    id: BigInt(at),
    name: 'Rex',
    status: 'sold',
  }));
  const started = performance.now();
  const { stdout } = await printPets([records], plain, terminal);
  expect(stdout.split('\n').length).toBeGreaterThan(20_000);
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('the frame is closed if a later page fails', async () => {
  const io = fakeIo(terminal);
  const pages = (function* () {
    yield [rex];
    throw new Error('page 2');
  })();
  await expect(new Printer(io, printerDefaults).records(pages, petView)).rejects.toThrow('page 2');
  expect(io.written('stdout').trimEnd().split('\n').at(-1)).toBe('└────┴──────┴───────────┘');
});

test('a piped table has the same columns, two spaces apart, and no space at the end of a line', async () => {
  const { stdout } = await printPets([[rex, { id: 2n, name: '猫' }, { ...mia, name: 'x'.repeat(99) }]]);
  expect(stdout).toBe(
    [
      `                 id  name${' '.repeat(97)}status`,
      `                  1  Rex${' '.repeat(98)}available`,
      '                  2  猫',
      `9223372036854775807  ${'x'.repeat(99)}  sold`,
      '',
    ].join('\n'),
  );
});

test('columns of a piped table grow from page to page and stay', async () => {
  const { stdout } = await printPets([page(rex), page({ ...rex, id: 1000n }), page(rex)]);
  const lines = stdout.split('\n');
  expect([0, 1, 51, 101].map((at) => lines[at])).toEqual([
    'id  name  status',
    ' 1  Rex   available',
    '1000  Rex   available',
    '   1  Rex   available',
  ]);
});

test('a piped table is coloured only with --color always', async () => {
  expect((await printPets([[rex]])).stdout).not.toContain('\x1b');
  const { stdout } = await printPets([[rex]], { color: 'always' });
  expect(stdout).toBe('\x1b[1mid  name  status\x1b[22m\n 1  Rex   \x1b[32mavailable\x1b[39m\n');
});

test.each([
  ['piped', {}],
  ['on a terminal', terminal],
])('foreign text in a table %s becomes visible escapes', async (_, run) => {
  const name = 'a\x1b[2Jb\x07\t\n\r\x7f\x9b\u202e\u200b\ufeff\ud800';
  const { stdout } = await printPets([[{ ...rex, name }]], plain, run);
  expect(stdout).toContain('a\\x1b[2Jb\\x07\\x09\\x0a\\x0d\\x7f\\x9b\\u202e\\u200b\\ufeff\\ud800');
});

const manyColumns: View<PetRecord> = {
  noun: 'pets',
  columns: [
    { name: 'id', value: (record) => record.id, align: 'right' },
    { name: 'name', value: (record) => record.name },
    { name: 'chip', value: (record) => record.chip, spare: true },
    { name: 'category', value: () => 'Small mammals' },
    { name: 'breeder', value: () => 'Somewhere', spare: true },
  ],
};

async function drawnColumns(columns: number, fields?: string[], records = [rex]) {
  const io = fakeIo({ ...terminal, columns });
  await new Printer(io, { ...printerDefaults, ...plain, fields }).records([records], manyColumns);
  return { header: io.written('stdout').split('\n')[1], stderr: io.written('stderr') };
}

test('spare columns are left out, the last first, if words would be cut, and a note says so', async () => {
  expect(await drawnColumns(80)).toEqual({
    header: '│ id │ name │ chip │ category      │ breeder   │',
    stderr: '',
  });
  expect(await drawnColumns(40)).toEqual({
    header: '│ id │ name │ chip │ category      │',
    stderr: 'no room for breeder: see --fields, or\nwiden the terminal\n',
  });
  expect((await drawnColumns(28)).stderr).toContain('no room for chip, breeder:');
  expect((await drawnColumns(28, undefined, [])).stderr).toBe('no pets\n');
});

test('all columns that the user picked stay', async () => {
  const { header, stderr } = await drawnColumns(40, ['id', 'name', 'chip', 'category', 'breeder']);
  expect(header).toContain('breeder');
  expect(stderr).toBe('');
});

test('a pipe gets every column', async () => {
  const io = fakeIo();
  await new Printer(io, printerDefaults).records([[rex]], manyColumns);
  expect(io.written('stdout')).toContain('breeder');
});

test('a long path is broken after a slash', async () => {
  const lines = (await drawn([{ ...rex, name: '/store/inventory/{petId}' }], 38)).split('\n');
  expect(lines.slice(3, 5)).toEqual([
    '│  1 │ /store/inventory/ │ available │',
    '│    │ {petId}           │           │',
  ]);
});

import stringWidth from 'fast-string-width';
import { expect, test } from 'vitest';
import { listPages, mia, printPets, rex, terminal } from '../helpers/list-pets.ts';

const flags = '--color never --fields id,name,status';

function drawn(pets: readonly object[], columns = 80): Promise<string> {
  return printPets(pets, flags, { ...terminal, columns });
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

test('up to 300 records of any pages are one frame', async () => {
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

test('columns of a piped table grow from page to page and stay', async () => {
  const { stdout } = await listPages([page(1), page(1000), page(2000)], '--fields id,name,status');
  const lines = stdout.split('\n');
  expect([0, 1, 151, 301].map((at) => lines[at])).toEqual([
    ' id  name  status',
    '  1  Rex   available',
    '1000  Rex   available',
    '2000  Rex   available',
  ]);
});

import { parse as parseCsv } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { main } from '../../src/main.ts';
import { printJson } from '../../src/process/exact-json.ts';
import { below, createRandom, oneOf } from '../../src/server/seed.ts';
import { listed, listPages, mia, rex, terminal } from '../helpers/list-pets.ts';
import { recordingServer } from '../helpers/recording-server.ts';
import { fakeIo, runAt } from '../helpers/run-cli.ts';

const rexJson = '{"id":1,"name":"Rex","categoryId":7,"status":"available","chip":"x1"}';
const miaJson = '{"id":9223372036854775807,"name":"Mia","categoryId":8,"status":"sold"}';

interface Texts {
  readonly list: string;
  readonly record: string;
  readonly empty: string;
  /** With `--fields categoryId,name`. */
  readonly picked: string;
  /** With `--no-header`. */
  readonly bare: string;
  /** If the second page fails. */
  readonly broken: string;
}

const aligned = 'id  name  category  status\n';
const rexRow = ' 1  Rex   7         available\n';
const rexYaml = 'id: 1\nname: Rex\ncategoryId: 7\nstatus: available\nchip: x1\n';
const rexItem = `- ${rexYaml.trimEnd().replaceAll('\n', '\n  ')}\n`;

const formats: readonly (readonly [string, Texts])[] = [
  [
    'table',
    {
      list: `${aligned}${rexRow}9223372036854775807  Mia   8         sold\n`,
      record: aligned + rexRow,
      empty: aligned,
      picked: 'categoryId  name\n         7  Rex\n',
      bare: '1  Rex  7  available\n',
      broken: aligned + rexRow,
    },
  ],
  [
    'json',
    {
      list: `[${rexJson},${miaJson}]\n`,
      record: `${rexJson}\n`,
      empty: '[]\n',
      picked: '[{"categoryId":7,"name":"Rex"}]\n',
      bare: `[${rexJson}]\n`,
      broken: `[${rexJson}`,
    },
  ],
  [
    'jsonl',
    {
      list: `${rexJson}\n${miaJson}\n`,
      record: `${rexJson}\n`,
      empty: '',
      picked: '{"categoryId":7,"name":"Rex"}\n',
      bare: `${rexJson}\n`,
      broken: `${rexJson}\n`,
    },
  ],
  [
    'csv',
    {
      list: 'id,name,category,status\n1,Rex,7,available\n9223372036854775807,Mia,8,sold\n',
      record: 'id,name,category,status\n1,Rex,7,available\n',
      empty: 'id,name,category,status\n',
      picked: 'categoryId,name\n7,Rex\n',
      bare: '1,Rex,7,available\n',
      broken: 'id,name,category,status\n1,Rex,7,available\n',
    },
  ],
  [
    'tsv',
    {
      list: 'id\tname\tcategory\tstatus\n1\tRex\t7\tavailable\n9223372036854775807\tMia\t8\tsold\n',
      record: 'id\tname\tcategory\tstatus\n1\tRex\t7\tavailable\n',
      empty: 'id\tname\tcategory\tstatus\n',
      picked: 'categoryId\tname\n7\tRex\n',
      bare: '1\tRex\t7\tavailable\n',
      broken: 'id\tname\tcategory\tstatus\n1\tRex\t7\tavailable\n',
    },
  ],
  [
    'yaml',
    {
      list: `${rexItem}- id: 9223372036854775807\n  name: Mia\n  categoryId: 8\n  status: sold\n`,
      record: rexYaml,
      empty: '[]\n',
      picked: '- categoryId: 7\n  name: Rex\n',
      bare: rexItem,
      broken: rexItem,
    },
  ],
  [
    'ids',
    {
      list: '1\n9223372036854775807\n',
      record: '1\n',
      empty: '',
      picked: '7\n',
      bare: '1\n',
      broken: '1\n',
    },
  ],
];

test.each(formats)(
  '%s: a list of any pages, ids exact; a record, an empty list, --fields',
  async (format, texts) => {
    const flags = `-o ${format}`;
    expect(await listPages([[rex], [], [mia]], flags)).toEqual({ code: 0, stdout: texts.list, stderr: '' });
    await using server = await recordingServer({ '/pets/1': printJson(rex), '/categories': [] });
    expect((await runAt(server, `pets get 1 -q ${flags}`)).stdout).toBe(texts.record);
    expect(await listed([], flags)).toBe(texts.empty);
    expect(await listed([rex], `--fields categoryId,name ${flags}`)).toBe(texts.picked);
    expect(await listed([rex], `--no-header ${flags}`)).toBe(texts.bare);
  },
);

test.each(formats)(
  '%s is written page by page, and does not look whole if it breaks off',
  async (format, { broken }) => {
    const flags = `-o ${format}`;
    expect(await listPages([[rex], undefined], flags)).toMatchObject({ code: 1, stdout: broken });
    expect(await listPages([undefined], flags, terminal)).toMatchObject({ code: 1, stdout: '' });
    const io = fakeIo();
    let seen = '';
    await using server = await recordingServer({ '/categories': [] }, ({ path }) => {
      const isFirst = !path.includes('after');
      if (!isFirst) seen = io.written('stdout');
      const link = { link: '</pets?after=1>; rel="next"' };
      return isFirst
        ? { body: printJson([{ ...rex, id: 9007199254740993n }]), headers: link }
        : { body: printJson([mia]) };
    });
    expect(await main(['pets', 'list', ...flags.split(' '), '--base-url', server.url], io)).toBe(0);
    expect(seen).toContain('9007199254740993');
  },
);

test('a terminal says that there are no pets, but not with --quiet, nor in JSON, which it indents', async () => {
  const empty = async (flags: string) => (await listPages([[]], flags, terminal)).stderr;
  expect(await empty('')).toBe('no pets\n');
  expect((await empty('-q')) + (await empty('--json'))).toBe('');
  expect(await listed([{ ...mia, tags: ['a'] }, mia], '--json --fields id,status', terminal)).toBe(
    '[\n  {\n    "id": 9223372036854775807,\n    "status": "sold"\n  },\n  {\n    "id": 9223372036854775807,\n    "status": "sold"\n  }\n]\n',
  );
});

test('a picked field that a record lacks is null', async () => {
  const { status: _, ...pet } = rex;
  expect(await listed([pet], '-o jsonl --fields id,status')).toBe('{"id":1,"status":null}\n');
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

test('a record without an id has no line among ids, and a warning counts it', async () => {
  await using server = await recordingServer({
    '/store/orders': [{ id: 1 }, { quantity: 1 }, { id: null }, { id: 4 }],
  });
  const stderr = 'warning: left out 2 records without id\n';
  expect(await runAt(server, 'orders list -o ids')).toEqual({ code: 0, stdout: '1\n4\n', stderr });
  expect((await runAt(server, 'orders list -o ids -q')).stderr).toBe('');
});

test.each([
  ['csv', 'a,b', '"a,b"'],
  ['csv', 'say "hi"', '"say ""hi"""'],
  ['csv', 'two\r\nlines', '"two\r\nlines"'],
  ['csv', ' spaces ', ' spaces '],
  ['csv', '=1+1', "'=1+1"],
  ['csv', '+49', "'+49"],
  ['csv', '-5', "'-5"],
  ['csv', '@SUM(A1)', "'@SUM(A1)"],
  ['csv', '\tx', "'\tx"],
  ['csv', '\rx', '"\'\rx"'],
  ['csv', '=LINK("x","y")', '"\'=LINK(""x"",""y"")"'],
  ['tsv', 'a\tb', 'a\\tb'],
  ['tsv', 'a\r\nb', 'a\\r\\nb'],
  ['tsv', 'a\\b', 'a\\\\b'],
  ['tsv', '=1+1', '=1+1'],
  ['tsv', '"', '"'],
  ['ids', 'a\nb', 'a\\x0ab'],
])('%s writes %j as %j', async (format, name, text) => {
  expect(await listed([{ ...rex, name }], `-o ${format} --fields name --no-header`)).toBe(`${text}\n`);
});

test('csv does not guard numbers', async () => {
  await using server = await recordingServer({ '/store/orders': [{ id: 1, quantity: -5 }] });
  const run = await runAt(server, 'orders list -o csv --fields quantity --no-header');
  expect(run.stdout).toBe('-5\n');
});

const pieces = [
  ...'a Z e5 E+1 y No on null true .inf nan 0 12 1_0 0x1f 2027-01-01 12:30 1:30 : # - ? , [ ] { } & * ! | >'.split(
    ' ',
  ),
  ...[' ', '  ', ': ', ' #', '- ', "'", '"', '""', '`', '\\', '\\n', '\t', '\n', '\r\n', '\x1b[2J', '\x7f'],
  ...[
    '\0',
    '\x07',
    '\x85',
    '\x9b',
    '\xa0',
    '\u202e',
    '\u2066',
    '\u200b',
    '\u2028',
    '\ufeff',
    '%',
    '@',
    '~',
    '=',
  ],
  ...'<< é e\u0301 猫 ペット هرة א 😀 👩‍👧 🇩🇪 👍🏽 ❤️ ½ ٣ … --- ...'.split(' '),
];

/** Pets whose texts are made of what formats, spreadsheets and terminals could take for something else. */
function hostilePets(seed: number) {
  const random = createRandom(seed);
  const texts = Array.from({ length: 500 }, () =>
    Array.from({ length: 1 + below(random, 4) }, () => oneOf(random, pieces)).join(''),
  );
  const long = `line 1\nline 2\n\n  indented\n${'word '.repeat(100)}`;
  return [...pieces, ...texts, long].map((name, at) => ({
    id: 9007199254740993n + BigInt(at),
    name,
    categoryId: BigInt(at),
    [oneOf(random, pieces)]: name,
    none: null,
    flag: at % 2 === 0,
    deep: [1n, { text: name }],
  }));
}

const control = /[\p{Cc}\p{Cf}\p{Cs}\u2028]/u;

test('hostile records are read back exactly from JSON and YAML, and no format has a raw control', async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const pets = hostilePets(seed);
  const what = `seed ${seed}`;
  const yaml = await listed(pets, '-o yaml');
  for (const version of ['1.1', '1.2'] as const)
    expect(parseYaml(yaml, { version, intAsBigInt: true, merge: false }), what).toEqual(pets);
  expect(await listed(pets, '-o jsonl'), what).toBe(
    pets.map((pet) => `${escaped(printJson(pet))}\n`).join(''),
  );
  expect(JSON.parse(await listed(pets, '-o json')), what).toHaveLength(pets.length);
  // A reader of CSV gets back all but controls and the guards of formulas.
  const isPlain = ({ name }: { name: string }) => !control.test(name) && !/^[=+@-]/.test(name);
  const cells: string[][] = parseCsv(await listed(pets.filter(isPlain), '-o csv'));
  expect(
    cells.slice(1).map(([, name]) => name),
    what,
  ).toEqual(pets.filter(isPlain).map(({ name }) => name));
  for (const [format] of formats)
    for (const options of [{}, terminal]) {
      const stdout = await listed(pets, `-o ${format} --fields name,id --color never`, options);
      // A joiner that an emoji needs stays everywhere, a carriage return only in a file.
      const kept = options === terminal ? /[\t\n]|(?<=👩)\u200d(?=👧)/g : /[\t\r\n\u200d]/g;
      expect(stdout.replace(kept, '').match(control)?.[0], `${what} ${format}`).toBeUndefined();
    }
});

/** JSON whose controls beyond C0 are escapes too. */
function escaped(json: string): string {
  return json.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\u2028]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

test.each(['table', 'csv', 'tsv', 'yaml', 'ids'])('a control is a visible escape in %s', async (format) => {
  const name = 'a\x1b[2Jb\x00\x07\x7f\x9b\u202e\u200b\ufeff\ud800';
  const shown = 'a\\x1b[2Jb\\x00\\x07\\x7f\\x9b\\u202e\\u200b\\ufeff\\ud800';
  const wanted = format === 'yaml' ? shown.replaceAll('\\x', '\\u00') : shown;
  for (const options of [{}, terminal]) {
    const stdout = await listed([{ ...rex, name }], `-o ${format} --fields name --color never`, options);
    expect(stdout).toContain(wanted);
  }
});

const length = 30_000;

test.each(
  Object.entries({
    spaces: `${' '.repeat(length)}a`,
    words: 'a '.repeat(length / 2),
    letters: 'a'.repeat(length),
    slashes: '/'.repeat(length),
    controls: '\x1b'.repeat(length),
    emoji: '😀'.repeat(length / 2),
    families: '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'.repeat(length / 8),
    'accents on one letter': `e${'\u0301'.repeat(1000)}`,
  }),
)('a name that is nothing but %s, very many of them, is shown without delay', async (_, name) => {
  const started = performance.now();
  for (const options of [{}, terminal])
    expect(await listed([{ ...rex, name }], '--fields id,name', options)).toContain('id');
  expect(performance.now() - started).toBeLessThan(5000);
});

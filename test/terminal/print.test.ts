import { expect, test } from 'vitest';
import { Printer } from '../../src/output/print.ts';
import { AnsweredError, UsageError } from '../../src/process/errors.ts';
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

const formats = ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'ids'] as const;

const rexJson = '{"id":1,"name":"Rex","categoryId":7,"status":"available","chip":"x1"}';
const miaJson = '{"id":9223372036854775807,"name":"Mia","categoryId":8,"status":"sold"}';

test.each([
  ['json', `[${rexJson},${miaJson}]\n`],
  ['jsonl', `${rexJson}\n${miaJson}\n`],
  ['csv', 'id,name,status\n1,Rex,available\n9223372036854775807,Mia,sold\n'],
  ['tsv', 'id\tname\tstatus\n1\tRex\tavailable\n9223372036854775807\tMia\tsold\n'],
  [
    'yaml',
    '- id: 1\n  name: Rex\n  categoryId: 7\n  status: available\n  chip: x1\n' +
      '- id: 9223372036854775807\n  name: Mia\n  categoryId: 8\n  status: sold\n',
  ],
  ['ids', '1\n9223372036854775807\n'],
] as const)('prints a list as %s, ids exact, whatever its pages', async (format, text) => {
  expect(await printPets([[rex], [], [mia]], { format })).toEqual({ stdout: text, stderr: '' });
  expect(await printPets([[rex, mia]], { format })).toEqual({ stdout: text, stderr: '' });
});

test.each([
  ['table', 'id  name  status\n 1  Rex   available\n'],
  ['json', `${rexJson}\n`],
  ['jsonl', `${rexJson}\n`],
  ['csv', 'id,name,status\n1,Rex,available\n'],
  ['tsv', 'id\tname\tstatus\n1\tRex\tavailable\n'],
  ['yaml', 'id: 1\nname: Rex\ncategoryId: 7\nstatus: available\nchip: x1\n'],
  ['ids', '1\n'],
] as const)('prints a lone record as %s', async (format, text) => {
  const io = fakeIo();
  await new Printer(io, { ...printerDefaults, format }).record(rex, petView);
  expect(io.written('stdout')).toBe(text);
});

test.each([
  ['table', 'id  name  status\n'],
  ['json', '[]\n'],
  ['jsonl', ''],
  ['csv', 'id,name,status\n'],
  ['tsv', 'id\tname\tstatus\n'],
  ['yaml', '[]\n'],
  ['ids', ''],
] as const)('prints an empty list as %s', async (format, text) => {
  expect(await printPets([], { format })).toEqual({ stdout: text, stderr: '' });
});

test('a terminal says that there are no records, but not with --quiet', async () => {
  expect((await printPets([], {}, terminal)).stderr).toBe('no pets\n');
  expect((await printPets([], { quiet: true }, terminal)).stderr).toBe('');
  expect((await printPets([], { format: 'json' }, terminal)).stderr).toBe('');
});

test.each([
  ['table', '1  Rex  available\n'],
  ['csv', '1,Rex,available\n'],
  ['tsv', '1\tRex\tavailable\n'],
] as const)('leaves out the header of %s when told', async (format, text) => {
  expect((await printPets([[rex]], { format, header: false })).stdout).toBe(text);
  expect((await printPets([], { format, header: false })).stdout).toBe('');
});

test('json is indented on a terminal', async () => {
  const { stdout } = await printPets([[{ id: 1n, tags: ['a'] }], [mia]], { format: 'json' }, terminal);
  expect(stdout).toMatchInlineSnapshot(`
    "[
      {
        "id": 1,
        "tags": [
          "a"
        ]
      },
      {
        "id": 9223372036854775807,
        "name": "Mia",
        "categoryId": 8,
        "status": "sold"
      }
    ]
    "
  `);
});

test.each([
  ['table', 'categoryId  name\n         7  Rex\n'],
  ['json', '[{"categoryId":7,"name":"Rex"}]\n'],
  ['jsonl', '{"categoryId":7,"name":"Rex"}\n'],
  ['csv', 'categoryId,name\n7,Rex\n'],
  ['tsv', 'categoryId\tname\n7\tRex\n'],
  ['yaml', '- categoryId: 7\n  name: Rex\n'],
  ['ids', '7\n'],
] as const)('--fields picks and orders columns in %s', async (format, text) => {
  const fields = ['categoryId', 'name'];
  expect((await printPets([[rex]], { format, fields })).stdout).toBe(text);
});

test('a picked field that a record lacks is null', async () => {
  const { stdout } = await printPets([[{ id: 1n }]], { format: 'jsonl', fields: ['id', 'status'] });
  expect(stdout).toBe('{"id":1,"status":null}\n');
});

test.each(formats)('an unknown field is refused before the first page is read, as %s', async (format) => {
  const neverAsked = (function* (): Generator<PetRecord[]> {
    yield expect.unreachable();
  })();
  await expect(printPets(neverAsked, { format, fields: ['id', 'colour'] })).rejects.toThrow(
    new UsageError("--fields: no field 'colour'; pets have id, name, status, categoryId"),
  );
  await expect(printPets(neverAsked, { format, sort: '-colour' })).rejects.toThrow(
    "--sort: no field 'colour'; pets have id, name, status, categoryId",
  );
});

test('--fields help lists the fields and reads no page', async () => {
  const io = fakeIo();
  const printer = new Printer(io, { ...printerDefaults, fields: ['help'] });
  await expect(printer.check(petView)).rejects.toThrow(AnsweredError);
  expect(io.written('stdout')).toBe('id\nname\nstatus\ncategoryId\n');
});

const sortable: PetRecord[] = [
  { id: 10n, name: 'b', quantity: 2 },
  { id: 9n, name: 'a', quantity: 10 },
  { id: 9223372036854775807n, name: 'b', quantity: null },
  { id: 9223372036854775806n, name: 'B', quantity: -1 },
];

test.each([
  ['id', '9 10 9223372036854775806 9223372036854775807'],
  ['-id', '9223372036854775807 9223372036854775806 10 9'],
  ['name', '9223372036854775806 9 10 9223372036854775807'],
  ['-name', '10 9223372036854775807 9 9223372036854775806'],
  ['quantity', '9223372036854775806 10 9 9223372036854775807'],
  ['-quantity', '9 10 9223372036854775806 9223372036854775807'],
])('--sort %s: numbers by value, text by code unit, stable, absent values last', async (sort, ids) => {
  const io = fakeIo();
  const quantity = { name: 'quantity', value: (record: PetRecord) => record.quantity };
  const view = { ...petView, columns: [...petView.columns, quantity] };
  const pages = [sortable.slice(0, 2), sortable.slice(2)];
  await new Printer(io, { ...printerDefaults, format: 'ids', sort }).records(pages, view);
  expect(io.written('stdout').trim().split('\n').join(' ')).toBe(ids);
});

test.each(['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'ids'] as const)(
  '%s is written page by page',
  async (format) => {
    const io = fakeIo();
    const seen: string[] = [];
    const pages = (function* () {
      yield Array.from({ length: 50 }, () => mia);
      seen.push(io.written('stdout'));
      yield [mia];
    })();
    await new Printer(io, { ...printerDefaults, format }).records(pages, petView);
    expect(seen[0]).toContain('9223372036854775807');
  },
);

test.each([
  ['json', `[${rexJson}`],
  ['jsonl', `${rexJson}\n`],
  ['csv', 'id,name,status\n1,Rex,available\n'],
] as const)('a %s list that breaks off does not look whole', async (format, text) => {
  const io = fakeIo();
  const pages = (function* () {
    yield [rex];
    throw new Error('page 2');
  })();
  const printing = new Printer(io, { ...printerDefaults, format }).records(pages, petView);
  await expect(printing).rejects.toThrow('page 2');
  expect(io.written('stdout')).toBe(text);
});

test.each(formats)('nothing is printed as %s if the first page fails', async (format) => {
  const io = fakeIo(terminal);
  const pages = (function* (): Generator<PetRecord[]> {
    yield* [];
    throw new Error('page 1');
  })();
  const printing = new Printer(io, { ...printerDefaults, format }).records(pages, petView);
  await expect(printing).rejects.toThrow('page 1');
  expect(io.written('stdout')).toBe('');
});

test.each(
  formats.flatMap((format) => [[format, 'a pipe', {}] as const, [format, 'a terminal', terminal] as const]),
)('as %s, %s gets no control that a record holds', async (format, _, run) => {
  const hostile = `${String.fromCharCode(...Array.from({ length: 0xa0 }, (_, at) => at))}\u202e\u2066\u200b\u2028\ud800`;
  const record = { id: hostile, name: hostile, status: hostile };
  const { stdout } = await printPets([[record]], { format, color: 'never' }, run);
  const kept = format === 'csv' ? /[\t\r\n]/g : /[\n\t]/g;
  expect(stdout.replace(kept, '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028]/u);
});

test('knows which columns are shown or sorted by', () => {
  const shows = (options: Partial<typeof printerDefaults>) =>
    new Printer(fakeIo(), { ...printerDefaults, ...options }).shows(petView, 'status');
  expect(shows({ format: 'table' })).toBe(true);
  expect(shows({ format: 'csv' })).toBe(true);
  expect(shows({ format: 'json' })).toBe(false);
  expect(shows({ format: 'ids' })).toBe(false);
  expect(shows({ format: 'table', fields: ['id'] })).toBe(false);
  expect(shows({ format: 'json', fields: ['id', 'status'] })).toBe(true);
  expect(shows({ format: 'json', sort: '-status' })).toBe(true);
});

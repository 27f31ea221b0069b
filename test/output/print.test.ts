import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/json.ts';
import type { View } from '../../src/output/columns.ts';
import { createPrinter, type PrinterOptions } from '../../src/output/print.ts';
import { fakeIo, type RunOptions } from '../helpers/run-cli.ts';

type Row = { [field: string]: JsonValue };

const petView: View<Row> = {
  noun: 'pets',
  columns: [
    { name: 'id', value: (row) => row.id, align: 'right' },
    { name: 'name', value: (row) => row.name },
    { name: 'status', value: (row) => row.status, status: true },
    { name: 'categoryId', value: (row) => row.categoryId, align: 'right', extra: true },
  ],
};

const rex: Row = { id: 1n, name: 'Rex', categoryId: 7n, status: 'available', chip: 'x1' };
const mia: Row = { id: 9223372036854775807n, name: 'Mia', categoryId: 8n, status: 'sold' };

const defaults: PrinterOptions = {
  format: 'table',
  fields: undefined,
  sort: undefined,
  header: true,
  color: 'auto',
  quiet: false,
};

async function show(pages: Row[][], options: Partial<PrinterOptions>, run: RunOptions = {}) {
  const io = fakeIo(run);
  await createPrinter(io, { ...defaults, ...options }).records(pages, petView);
  return io.written('stdout');
}

const terminal: RunOptions = { terminals: ['stdout', 'stderr'] };

test('a piped table is aligned with two spaces', async () => {
  expect(await show([[rex, mia]], {})).toMatchInlineSnapshot(`
    "                 id  name  status
                      1  Rex   available
    9223372036854775807  Mia   sold
    "
  `);
});

test('a table on a terminal has a frame', async () => {
  expect(
    await show([[rex, { ...mia, name: '猫の🫠 é' }]], { color: 'never' }, terminal),
  ).toMatchInlineSnapshot(`
    "┌─────────────────────┬──────────┬───────────┐
    │                  id │ name     │ status    │
    ├─────────────────────┼──────────┼───────────┤
    │                   1 │ Rex      │ available │
    │ 9223372036854775807 │ 猫の🫠 é │ sold      │
    └─────────────────────┴──────────┴───────────┘
    "
  `);
});

test('an empty table', async () => {
  expect(await show([], { color: 'never' }, terminal)).toMatchInlineSnapshot(`
    "┌────┬──────┬────────┐
    │ id │ name │ status │
    └────┴──────┴────────┘
    "
  `);
});

test.each([
  [
    'json',
    '[{"id":1,"name":"Rex","categoryId":7,"status":"available","chip":"x1"},{"id":9223372036854775807,"name":"Mia","categoryId":8,"status":"sold"}]\n',
  ],
  [
    'jsonl',
    '{"id":1,"name":"Rex","categoryId":7,"status":"available","chip":"x1"}\n{"id":9223372036854775807,"name":"Mia","categoryId":8,"status":"sold"}\n',
  ],
  ['csv', 'id,name,status\n1,Rex,available\n9223372036854775807,Mia,sold\n'],
  ['tsv', 'id\tname\tstatus\n1\tRex\tavailable\n9223372036854775807\tMia\tsold\n'],
  [
    'yaml',
    '- id: 1\n  name: Rex\n  categoryId: 7\n  status: available\n  chip: x1\n- id: 9223372036854775807\n  name: Mia\n  categoryId: 8\n  status: sold\n',
  ],
  ['ids', '1\n9223372036854775807\n'],
] as const)('prints a list as %s, ids exact, whatever its pages', async (format, text) => {
  expect(await show([[rex], [], [mia]], { format })).toBe(text);
  expect(await show([[rex, mia]], { format })).toBe(text);
});

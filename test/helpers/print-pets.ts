import type { View } from '../../src/output/columns.ts';
import { Printer, type PrinterOptions } from '../../src/output/print.ts';
import type { JsonValue } from '../../src/process/exact-json.ts';
import { fakeIo, type RunOptions } from './run-cli.ts';

export type PetRecord = { [field: string]: JsonValue };

export const petView: View<PetRecord> = {
  noun: 'pets',
  columns: [
    { name: 'id', value: (record) => record.id, align: 'right' },
    { name: 'name', value: (record) => record.name },
    { name: 'status', value: (record) => record.status, status: true },
    { name: 'categoryId', value: (record) => record.categoryId, align: 'right', extra: true },
  ],
};

export const rex: PetRecord = { id: 1n, name: 'Rex', categoryId: 7n, status: 'available', chip: 'x1' };
export const mia: PetRecord = { id: 9223372036854775807n, name: 'Mia', categoryId: 8n, status: 'sold' };

export const terminal: RunOptions = { terminals: ['stdout', 'stderr'] };

interface Shown {
  readonly stdout: string;
  readonly stderr: string;
}

/** Prints pages of pets with a printer of their own. */
export async function printPets(
  pages: Iterable<PetRecord[]> | AsyncIterable<PetRecord[]>,
  options: Partial<PrinterOptions> = {},
  run: RunOptions = {},
): Promise<Shown> {
  const io = fakeIo(run);
  await new Printer(io, { ...printerDefaults, ...options }).records(pages, petView);
  return { stdout: io.written('stdout'), stderr: io.written('stderr') };
}

export const printerDefaults: PrinterOptions = {
  format: 'table',
  fields: undefined,
  sort: undefined,
  header: true,
  color: 'auto',
  quiet: false,
};

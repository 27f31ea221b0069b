import { createHash } from 'node:crypto';
import { type FileHandle, rm } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { CliError } from '../errors.ts';
import { fileError } from '../file-error.ts';
import type { InputRecord } from '../input/record.ts';
import { type Layout, type RecordFormat, readRecords } from '../input/records.ts';
import type { Source } from '../input/source.ts';
import type { RunJournal } from './journal.ts';
import { readLineAt } from './journal-reader.ts';
import { exists, type NewFile, openNewFile } from './new-file.ts';
import { createRejectWriter, type RejectNote, type RejectWriter } from './reject-writers.ts';
import type { Rows } from './rows.ts';

/** The rows of a run that has ended, and where they came from. */
interface Rejected {
  readonly rows: Rows;
  readonly journal: RunJournal;
  /** Undefined where they came from no input: then only what the program knows of them is written. */
  readonly input: RejectedInput | undefined;
}

export interface RejectedInput {
  readonly source: Source;
  readonly layout: Layout;
  readonly sha256: string;
}

/** `<input>.rejects.<ext>`, or the next name with a number where that is taken; relative to the folder as `input` is. */
export async function defaultRejectsPath(
  input: string,
  { folder, format }: { readonly folder: string; readonly format: RecordFormat },
): Promise<string> {
  const ending = extname(input) || `.${format}`;
  const stem = `${input.slice(0, input.length - extname(input).length)}.rejects`;
  let path = stem + ending;
  for (let number = 2; await exists(resolve(folder, path)); number += 1) path = `${stem}.${number}${ending}`;
  return path;
}

/**
 * Writes the original columns of each row that failed or is unknown, with what is known of it; what is written can be fed
 * in again as it is. Gives the number of rows; for none there is no file.
 */
export async function writeRejects(file: NewFile, rejected: Rejected): Promise<number> {
  const output = await openNewFile(file);
  try {
    const count = await writeTo(output, rejected);
    if (count === 0) await rm(file.path, { force: true });
    return count;
  } catch (error) {
    await rm(file.path, { force: true }).catch(() => {});
    throw error instanceof CliError ? error : fileError('write', file.name, error);
  } finally {
    await output.close();
  }
}

/** An entry that was to be removed is none of them: no row that is fed in says so. */
function isRejected(rows: Rows, row: number): boolean {
  return (rows.isState(row, 'failed') || rows.isState(row, 'unknown')) && rows.quantity(row) !== null;
}

async function writeTo(output: FileHandle, rejected: Rejected): Promise<number> {
  let writer: RejectWriter | undefined;
  let count = 0;
  const { rows, journal } = rejected;
  for await (const { row, record, layout, header } of rejectedRecords(rejected)) {
    if (!writer) {
      writer = createRejectWriter(layout, header);
      await output.write(writer.head());
    }
    count += 1;
    await output.write(writer.row(record, await noteOf(rows, journal, row)));
  }
  if (writer) await output.write(writer.tail());
  return count;
}

interface RejectedRecord {
  readonly row: number;
  readonly record: InputRecord;
  readonly layout: Layout;
  /** Of CSV. */
  readonly header: readonly string[];
}

async function* rejectedRecords({ rows, input }: Rejected): AsyncGenerator<RejectedRecord> {
  if (!input || (await hashOf(input.source)) !== input.sha256) return yield* fromRows(rows);
  const { source, layout } = input;
  let header: readonly string[] | undefined = layout.format === 'csv' ? undefined : [];
  let row = -1;
  const { format, delimiter } = layout;
  const options = { name: source.name, format, ...(format === 'csv' ? { delimiter } : {}) };
  for await (const batch of (await readRecords(source.bytes(), options)).batches)
    for (const record of batch) {
      row += 1;
      if (header === undefined) {
        header = record.cells ?? [];
        row = -1;
      } else if (isRejected(rows, row)) yield { row, record, layout, header };
    }
}

/** For rows whose input is gone or has changed. */
function* fromRows(rows: Rows): Generator<RejectedRecord> {
  const header = ['petId', 'quantity', ...(rows.hasExpectations ? ['expected'] : [])];
  for (let row = 0; row < rows.length; row += 1) {
    if (!isRejected(rows, row)) continue;
    const cells = [rows.id(row), rows.quantity(row), rows.expected(row)].slice(0, header.length);
    const record = { line: 1, column: 1, cells: cells.map((cell) => String(cell ?? '')) };
    yield { row, record, layout: { format: 'csv', delimiter: ',' }, header };
  }
}

async function noteOf(rows: Rows, journal: RunJournal, row: number): Promise<RejectNote> {
  const line = await readLineAt(journal.path, journal.failureAt.get(row));
  const outcome = line && 'row' in line && line.row === row ? line : undefined;
  return {
    _line: rows.line(row),
    _state: rows.state(row),
    _status: outcome?.status,
    _code: outcome?.code,
    _message: outcome?.message,
    _attempts: outcome?.attempts,
  };
}

async function hashOf(source: Source): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of source.bytes()) hash.update(piece);
  return hash.digest('hex');
}

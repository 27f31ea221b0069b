import { extname } from 'node:path';
import { isColumnNumber } from '../config/column-map.ts';
import { quoteCell, tsvCell, withGuard } from '../output/formats.ts';
import { isJsonObject, printJson } from '../process/exact-json.ts';
import { type FileName, writeNewFile } from '../process/new-file.ts';
import { sanitize } from '../process/text.ts';
import type { InputFile } from './input-file.ts';
import {
  type InputRecord,
  type InputRow,
  isProblem,
  type RowFields,
  type RowLayout,
  readRecords,
} from './read-records.ts';
import { type InputFormat, isTable } from './split-input.ts';

/** A row that was not done, and the reason. */
export interface Reject {
  /** The line of the input on which the row begins, from 1. In a JSON document the number of the row. */
  readonly line: number;
  /** The id of the record; undefined for an invalid row, and for a row that creates a record. */
  readonly id?: bigint | undefined;
  readonly state: string;
  readonly reason?: RejectReason | undefined;
  /** The columns that the command reads. */
  readonly fields: RowFields;
}

/** The reason why a row was not done. Texts of the service in it are masked. */
interface RejectReason {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly status?: number | undefined;
}

/** The columns that are added to a rejected row. */
const rejectColumns = ['_line', '_state', '_status', '_code', '_message'] as const;

/** The column for a rejected JSON line that is not an object. */
const textColumn = '_text';

/** Whether a file of rejects adds this column. A command that reads the file ignores it. */
export function isRejectColumn(name: string): boolean {
  const column = name.trim();
  return column === textColumn || rejectColumns.some((candidate) => candidate === column);
}

/**
 * Returns the name for the file of rejects: `stock.rejects.csv` beside the input, or `stdin.rejects.csv` in the current
 * folder if the input came through a pipe.
 */
export function rejectsName({ name, path }: Pick<InputFile, 'name' | 'path'>, format: InputFormat): string {
  const input = path === undefined && name !== 'edit' ? 'stdin' : name;
  const ending = extname(input);
  const stem = input.slice(0, input.length - ending.length);
  return `${stem}.rejects${isTable(format) ? ending || `.${format.kind}` : '.jsonl'}`;
}

/** The input that the rejected rows came from, and its layout. */
interface OriginalInput<Row extends InputRow> {
  readonly inputFile: InputFile;
  readonly layout: RowLayout<Row>;
}

/**
 * Writes rejected rows in the order of their lines: as a table if the input is a table, otherwise as JSON lines. The rows
 * have their original columns if the input still has the same rows on the same lines; otherwise the columns that the
 * command reads.
 *
 * @returns the name of the file. It has a number if the name was in use.
 */
export async function writeRejects<Row extends InputRow>(
  file: FileName,
  format: InputFormat,
  rejects: readonly Reject[],
  original?: OriginalInput<Row>,
): Promise<string> {
  const originals = original && (await originalRows(original, rejects).catch(() => undefined));
  const rows = originals ?? fieldRows(format, rejects);
  const toLine = isTable(format) ? tableLine(format) : jsonLine;
  const [{ names: columns } = { names: [] }] = rows;
  // An input without a header has numbers as columns. Its rejects have no header either, and are read with the same --map.
  const hasHeader = isTable(format) && !columns.every(isColumnNumber);
  return writeNewFile(file, async (output) => {
    if (hasHeader) await output.write(toLine(columns, columns, rejectColumns));
    for (const { names, values, reject } of rows) await output.write(toLine(names, values, notesOf(reject)));
  });
}

/** A rejected row as it is written to the file. */
interface RejectedRow {
  readonly names: readonly string[];
  /** Cells, or JSON as in the input. */
  readonly values: readonly string[];
  readonly reject: Reject;
}

/** Reads the rejected rows with their original columns. Undefined if the input no longer has every row on its line. */
async function originalRows<Row extends InputRow>(
  { inputFile, layout }: OriginalInput<Row>,
  rejects: readonly Reject[],
): Promise<readonly RejectedRow[] | undefined> {
  const byLine = new Map(rejects.map((reject) => [reject.line, reject]));
  const rows: RejectedRow[] = [];
  const { pages } = await readRecords(inputFile, layout);
  for await (const page of pages)
    for (const [record, row] of page) {
      const reject = byLine.get(record.line);
      const recordId = isProblem(row) ? undefined : row.id;
      if (reject && (reject.id ?? recordId) === recordId) rows.push({ ...originalColumns(record), reject });
    }
  return rows.length === rejects.length ? rows : undefined;
}

/** Returns the columns of a record without the columns that a file of rejects adds. */
function originalColumns({ names, values, json }: InputRecord): Omit<RejectedRow, 'reject'> {
  const isObject = json === undefined || names.length > 0 || /^\{\s*\}$/.test(json);
  if (!isObject) return { names: [textColumn], values: [printJson(json)] };
  const indexes = names.flatMap((name, index) => (isRejectColumn(name) ? [] : [index]));
  const valueAt = (index: number) => values[index] ?? '';
  return {
    names: indexes.map((index) => names[index] ?? ''),
    values: indexes.map(json === undefined ? valueAt : (index) => onOneLine(valueAt(index))),
  };
}

/** Returns the rejected rows, in the order of their lines, with the columns that the command reads. */
function fieldRows(format: InputFormat, rejects: readonly Reject[]): readonly RejectedRow[] {
  const columns = [...new Set(rejects.flatMap(({ fields }) => Object.keys(fields)))];
  return rejects
    .toSorted((a, b) => a.line - b.line)
    .map((reject) => {
      const { fields } = reject;
      const names = isTable(format) ? columns : Object.keys(fields);
      const values = names.map((name) => {
        const value = fields[name] ?? null;
        if (!isTable(format) || isJsonObject(value) || Array.isArray(value)) return printJson(value);
        if (value === null) return '';
        return typeof value === 'string' && format.kind === 'csv' ? withGuard(value) : String(value);
      });
      return { names, values, reject };
    });
}

type Note = string | number | undefined;

/** Returns the values of `rejectColumns` for a row. */
function notesOf({ line, state, reason: { status, code, message } = {} }: Reject): Note[] {
  const toSafeText = (text: string | undefined) => text && sanitize(text);
  return [line, state, status, toSafeText(code), toSafeText(message)];
}

type LineWriter = (names: readonly string[], values: readonly string[], notes: readonly Note[]) => string;

function tableLine({ kind, delimiter }: InputFormat): LineWriter {
  const [cell, note] =
    kind === 'tsv' ? [tsvCell, String] : [(text: string) => quoteCell(text, delimiter), withGuard];
  return (_, values, notes) => {
    const texts = notes.map((value) => (typeof value === 'string' ? note(value) : String(value ?? '')));
    return `${[...values, ...texts].map(cell).join(delimiter)}\n`;
  };
}

function jsonLine(names: readonly string[], values: readonly string[], notes: readonly Note[]): string {
  const members = names.map((name, index) => `${printJson(name)}:${values[index]}`);
  const noteMembers = rejectColumns.flatMap((name, index) =>
    notes[index] === undefined ? [] : [`${printJson(name)}:${printJson(notes[index] ?? null)}`],
  );
  return `{${[...members, ...noteMembers].join(',')}}\n`;
}

/** Returns JSON without the line breaks between its parts. */
function onOneLine(json: string): string {
  return /[\r\n]/.test(json) ? json.split(/\s*[\r\n]\s*/).join(' ') : json;
}

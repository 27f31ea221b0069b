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

/** A row that was not done, and why. */
export interface Reject {
  /** Where the row begins in the input, from 1. */
  readonly line: number;
  readonly column?: number | undefined;
  /** The id of the record; undefined for an invalid row, and for a row that creates a record. */
  readonly id?: bigint | undefined;
  readonly state: string;
  readonly reason?: RejectReason | undefined;
  /** The columns that the command reads. */
  readonly fields: RowFields;
}

/** The texts of the service in it are masked. */
interface RejectReason {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly status?: number | undefined;
  readonly attempts?: number | undefined;
  readonly requestId?: string | undefined;
}

/** The columns that are added to a rejected row. */
export const rejectColumns = [
  '_line',
  '_state',
  '_status',
  '_code',
  '_message',
  '_attempts',
  '_request_id',
] as const;

/** The column of a rejected JSON line that is no object. */
const textColumn = '_text';

/** Whether a column is one that a file of rejects adds: a command that reads the file leaves it out. */
export function isRejectColumn(name: string): boolean {
  const column = name.trim();
  return column === textColumn || rejectColumns.some((candidate) => candidate === column);
}

/**
 * The name of the rejects of an input: `stock.rejects.csv` beside it; `stdin.rejects.csv` in the current folder if the
 * input came through a pipe.
 */
export function rejectsName({ name, path }: Pick<InputFile, 'name' | 'path'>, format: InputFormat): string {
  const input = path === undefined && name !== 'edit' ? 'stdin' : name;
  const ending = extname(input);
  const stem = input.slice(0, input.length - ending.length);
  return `${stem}.rejects${isTable(format) ? ending || `.${format.kind}` : '.jsonl'}`;
}

/** Where the original columns of rejected rows are. */
interface OriginalInput<Row extends InputRow> {
  readonly inputFile: InputFile;
  readonly layout: RowLayout<Row>;
}

/**
 * Writes rejected rows, in the order of their lines: a table for a table, JSON lines for JSON. They have the original
 * columns if the input still has the same rows on the same lines; otherwise the columns that the command reads.
 *
 * @returns the name of the file, with a number if the name was in use.
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
  // The columns of a file without a header are numbers: it is read again with the same --map.
  const hasHeader = isTable(format) && !columns.every(isColumnNumber);
  return writeNewFile(file, async (output) => {
    if (hasHeader) await output.write(toLine(columns, columns, rejectColumns));
    for (const { names, values, reject } of rows) await output.write(toLine(names, values, notesOf(reject)));
  });
}

/** A rejected row as it is written. */
interface RejectedRow {
  readonly names: readonly string[];
  /** Cells, or JSON as it is written. */
  readonly values: readonly string[];
  readonly reject: Reject;
}

/** The rejected rows with their original columns; undefined if the input does not have each of them on its line. */
async function originalRows<Row extends InputRow>(
  { inputFile, layout }: OriginalInput<Row>,
  rejects: readonly Reject[],
): Promise<readonly RejectedRow[] | undefined> {
  const byLine = new Map<number, Reject[]>();
  for (const reject of rejects) byLine.set(reject.line, [...(byLine.get(reject.line) ?? []), reject]);
  const rows: RejectedRow[] = [];
  const { pages } = await readRecords(inputFile, layout);
  for await (const page of pages)
    for (const [record, row] of page) {
      const candidates = byLine.get(record.line);
      if (!candidates) continue;
      const recordId = isProblem(row) ? undefined : row.id;
      // Several records of a JSON document may begin on one line.
      const index = candidates.findIndex(
        ({ column = record.column, id = recordId }) => column === record.column && id === recordId,
      );
      const [reject] = index === -1 ? [] : candidates.splice(index, 1);
      if (reject) rows.push({ ...originalColumns(record), reject });
    }
  return rows.length === rejects.length ? rows : undefined;
}

/** The columns of a record without those that a file of rejects adds. */
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

/** The rejected rows, in the order of their lines, with the columns that the command reads. */
function fieldRows(format: InputFormat, rejects: readonly Reject[]): readonly RejectedRow[] {
  const columns = [...new Set(rejects.flatMap(({ fields }) => Object.keys(fields)))];
  return rejects
    .toSorted((a, b) => a.line - b.line || (a.column ?? 0) - (b.column ?? 0))
    .map((reject) => {
      const { fields } = reject;
      const names = isTable(format) ? columns : Object.keys(fields);
      const values = names.map((name) => {
        const value = fields[name] ?? null;
        if (!isTable(format) || isJsonObject(value) || Array.isArray(value)) return printJson(value);
        return value === null ? '' : String(value);
      });
      return { names, values, reject };
    });
}

type Note = string | number | undefined;

/** The values of `rejectColumns`. */
function notesOf({ line, state, reason = {} }: Reject): Note[] {
  const { status, code, message, attempts, requestId } = reason;
  const safe = (text: string | undefined) => text && sanitize(text);
  return [line, state, status, safe(code), safe(message), attempts, safe(requestId)];
}

type LineWriter = (names: readonly string[], values: readonly string[], notes: readonly Note[]) => string;

function tableLine({ kind, delimiter }: InputFormat): LineWriter {
  const cell = kind === 'tsv' ? tsvCell : (text: string) => quoteCell(text, delimiter);
  return (_, values, notes) => {
    const texts = notes.map((note) => (typeof note === 'string' ? withGuard(note) : String(note ?? '')));
    return `${[...values, ...texts].map(cell).join(delimiter)}\n`;
  };
}

function jsonLine(names: readonly string[], values: readonly string[], notes: readonly Note[]): string {
  const members = names.map((name, index) => `${printJson(name)}:${values[index]}`);
  const noted = rejectColumns.flatMap((name, index) =>
    notes[index] === undefined ? [] : [`${printJson(name)}:${printJson(notes[index] ?? null)}`],
  );
  return `{${[...members, ...noted].join(',')}}\n`;
}

/** JSON without the line breaks between its parts. */
function onOneLine(json: string): string {
  return /[\r\n]/.test(json) ? json.split(/\s*[\r\n]\s*/).join(' ') : json;
}

import { extname } from 'node:path';
import { quoteCell, tsvCell, withGuard } from '../output/formats.ts';
import { isJsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { type FileName, writeNewFile } from '../process/files.ts';
import { sanitize } from '../process/text.ts';
import { CsvSplitter } from './csv.ts';
import { isRejectColumn, rejectColumns, textColumn } from './field-columns.ts';
import type { InputFile } from './input-file.ts';
import type { Originals } from './read-rows.ts';
import { toItem } from './record.ts';
import { type InputFormat, isTable } from './split-input.ts';

/** A row that was not done, and the reason. */
export interface Reject {
  /** The line of the input on which the row begins, from 1. In a JSON document the number of the row. */
  readonly line: number;
  readonly state: string;
  readonly reason?: RejectReason | undefined;
  /** The values that the command reads, by column. */
  readonly fields: Readonly<Record<string, JsonValue>>;
}

/** The reason why a row was not done. Texts of the service in it are masked. */
interface RejectReason {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly status?: number | undefined;
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

/**
 * Writes rejected rows in the order of their lines: as a table if the input is a table, otherwise as JSON lines. The rows
 * are as they were read; without `originals` they have the columns that the command reads.
 *
 * @returns the name of the file. It has a number if the name was in use.
 */
export function writeRejects(
  file: FileName,
  format: InputFormat,
  rejects: readonly Reject[],
  originals?: Originals,
): string {
  const rows = rejects.toSorted((a, b) => a.line - b.line);
  const lines = isTable(format) ? tableLines(format, rows, originals) : jsonLines(rows, originals);
  return writeNewFile(file, lines);
}

type Note = string | number | undefined;

/** Returns the values of `rejectColumns` for a row. */
function notesOf({ line, state, reason: { status, code, message } = {} }: Reject): Note[] {
  const toSafeText = (text: string | undefined) => text && sanitize(text);
  return [line, state, status, toSafeText(code), toSafeText(message)];
}

function* tableLines(
  { kind, delimiter }: InputFormat,
  rejects: readonly Reject[],
  originals: Originals | undefined,
): Generator<string> {
  const [toCell, guard] =
    kind === 'tsv'
      ? [tsvCell, (text: string) => text]
      : [(text: string) => quoteCell(text, delimiter), withGuard];
  const toText = (cells: readonly string[]) => cells.map(toCell).join(delimiter);
  const noteText = (notes: readonly Note[]) =>
    toText(notes.map((note) => (typeof note === 'string' ? guard(note) : String(note ?? ''))));
  const valueText = (value: JsonValue = null) =>
    typeof value === 'string' ? guard(value) : value === null ? '' : printJson(value);
  const cellsOf = (text: string): readonly string[] =>
    kind === 'tsv' ? text.split('\t') : (new CsvSplitter(delimiter).push(`${text}\n`)[0]?.cells ?? []);
  const names = [...new Set(rejects.flatMap(({ fields }) => Object.keys(fields)))];
  const header = originals?.header ?? toText(names);
  const textOf = ({ line, fields }: Reject) =>
    originals ? originals.texts[line] : toText(names.map((name) => valueText(fields[name])));
  const columns = cellsOf(header);
  // Without originals a note of ours may hold the text of a row.
  const own = columns.flatMap((column, index) => (originals && isRejectColumn(column) ? [] : [index]));
  const join = kind === 'tsv' ? (cells: readonly string[]) => cells.join('\t') : toText;
  /** The text of a row with as many cells as the header has, so that the notes stand below their columns. */
  const inHeader = (text: string): string => {
    const cells = cellsOf(text);
    if (own.length === columns.length && cells.length <= columns.length)
      return text + delimiter.repeat(columns.length - cells.length);
    const kept = own.map((index) => cells[index] ?? '');
    const surplus = cells.slice(columns.length).filter((cell) => cell.trim() !== '');
    return join([...kept.slice(0, -1), [kept.at(-1), ...surplus].join(delimiter)]);
  };
  yield `${inHeader(header)}${delimiter}${toText(rejectColumns)}`;
  for (const reject of rejects)
    for (const text of [textOf(reject) ?? ''].flat())
      yield `${inHeader(text)}${delimiter}${noteText(notesOf(reject))}`;
}

function* jsonLines(rejects: readonly Reject[], originals: Originals | undefined): Generator<string> {
  for (const reject of rejects) {
    const values = notesOf(reject);
    const notes = rejectColumns.map((name, index) => [name, values[index]] as const);
    const present = Object.fromEntries(notes.filter(([, note]) => note !== undefined));
    const objects = originals
      ? [originals.texts[reject.line] ?? ''].flat().map(withoutNotes)
      : [reject.fields];
    for (const object of objects) yield printJson({ ...object, ...present });
  }
}

/** Returns a JSON record without the notes of earlier rejects; its text, if it is not an object. */
function withoutNotes(text: string): Reject['fields'] {
  const item = toItem(text);
  if ('problem' in item || item.twice !== undefined || !isJsonObject(item.value))
    return { [textColumn]: text };
  return Object.fromEntries(Object.entries(item.value).filter(([name]) => !isRejectColumn(name)));
}

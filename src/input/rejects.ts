import { closeSync, openSync, rmSync } from 'node:fs';
import { basename, extname, relative, resolve } from 'node:path';
import { CliError, fileError, systemCode } from '../process/errors.ts';
import { isJsonObject, type JsonObject, printJson } from '../process/exact-json.ts';
import { replaceFileSync } from '../process/files.ts';
import { sanitize } from '../process/text.ts';
import { isRejectColumn, rejectColumns, textColumn } from './field-columns.ts';
import { dialectOf, type InputFile, type InputFormat, isTable, splitTable } from './input-file.ts';
import { rowOrError } from './read-records.ts';
import { toItem } from './splitters.ts';

/** A row that was not written, and the reason. */
export interface Reject {
  /** The line of the input on which the row begins, from 1. In a JSON document it is the number of the row. */
  readonly line: number;
  readonly state: string;
  /** Why the row was not written. Texts of the service in it are masked. */
  readonly reason?:
    | {
        readonly code?: string | undefined;
        readonly message?: string | undefined;
        readonly status?: number | undefined;
      }
    | undefined;
  /** The original text of the record, or of all records that are added up in the row. */
  readonly text: string | readonly string[];
}

/** The name of the file of rejects, and the folder that it is relative to. */
interface FileName {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
}

/**
 * Returns the name for the file of rejects, relative to the current folder: `stock.rejects.csv` beside the input, or
 * `stdin.rejects.csv` in the current folder for stdin.
 */
export function rejectsName(
  { name, path }: Pick<InputFile, 'name' | 'path'>,
  format: InputFormat,
  folder: string,
): string {
  const input = path === undefined ? basename(name) : relative(folder, path);
  const ending = extname(input);
  const stem = input.slice(0, input.length - ending.length);
  return `${stem}.rejects${isTable(format) ? ending || `.${format.kind}` : '.jsonl'}`;
}

/**
 * Writes the original texts of rejected rows, in the order of their lines: as a table if the input is a table, otherwise as JSON lines.
 * They are on the disk afterwards. If they cannot be written, no file remains.
 *
 * @param header the text of the header of a table.
 * @returns the name of the file. If the name was in use, it has the next free number: `stock.rejects.2.csv`.
 * @throws CliError `failed` if the file cannot be created or written.
 */
export function writeRejects(
  file: FileName,
  format: InputFormat,
  header: string,
  rejects: readonly Reject[],
): string {
  const rows = rejects.toSorted((a, b) => a.line - b.line);
  const name = takeName(file);
  const path = resolve(file.folder, name);
  try {
    const lines = isTable(format) ? tableLines(format, header, rows) : jsonLines(rows);
    replaceFileSync(path, lines, { mode: 0o666 });
  } catch (error) {
    rmSync(path, { force: true });
    throw fileError('write', path, error);
  }
  return name;
}

/** Creates an empty file, so that no other process takes its name. */
function takeName({ name, folder }: FileName): string {
  const ending = extname(name);
  const stem = name.slice(0, name.length - ending.length);
  let candidate = name;
  for (let number = 2; ; number += 1) {
    try {
      closeSync(openSync(resolve(folder, candidate), 'wx'));
      return candidate;
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw fileError('write', candidate, error);
      candidate = `${stem}.${number}${ending}`;
    }
  }
}

type Note = string | number | undefined;

/** Returns the values of `rejectColumns` for a row. */
function rejectCells({ line, state, reason: { status, code, message } = {} }: Reject): Note[] {
  const toSafeText = (text: string | undefined) => text && sanitize(text);
  return [line, state, status, toSafeText(code), toSafeText(message)];
}

function* tableLines(format: InputFormat, header: string, rejects: readonly Reject[]): Generator<string> {
  const { delimiter } = format;
  const { toCell, guard } = dialectOf(format);
  const toText = (cells: readonly string[]) => cells.map((cell) => toCell(cell, delimiter)).join(delimiter);
  const noteText = (notes: readonly Note[]) =>
    toText(notes.map((note) => (typeof note === 'string' ? guard(note) : String(note ?? ''))));
  const cellsOf = (text: string) => splitTable(text, '', format).next().value?.cells ?? [];
  const columns = cellsOf(header);
  const inputColumns = columns.flatMap((column, index) => (isRejectColumn(column) ? [] : [index]));
  /** Returns the text of a row with as many cells as the header has, so that the notes are below their columns. */
  const inHeader = (text: string): string => {
    const cells = cellsOf(text);
    if (inputColumns.length === columns.length && cells.length <= columns.length)
      return text + delimiter.repeat(columns.length - cells.length);
    const inputCells = inputColumns.map((index) => cells[index] ?? '');
    const surplus = cells.slice(columns.length).filter((cell) => cell.trim() !== '');
    return toText([...inputCells.slice(0, -1), [inputCells.at(-1), ...surplus].join(delimiter)]);
  };
  yield `${inHeader(header)}${delimiter}${toText(rejectColumns)}`;
  for (const reject of rejects)
    for (const text of [reject.text].flat())
      yield `${inHeader(text)}${delimiter}${noteText(rejectCells(reject))}`;
}

function* jsonLines(rejects: readonly Reject[]): Generator<string> {
  for (const reject of rejects) {
    const values = rejectCells(reject);
    const notes = rejectColumns.map((name, index) => [name, values[index]] as const);
    const present = Object.fromEntries(notes.filter(([, note]) => note !== undefined));
    for (const text of [reject.text].flat()) yield printJson({ ...withoutNotes(text), ...present });
  }
}

/** Returns a JSON record without the notes of earlier rejects. If it is not an object, returns its text as a field. */
function withoutNotes(text: string): JsonObject {
  const item = rowOrError(() => toItem(text));
  if (item instanceof CliError || item.repeatedKey !== undefined || !isJsonObject(item.value))
    return { [textColumn]: text };
  return Object.fromEntries(Object.entries(item.value).filter(([name]) => !isRejectColumn(name)));
}

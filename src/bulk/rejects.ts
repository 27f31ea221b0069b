import { createHash } from 'node:crypto';
import { extname, resolve } from 'node:path';
import { membersOf } from '../input/json.ts';
import type { InputRecord } from '../input/record.ts';
import type { RecordFormat } from '../input/records.ts';
import { isJsonObject, printJson } from '../process/exact-json.ts';
import { sanitize } from '../process/text.ts';
import { exists, type NewFile, writeNewFile } from './new-file.ts';
import { isIssue } from './parse.ts';
import { openRows, type RowInput } from './read.ts';
import type { Session } from './session.ts';

/** `<input>.rejects.<ext>`, or the next free name with a number; relative if `input` is. */
export async function defaultRejectsFile(
  input: string,
  folder: string,
  format: RecordFormat,
): Promise<NewFile> {
  const ending = extname(input) || `.${format}`;
  const stem = `${input.slice(0, input.length - extname(input).length)}.rejects`;
  let name = stem + ending;
  for (let number = 2; await exists(resolve(folder, name)); number += 1) name = `${stem}.${number}${ending}`;
  return { path: resolve(folder, name), name, flag: '--rejects', mayReplace: false };
}

/**
 * Whether a row belongs into the rejects. Rows that remove an entry do not, because no input row can say that. Rows of
 * a relative run that may have been applied do not either, because applying the rejects could add them twice; `resume`
 * settles the unknown ones.
 */
function isRejected(session: Session, row: number): boolean {
  const { rows, flags, job } = session;
  const bearer = bearerOf(session, row);
  if (bearer !== row) return isRejected(session, bearer);
  const state = rows.state(row);
  if (state !== 'failed' && state !== 'unknown' && state !== 'invalid') return false;
  if (rows.quantity(row) === null) return false;
  if (!flags.relative) return true;
  if (state === 'unknown' || rows.wasSent(row)) return false;
  // An earlier session that ended in order has written its own.
  if (state === 'invalid') return !job.earlier?.hasEnded;
  return rows.earlierState(row) !== state || job.earlier?.unreported.has(row) === true;
}

/** The row that the session settles for a row: the one that it was added to by `--on-duplicate sum`, or itself. */
function bearerOf({ rows, flags }: Session, row: number): number {
  const isAdded = flags.onDuplicate === 'sum' && rows.isState(row, 'skipped');
  return (isAdded ? rows.find(rows.id(row)) : undefined) ?? row;
}

export function hasRejects(session: Session): boolean {
  const { rows } = session;
  for (let row = 0; row < rows.length; row += 1) if (isRejected(session, row)) return true;
  return false;
}

/**
 * Writes the original columns of each row that failed, is unknown or was invalid, together with its outcome. The file
 * can be applied as it is. Returns false if there are none; then no file is written.
 */
export async function writeRejects(file: NewFile, session: Session): Promise<boolean> {
  return writeNewFile(file, async (output) => {
    const isUnchanged = await hasSameInput(session);
    const isArray = isUnchanged && session.job.input?.layout?.format === 'json';
    let isEmpty = true;
    for await (const text of isUnchanged ? recordTexts(session) : rowTexts(session)) {
      if (isArray) await output.write(isEmpty ? '[\n  ' : ',\n  ');
      await output.write(isArray ? text : `${text}\n`);
      isEmpty = false;
    }
    if (isArray && !isEmpty) await output.write('\n]\n');
    return !isEmpty;
  });
}

/** Whether the rows came from an input that can be read again. */
async function hasSameInput({ job: { input } }: Session): Promise<boolean> {
  if (!input?.layout) return false;
  const hash = createHash('sha256');
  for await (const piece of input.source.bytes()) hash.update(piece);
  return hash.digest('hex') === input.sha256;
}

/** The rejected records of the input in its own format; of CSV also the header. */
async function* recordTexts(session: Session): AsyncGenerator<string> {
  const { source, layout, options } = session.job.input as RowInput;
  const { batches } = await openRows(source.name, source.bytes(), { ...options, ...layout });
  let row = -1;
  let isFirst = true;
  for await (const { records, header, parse } of batches) {
    const printer = layout?.format === 'csv' ? new CsvPrinter(header, layout.delimiter) : undefined;
    for (const record of records) {
      row += 1;
      if (row >= session.rows.length || !isRejected(session, row)) continue;
      const parsed = session.rows.isState(row, 'invalid') ? parse(record) : undefined;
      const note = noteOf(session, row, parsed && isIssue(parsed) ? parsed.message : undefined);
      if (printer && isFirst) yield printer.head();
      yield printer ? printer.row(record.cells ?? [], note) : printJsonRecord(record, note);
      isFirst = false;
    }
  }
}

/** The known fields of rejected rows, as CSV: those of an undo, or of an input that is gone or has changed. */
function* rowTexts(session: Session): Generator<string> {
  const { rows, flags } = session;
  const names = ['petId', flags.relative ? 'change' : 'quantity', 'expected'];
  const header = rows.hasExpectations ? names : names.slice(0, 2);
  const printer = new CsvPrinter(header, ',');
  let isFirst = true;
  for (let row = 0; row < rows.length; row += 1) {
    if (!isRejected(session, row) || rows.isState(row, 'invalid') || rows.isState(row, 'skipped')) continue;
    if (isFirst) yield printer.head();
    isFirst = false;
    const values = [rows.id(row), rows.change(row) ?? rows.quantity(row), rows.expected(row)];
    yield printer.row(
      values.slice(0, header.length).map((value) => String(value ?? '')),
      noteOf(session, row),
    );
  }
}

/** The columns that are added to a rejected row. */
const noteColumns = ['_line', '_state', '_status', '_code', '_message', '_attempts', '_request_id'] as const;
type RejectNote = Readonly<Record<(typeof noteColumns)[number], string | number | undefined>>;

/** The outcome of a row; control characters in the service's words are made visible. */
function noteOf(session: Session, row: number, issue?: string): RejectNote {
  const { ledger, rows } = session;
  const note = (text: string | undefined) => text && sanitize(text);
  const bearer = bearerOf(session, row);
  const failure = ledger.failureOf(bearer);
  return {
    _line: rows.line(row) || undefined,
    _state: rows.state(bearer),
    _status: failure?.status,
    _code: rows.isState(row, 'invalid') ? 'invalid' : note(failure?.code),
    _message: note(issue ?? failure?.message),
    _attempts: failure?.attempts,
    _request_id: note(failure?.requestId),
  };
}

/** If the input was a file of rejects, its notes are replaced, but the original line number is kept. */
function isNote(name: string): boolean {
  return name === '_text' || (noteColumns as readonly string[]).includes(name);
}

const lineNumber = /^[1-9]\d*$/;

class CsvPrinter {
  private readonly header: readonly string[];
  private readonly delimiter: string;
  private readonly kept: readonly number[];
  private readonly lineAt: number;

  /** @param header that of the file, or the names of `--columns`. */
  constructor(header: readonly string[], delimiter: string) {
    this.header = header;
    this.delimiter = delimiter;
    this.kept = header.flatMap((name, at) => (isNote(name.trim()) ? [] : [at]));
    this.lineAt = header.findIndex((name) => name.trim() === '_line');
  }

  head(): string {
    return this.line([...this.kept.map((at) => this.header[at] ?? ''), ...noteColumns]);
  }

  row(cells: readonly string[], note: RejectNote): string {
    const first = cells[this.lineAt] ?? '';
    const whole = lineNumber.test(first) ? { ...note, _line: first } : note;
    return this.line([
      ...this.kept.map((at) => cells[at] ?? ''),
      ...noteColumns.map((name) => asText(whole[name])),
    ]);
  }

  private line(cells: readonly string[]): string {
    const mustQuote = (cell: string) => /["\r\n]|^\s|\s$/.test(cell) || cell.includes(this.delimiter);
    const quoted = cells.map((cell) => (mustQuote(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
    return quoted.join(this.delimiter);
  }
}

/** Protects a cell that a spreadsheet would take for a formula. */
function asText(value: string | number | undefined): string {
  return typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? '');
}

/** The members of the record as written, and the note; a record that is not an object is kept as text. */
function printJsonRecord({ text = '' }: InputRecord, note: RejectNote): string {
  const members = membersOrNone(text);
  const own = members
    .filter(({ name }) => !isNote(name))
    .map(({ name, start, end }) => `${printJson(name)}:${onOneLine(text.slice(start, end))}`);
  const line = members.find(({ name }) => name === '_line');
  const first = text.slice(line?.start, line?.end);
  const whole = line && lineNumber.test(first) ? { ...note, _line: Number(first) } : note;
  const raw = members.length === 0 && text.trim() !== '{}' ? { _text: text } : {};
  const added = printJson({ ...raw, ...whole });
  return `{${[...own, added.slice(1, -1)].join(',')}}`;
}

function membersOrNone(text: string) {
  try {
    return isJsonObject(JSON.parse(text)) ? membersOf(text) : [];
  } catch {
    return [];
  }
}

/** JSON without line breaks and indentation. */
function onOneLine(json: string): string {
  if (!/[\r\n]/.test(json)) return json;
  const lines = json.split(/[\r\n]+/).map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}

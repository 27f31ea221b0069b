import { createHash } from 'node:crypto';
import { extname, resolve } from 'node:path';
import { membersOf } from '../input/json.ts';
import type { InputRecord } from '../input/record.ts';
import type { Layout, RecordFormat } from '../input/records.ts';
import type { Source } from '../input/source.ts';
import { printJson } from '../json.ts';
import { sanitize } from '../text.ts';
import { exists, type NewFile, writeNewFile } from './new-file.ts';
import { isIssue, type ParseRow } from './parse.ts';
import { openRows } from './read.ts';
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
function isRejected({ rows, flags, job }: Session, row: number): boolean {
  const state = rows.state(row);
  if (state !== 'failed' && state !== 'unknown' && state !== 'invalid') return false;
  if (rows.quantity(row) === null) return false;
  if (!flags.relative) return true;
  if (state === 'unknown' || rows.wasSent(row)) return false;
  // An earlier session has written its own.
  return !(job.earlier?.hasEnded && (state === 'invalid' || rows.earlierState(row) === state));
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
    let writer: RejectWriter | undefined;
    for await (const { row, record, layout, header, parse } of rejectedRecords(session)) {
      if (!writer) {
        writer = createRejectWriter(layout, header);
        await output.write(writer.head());
      }
      await output.write(writer.row(record, noteOf(session, row, record, parse)));
    }
    if (writer) await output.write(writer.tail());
    return writer !== undefined;
  });
}

interface RejectedRecord {
  readonly row: number;
  readonly record: InputRecord;
  readonly layout: Layout;
  /** Of CSV. */
  readonly header: readonly string[];
  readonly parse?: ParseRow;
}

async function* rejectedRecords(session: Session): AsyncGenerator<RejectedRecord> {
  const { input } = session.job;
  if (!input?.layout || (await hashOf(input.source)) !== input.sha256) return yield* fromRows(session);
  const { source, layout } = input;
  const { batches } = await openRows(source.name, source.bytes(), { ...input.options, ...layout });
  let row = 0;
  for await (const { records, header, parse } of batches)
    for (const record of records) {
      if (row < session.rows.length && isRejected(session, row)) yield { row, record, layout, header, parse };
      row += 1;
    }
}

/** For rows whose input is gone or has changed: only the known fields. */
function* fromRows(session: Session): Generator<RejectedRecord> {
  const { rows, flags } = session;
  const layout: Layout = { format: 'csv', delimiter: ',' };
  const names = ['petId', flags.relative ? 'change' : 'quantity'];
  const header = rows.hasExpectations ? [...names, 'expected'] : names;
  for (let row = 0; row < rows.length; row += 1) {
    if (!isRejected(session, row) || rows.isState(row, 'invalid')) continue;
    const values = [rows.id(row), rows.change(row) ?? rows.quantity(row), rows.expected(row)];
    const cells = values.slice(0, header.length).map((cell) => String(cell ?? ''));
    yield { row, record: { line: 1, column: 1, cells }, layout, header };
  }
}

/** The columns that are added to a rejected row. */
const noteColumns = ['_line', '_state', '_status', '_code', '_message', '_attempts', '_request_id'] as const;
type RejectNote = Readonly<Record<(typeof noteColumns)[number], string | number | undefined>>;

/** The outcome of a row; control characters in the service's words are made visible. */
function noteOf({ ledger, rows }: Session, row: number, record: InputRecord, parse?: ParseRow): RejectNote {
  const note = (text: string | undefined) => text && sanitize(text);
  const parsed = rows.isState(row, 'invalid') ? parse?.(record) : undefined;
  const failure = ledger.failureOf(row);
  const issue = parsed && isIssue(parsed) ? parsed.message : undefined;
  return {
    _line: rows.line(row) || undefined,
    _state: rows.state(row),
    _status: failure?.status,
    _code: parsed ? 'invalid' : note(failure?.code),
    _message: note(issue ?? failure?.message),
    _attempts: failure?.attempts,
    _request_id: note(failure?.requestId),
  };
}

async function hashOf(source: Source): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of source.bytes()) hash.update(piece);
  return hash.digest('hex');
}

/** Writes rejected records in their original format. */
interface RejectWriter {
  /** The text before the first row. */
  head(): string;
  row(record: InputRecord, note: RejectNote): string;
  tail(): string;
}

function createRejectWriter({ format, delimiter }: Layout, header: readonly string[]): RejectWriter {
  if (format === 'csv') return new CsvRejects(header, delimiter);
  return format === 'jsonl' ? new JsonRejects('', '\n', '') : new JsonRejects('[\n  ', ',\n  ', '\n]\n');
}

class CsvRejects implements RejectWriter {
  private readonly header: readonly string[];
  private readonly delimiter: string;
  private readonly kept: readonly number[];
  private readonly lineAt: number;

  constructor(header: readonly string[], delimiter: string) {
    this.header = header;
    this.delimiter = delimiter;
    // If the input was a file of rejects, its notes are replaced, but the original line number is kept.
    this.kept = header.flatMap((name, at) => (isNote(name.trim()) ? [] : [at]));
    this.lineAt = header.findIndex((name) => name.trim() === '_line');
  }

  /** The header; for a file without one, the names of `--columns`. */
  head(): string {
    return this.line([...this.kept.map((at) => this.header[at] ?? ''), ...noteColumns]);
  }

  row({ cells = [] }: InputRecord, note: RejectNote): string {
    const first = /^[1-9]\d*$/.test(cells[this.lineAt] ?? '') ? cells[this.lineAt] : undefined;
    const notes = noteColumns.map((name) => asText(name === '_line' ? (first ?? note._line) : note[name]));
    return this.line([...this.kept.map((at) => cells[at] ?? ''), ...notes]);
  }

  tail(): string {
    return '';
  }

  private line(cells: readonly string[]): string {
    const mustQuote = (cell: string) => /["\r\n]|^\s|\s$/.test(cell) || cell.includes(this.delimiter);
    const quoted = cells.map((cell) => (mustQuote(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
    return `${quoted.join(this.delimiter)}\n`;
  }
}

class JsonRejects implements RejectWriter {
  private readonly opening: string;
  private readonly between: string;
  private readonly closing: string;
  private isFirst = true;

  constructor(opening: string, between: string, closing: string) {
    this.opening = opening;
    this.between = between;
    this.closing = closing;
  }

  head(): string {
    return this.opening;
  }

  row({ text = '' }: InputRecord, note: RejectNote): string {
    const members = text.trimStart().startsWith('{') ? membersOrNone(text) : [];
    const own = members
      .filter(({ name }) => !isNote(name))
      .map(({ name, start, end }) => `${printJson(name)}:${onOneLine(text.slice(start, end))}`);
    const line = members.find(({ name }) => name === '_line');
    const first = line && /^[1-9]\d*$/.exec(text.slice(line.start, line.end))?.[0];
    const notes = noteColumns.flatMap((name) => {
      const value = name === '_line' && first !== undefined ? Number(first) : note[name];
      return value === undefined ? [] : `"${name}":${printJson(value)}`;
    });
    // A record that is not an object is kept as text.
    const raw = members.length === 0 && text.trim() !== '{}' ? [`"_text":${printJson(text)}`] : [];
    const separator = this.isFirst ? '' : this.between;
    this.isFirst = false;
    return `${separator}{${[...own, ...raw, ...notes].join(',')}}`;
  }

  tail(): string {
    return this.closing === '' ? '\n' : this.closing;
  }
}

function membersOrNone(text: string) {
  try {
    JSON.parse(text);
    return membersOf(text);
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

function isNote(name: string): boolean {
  return name === '_text' || (noteColumns as readonly string[]).includes(name);
}

/** Protects a cell that a spreadsheet would take for a formula. */
function asText(value: string | number | undefined): string {
  return typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? '');
}

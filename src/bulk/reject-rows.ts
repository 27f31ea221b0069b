import type { InputRecord } from '../input/record.ts';
import type { Source } from '../input/source.ts';
import { quoteCell, withGuard } from '../output/formats.ts';
import { printJson } from '../process/exact-json.ts';
import { type NewFile, writeNewFile } from '../process/new-file.ts';
import { sanitize } from '../process/text.ts';
import { type InvalidRow, readInvalid } from './journal.ts';
import type { Run } from './open-run.ts';
import { isIssue, type ReadOptions } from './parse.ts';
import { hashOf, membersOrNone, noteReader, openRows } from './read.ts';
import { marks } from './rows.ts';

/**
 * Whether a row belongs into the rejects of this session: it was settled since the last end of the run, and not as it
 * should be. Of a relative run only those that failed for a reason of their own, because `resume` takes the others, and
 * two ways to book a row would book it twice.
 */
function isRejected({ rows, header }: Run, row: number): boolean {
  const state = rows.state(row);
  if ((state !== 'failed' && state !== 'unknown') || rows.isMarked(row, marks.reported)) return false;
  return !header.flags.relative || !rows.isLeft(row);
}

/** An earlier session that has ended has written the invalid rows. */
function rejectsInvalid({ header, earlier }: Run): boolean {
  return header.invalid > 0 && !earlier?.hasEnded;
}

/**
 * An undo has none. Neither has a delivery without a run, because nothing was to be written: it can be applied again, and
 * with its rejects too, that would book a row twice.
 */
export function hasRejects(run: Run): boolean {
  const { header, id } = run;
  if (header.kind === 'undo' || (header.flags.relative && id === undefined)) return false;
  if (rejectsInvalid(run)) return true;
  for (let row = 0; row < run.rows.length; row += 1) if (isRejected(run, row)) return true;
  return false;
}

/**
 * Writes the rejected rows with their outcomes: the original columns of the input if it is still the same, else those
 * that apply reads. CSV for CSV, JSON lines for JSON. Once what was wrong is corrected, the file can be applied.
 *
 * @param journal the path of the run's journal, if it has one.
 */
export async function writeRejects(file: NewFile, run: Run, journal: string | undefined): Promise<void> {
  await writeNewFile(file, async (output) => {
    const input = await sameInput(run);
    for await (const line of input ? inputLines(run, input) : rowLines(run, journal))
      await output.write(`${line}\n`);
  });
}

/** The input, if it still has the bytes with which the run began. */
async function sameInput({ source, header }: Run): Promise<Source | undefined> {
  const isSame = source && (await hashOf(source).catch(() => undefined)) === header.sha256;
  return isSame ? source : undefined;
}

/** The rejected records of the input; of CSV also the header. */
async function* inputLines(run: Run, source: Source): AsyncGenerator<string> {
  const { rows, header: about } = run;
  const { batches, layout } = await openRows(source.name, source.bytes(), about.flags);
  const withInvalid = rejectsInvalid(run);
  let printer: CsvPrinter | undefined;
  for await (const { records, header, parse } of batches) {
    const lineOf = noteReader(header, '_line');
    for (const record of records) {
      const parsed = parse(record);
      // Undefined too for a row that the run did not plan: of another shard, or without a change.
      const row = isIssue(parsed) ? undefined : rows.find(BigInt(parsed.id));
      // Of several rows of one pet the first one has the outcome; summed ones share it.
      const isTaken =
        row === undefined
          ? withInvalid && isIssue(parsed)
          : isRejected(run, row) && (about.flags.sum || rows.line(row) === record.line);
      if (!isTaken) continue;
      // The rejects of a file of rejects keep the line in the first input.
      const first = lineOf(record);
      const line = /^[1-9]\d*$/.test(first) ? Number(first) : record.line;
      const note = isIssue(parsed) ? invalidNote(run, line, parsed.message) : noteOf(run, row ?? 0, line);
      if (layout?.format !== 'csv') yield printJsonRecord(record, note);
      else {
        if (!printer) {
          printer = new CsvPrinter(header, layout.delimiter);
          yield printer.head();
        }
        yield printer.row(record.cells ?? [], note);
      }
    }
  }
}

/** The fields that apply reads of the rejected rows, for an input that is gone or has changed. */
async function* rowLines(run: Run, journal: string | undefined): AsyncGenerator<string> {
  const { rows, header } = run;
  const names = [
    'petId',
    header.flags.relative ? 'change' : 'quantity',
    ...(rows.hasExpectations ? ['expected'] : []),
  ];
  const printer = new CsvPrinter(names, ',');
  const print = (cells: readonly string[], note: RejectNote) =>
    header.format === 'csv'
      ? printer.row(
          names.map((_, at) => cells[at] ?? ''),
          note,
        )
      : printJson({ ...Object.fromEntries(names.map((name, at) => [name, toJson(cells[at])])), ...note });
  if (header.format === 'csv') yield printer.head();
  if (journal !== undefined && rejectsInvalid(run))
    for await (const { line, message, cells } of readInvalid(journal))
      yield print(cells, invalidNote(run, line, message));
  for (let row = 0; row < rows.length; row += 1) {
    if (!isRejected(run, row)) continue;
    const values = [rows.id(row), rows.change(row) ?? rows.after(row), rows.expected(row)];
    yield print(
      values.map((value) => String(value ?? '')),
      noteOf(run, row, rows.line(row)),
    );
  }
}

/** A cell as JSON: a number if it is written as one. */
function toJson(cell = ''): string | number | bigint {
  if (!/^-?(0|[1-9]\d*)$/.test(cell)) return cell;
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : BigInt(cell);
}

/** The invalid rows of an input, for the journal: it is kept when the input is gone. */
export async function* invalidRows(source: Source, options: ReadOptions): AsyncGenerator<InvalidRow> {
  const { batches } = await openRows(source.name, source.bytes(), options);
  for await (const { records, parse } of batches)
    for (const record of records) {
      const parsed = parse(record);
      if (isIssue(parsed)) yield { line: record.line, message: parsed.message, cells: parsed.cells ?? [] };
    }
}

/** The columns that are added to a rejected row. */
const noteColumns = [
  ...(['_line', '_state', '_status', '_code', '_message', '_attempts', '_request_id', '_run'] as const),
];
type RejectNote = Readonly<Record<(typeof noteColumns)[number], string | number | undefined>>;

/** The outcome of a row; control characters in the service's words are made visible. */
function noteOf({ failures, rows, id }: Run, row: number, line: number): RejectNote {
  const { status, code, message, attempts, requestId } = failures.reasonOf(row);
  return {
    _line: line || undefined,
    _state: rows.state(row),
    _status: status,
    _code: sanitize(code),
    _message: sanitize(message),
    _attempts: attempts,
    _request_id: requestId && sanitize(requestId),
    _run: id,
  };
}

function invalidNote({ id }: Run, line: number, message: string): RejectNote {
  const empty = { _status: undefined, _attempts: undefined, _request_id: undefined };
  return {
    _line: line,
    _state: 'invalid',
    _code: 'invalid',
    _message: sanitize(message),
    ...empty,
    _run: id,
  };
}

/** If the input was a file of rejects, its notes are replaced. */
function isNote(name: string): boolean {
  return name === '_text' || (noteColumns as readonly string[]).includes(name);
}

class CsvPrinter {
  private readonly header: readonly string[];
  private readonly delimiter: string;
  private readonly kept: readonly number[];

  /** @param header that of the file, or the names of `--columns`. */
  constructor(header: readonly string[], delimiter: string) {
    this.header = header;
    this.delimiter = delimiter;
    this.kept = header.flatMap((name, at) => (isNote(name.trim()) ? [] : [at]));
  }

  head(): string {
    return this.line([...this.kept.map((at) => this.header[at] ?? ''), ...noteColumns]);
  }

  row(cells: readonly string[], note: RejectNote): string {
    return this.line([
      ...this.kept.map((at) => cells[at] ?? ''),
      ...noteColumns.map((name) => asCell(note[name])),
    ]);
  }

  private line(cells: readonly string[]): string {
    return cells.map((cell) => quoteCell(cell, this.delimiter)).join(this.delimiter);
  }
}

/** The members of the record as written, and the note; a record that is not an object is kept as text. */
function printJsonRecord({ text = '' }: InputRecord, note: RejectNote): string {
  const members = membersOrNone(text);
  const own = members
    .filter(({ name }) => !isNote(name))
    .map(({ name, start, end }) => `${printJson(name)}:${onOneLine(text.slice(start, end))}`);
  const raw = members.length === 0 && text.trim() !== '{}' ? { _text: text } : {};
  const added = printJson({ ...raw, ...note });
  return `{${[...own, added.slice(1, -1)].join(',')}}`;
}

/** JSON without line breaks and indentation. */
function onOneLine(json: string): string {
  if (!/[\r\n]/.test(json)) return json;
  const lines = json.split(/[\r\n]+/).map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}

function asCell(value: string | number | undefined): string {
  return typeof value === 'string' ? withGuard(value) : String(value ?? '');
}

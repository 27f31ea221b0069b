import type { Source } from '../input/source.ts';
import { quoteCell, withGuard } from '../output/formats.ts';
import { printJson } from '../process/exact-json.ts';
import { type NewFile, writeNewFile } from '../process/new-file.ts';
import { sanitize } from '../process/text.ts';
import { isIssue } from './parse.ts';
import { hashOf, membersOrNone, noteReader, openRows } from './read.ts';
import { marks, type Reason } from './rows.ts';
import type { Run } from './run.ts';

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
  const { header, id, rows } = run;
  if (header.kind === 'undo' || (header.flags.relative && id === undefined)) return false;
  return rejectsInvalid(run) || !rows.where((row) => isRejected(run, row)).next().done;
}

/**
 * Writes the rejected rows with their outcomes: the original columns of the input if it is still the same, else those
 * that apply reads. CSV for CSV, JSON lines for JSON. Once what was wrong is corrected, the file can be applied.
 */
export async function writeRejects(file: NewFile, run: Run): Promise<void> {
  const isCsv = run.header.format === 'csv';
  const delimiter = run.header.flags.delimiter ?? ',';
  await writeNewFile(file, async (output) => {
    const input = await sameInput(run);
    let hasHeader = !isCsv;
    for await (const { fields, note } of input ? inputRows(run, input) : readFields(run)) {
      if (!hasHeader)
        await output.write(csvLine([...fields.map(([name]) => name), ...noteColumns], delimiter));
      hasHeader = true;
      await output.write(isCsv ? csvRow(fields, note, delimiter) : jsonRow(fields, note));
    }
  });
}

/** A rejected row: its columns with their values, as they are written in the format of the input. */
interface RejectedRow {
  readonly fields: readonly (readonly [name: string, text: string])[];
  readonly note: RejectNote;
}

/** The input, if it still has the bytes with which the run began. */
async function sameInput({ source, header }: Run): Promise<Source | undefined> {
  const isSame = source && (await hashOf(source).catch(() => undefined)) === header.sha256;
  return isSame ? source : undefined;
}

/** The rejected records of the input. */
async function* inputRows(run: Run, source: Source): AsyncGenerator<RejectedRow> {
  const { rows, header: about } = run;
  const { batches } = await openRows(source.name, source.bytes(), about.flags);
  const withInvalid = rejectsInvalid(run);
  for await (const { records, header, parse } of batches) {
    const lineOf = noteReader(header, '_line');
    for (const record of records) {
      const parsed = parse(record);
      // Undefined too for a row that the run did not plan: of another shard, or without a change.
      const row = isIssue(parsed) ? undefined : rows.find(parsed.id);
      // Of several rows of one pet the first one has the outcome; summed ones share it.
      const isTaken =
        row === undefined
          ? withInvalid && isIssue(parsed)
          : isRejected(run, row) && (about.flags.sum || rows.line(row) === record.line);
      if (!isTaken) continue;
      // The rejects of a file of rejects keep the line in the first input.
      const first = lineOf(record);
      const line = /^[1-9]\d*$/.test(first) ? Number(first) : record.line;
      const { cells, text = '' } = record;
      const all = cells
        ? header.map((name, at) => [name, cells[at] ?? ''] as const)
        : membersOrNone(text).map(
            ({ name, start, end }) => [name, onOneLine(text.slice(start, end))] as const,
          );
      // If the input was a file of rejects, its notes are replaced. A record that is not an object is kept as text.
      const fields =
        all.length === 0 && text.trim() !== '{}'
          ? [['_text', printJson(text)] as const]
          : all.filter(([name]) => !isNote(name.trim()));
      const note = isIssue(parsed) ? invalidNote(run, line, parsed.message) : noteOf(run, row ?? 0, line);
      yield { fields, note };
    }
  }
}

/** The fields that apply reads of the rejected rows, for an input that is gone or has changed. */
function* readFields(run: Run): Generator<RejectedRow> {
  const { rows, invalid, header } = run;
  const hasExpected = rows.count((row) => rows.expected(row) !== undefined) > 0;
  const value = header.flags.relative ? 'change' : 'quantity';
  const names = ['petId', value, ...(hasExpected ? ['expected'] : [])];
  const toFields = (cells: readonly string[]) =>
    names.map((name, at) => [name, toText(cells[at] ?? '')] as const);
  // A number in JSON is written as in CSV.
  const toText = (cell: string) =>
    header.format === 'csv' || /^-?(0|[1-9]\d*)$/.test(cell) ? cell : printJson(cell);
  if (rejectsInvalid(run))
    for (const { line, message, cells } of invalid)
      yield { fields: toFields(cells), note: invalidNote(run, line, message) };
  for (const row of rows.where((each) => isRejected(run, each))) {
    const cells = [rows.id(row), rows.change(row) ?? rows.after(row), rows.expected(row)];
    const fields = toFields(cells.map((cell) => String(cell ?? '')));
    yield { fields, note: noteOf(run, row, rows.line(row)) };
  }
}

/** The columns that are added to a rejected row. */
const noteColumns = [
  ...(['_line', '_state', '_status', '_code', '_message', '_attempts', '_request_id', '_run'] as const),
];
type RejectNote = Readonly<Record<(typeof noteColumns)[number], string | number | undefined>>;

function noteOf(run: Run, row: number, line: number): RejectNote {
  return toNote(run, line, run.rows.state(row), run.rows.reason(row));
}

function invalidNote(run: Run, line: number, message: string): RejectNote {
  return toNote(run, line, 'invalid', { code: 'invalid', message });
}

/** Control characters in the service's words are made visible. */
function toNote({ id }: Run, line: number, state: string, reason: Reason | undefined): RejectNote {
  const { status, code = '', message = '', attempts, requestId } = reason ?? {};
  return {
    _line: line || undefined,
    _state: state,
    _status: status,
    _code: sanitize(code),
    _message: sanitize(message),
    _attempts: attempts,
    _request_id: requestId && sanitize(requestId),
    _run: id,
  };
}

function isNote(name: string): boolean {
  return name === '_text' || (noteColumns as readonly string[]).includes(name);
}

function csvRow(own: RejectedRow['fields'], note: RejectNote, delimiter: string): string {
  const notes = noteColumns.map((name) => note[name]);
  const texts = notes.map((value) => (typeof value === 'string' ? withGuard(value) : String(value ?? '')));
  return csvLine([...own.map(([, text]) => text), ...texts], delimiter);
}

function csvLine(cells: readonly string[], delimiter: string): string {
  return `${cells.map((cell) => quoteCell(cell, delimiter)).join(delimiter)}\n`;
}

function jsonRow(own: RejectedRow['fields'], note: RejectNote): string {
  const members = own.map(([name, text]) => `${printJson(name)}:${text}`);
  return `{${[...members, printJson(note).slice(1, -1)].join(',')}}\n`;
}

/** JSON without line breaks and indentation. */
function onOneLine(json: string): string {
  if (!/[\r\n]/.test(json)) return json;
  const lines = json.split(/[\r\n]+/).map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}

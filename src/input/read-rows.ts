import { InputError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import { type Issue, Issues, invalidInput, issueText, type Problem } from './issues.ts';
import { type ColumnRule, type RawBatch, type RawRecord, readRaw } from './raw-record.ts';
import type { InputFormat } from './read-records.ts';
import type { Source } from './source.ts';

// How a file becomes rows: `source.ts` opens it, `utf8.ts` decodes it, `read-records.ts` finds its format and splits it with
// `csv.ts` or `json.ts` into records (`record.ts`). `raw-record.ts` names their values by the columns, and a layout, which
// belongs to a command, turns each into a row here. What is wrong is an issue (`issues.ts`). Rows that were not done are
// written with their original columns by `rejects.ts`.

/** A row of an input: what a command wants of one record. */
export interface InputRow {
  /** The line on which it begins, from 1. */
  readonly line: number;
  /** Where it begins there, from 1; undefined if no other row begins on that line. */
  readonly column?: number | undefined;
  /** The id of the record; undefined if the row creates one. */
  readonly id?: bigint | undefined;
}

/** The values of a row by the names of the columns that a command reads. */
export type RowFields = Readonly<Record<string, JsonValue>>;

/** How a command reads an input: turns raw records into rows. */
export interface RowLayout<Row extends InputRow> extends ColumnRule {
  /** The parser of records with these columns, or what is wrong with the columns. */
  parserOf(columns: readonly string[], isTable: boolean): RowParser<Row> | Problem;
  /** What becomes of a second row of one id: undefined if it repeats the first, a row with both, or a conflict. */
  merge(first: Row, second: Row): Row | Problem | undefined;
  /** The columns of a row that the command reads. */
  fieldsOf(row: Row): RowFields;
  /** True if an input without a byte is a list of nothing, such as the ids that another command has printed. */
  readonly mayBeEmpty?: boolean;
}

export type RowParser<Row> = (record: RawRecord) => Row | Problem;

/** A complete input, read and checked. */
export interface RowInput<Row extends InputRow> {
  readonly source: Source;
  readonly format: InputFormat;
  /** False for a lone JSON object. */
  readonly isList: boolean;
  /** The valid rows, one for each id. */
  readonly rows: readonly Row[];
  /** The invalid rows, if they are to be skipped. */
  readonly invalid: readonly Issue[];
  /** How many valid rows are not in `rows`: repeats or additions ones, and those that were not selected. */
  readonly skipped: number;
  /** What to tell the user about rows that are left out. */
  readonly warnings: readonly string[];
}

export interface ReadOptions {
  /** Leaves invalid rows out instead of refusing the input; undefined if the command has no such flag. */
  readonly skipInvalid?: boolean | undefined;
  /** Whether a row belongs to this part of the input. */
  readonly isSelected?: ((id: bigint) => boolean) | undefined;
}

/**
 * Reads and checks a whole input before anything is sent.
 *
 * @throws InputError for an empty input, for columns that the layout refuses, and as `readRaw`; a ManyError with every
 *   invalid row if they are not to be skipped.
 */
export async function readRows<Row extends InputRow>(
  source: Source,
  layout: RowLayout<Row>,
  { skipInvalid, isSelected = () => true }: ReadOptions = {},
): Promise<RowInput<Row>> {
  const { name } = source;
  const input = await readRaw(source, layout);
  const { format = { kind: 'csv', delimiter: ',' } } = input;
  if (!input.format && !layout.mayBeEmpty) throw new InputError(`${name}: is empty`);
  const all: Row[] = [];
  const indexById = new Map<bigint, number>();
  const conflicting = new Set<number>();
  const issues = new Issues();
  let [total, repeats, additions] = [0, 0, 0];
  const parserOf = createParserFinder(name, format, layout);
  for await (const batch of input.batches) {
    // A header is checked even if no row follows.
    if (isTable(format)) parserOf(batch.columns, batch);
    for (const record of batch.records) {
      total += 1;
      const row = parserOf(record.names, batch)(record);
      if (isProblem(row)) {
        issues.add(issueOf(record, row));
        continue;
      }
      const index = row.id === undefined ? undefined : indexById.get(row.id);
      const first = index === undefined ? undefined : all[index];
      if (index === undefined || first === undefined) {
        if (row.id !== undefined) indexById.set(row.id, all.length);
        all.push(row);
        continue;
      }
      const result = layout.merge(first, row);
      if (result === undefined) repeats += 1;
      else if (!isProblem(result)) {
        additions += 1;
        all[index] = result;
      } else {
        if (skipInvalid && !conflicting.has(index))
          issues.add(conflictOf(first, result, layout.fieldsOf(first)));
        conflicting.add(index);
        issues.add(conflictOf(row, result, layout.fieldsOf(row)));
      }
    }
  }
  if (issues.all.length > 0 && !skipInvalid)
    throw invalidInput(name, issues, { total, canSkip: skipInvalid !== undefined });
  const rows = all.filter(
    (row, index) => !conflicting.has(index) && (row.id === undefined || isSelected(row.id)),
  );
  const others = all.length - conflicting.size - rows.length;
  const leftOut = (count: number, what: string) =>
    count === 0 ? [] : [`${name}: ${counted(count, 'row', 'rows')} ${count === 1 ? 'is' : 'are'} ${what}`];
  return {
    ...{ source, format, rows, invalid: issues.all },
    isList: isTable(format) || total !== 1 || input.isArray,
    skipped: repeats + additions + others,
    warnings: [
      ...leftOut(issues.all.length, 'invalid and skipped'),
      ...issues.examples().map((issue) => issueText(name, issue)),
      ...leftOut(repeats, 'repeated, and counted once'),
      ...leftOut(additions, 'added to another row of the same record'),
    ],
  };
}

export function isProblem(result: object): result is Problem {
  return 'message' in result;
}

/**
 * Finds the parser of records with some columns. The rows of a table have one. Most JSON objects have the same names as
 * the one before, so its parser is used again.
 *
 * @throws InputError for a table with columns that the layout refuses.
 */
export function createParserFinder<Row extends InputRow>(
  name: string,
  format: InputFormat,
  layout: RowLayout<Row>,
): (columns: readonly string[], batch: RawBatch) => RowParser<Row> {
  let previous: readonly string[] | undefined;
  let parser: RowParser<Row>;
  const parse: RowParser<Row> = (record) =>
    record.problem === undefined ? parser(record) : { message: record.problem };
  return (columns, { line, hasHeader }) => {
    if (previous === columns || (previous && isSameList(previous, columns))) return parse;
    previous = columns;
    const result = layout.parserOf(columns, isTable(format));
    if (!isProblem(result)) parser = result;
    else if (!isTable(format))
      parser = () => ({ ...result, message: `${result.message}; ${namesClause(columns)}` });
    else {
      const names = columns.map((cell) => cell || "''").join(', ');
      const header = hasHeader ? `; the header has ${names}` : '';
      throw new InputError(`${name}:${line}: ${result.message}${header}`, result.hint, line);
    }
    return parse;
  };
}

/** Whether an input has rows of cells, which are all text. */
export function isTable({ kind }: InputFormat): boolean {
  return kind === 'csv' || kind === 'tsv';
}

function issueOf(record: RawRecord, { index, ...problem }: Problem): Issue {
  const { line, column } = record;
  return { line, column, ...problem, at: index === undefined ? undefined : record.positionOf(index) };
}

function conflictOf({ line, column = 1 }: InputRow, problem: Problem, fields: RowFields): Issue {
  return { line, column, ...problem, fields, isConflict: true };
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}

function namesClause(names: readonly string[]): string {
  return names.length === 0 ? 'the object is empty' : `its names are ${names.slice(0, 20).join(', ')}`;
}

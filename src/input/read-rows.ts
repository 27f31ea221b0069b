import { InputError } from '../process/errors.ts';
import { counted, joinFirst } from '../process/text.ts';
import { conversion } from './foreign-file.ts';
import type { InputFile } from './input-file.ts';
import { conflict, examplesOf, type Issue, invalidInputError, issueText } from './issues.ts';
import {
  type InputRecord,
  type InputRow,
  isProblem,
  quoteValue,
  type RowLayout,
  readRecords,
  valueText,
} from './read-records.ts';
import type { Problem } from './record.ts';
import { isRejectColumn } from './rejects.ts';
import type { InputFormat } from './split-input.ts';

// How a file becomes rows: `input-file.ts` opens it, `utf8.ts` decodes it (`foreign-file.ts` knows other formats),
// `split-input.ts` finds its format and splits it with `csv.ts`, `tsv.ts` or `json.ts` into records (`record.ts`).
// `header.ts` reads the columns of a table. `read-records.ts` names the values of each record by the columns, and turns them
// into a row with a layout, which belongs to a command; `numbers.ts` reads ids and counts. This file collects the rows of an
// input, one for each id. A problem and its line are an issue (`issues.ts`). `rejects.ts` writes the rows that were not done,
// with their original columns.

/** A complete input, read and checked. */
export interface RowInput<Row extends InputRow> {
  readonly inputFile: InputFile;
  readonly format: InputFormat;
  /** The valid rows. Each id has one row. */
  readonly rows: readonly Row[];
  /** The issues of the invalid rows. Empty unless invalid rows are skipped. */
  readonly invalid: readonly Issue[];
  /** The number of valid rows that are not in `rows`: repeats, additions to another row, and rows that were not selected. */
  readonly skipped: number;
  /** Warnings for the user about rows that are left out. */
  readonly warnings: readonly string[];
}

export interface ReadOptions {
  /** Whether invalid rows are left out, instead of refusing the input. Undefined if the command has no such flag. */
  readonly skipInvalid?: boolean | undefined;
  /** Whether a row belongs to this part of the input, by its id; by its line if it has none or is invalid. */
  readonly isSelected?: ((key: bigint) => boolean) | undefined;
}

/**
 * Reads and checks a whole input before anything is sent. A pipe without a byte has no rows.
 *
 * @throws InputError for a file without a byte, and as `readRecords`; ManyError with every invalid row, unless these are
 *   skipped.
 */
export async function readRows<Row extends InputRow>(
  inputFile: InputFile,
  layout: RowLayout<Row>,
  { skipInvalid, isSelected }: ReadOptions = {},
): Promise<RowInput<Row>> {
  const { name, path } = inputFile;
  const table = await collectRows(inputFile, layout);
  const { format, issues, conflicting, total, repeats, additions } = table;
  if (!format && path !== undefined && !layout.mayBeEmpty) throw new InputError(`${name}: is empty`);
  const input = { name, format: format ?? { kind: 'csv' as const, delimiter: ',' } };
  if (issues.length > 0 && !skipInvalid) {
    const canSkip = skipInvalid !== undefined && issues.length * 20 <= total;
    throw invalidInputError(input, issues, await findHint(inputFile, layout, table, canSkip));
  }
  const isWhole = !isSelected && conflicting.size === 0;
  const rows = isWhole
    ? table.rows
    : table.rows.filter(
        ({ id, line }, index) => !conflicting.has(index) && (isSelected?.(id ?? BigInt(line)) ?? true),
      );
  const invalid = issues.filter(({ line }) => isSelected?.(BigInt(line)) ?? true);
  const leftOutWarning = (count: number, participle: string) =>
    count === 0 ? [] : [`${name}: ${counted(count, 'row is', 'rows are')} ${participle}`];
  return {
    inputFile,
    format: input.format,
    rows,
    invalid,
    skipped: total - rows.length - invalid.length,
    warnings: [
      ...leftOutWarning(invalid.length, 'invalid and skipped'),
      ...examplesOf(invalid).map((issue) => issueText(input, issue)),
      ...leftOutWarning(repeats, 'repeated, and counted once'),
      ...leftOutWarning(additions, 'added to another row of the same record'),
    ],
  };
}

/** The rows of an input, one for each id, and what is wrong with the others. */
interface CollectedRows<Row> {
  /** Undefined if the input is empty. */
  readonly format: InputFormat | undefined;
  /** The number of records. */
  readonly total: number;
  readonly rows: readonly Row[];
  readonly issues: readonly Issue[];
  /** The indexes of the rows that another row of the same record contradicts. */
  readonly conflicting: ReadonlySet<number>;
  /** The number of rows that repeat a whole line. */
  readonly repeats: number;
  /** The number of rows that were merged into another. */
  readonly additions: number;
}

/** @param stopsAtInvalid whether the first invalid row ends the reading */
async function collectRows<Row extends InputRow>(
  inputFile: InputFile,
  layout: RowLayout<Row>,
  stopsAtInvalid = false,
): Promise<CollectedRows<Row>> {
  const { format, pages } = await readRecords(inputFile, layout);
  const rows: Row[] = [];
  const index = new RowIndex(rows);
  const conflicting = new Set<number>();
  const issues: Issue[] = [];
  const pairs: Pair<Row>[] = [];
  let total = 0;
  let additions = 0;
  for await (const page of pages)
    for (const [{ line }, row] of page) {
      total += 1;
      if (isProblem(row)) {
        issues.push(toIssue(row, line, inputFile.name));
        if (stopsAtInvalid) return { format, total, rows, issues, conflicting, repeats: 0, additions };
        continue;
      }
      const position = row.id === undefined ? undefined : index.find(row.id);
      const first = position === undefined ? undefined : rows[position];
      if (position === undefined || first === undefined) {
        index.add(row);
        continue;
      }
      const sum = layout.addUp?.(first, row);
      if (!sum) pairs.push({ index: position, first, row });
      else if (isProblem(sum)) issues.push({ ...sum, line });
      else {
        additions += 1;
        rows[position] = sum;
      }
    }
  const conflicts = await findConflicts(inputFile, layout, pairs);
  for (const { index, first, row, message } of conflicts) {
    const isKnown = conflicting.has(index);
    conflicting.add(index);
    for (const each of isKnown ? [row] : [first, row]) {
      const [{ line }, fields] = [each, layout.fieldsOf(each)];
      issues.push({ line, message, kind: conflict, hint: roundedIdHint(row.id), fields });
    }
  }
  issues.sort((a, b) => a.line - b.line);
  const counts = { total, repeats: pairs.length - conflicts.length, additions };
  return { format, rows, issues, conflicting, ...counts };
}

/** Adds rows to a list and finds them by their ids. While the ids rise, as in an export, it keeps no map: 30 MB for a million rows. */
class RowIndex<Row extends InputRow> {
  private readonly rows: Row[];
  private lastId = -1n;
  private positions: Map<bigint, number> | undefined;

  constructor(rows: Row[]) {
    this.rows = rows;
  }

  /** The position of the row with an id. */
  find(id: bigint): number | undefined {
    if (!this.positions && id > this.lastId) return undefined;
    this.positions ??= new Map(
      this.rows.flatMap((row, position) => (row.id === undefined ? [] : [[row.id, position]])),
    );
    return this.positions.get(id);
  }

  add(row: Row): void {
    if (row.id !== undefined) {
      this.positions?.set(row.id, this.rows.length);
      this.lastId = row.id;
    }
    this.rows.push(row);
  }
}

function toIssue({ command, hint, ...problem }: Problem, line: number, name: string): Issue {
  if (command === undefined) return { ...problem, hint, line };
  const mended = conversion(command, name);
  return { ...problem, hint: hint === undefined ? mended : `${hint}; ${mended}`, line };
}

/** Two rows of one record. */
interface Pair<Row> {
  /** The index of the first row. */
  readonly index: number;
  readonly first: Row;
  readonly row: Row;
}

/** Reads an input again to compare the whole lines of rows of one record. Returns those that are no repeats, with a message. */
async function findConflicts<Row extends InputRow>(
  inputFile: InputFile,
  layout: RowLayout<Row>,
  pairs: readonly Pair<Row>[],
): Promise<readonly (Pair<Row> & { readonly message: string })[]> {
  if (pairs.length === 0) return [];
  const recordByLine = new Map<number, InputRecord | undefined>(
    pairs.flatMap(({ first, row }) => [first.line, row.line]).map((line) => [line, undefined]),
  );
  const { pages, format } = await readRecords(inputFile, layout);
  for await (const page of pages)
    for (const [record] of page) if (recordByLine.has(record.line)) recordByLine.set(record.line, record);
  const unit = format?.kind === 'json' ? 'record' : 'line';
  return pairs.flatMap((pair) => {
    const { first, row } = pair;
    const differences = findDifferences(recordByLine.get(first.line), recordByLine.get(row.line));
    if (differences.length === 0 && layout.mayRepeat) return [];
    const clause =
      differences.length === 0 ? 'which are equal' : `which differ in ${joinFirst(differences, 3)}`;
    const places = `${unit} ${first.line} and on ${unit} ${row.line}`;
    return [{ ...pair, message: `${layout.noun} ${row.id} is on ${places}, ${clause}` }];
  });
}

/** Returns the columns in which two records differ, with their values: `place ("Shop", "Cellar")`. */
function findDifferences(first?: InputRecord, second?: InputRecord): string[] {
  const textOf = (record: InputRecord | undefined, name: string) => {
    const index = record?.names.indexOf(name) ?? -1;
    return record && index !== -1 ? valueText(record, index) : '';
  };
  return [...new Set([...(first?.names ?? []), ...(second?.names ?? [])])].flatMap((name) => {
    const [value, otherValue] = [textOf(first, name), textOf(second, name)];
    if (isRejectColumn(name) || value === otherValue) return [];
    return [`${name} (${quoteValue(value)}, ${quoteValue(otherValue)})`];
  });
}

/** Spreadsheets keep 15 digits of a number, and doubles 53 bits, so that several long ids become one. */
function roundedIdHint(id: bigint | undefined): string | undefined {
  if (id === undefined || id < 10n ** 15n) return undefined;
  return 'a spreadsheet or a script may have rounded these ids: import the column as text';
}

/**
 * Finds a hint for an input with issues: flags with which no row is invalid, or if none is, flags with which no rows
 * conflict; or `--skip-invalid`.
 */
async function findHint<Row extends InputRow>(
  inputFile: InputFile,
  layout: RowLayout<Row>,
  { issues }: CollectedRows<Row>,
  canSkip: boolean,
): Promise<string | undefined> {
  const isInvalid = ({ kind }: Issue) => kind !== conflict;
  const hasInvalid = issues.some(isInvalid);
  const flags: string[] = [];
  for (const alternative of layout.alternatives?.(issues) ?? []) {
    const other = await collectRows(inputFile, alternative.layout, hasInvalid).catch(() => undefined);
    const isRight = other && (hasInvalid ? !other.issues.some(isInvalid) : other.issues.length === 0);
    if (isRight) flags.push(alternative.flag);
  }
  if (flags.length > 0) return `add ${flags.join(', or ')}`;
  const isExplained = issues.some(({ hint }) => hint !== undefined);
  return canSkip && hasInvalid && !isExplained ? '--skip-invalid applies the other rows' : undefined;
}

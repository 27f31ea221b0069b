import type { Notice } from '../output/messages.ts';
import { CliError, InputError, ManyError, ValueError } from '../process/errors.ts';
import { keepHeapSmall } from '../process/io.ts';
import { countText, joinFirst, moreLikeThis } from '../process/text.ts';
import type { InputFile, InputFormat } from './input-file.ts';
import { type InputRow, type RowLayout, readRecords, rowOrError } from './read-records.ts';

/** A whole input, read and checked. */
export interface CheckedInput<Row extends InputRow> {
  readonly file: Pick<InputFile, 'name' | 'path'>;
  readonly format: InputFormat;
  /** The valid rows. Each id has one row. */
  readonly rows: Row[];
  /** The invalid records, if these are skipped. */
  readonly invalid: readonly InvalidRecord[];
  /** The number of valid rows that are not in `rows`: repeats, additions to another row, and rows of other shards. */
  readonly skipped: number;
  /** What the user must know: warnings about rows that are left out, and the columns that are ignored. */
  readonly notices: readonly Notice[];
  /** The text of the header of a table; if it has none, our name of its column. */
  readonly header: string;
}

/** From this row on the heap must stay small. Otherwise a diff of 1,000,000 rows takes 535 MB, and the limit is 450. */
const largeRows = 20_000;

interface ReadOptions {
  /** True if invalid rows are left out. By default they make the input invalid. */
  readonly skipInvalid?: boolean | undefined;
  /** Returns true if a row belongs to this part of the input. `key` is its id, or its line if it has no id or is invalid. */
  readonly isSelected?: ((key: bigint) => boolean) | undefined;
}

/**
 * Reads and checks a whole input before anything is sent. A pipe without a byte has no rows.
 *
 * @throws InputError for a file without a byte, and as `readRecords`; ManyError for invalid rows, unless these are skipped.
 */
export async function readRows<Row extends InputRow>(
  inputFile: InputFile,
  layout: RowLayout<Row>,
  { skipInvalid, isSelected }: ReadOptions,
): Promise<CheckedInput<Row>> {
  const { name, path } = inputFile;
  const table = await collectRows(inputFile, layout);
  const { format, invalid: all, total, repeats, header, ignored } = table;
  // A list of ids without a header may be empty: another command may have printed none.
  if (!format && path !== undefined && layout.loneField === undefined)
    throw new InputError(`${name}: the file is empty`);
  const input: InputFacts = { file: { name, path }, format: format ?? { kind: 'csv', delimiter: ',' } };
  if (all.length > 0 && !skipInvalid) throw invalidInputError(input, all);
  const rows = isSelected ? table.rows.filter(({ id, line }) => isSelected(id ?? BigInt(line))) : table.rows;
  const invalid = isSelected ? all.filter(({ id, line }) => isSelected(id ?? BigInt(line))) : all;
  return {
    ...input,
    rows,
    invalid,
    skipped: total - rows.length - invalid.length,
    notices: [
      ...invalidWarnings(input, invalid),
      ...leftOutWarning(input, repeats, 'repeated, and counted once'),
      ...(ignored.size > 0
        ? [['note', `${name}: ignored columns: ${joinFirst([...ignored], 10)}`] as const]
        : []),
    ],
    header,
  };
}

/**
 * Takes further invalid rows out of an input.
 *
 * @returns the input without them.
 * @throws InputError or ManyError for invalid rows, unless these are skipped.
 */
export function withoutInvalid<Row extends InputRow>(
  input: CheckedInput<Row>,
  invalid: readonly InvalidRecord[],
  skipInvalid: boolean,
): CheckedInput<Row> {
  if (invalid.length > 0 && !skipInvalid) throw invalidInputError(input, invalid);
  const lines = new Set(invalid.map(({ line }) => line));
  return {
    ...input,
    rows: input.rows.filter(({ line }) => !lines.has(line)),
    invalid: [...input.invalid, ...invalid],
    notices: [...input.notices, ...invalidWarnings(input, invalid)],
  };
}

function invalidWarnings(input: InputFacts, invalid: readonly InvalidRecord[]): Notice[] {
  return [
    ...leftOutWarning(input, invalid.length, 'invalid and skipped'),
    ...pickExamples(input, invalid).map((record): Notice => ['warning', invalidText(input, record)]),
  ];
}

function leftOutWarning({ file: { name } }: InputFacts, count: number, participle: string): Notice[] {
  return count === 0 ? [] : [['warning', `${name}: ${countText(count, 'row is', 'rows are')} ${participle}`]];
}

/** Collects the rows of an input, one for each id, and the invalid records. */
async function collectRows<Row extends InputRow>(inputFile: InputFile, layout: RowLayout<Row>) {
  const { format, records, header, ignored } = readRecords(inputFile, layout);
  const rows: Row[] = [];
  // Most files are in the order of their ids, and need no map, which takes a second and 40 MB for a million ids.
  let highestId = -1n;
  let indexById: Map<bigint | undefined, number> | undefined;
  const conflicting = new Set<number>();
  const invalid: InvalidRecord[] = [];
  let [total, repeats] = [0, 0];
  for (const { line, text, row } of records) {
    total += 1;
    if (total === largeRows) await keepHeapSmall();
    if (row instanceof CliError) {
      invalid.push(toInvalid(row, line, text));
      continue;
    }
    const { id } = row;
    if (id !== undefined && !indexById && id <= highestId)
      indexById = new Map(rows.map((row, at) => [row.id, at]));
    const index = id === undefined ? undefined : indexById?.get(id);
    const first = index === undefined ? undefined : rows[index];
    if (index === undefined || first === undefined) {
      if (id !== undefined) highestId = id;
      indexById?.set(id, rows.length);
      rows.push(row);
      continue;
    }
    const sum = rowOrError(() => layout.addUp?.(first, row));
    if (sum instanceof CliError) invalid.push(toInvalid(sum, line, text));
    else if (sum) rows[index] = sum;
    else if (layout.mayRepeat && first.text === text) repeats += 1;
    else {
      const places = `${recordPlace(format, first.line)} and ${recordPlace(format, line)}`;
      const message = `${places} are for ${layout.noun} ${id}`;
      const hint = layout.conflictHint;
      if (!conflicting.has(index))
        invalid.push({ id, line: first.line, text: String(first.text), message, rule: conflict, hint });
      invalid.push({ id, line, text, message, rule: conflict, hint });
      conflicting.add(index);
    }
  }
  invalid.sort((a, b) => a.line - b.line);
  const validRows = conflicting.size === 0 ? rows : rows.filter((_, index) => !conflicting.has(index));
  return { format, rows: validRows, invalid, total, repeats, header, ignored };
}

/** A record that cannot be used, and why. */
export interface InvalidRecord {
  /** The id of two records that share it: both are in its shard. */
  readonly id?: bigint | undefined;
  /** The line of the record. In a JSON document it is the number of the record. */
  readonly line: number;
  /** The reason as a clause. It names the column and the value that are wrong. */
  readonly message: string;
  /** What all invalid records of the same kind share, whatever their values are. */
  readonly rule?: string | undefined;
  readonly hint?: string | undefined;
  /** The text of the record, which another session may reject. */
  readonly text: string;
}

export function toInvalid(error: CliError, line: number, text: string): InvalidRecord {
  const { message, details } = error;
  const rule = error instanceof ValueError ? error.rule : message;
  return { line, text, message, rule: `${rule} ${details.hint ?? ''}`, hint: details.hint };
}

/** The rule that two rows with the same id break. */
const conflict = 'conflict';

type InputFacts = Pick<CheckedInput<InputRow>, 'file' | 'format'>;

/** The word for the places of records: their lines, or their numbers in a JSON document. */
function unitOf(format: InputFormat | undefined): string {
  return format?.kind === 'json' ? 'record' : 'line';
}

/** Names a record by its place in the input: `line 7`, or `record 7` of a JSON document. */
export function recordPlace(format: InputFormat | undefined, line: number): string {
  return `${unitOf(format)} ${line}`;
}

/** `pets.csv:3: status must be …`, or `pets.json: record 3: …`. */
function invalidText({ file: { name }, format }: InputFacts, { line, message }: InvalidRecord): string {
  const place = unitOf(format) === 'line' ? line : ` ${recordPlace(format, line)}`;
  return `${name}:${place}: ${message}`;
}

/** Returns the first invalid record of each kind, with the number and the lines of the others of its kind. */
function pickExamples({ format }: InputFacts, invalid: readonly InvalidRecord[]): InvalidRecord[] {
  const groups = new Map<string, InvalidRecord[]>();
  const conflicts = new Set<string>();
  for (const record of invalid) {
    const { rule = record.message } = record;
    const group = groups.get(rule) ?? [];
    groups.set(rule, group);
    // The two rows of a conflict share its message.
    if (rule === conflict && conflicts.has(record.message)) continue;
    if (rule === conflict) conflicts.add(record.message);
    group.push(record);
  }
  return Array.from(groups.values(), ([first, ...others]) => ({
    ...(first as InvalidRecord),
    message: `${first?.message}${moreLikeThis(
      others.map(({ line }) => line),
      unitOf(format),
    )}`,
  }));
}

/** Returns the error for an input with invalid rows: an example of each kind, and the number of all. */
function invalidInputError(input: InputFacts, invalid: readonly InvalidRecord[]): InputError | ManyError {
  const examples = pickExamples(input, invalid).map(
    (record) => new InputError(invalidText(input, record), record.hint),
  );
  const [first] = examples;
  if (first && invalid.length === 1) return first;
  const count = `${countText(invalid.length, 'row is', 'rows are')} invalid; nothing was sent`;
  const summary = new InputError(`${input.file.name}: ${count}`);
  return new ManyError(summary.message, [...examples, summary], 0, summary.details);
}

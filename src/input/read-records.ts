import type { Fields } from '../api/record-values.ts';
import { CliError, InputError, quoteValue, ValueError } from '../process/errors.ts';
import { isJsonObject, type JsonValue } from '../process/exact-json.ts';
import {
  type ColumnRules,
  type FieldNames,
  ignoredColumns,
  isColumn,
  requireFields,
} from './field-columns.ts';
import { dialectOf, type InputFile, type InputFormat, isTable, splitInput } from './input-file.ts';
import { type SplitRecord, toItem } from './splitters.ts';

/** A row of an input: the values that a command reads from a record. */
export interface InputRow {
  /** The line on which the row begins, from 1. In a JSON document the number of the row. */
  readonly line: number;
  /** The id of the record. A row that creates a record has none. */
  readonly id?: bigint | undefined;
  /** The original text of its record, or of all records that are added up in it. */
  readonly text?: string | readonly string[] | undefined;
}

/** A record of an input, in the same form for all formats. */
export interface InputRecord {
  readonly line: number;
  /** The values by field. The cells of a table are texts; a missing cell is undefined. */
  readonly values: Fields;
  /** The name of each field's column or key in the input. */
  readonly columns: Readonly<Record<string, string>>;
  /** True if the record is a row of a table, so that all values are texts. */
  readonly isOfTable: boolean;
  /** The text of the record, as in the input. */
  readonly text: string;
}

/** Turns the records of an input into the rows of a command. */
export interface RowLayout<Row extends InputRow> extends ColumnRules {
  /** The name of a record in messages, such as `pet`. */
  readonly noun: string;
  /** The field of an input without a header or objects, such as a list of ids. Without it every input must have columns. */
  readonly loneField?: string;
  /** Returns the row of a record. @throws CliError if the record is not valid. */
  toRow(record: InputRecord): Row;
  /**
   * Adds up two rows of the same id, and joins their texts. Without it two such rows are a conflict.
   *
   * @throws CliError if they contradict.
   */
  addUp?(first: Row, second: Row): Row;
  /** The hint for two rows of the same id that are a conflict. */
  readonly conflictHint?: string | undefined;
  /** True if a repeated equal record counts once, because it changes nothing. */
  readonly mayRepeat: boolean;
}

interface ParsedRecord<Row> {
  readonly line: number;
  readonly text: string;
  readonly row: Row | CliError;
}

interface InputRecords<Row> {
  /** The format of the input, unless it is empty. */
  readonly format: InputFormat | undefined;
  readonly records: Iterable<ParsedRecord<Row>>;
  /** The text of the header; without a header, the name of the only column. */
  readonly header: string;
  /** The columns that are ignored. Those of JSON are complete after the last record. */
  readonly ignored: ReadonlySet<string>;
}

/**
 * Reads the records of an input.
 *
 * @throws InputError for a table with columns that the layout refuses; and, while the records are read, for a quote that is never
 *   closed, a record over 1 MiB, and broken JSON.
 */
export function readRecords<Row extends InputRow>(
  inputFile: InputFile,
  layout: RowLayout<Row>,
): InputRecords<Row> {
  const { name } = inputFile;
  const input = splitInput(inputFile, (cell) => isColumn(cell, layout));
  const ignored = new Set<string>();
  if (!input) return { format: undefined, records: [], header: '', ignored };
  const { format, records } = input;
  let toRecord = objectReader(layout, ignored);
  let header = '';
  const first = isTable(format) ? records.next().value : undefined;
  const loneField = first && loneFieldOf(first, layout);
  if (loneField !== undefined) {
    header = loneField;
    toRecord = tableReader([header], [header], format);
  } else if (first) {
    // A spreadsheet may write empty cells after the header.
    const { cells = [] } = first;
    const columns = cells.slice(0, cells.findLastIndex((cell) => cell.trim() !== '') + 1);
    header = first.text;
    const fields = parseHeader({ ...first, cells: columns }, layout, name);
    for (const column of ignoredColumns(columns, fields, layout)) ignored.add(column);
    toRecord = tableReader(fields, columns, format);
  }
  const toParsed = (record: SplitRecord): ParsedRecord<Row> => {
    const { line, text, problem } = record;
    return { line, text, row: problem ?? rowOrError(() => layout.toRow(toRecord(record))) };
  };
  function* parse(): Generator<ParsedRecord<Row>> {
    if (first && loneField !== undefined) yield toParsed(first);
    for (const record of records) yield toParsed(record);
  }
  return { format, records: parse(), header, ignored };
}

/** Makes a row. Returns the error of a record that is not valid. */
export function rowOrError<Row>(toRow: () => Row): Row | CliError {
  try {
    return toRow();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return error;
  }
}

/** Returns the field of a table without a header: its first record is one cell that is not the name of a column. */
function loneFieldOf(
  { cells = [], problem }: SplitRecord,
  layout: ColumnRules & { readonly loneField?: string },
): string | undefined {
  const [cell = '', ...others] = cells;
  return !problem && others.length === 0 && !isColumn(cell, layout) ? layout.loneField : undefined;
}

/** Finds the fields of a header. @throws InputError if the layout refuses its columns. */
function parseHeader(
  { line, cells = [], problem }: SplitRecord,
  layout: ColumnRules,
  name: string,
): FieldNames {
  const fields = problem ?? rowOrError(() => requireFields(cells, layout));
  if (!(fields instanceof CliError)) return fields;
  throw new InputError(`${name}:${line}: ${fields.message}`, fields.details.hint);
}

/** Reads a record. @throws ValueError if it does not have the form of the input. */
type RecordReader = (split: SplitRecord) => InputRecord;

/** Makes a reader of the rows of a table. Empty cells beyond the header are padding; missing cells at the end are undefined. */
function tableReader(fields: FieldNames, header: readonly string[], format: InputFormat): RecordReader {
  const { unguard } = dialectOf(format);
  const columns = columnsOf(fields, header);
  const fieldColumns = fields.flatMap((name, index) => (name === undefined ? [] : [{ name, index }]));
  return ({ line, text, cells = [] }) => {
    const size = fields.length;
    if (cells.length > size && cells.slice(size).some((cell) => cell.trim() !== ''))
      throw new ValueError(`the row has ${cells.length} cells, the header has ${size}`, { rule: 'size' });
    const values: Record<string, string | undefined> = {};
    for (const { name, index } of fieldColumns) {
      const cell = cells[index];
      values[name] = cell === undefined ? undefined : unguard(cell);
    }
    return { line, text, values, columns, isOfTable: true };
  };
}

function columnsOf(fields: FieldNames, names: readonly string[]): Readonly<Record<string, string>> {
  const entries = fields.map((field, index) => [field ?? '', (names[index] ?? '').trim()] as const);
  return Object.fromEntries(entries.filter(([field]) => field !== ''));
}

/** Makes a reader of JSON records. It keeps the fields of the last keys, because most records have the same keys. */
function objectReader(layout: ColumnRules, ignored: Set<string>): RecordReader {
  let keys: readonly string[] = [];
  let fields: FieldNames | undefined;
  let columns: Readonly<Record<string, string>> = {};
  return ({ line, text, item = toItem(text) }) => {
    const { value, repeatedKey } = item;
    if (repeatedKey !== undefined)
      throw new ValueError(`the key ${repeatedKey} occurs twice`, { rule: 'a key occurs twice' });
    if (!isJsonObject(value))
      throw new ValueError(`${quoteValue(text)} is not a JSON object`, { rule: 'no object' });
    const ownKeys = Object.keys(value);
    if (!fields || keys.length !== ownKeys.length || keys.some((key, index) => key !== ownKeys[index])) {
      fields = requireFields(ownKeys, layout, ownKeys.includes(layout.printedKey ?? ''));
      for (const key of ignoredColumns(ownKeys, fields, layout)) ignored.add(key);
      columns = columnsOf(fields, ownKeys);
      keys = ownKeys;
    }
    const values: Record<string, JsonValue> = Object.create(null);
    for (const [index, field] of fields.entries()) {
      const inner = value[keys[index] ?? ''];
      if (field !== undefined && inner !== undefined) values[field] = inner;
    }
    return { line, text, values, columns, isOfTable: false };
  };
}

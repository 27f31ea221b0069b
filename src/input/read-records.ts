import { InputError, messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonValue, parseJson } from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';
import { cellPosition } from './csv.ts';
import type { InputFile } from './input-file.ts';
import { membersOf } from './json.ts';
import type { Position, Problem, SplitRecord } from './record.ts';
import { type InputFormat, isTable, splitInput } from './split-input.ts';

/** A record of an input, by columns. It has the same form for CSV, TSV, JSON and JSON lines. */
export interface InputRecord extends Position {
  /** The columns of a table, or the names of the members of a JSON object. */
  readonly names: readonly string[];
  /** The value of each column: the text of a cell, or JSON as in the input. */
  readonly values: readonly string[];
  /** The whole record as JSON text, and its value; undefined for a row of a table. */
  readonly json?: string | undefined;
  readonly value?: JsonValue | undefined;
  readonly problem?: Problem | undefined;
  /** Returns the position at which the value of a column begins. */
  positionOf(index: number): Position;
}

/** A row of an input: the values that a command reads from a record. */
export interface InputRow {
  /** The line on which the row begins, from 1. */
  readonly line: number;
  /** The column at which the row begins, from 1. Undefined if no other row begins on that line. */
  readonly column?: number | undefined;
  /** The id of the record. Undefined if the row creates a record. */
  readonly id?: bigint | undefined;
}

/** The values of a row by the names of the columns that a command reads. */
export type RowFields = Readonly<Record<string, JsonValue>>;

export type RowParser<Row> = (record: InputRecord) => Row | Problem;

/** The rules by which a command turns the records of an input into rows. */
export interface RowLayout<Row extends InputRow> {
  /** Whether these cells may be a header. The delimiter that makes a header is the delimiter of the input. */
  isHeader(cells: readonly string[]): boolean;
  /** Returns the columns of an input without a header, given its first record. Undefined if that record is the header. */
  columnsWithoutHeader?(cells: readonly string[]): readonly string[] | undefined;
  /** Returns the parser of records with these columns, or the problem of the columns. */
  parserOf(columns: readonly string[], isTable: boolean): RowParser<Row> | Problem;
  /** Merges two rows of the same id. Returns undefined for a repeat, a row with both, or the problem of a conflict. */
  merge(first: Row, second: Row): Row | Problem | undefined;
  /** Returns the values of a row that the command reads, by column. */
  fieldsOf(row: Row): RowFields;
  /** Whether an empty input is an empty list, such as the ids that another command has printed. */
  readonly mayBeEmpty?: boolean;
}

/** A record, and its row or its problem. */
type ParsedRecord<Row> = readonly [record: InputRecord, row: Row | Problem];

/** The records of an input, in order. */
interface InputRecords<Row> {
  /** The format of the input; undefined if it is empty. */
  readonly format: InputFormat | undefined;
  /** Whether the input is a JSON array. */
  readonly isArray: boolean;
  readonly pages: AsyncGenerator<ParsedRecord<Row>[]>;
}

/**
 * Reads an input as a stream of records. A row of a table with only empty cells is skipped, because spreadsheets leave
 * such rows at the end.
 *
 * @throws InputError for a table with columns that the layout refuses, and for an input that cannot be split into
 *   records: text that is not UTF-8, a quote that is never closed, a record over 1 MiB, broken JSON.
 */
export async function readRecords<Row extends InputRow>(
  { name, bytes }: InputFile,
  layout: RowLayout<Row>,
): Promise<InputRecords<Row>> {
  const input = await splitInput(bytes(), name, (cells) => layout.isHeader(cells));
  const { format } = input;
  async function* pages(): AsyncGenerator<ParsedRecord<Row>[]> {
    const isOfTable = format !== undefined && isTable(format);
    const parse = createParser(layout, isOfTable);
    let header: Header | undefined;
    for await (const page of input.pages) {
      const broken = page.find(({ isBroken }) => isBroken);
      if (broken?.problem)
        throw lineError(name, broken, broken.problem.message, 'the file may be cut off: nothing was sent');
      let rows = isOfTable && page.some(isBlank) ? page.filter((record) => !isBlank(record)) : page;
      const [first] = rows;
      if (isOfTable && !header && first) {
        header = readHeader(name, first, layout);
        if (header.isInInput) rows = rows.slice(1);
      }
      yield rows.map((split) => {
        const record = header ? tableRecord(split, header) : objectRecord(split, layout);
        return [record, parse(record)];
      });
    }
  }
  return { format, isArray: input.isArray, pages: pages() };
}

export function isProblem(result: object): result is Problem {
  return 'message' in result;
}

/** Creates a parser of records. Most records have the columns of the record before, so the parser of columns is kept. */
function createParser<Row extends InputRow>(
  layout: RowLayout<Row>,
  isOfTable: boolean,
): (record: InputRecord) => Row | Problem {
  let columns: readonly string[] | undefined;
  let parser: RowParser<Row> | Problem = { message: '' };
  return (record) => {
    const { names, problem } = record;
    if (problem) return problem;
    if (columns === undefined || (columns !== names && !isSameList(columns, names))) {
      columns = names;
      parser = layout.parserOf(names, isOfTable);
    }
    if (typeof parser === 'function') return parser(record);
    const clause =
      names.length === 0 ? 'the object is empty' : `its names are ${names.slice(0, 20).join(', ')}`;
    return { ...parser, kind: parser.message, message: `${parser.message}; ${clause}` };
  };
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}

/** The columns of a table. */
interface Header {
  readonly columns: readonly string[];
  /** Whether the header is in the input. If not, the layout knows the columns. */
  readonly isInInput: boolean;
}

/** Reads the columns of a table from its first record. @throws InputError if the layout refuses the columns. */
function readHeader<Row extends InputRow>(name: string, first: SplitRecord, layout: RowLayout<Row>): Header {
  const { cells = [], problem } = first;
  if (problem) throw lineError(name, first, problem.message);
  const knownColumns = layout.columnsWithoutHeader?.(cells);
  const columns = knownColumns ?? cells.map((cell) => cell.trim());
  const parser = layout.parserOf(columns, true);
  if (typeof parser === 'function') return { columns, isInInput: !knownColumns };
  const names = columns.map((cell) => cell || "''").join(', ');
  throw lineError(
    name,
    first,
    `${parser.message}${knownColumns ? '' : `; the header has ${names}`}`,
    parser.hint,
  );
}

function lineError(name: string, { line }: SplitRecord, message: string, hint?: string): InputError {
  return new InputError(`${name}:${line}: ${message}`, hint, line);
}

/** Returns the value of a column as text: a cell, the content of a JSON string, or other JSON as in the input. Null is empty. */
export function valueText({ values, json }: InputRecord, index: number): string {
  const value = values[index] ?? '';
  if (json === undefined) return value;
  if (value === 'null') return '';
  return value.startsWith('"') ? (JSON.parse(value) as string) : value;
}

/** Quotes a value, so that spaces around it are visible. Long values are cut. */
export function quoteValue(text: string): string {
  return JSON.stringify(shorten(text, 40));
}

function isBlank({ cells, problem }: SplitRecord): boolean {
  if (!cells || problem !== undefined) return false;
  for (const cell of cells) if (cell !== '' && cell.trim() !== '') return false;
  return true;
}

function tableRecord(split: SplitRecord, { columns, isInInput }: Header): InputRecord {
  const { line, column, cells = [] } = split;
  const positionOf = (index: number) => cellPosition(split, index);
  let { problem } = split;
  if (!problem && cells.length !== columns.length) {
    const size = cells.length === 1 ? '1 cell' : `${cells.length} cells`;
    const whole = `${isInInput ? 'the header' : 'the first row'} has ${columns.length}`;
    problem = { message: `the row has ${size}, ${whole}`, kind: 'size' };
  }
  return { line, column, names: columns, values: cells, problem, positionOf };
}

function objectRecord<Row extends InputRow>(split: SplitRecord, layout: RowLayout<Row>): InputRecord {
  const { line, column, text = '', problem } = split;
  const position = { line, column };
  const record = { ...position, names: [], values: [], json: text, positionOf: () => position };
  if (problem) return { ...record, problem };
  let value: JsonValue;
  try {
    value = parseJson(text);
    if (!isJsonObject(value)) {
      const names = layout.columnsWithoutHeader?.([text]);
      if (names) return { ...record, names, values: [text], value };
      return {
        ...record,
        problem: { message: `${quoteValue(text)} is not a JSON object`, kind: 'no object' },
      };
    }
  } catch (error) {
    return { ...record, problem: { message: `not valid JSON: ${messageOf(error)}`, kind: 'no JSON' } };
  }
  const members = membersOf(text);
  return {
    ...record,
    value,
    names: members.map(({ name }) => name),
    values: members.map(({ start, end }) => text.slice(start, end)),
    positionOf: (index) => positionAfter(position, text.slice(0, members[index]?.start)),
  };
}

/** Returns the position at which a text ends. @param position at which it begins */
function positionAfter({ line, column }: Position, text: string): Position {
  const lines = text.split(/\r\n|\n|\r/);
  const last = lines.at(-1) ?? '';
  return lines.length === 1
    ? { line, column: column + last.length }
    : { line: line + lines.length - 1, column: last.length + 1 };
}

import { InputError, messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonValue, parseJson } from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';
import { conversion } from './foreign-file.ts';
import { readHeader, type TableHeader } from './header.ts';
import type { InputFile } from './input-file.ts';
import { findRecords, membersOf } from './json.ts';
import type { Problem, SplitRecord } from './record.ts';
import { type InputFormat, isTable, recordPlace, splitInput } from './split-input.ts';

/** A record of an input, by columns. It has the same form for CSV, TSV, JSON and JSON lines. */
export interface InputRecord {
  /** The line on which the record begins, from 1. In a JSON document the number of the record. */
  readonly line: number;
  /** The columns of a table, or the names of the members of a JSON object. */
  readonly names: readonly string[];
  /** The value of each column: the text of a cell, or JSON as in the input. */
  readonly values: readonly string[];
  /** The whole record as JSON text, and its value; undefined for a row of a table. */
  readonly json?: string | undefined;
  readonly value?: JsonValue | undefined;
  readonly problem?: Problem | undefined;
}

/** A row of an input: the values that a command reads from a record. */
export interface InputRow {
  /** The line on which the row begins, from 1. In a JSON document the number of the row. */
  readonly line: number;
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
  parserOf(columns: readonly string[], format: InputFormat): RowParser<Row> | Problem;
  /** Adds up two rows of the same id. Undefined if two rows of the same id are a conflict. */
  addUp?(first: Row, second: Row): Row | Problem;
  /** Whether an equal line that is repeated changes nothing, so that it counts once. */
  readonly mayRepeat: boolean;
  /** Returns the values of a row that the command reads, by column. */
  fieldsOf(row: Row): RowFields;
  /** The name of a record in messages, such as `pet`. */
  readonly noun: string;
  /** The other ways to read the input, which further flags choose. Those that leave nothing wrong are a hint. */
  alternatives?(problems: readonly Problem[]): readonly Alternative<Row>[];
  /** Whether an empty input is an empty list, such as the ids that another command has printed. */
  readonly mayBeEmpty?: boolean;
}

/** A way to read an input that a further flag chooses. */
export interface Alternative<Row extends InputRow> {
  /** The flag, and when it is right: `--thousands . if the points separate thousands`. */
  readonly flag: string;
  readonly layout: RowLayout<Row>;
}

/** A record, and its row or its problem. */
type ParsedRecord<Row> = readonly [record: InputRecord, row: Row | Problem];

/** The records of an input, in order. */
interface InputRecords<Row> {
  /** The format of the input; undefined if it is empty. */
  readonly format: InputFormat | undefined;
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
  inputFile: InputFile,
  layout: RowLayout<Row>,
): Promise<InputRecords<Row>> {
  const { name } = inputFile;
  const input = await splitInput(inputFile, (cells) => layout.isHeader(cells));
  const { format } = input;
  async function* pages(format: InputFormat): AsyncGenerator<ParsedRecord<Row>[]> {
    const isOfTable = isTable(format);
    const parse = createParser(name, layout, format);
    let header: TableHeader | undefined;
    for await (const page of input.pages) {
      const broken = page.find(({ isBroken }) => isBroken);
      if (broken?.problem) {
        const message = `${recordPlace(name, format, broken.line)}: ${broken.problem.message}`;
        throw new InputError(message, 'the file may be cut off: nothing was sent', broken.line);
      }
      let rows = isOfTable && page.some(isBlank) ? page.filter((record) => !isBlank(record)) : page;
      const [first] = rows;
      if (isOfTable && !header && first) {
        header = readHeader(name, rows, layout, (columns) => {
          const parser = layout.parserOf(columns, format);
          return typeof parser === 'function' ? undefined : parser;
        });
        if (header.isInInput) rows = rows.slice(1);
      }
      yield rows.map((split) => {
        const record = header ? tableRecord(split, header) : objectRecord(split, layout, format);
        return [record, parse(record)];
      });
    }
  }
  return { format, pages: format ? pages(format) : noPages() };
}

async function* noPages(): AsyncGenerator<never> {}

export function isProblem(result: object): result is Problem {
  return 'message' in result;
}

/** Creates a parser of records. Most records have the columns of the record before, so the parser of columns is kept. */
function createParser<Row extends InputRow>(
  name: string,
  layout: RowLayout<Row>,
  format: InputFormat,
): (record: InputRecord) => Row | Problem {
  let columns: readonly string[] | undefined;
  let parser: RowParser<Row> | Problem = { message: '' };
  const parse = (record: InputRecord): Row | Problem => {
    const { names, problem } = record;
    if (problem) return problem;
    if (columns === undefined || (columns !== names && !isSameList(columns, names))) {
      columns = names;
      parser = layout.parserOf(names, format);
    }
    if (typeof parser === 'function') return parser(record);
    const clause =
      names.length === 0 ? 'the object is empty' : `its names are ${names.slice(0, 20).join(', ')}`;
    return { ...parser, kind: parser.message, message: `${parser.message}; ${clause}` };
  };
  if (isTable(format)) return parse;
  return (record) => {
    const row = parse(record);
    return isProblem(row) ? (envelopeProblem(name, record) ?? row) : row;
  };
}

/** Returns the problem of an object that has the records in one of its members. */
function envelopeProblem(name: string, { value = null, json = '' }: InputRecord): Problem | undefined {
  const path = findRecords(value);
  if (path === undefined) return undefined;
  const versions = /\d{16}/.test(json) ? '; jq rounds long ids before version 1.7' : '';
  return {
    message: `the records are within an object, in ${path}`,
    hint: conversion(`jq -c '${path}[]'`, name, '.jsonl') + versions,
  };
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
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

function tableRecord(split: SplitRecord, { columns, isInInput }: TableHeader): InputRecord {
  const { line, cells = [] } = split;
  let { problem } = split;
  if (!problem && cells.length !== columns.length) {
    const size = cells.length === 1 ? '1 cell' : `${cells.length} cells`;
    const whole = `${isInInput ? 'the header' : 'the first row'} has ${columns.length}`;
    problem = { message: `the row has ${size}, ${whole}`, kind: 'size' };
  }
  return { line, names: columns, values: cells, problem };
}

function objectRecord<Row extends InputRow>(
  split: SplitRecord,
  layout: RowLayout<Row>,
  { kind }: InputFormat,
): InputRecord {
  const { line, text = '', problem } = split;
  const record = { line, names: [], values: [], json: text };
  if (problem) return { ...record, problem };
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    // The message has the place within the record, which is none in a document.
    const reason = kind === 'json' ? messageOf(error).replace(/ at line .*/, '') : messageOf(error);
    return { ...record, problem: { message: `not valid JSON: ${reason}`, kind: 'no JSON' } };
  }
  if (!isJsonObject(value)) {
    const names = layout.columnsWithoutHeader?.([text]);
    if (names) return { ...record, names, values: [text], value };
    const message = `${quoteValue(text)} is not a JSON object`;
    return { ...record, problem: { message, kind: 'no object' } };
  }
  const members = membersOf(text);
  return {
    ...record,
    value,
    names: members.map(({ name }) => name),
    values: members.map(({ start, end }) => text.slice(start, end)),
  };
}

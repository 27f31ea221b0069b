import { InputError, messageOf } from '../process/errors.ts';
import { isJsonObject, parseJson } from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';
import { cellPosition } from './csv.ts';
import { membersOf } from './json.ts';
import { type InputFormat, readRecords } from './read-records.ts';
import type { InputRecord, Position } from './record.ts';
import type { Source } from './source.ts';

/** A record of an input by its columns: the same for CSV, TSV, JSON and JSON lines. */
export interface RawRecord extends Position {
  /** The columns of a table, or the names of the members of a JSON object. */
  readonly names: readonly string[];
  /** The value of each column: the text of its cell, or JSON as it is written. */
  readonly values: readonly string[];
  /** The whole record as JSON text; undefined for a row of a table. */
  readonly json?: string | undefined;
  /** Why the record cannot be used, a clause without a full stop. */
  readonly problem?: string | undefined;
  /** Where the values begin; undefined for a record that cannot be used. */
  readonly positionOf: (index: number) => Position;
}

/** What the reader must know of the columns of an input. */
export interface ColumnRule {
  /** Whether these cells may be the header: decides which character separates the cells. */
  isHeader(cells: readonly string[]): boolean;
  /** The columns of an input whose first record has these cells and is no header; undefined if it is the header. */
  columnsWithoutHeader?(cells: readonly string[]): readonly string[] | undefined;
}

/** The raw records of an input, in order. */
export interface RawInput {
  /** The format of the input; undefined if it is empty. */
  readonly format: InputFormat | undefined;
  /** False for a lone JSON object; true for every list, even of one record. */
  readonly isArray: boolean;
  /** The batches with the columns of a table, which are empty for JSON, and whether the input has a header. */
  readonly batches: AsyncGenerator<RawBatch>;
}

export interface RawBatch {
  readonly columns: readonly string[];
  readonly hasHeader: boolean;
  /** The line of the header, or of the first record. */
  readonly line: number;
  readonly records: readonly RawRecord[];
}

/**
 * Reads an input as a stream of raw records. A row of a table with only empty cells is skipped, because spreadsheets
 * leave such rows at the end.
 *
 * @throws InputError for an input whose records cannot be told apart: other text than UTF-8, a quote that is never
 *   closed, a record over 1 MiB, broken JSON.
 */
export async function readRaw(source: Source, rule: ColumnRule): Promise<RawInput> {
  const { name } = source;
  const stream = await readRecords(source.bytes(), {
    name,
    rankHeader: (cells) => (rule.isHeader(cells) ? 1 : 0),
  });
  const { format } = stream;
  async function* batches(): AsyncGenerator<RawBatch> {
    let table: Omit<RawBatch, 'records'> | undefined;
    for await (const batch of stream.batches) {
      for (const { problem, line, isBroken } of batch)
        if (isBroken)
          throw new InputError(
            `${name}:${line}: ${problem}`,
            'the file may be cut off: nothing was sent',
            line,
          );
      if (format?.kind === 'json' || format?.kind === 'jsonl') {
        const records = batch.map((record) => rawObject(record, rule));
        yield { columns: [], hasHeader: false, line: 1, records };
        continue;
      }
      let rows = batch.some(isBlank) ? batch.filter((record) => !isBlank(record)) : batch;
      const [first] = rows;
      if (!table && first) {
        const { cells = [], line, problem } = first;
        if (problem !== undefined) throw new InputError(`${name}:${line}: ${problem}`, undefined, line);
        const columns = rule.columnsWithoutHeader?.(cells);
        table = { columns: columns ?? cells.map((cell) => cell.trim()), hasHeader: !columns, line };
        if (!columns) rows = rows.slice(1);
      }
      if (table) yield { ...table, records: rawRows(rows, table) };
    }
  }
  return { format, isArray: stream.isArray, batches: batches() };
}

/** The value of a column as text: a cell, the content of a JSON string, or other JSON as written; empty for null. */
export function valueText({ values, json }: RawRecord, index: number): string {
  const value = values[index] ?? '';
  if (json === undefined) return value;
  if (value === 'null') return '';
  return value.startsWith('"') ? (JSON.parse(value) as string) : value;
}

/** A value in quotes, so that spaces around it are visible; long values are cut. */
export function quoteValue(text: string): string {
  return JSON.stringify(shorten(text, 40));
}

function isBlank({ cells, problem }: InputRecord): boolean {
  if (!cells || problem !== undefined) return false;
  for (const cell of cells) if (cell !== '' && cell.trim() !== '') return false;
  return true;
}

function rawRows(
  rows: readonly InputRecord[],
  { columns, hasHeader }: Pick<RawBatch, 'columns' | 'hasHeader'>,
): RawRecord[] {
  const whole = `${hasHeader ? 'the header' : 'the first row'} has ${columns.length}`;
  return rows.map((record) => {
    const { line, column, cells = [] } = record;
    const isComplete = cells.length === columns.length;
    const problem =
      record.problem ??
      (isComplete
        ? undefined
        : `the row has ${cells.length === 1 ? '1 cell' : `${cells.length} cells`}, ${whole}`);
    return {
      line,
      column,
      names: columns,
      values: cells,
      problem,
      positionOf: (at) => cellPosition(record, at),
    };
  });
}

function rawObject(record: InputRecord, rule: ColumnRule): RawRecord {
  const { line, column, text = '' } = record;
  const place = { line, column };
  const broken = (problem: string | undefined): RawRecord => ({
    ...{ ...place, names: [], values: [], json: text, problem },
    positionOf: () => place,
  });
  if (record.problem !== undefined) return broken(record.problem);
  let isObject: boolean;
  try {
    isObject = isJsonObject(parseJson(text));
  } catch (error) {
    return broken(`not valid JSON: ${messageOf(error)}`);
  }
  if (!isObject) {
    const names = rule.columnsWithoutHeader?.([text]);
    if (!names) return broken(`${quoteValue(text)} is not a JSON object`);
    return { ...place, names, values: [text], json: text, positionOf: () => place };
  }
  const members = membersOf(text);
  return {
    ...place,
    names: members.map(({ name }) => name),
    values: members.map(({ start, end }) => text.slice(start, end)),
    json: text,
    positionOf: (at) => placeAfter(place, text.slice(0, members[at]?.start)),
  };
}

/** The position after a text that begins at a place. */
function placeAfter({ line, column }: Position, text: string): Position {
  const lines = text.split(/\r\n|\n|\r/);
  const last = lines.at(-1) ?? '';
  return lines.length === 1
    ? { line, column: column + last.length }
    : { line: line + lines.length - 1, column: last.length + 1 };
}

import { messageOf } from '../errors.ts';
import { cellPosition } from '../input/csv.ts';
import { type Member, membersOf } from '../input/json-members.ts';
import type { InputRecord, Position } from '../input/record.ts';
import { isJsonObject, parseJson } from '../json.ts';
import { type ColumnMap, type Columns, type Field, findColumns } from './columns.ts';
import { idRule, parseId, parseQuantity, quantityRule } from './quantities.ts';
import { quoteValue, type RowIssue } from './row-issues.ts';
import type { RowValues } from './rows.ts';

/** Gives the values of a record, or why it has none. */
export type ParseRow = (record: InputRecord) => RowValues | RowIssue;

export function isIssue(parsed: RowValues | RowIssue): parsed is RowIssue {
  return 'message' in parsed;
}

/** For the rows below a CSV header. */
export function createCsvParser(header: readonly string[], columns: Columns): ParseRow {
  const { petId, quantity, expected } = columns;
  return (record) => {
    const { cells = [], problem } = record;
    if (problem) return { ...placeOf(record), message: problem };
    if (cells.length !== header.length) return wrongLength(record, cells.length, header.length);
    if (expected === undefined) {
      const id = parseId(cells[petId] as string);
      const count = parseQuantity(cells[quantity] as string);
      if (id !== undefined && count !== undefined) return { id, quantity: count, line: record.line };
    }
    return toValues({
      record,
      name: (field) => header[columns[field] ?? -1] ?? field,
      text: (field) => cells[columns[field] ?? -1],
      place: (field) => cellPosition(record, columns[field] ?? 0),
    });
  };
}

/** For JSON objects, each of which may have names of its own. */
export function createJsonParser(map: ColumnMap): ParseRow {
  const columnsOf = createColumnFinder(map);
  return (record) => {
    const { text = '', problem } = record;
    if (problem) return { ...placeOf(record), message: problem };
    const broken = notAnObject(text);
    if (broken) return { ...placeOf(record), message: broken };
    const members = membersOf(text);
    const columns = columnsOf(members);
    if (typeof columns === 'string')
      return { ...placeOf(record), message: `${columns}; ${describeNames(members)}` };
    const member = (field: Field) => members[columns[field] ?? -1];
    return toValues({
      record,
      name: (field) => member(field)?.name ?? field,
      text: (field) => valueText(text, member(field)),
      place: (field) => placeWithin(record, text.slice(0, member(field)?.start ?? 0)),
    });
  };
}

interface Source {
  readonly record: InputRecord;
  name(field: Field): string;
  text(field: Field): string | undefined;
  place(field: Field): Position;
}

function toValues({ record, name, text, place }: Source): RowValues | RowIssue {
  const refuse = (field: Field, rule: string): RowIssue => {
    const value = text(field) ?? '';
    const why = value.trim() === '' ? `${name(field)} is empty` : `${name(field)} ${quoteValue(value)}`;
    return { ...place(field), message: `${why}: ${rule}` };
  };
  const id = parseId(text('petId') ?? '');
  if (id === undefined) return refuse('petId', idRule);
  const quantity = parseQuantity(text('quantity') ?? '');
  if (quantity === undefined) return refuse('quantity', quantityRule);
  const expectedText = text('expected');
  if (expectedText === undefined || expectedText === '') return { id, quantity, line: record.line };
  const expected = parseQuantity(expectedText);
  return expected === undefined
    ? refuse('expected', quantityRule)
    : { id, quantity, expected, line: record.line };
}

function placeOf({ line, column }: InputRecord): Position {
  return { line, column };
}

function wrongLength(record: InputRecord, length: number, wanted: number): RowIssue {
  const cells = length === 1 ? '1 cell' : `${length} cells`;
  return { ...placeOf(record), message: `the row has ${cells}, the header has ${wanted}` };
}

function notAnObject(text: string): string | undefined {
  try {
    return isJsonObject(parseJson(text)) ? undefined : `${quoteValue(text)} is no JSON object`;
  } catch (error) {
    return `not valid JSON: ${messageOf(error)}`;
  }
}

/** Records mostly have the names of the one before: then nothing is looked up. */
function createColumnFinder(map: ColumnMap): (members: readonly Member[]) => Columns | string {
  let names: readonly string[] = [];
  let columns = findColumns(names, map);
  return (members) => {
    const isSame = members.length === names.length && members.every(({ name }, at) => name === names[at]);
    if (isSame) return columns;
    names = members.map(({ name }) => name);
    columns = findColumns(names, map);
    return columns;
  };
}

function describeNames(members: readonly Member[]): string {
  const names = members.slice(0, 20).map(({ name }) => name);
  return names.length === 0 ? 'the object is empty' : `its names are ${names.join(', ')}`;
}

/** A number as it was written, a string's content; null is nothing; undefined where the member is absent. */
function valueText(text: string, member: Member | undefined): string | undefined {
  if (!member) return undefined;
  const written = text.slice(member.start, member.end);
  if (written === 'null') return '';
  return written.startsWith('"') ? (JSON.parse(written) as string) : written;
}

/** The place of what follows `before` in a record. */
function placeWithin({ line, column }: InputRecord, before: string): Position {
  const lines = before.split(/\r\n|\n|\r/);
  const last = lines.at(-1) ?? '';
  return lines.length === 1
    ? { line, column: column + last.length }
    : { line: line + lines.length - 1, column: last.length + 1 };
}

import { exactDigits, toChange, toId, toQuantity } from '../api/values.ts';
import { type ThousandsSeparator, thousandsSeparators } from '../config/setting-values.ts';
import { cellPosition } from '../input/csv.ts';
import { type Member, membersOf } from '../input/json.ts';
import type { InputRecord, Position } from '../input/record.ts';
import { messageOf } from '../process/errors.ts';
import { isJsonObject, parseJson } from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';
import type { RowValues } from './rows.ts';
import { fields, normaliseName, type RunField, type RunFlags } from './run-flags.ts';

const idRule = 'must be a whole number from 0 to 9223372036854775807, in digits alone';
const quantityRule = 'must be a whole number from 0 to 9007199254740991, in digits alone';
const changeRule = 'must be a whole number with or without a sign, such as 24, +24 or -3';

/** The column names for each field. */
const aliases: Readonly<Record<RunField, readonly string[]>> = {
  petId: ['petid', 'id', 'pet'],
  quantity: ['quantity', 'qty', 'stock', 'count'],
  expected: ['expected'],
};
/** The column names that only a relative run has for the quantity, and all that it has. */
const changeNames = ['change', 'delta'];
const changeAliases = [...changeNames, ...aliases.quantity];

/** The index of each field among the columns of a row. */
interface Columns {
  readonly petId: number;
  readonly quantity: number;
  readonly expected: number | undefined;
}

/**
 * Finds the columns by their names.
 *
 * @returns a string if that fails: a clause about the missing or ambiguous column.
 */
export function findColumns(names: readonly string[], { map, relative }: ReadOptions): Columns | string {
  const normalised = names.map(normaliseName);
  const found: Partial<Record<RunField, number>> = {};
  for (const field of fields) {
    const named = map[field];
    const known = field === 'quantity' && relative ? changeAliases : aliases[field];
    const wanted = named === undefined ? known : [normaliseName(named)];
    const matches = normalised.flatMap((name, index) => (wanted.includes(name) ? [index] : []));
    const [match, another] = matches;
    if (another !== undefined)
      return ambiguous(
        field,
        matches.map((index) => names[index] ?? ''),
      );
    if (match !== undefined) found[field] = match;
    else if (named !== undefined) return `no column ${named}, which --map names`;
  }
  const { petId, quantity, expected } = found;
  if (petId === undefined) return 'no column petId (or id, pet)';
  if (quantity === undefined) {
    if (relative) return 'no column change (or delta, quantity)';
    const change = names.find((_, index) => changeNames.includes(normalised[index] ?? ''));
    const isDelivery = change === undefined ? '' : `; ${change} is a column for --relative`;
    return `no column quantity (or qty, stock, count)${isDelivery}`;
  }
  return { petId, quantity, expected };
}

function ambiguous(field: RunField, names: readonly string[]): string {
  const [first = '', second = ''] = names;
  return normaliseName(first) === normaliseName(second)
    ? `duplicate column ${first}`
    : `the columns ${names.join(' and ')} may both be ${field}`;
}

/** The reason why a row cannot be used; `message` names column and value if one of them is wrong. */
export interface RowIssue extends Position {
  readonly message: string;
  /** The flag that would let the row pass. */
  readonly remedy?: string | undefined;
  /** The cells that apply reads, as they were written, if they were found. */
  readonly cells?: readonly string[] | undefined;
}

/** Returns the values of a record, or the reason why it has none. */
export type ParseRow = (record: InputRecord) => RowValues | RowIssue;

/** Options for reading an input. With the same options, the same bytes give the same rows. */
export type ReadOptions = Omit<RunFlags, 'createMissing'>;

export function isIssue(parsed: RowValues | RowIssue): parsed is RowIssue {
  return 'message' in parsed;
}

/** For the rows below a CSV header. */
export function createCsvParser(header: readonly string[], columns: Columns, options: ReadOptions): ParseRow {
  const { petId, quantity, expected } = columns;
  const isPlain = expected === undefined && !options.relative && !options.thousands;
  return (record) => {
    const { cells = [], problem } = record;
    if (problem !== undefined) return { ...placeOf(record), message: problem };
    if (cells.length !== header.length) return wrongLength(record, cells.length, header.length);
    if (isPlain) {
      const id = cellId(cells[petId] as string);
      const count = toQuantity(unpadded(cells[quantity] as string));
      if (id !== undefined && count !== undefined) return { id, after: count, line: record.line };
    }
    return toValues(
      record,
      { names: header, columns, cells, place: (at) => cellPosition(record, at) },
      options,
    );
  };
}

/** For JSON objects, which may differ in their names. */
export function createJsonParser(options: ReadOptions): ParseRow {
  const columnsOf = createColumnFinder(options);
  return (record) => {
    const { text = '', problem } = record;
    if (problem !== undefined) return { ...placeOf(record), message: problem };
    const broken = notAnObject(text);
    if (broken !== undefined) return { ...placeOf(record), message: broken };
    const members = membersOf(text);
    const columns = columnsOf(members);
    if (typeof columns === 'string')
      return { ...placeOf(record), message: `${columns}; ${describeNames(members)}` };
    return toValues(
      record,
      {
        names: members.map(({ name }) => name),
        columns,
        cells: members.map((member) => valueText(text, member)),
        place: (at) => placeWithin(record, text.slice(0, members[at]?.start)),
      },
      options,
    );
  };
}

/** The cells of a CSV row, or the members of a JSON object. */
interface Cells {
  readonly names: readonly string[];
  readonly columns: Columns;
  readonly cells: readonly string[];
  place(at: number): Position;
}

function toValues(
  { line }: InputRecord,
  { names, columns, cells, place }: Cells,
  { relative, thousands }: ReadOptions,
): RowValues | RowIssue {
  const { petId, quantity, expected } = columns;
  const textOf = (at: number) => cells[at] ?? '';
  const numberOf = (at: number) => {
    const written = unpadded(textOf(at));
    return thousands === null ? written : withoutThousands(written, thousands);
  };
  const invalid = (at: number, rule: string, remedy?: string): RowIssue => {
    const value = textOf(at);
    const why = value.trim() === '' ? `${names[at]} is empty` : `${names[at]} ${quoteValue(value)}`;
    const read = [petId, quantity, expected].filter((each) => each !== undefined).map(textOf);
    return { ...place(at), message: `${why}: ${rule}`, remedy, cells: read };
  };
  const id = cellId(textOf(petId));
  if (id === undefined) return invalid(petId, idRule);
  const written = numberOf(quantity);
  const change = relative ? toChange(written) : undefined;
  const after = relative ? 0 : toQuantity(written);
  if (after === undefined) return invalid(quantity, quantityRule, remedyOf(written));
  if (relative && change === undefined) return invalid(quantity, changeRule, remedyOf(written));
  const values = { id, after, change, line };
  if (expected === undefined || textOf(expected).trim() === '') return values;
  const count = toQuantity(numberOf(expected));
  return count === undefined ? invalid(expected, quantityRule) : { ...values, expected: count };
}

/** The flag with which a quantity would be valid. */
function remedyOf(text: string): string | undefined {
  const separator = thousandsSeparators.find((each) => withoutThousands(text, each) !== text);
  if (separator !== undefined) return `--thousands ${separator === ' ' ? "' '" : separator}`;
  return /^[+-]\d+$/.test(text) ? '--relative' : undefined;
}

/** The id in a cell, or undefined; spaces around it are dropped. */
function cellId(text: string): number | bigint | undefined {
  const digits = unpadded(text);
  return digits.length <= exactDigits ? toQuantity(digits) : toId(digits);
}

/** `1.234.567` without its separators. A text that is not grouped in threes is returned unchanged, and later rejected. */
function withoutThousands(text: string, separator: ThousandsSeparator): string {
  // No-break spaces (U+00A0, U+202F) are also in use as separators.
  const plain = separator === ' ' ? text.replace(/[\u00a0\u202f]/g, ' ') : text;
  const mark = separator === '.' ? '\\.' : separator;
  return new RegExp(`^[+-]?[1-9]\\d{0,2}(${mark}\\d{3})+$`).test(plain)
    ? plain.replaceAll(separator, '')
    : text;
}

/** `trim` takes longer than checking both ends. */
function unpadded(text: string): string {
  const last = text.length - 1;
  return text.charCodeAt(0) > 0x20 && text.charCodeAt(last) > 0x20 && text.charCodeAt(last) < 0x80
    ? text
    : text.trim();
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
    return isJsonObject(parseJson(text)) ? undefined : `${quoteValue(text)} is not a JSON object`;
  } catch (error) {
    return `not valid JSON: ${messageOf(error)}`;
  }
}

/** Most records have the same names as the one before, so its columns are reused. */
function createColumnFinder(options: ReadOptions): (members: readonly Member[]) => Columns | string {
  let names: readonly string[] = [];
  let columns = findColumns(names, options);
  return (members) => {
    const isSame = members.length === names.length && members.every(({ name }, at) => name === names[at]);
    if (isSame) return columns;
    names = members.map(({ name }) => name);
    columns = findColumns(names, options);
    return columns;
  };
}

function describeNames(members: readonly Member[]): string {
  const names = members.slice(0, 20).map(({ name }) => name);
  return names.length === 0 ? 'the object is empty' : `its names are ${names.join(', ')}`;
}

/** A number as written, or the content of a string; empty for null. */
function valueText(text: string, { start, end }: Member): string {
  const written = text.slice(start, end);
  if (written === 'null') return '';
  return written.startsWith('"') ? (JSON.parse(written) as string) : written;
}

/** The position after the text `before` in a record. */
function placeWithin({ line, column }: InputRecord, before: string): Position {
  const lines = before.split(/\r\n|\n|\r/);
  const last = lines.at(-1) ?? '';
  return lines.length === 1
    ? { line, column: column + last.length }
    : { line: line + lines.length - 1, column: last.length + 1 };
}

/** A value in quotes, so that spaces around it are visible; long values are cut. */
function quoteValue(text: string): string {
  return JSON.stringify(shorten(text, 40));
}

import { UsageError } from '../process/errors.ts';
import { isNumber, type JsonValue, printJson } from '../process/exact-json.ts';
import type { Style } from './style.ts';

export interface Column<Entity> {
  readonly name: string;
  /** The cell's value; undefined and null print as nothing. */
  value(record: Entity): JsonValue | undefined;
  /** Returns the cell of a table, for a value that people read in another form; undefined for the value itself. */
  text?(record: Entity, isTerminal: boolean): string | undefined;
  readonly align?: 'right';
  /** True if the cell is a state such as `sold` or `fail`, which has a colour. */
  readonly isState?: true;
  /** True if the cell is an RFC 3339 time. A terminal shows its day, hour and minute. */
  readonly isTime?: true;
  /** True if the column is printed only if `--fields` names it. */
  readonly isHidden?: true;
}

/** The columns of records, in order. The first one is the id. */
export interface View<Entity> {
  /** The records in the plural, for messages. */
  readonly plural: string;
  readonly columns: readonly Column<Entity>[];
  /** Returns the value of a record in JSON and YAML. By default it is the record. */
  data?(record: Entity): unknown;
}

export function propertyColumns<Name extends string>(
  names: readonly Name[],
): Column<{ readonly [Key in Name]?: JsonValue | undefined }>[] {
  return names.map((name) => ({ name, value: (record) => record[name] }));
}

/**
 * Returns the columns to print: those of `--fields`, in its order, or all columns that are not hidden.
 *
 * @throws UsageError if the view has no such field; the message lists the fields.
 */
export function pickColumns<Entity>(
  view: View<Entity>,
  fields: readonly string[] | undefined,
): Column<Entity>[] {
  if (!fields) return view.columns.filter(({ isHidden }) => !isHidden);
  return fields.map((field) => requireColumn(view, '--fields', field));
}

/** Checks that a view has the columns of `--fields` and `--sort`. @throws UsageError if it lacks one; the message lists the fields. */
export function requireColumns<Entity>(
  view: View<Entity>,
  { fields, sort }: { readonly fields?: readonly string[] | undefined; readonly sort?: string | undefined },
): void {
  pickColumns(view, fields);
  if (sort !== undefined) compareBy(view, sort);
}

function requireColumn<Entity>(view: View<Entity>, flag: string, name: string): Column<Entity> {
  const column = view.columns.find((candidate) => candidate.name === name);
  if (column) return column;
  const names = view.columns.map((candidate) => candidate.name).join(', ');
  throw new UsageError(`${flag}: ${view.plural} have no field '${name}'; they have ${names}`);
}

/** Prints the value of a cell as text: objects and arrays as JSON, undefined and null as nothing. */
export function cellText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? printJson(value) : String(value);
}

type Cell = JsonValue | undefined;

/**
 * Creates the comparison of records by one column. It compares numbers by value and text by code unit. Missing values come
 * last in both directions.
 *
 * @param sort `name` or `-name`.
 * @throws UsageError if the view has no such field.
 */
export function compareBy<Entity>(view: View<Entity>, sort: string): (left: Entity, right: Entity) => number {
  const descends = sort.startsWith('-');
  const column = requireColumn(view, '--sort', descends ? sort.slice(1) : sort);
  return (left, right) => {
    const [a, b] = [column.value(left), column.value(right)];
    if (isAbsent(a) || isAbsent(b)) return Number(isAbsent(a)) - Number(isAbsent(b));
    return descends ? compareCells(b, a) : compareCells(a, b);
  };
}

function compareCells(left: Cell, right: Cell): number {
  if (isNumber(left) && isNumber(right)) return order(left, right);
  if (isNumber(left) !== isNumber(right)) return isNumber(left) ? -1 : 1;
  return order(cellText(left), cellText(right));
}

/** Bigints and numbers compare exactly with each other; strings with strings. */
function order<Value extends string | number | bigint>(left: Value, right: Value): number {
  if (left < right) return -1;
  return left > right ? 1 : 0;
}

function isAbsent(cell: Cell): boolean {
  return cell === undefined || cell === null;
}

/** A print job: the columns, the shape of the records, and the output. */
export interface PrintJob<Entity> {
  readonly columns: readonly Column<Entity>[];
  /** A `list` is printed as a list even if it has only one record. */
  readonly shape: 'list' | 'record';
  readonly hasHeader: boolean;
  readonly isTerminal: boolean;
  readonly width: number;
  readonly style: Style;
  /** Returns the value to print in JSON and YAML: the whole record, or the fields that `--fields` names. */
  value(record: Entity): unknown;
}

/** Turns records, which come in non-empty pieces, into text. If reading them fails, the text ends there. */
export type Print = <Entity>(
  job: PrintJob<Entity>,
  pieces: AsyncIterable<readonly Entity[]>,
) => AsyncGenerator<string>;

/** Yields records, and then the remaining pieces of an iterator. */
export async function* piecesOf<Entity>(
  first: readonly Entity[],
  others?: AsyncIterator<readonly Entity[]>,
): AsyncGenerator<readonly Entity[]> {
  if (first.length > 0) yield first;
  for (let next = await others?.next(); next && !next.done; next = await others?.next()) yield next.value;
}

import { UsageError } from '../process/errors.ts';
import { type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';

/** One column of a view. */
export interface Column<Entity> {
  readonly name: string;
  /** The cell's value; undefined and null print as nothing. */
  value(record: Entity): JsonValue | undefined;
  readonly align?: 'left' | 'right';
  /** True if the cell is a pet status or the status of a check, which has a colour. */
  readonly status?: true;
  /** Set if the cell is a time in RFC 3339: a terminal shows it as local time with its distance from now, or only that. */
  readonly time?: 'near' | 'distance';
  /** Shown only if `--fields` names it. */
  readonly extra?: true;
  /** Left out if the terminal is too narrow for all columns, and `--fields` does not name it. */
  readonly spare?: true | undefined;
}

/** How the records of one noun are shown: its columns in order; the first holds the id. */
export interface View<Entity> {
  /** Plural, for `no pets`. */
  readonly noun: string;
  readonly columns: readonly Column<Entity>[];
}

/** Columns that show the properties of these names. */
export function propertyColumns<Name extends string>(
  names: readonly Name[],
): Column<{ readonly [Key in Name]?: JsonValue | undefined }>[] {
  return names.map((name) => ({ name, value: (record) => record[name] }));
}

/**
 * The columns that `--fields` names, in its order; without it the view's own.
 *
 * @throws UsageError that lists the available fields.
 */
export function pickColumns<Entity>(
  view: View<Entity>,
  fields: readonly string[] | undefined,
): Column<Entity>[] {
  if (!fields) return view.columns.filter(({ extra }) => !extra);
  return fields.map((field) => ({ ...findColumn(view, '--fields', field), spare: undefined }));
}

/** The record with only these columns as its fields. */
export function pickFields<Entity>(columns: readonly Column<Entity>[], record: Entity): JsonObject {
  return Object.fromEntries(columns.map(({ name, value }) => [name, value(record) ?? null]));
}

/** The column that a flag names. */
function findColumn<Entity>(view: View<Entity>, flag: string, name: string): Column<Entity> {
  const column = view.columns.find((candidate) => candidate.name === name);
  if (column) return column;
  const names = view.columns.map((candidate) => candidate.name).join(', ');
  throw new UsageError(`${flag}: no field '${name}'; ${view.noun} have ${names}`);
}

/** A cell as text; objects and arrays as JSON. */
export function cellText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? printJson(value) : String(value);
}

type Cell = JsonValue | undefined;

/**
 * Compares records by one column: numbers by value, text by code unit; missing values come last in both directions.
 *
 * @param sort `name` or `-name`.
 * @throws UsageError for a field that the view lacks.
 */
export function compareBy<Entity>(view: View<Entity>, sort: string): (left: Entity, right: Entity) => number {
  const descends = sort.startsWith('-');
  const column = findColumn(view, '--sort', descends ? sort.slice(1) : sort);
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

function isNumber(cell: Cell): cell is number | bigint {
  return typeof cell === 'number' || typeof cell === 'bigint';
}

function isAbsent(cell: Cell): boolean {
  return cell === undefined || cell === null;
}

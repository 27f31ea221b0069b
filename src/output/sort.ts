import type { JsonValue } from '../json.ts';
import { cellText, findColumn, type View } from './columns.ts';

type Cell = JsonValue | undefined;

/**
 * An order of rows by one column: numbers by value, text by code unit, absent values last either way. Rows that tie keep
 * their order.
 *
 * @param sort `name` or `-name`.
 * @throws UsageError for a field that the view lacks.
 */
export function compareBy<Row>(view: View<Row>, sort: string): (one: Row, other: Row) => number {
  const descends = sort.startsWith('-');
  const column = findColumn(view, '--sort', descends ? sort.slice(1) : sort);
  return (one, other) => {
    const [a, b] = [column.value(one), column.value(other)];
    if (isAbsent(a) || isAbsent(b)) return Number(isAbsent(a)) - Number(isAbsent(b));
    return descends ? compareCells(b, a) : compareCells(a, b);
  };
}

function compareCells(one: Cell, other: Cell): number {
  if (isNumber(one) && isNumber(other)) return order(one, other);
  if (isNumber(one) !== isNumber(other)) return isNumber(one) ? -1 : 1;
  return order(cellText(one), cellText(other));
}

/** Bigints and numbers compare with each other exactly; so do strings. */
function order<Value extends string | number | bigint>(one: Value, other: Value): number {
  if (one < other) return -1;
  return one > other ? 1 : 0;
}

function isNumber(cell: Cell): cell is number | bigint {
  return typeof cell === 'number' || typeof cell === 'bigint';
}

function isAbsent(cell: Cell): boolean {
  return cell === undefined || cell === null;
}

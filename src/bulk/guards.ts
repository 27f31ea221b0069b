import { UsageError } from '../errors.ts';
import type { Plan } from './plan.ts';

/** A number of rows, or a share of those that a run considers. */
export type RowLimit = { readonly rows: number } | { readonly percent: number };

/** What a plan must keep to. */
export interface Guards {
  readonly maxChanges: RowLimit | undefined;
  /** Most units that one row may go up or down. */
  readonly maxDelta: number | undefined;
  readonly allowZero: boolean;
}

/** @throws UsageError for anything but a whole number or a percentage up to 100. */
export function parseRowLimit(text: string, flag: string): RowLimit {
  const [, digits, percent] = /^(\d{1,15}(?:\.\d{1,6})?)(%?)$/.exec(text) ?? [];
  const value = Number(digits);
  if (digits !== undefined && percent === '%' && value <= 100) return { percent: value };
  if (digits !== undefined && percent === '' && Number.isInteger(value)) return { rows: value };
  throw new UsageError(`${flag} '${text}': must be a number of rows or a percentage, as 100 or 5%`);
}

/** The limit in rows, of so many in all. */
export function toRows(limit: RowLimit, all: number): number {
  return 'rows' in limit ? limit.rows : Math.floor((all * limit.percent) / 100);
}

/** @throws UsageError that names the guard that stops the plan, and what it saw. */
export function checkGuards(plan: Plan, guards: Guards): void {
  const { changes, considered, toZero, largest, rows } = plan;
  const stopped = (why: string, hint: string) => new UsageError(`${why}; nothing was sent`, hint);
  const { maxChanges, maxDelta } = guards;
  if (maxChanges && changes > toRows(maxChanges, considered))
    throw stopped(
      `the plan changes ${changes} of ${considered} rows, more than --max-changes ${limitText(maxChanges)} allows`,
      'look at it with --dry-run; a larger --max-changes lets it pass',
    );
  if (maxDelta !== undefined && largest && Math.abs(largest.delta) > maxDelta) {
    const { row } = largest;
    throw stopped(
      `line ${rows.line(row)} changes pet ${rows.id(row)} from ${rows.before(row) ?? 'no entry'} to ${rows.quantity(row)}, more than --max-delta ${maxDelta} allows`,
      'look at it with --dry-run; a larger --max-delta lets it pass',
    );
  }
  if (toZero * 2 > considered && !guards.allowZero)
    throw stopped(
      `${toZero} of ${considered} rows go to 0, more than half`,
      'if that is meant, --allow-zero lets it pass',
    );
}

function limitText(limit: RowLimit): string {
  return 'rows' in limit ? String(limit.rows) : `${limit.percent}%`;
}

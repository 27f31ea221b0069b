import { recordPlace } from '../input/read-rows.ts';
import { UsageError } from '../process/errors.ts';
import { groupDigits } from '../process/text.ts';
import { changeOf, type Plan, valueBefore } from './plan.ts';
import type { RunLog } from './run.ts';

/** A number of rows, or a percentage of the rows of a run. */
export interface RowLimit {
  readonly rows?: number;
  readonly percent?: number;
}

/** Limits for the plans of a run. A plan that exceeds a limit is not written. */
export interface Guards {
  readonly maxChanges?: RowLimit | undefined;
  /** The largest change of one row, up or down. */
  readonly maxDelta?: number | undefined;
  readonly allowZero?: boolean | undefined;
}

/** Fewer rows than this may all go to 0. */
const minRowsForZeroGuard = 10;

/** Returns the error of a plan that breaks a guard of the command. It names the guard, and the value that breaks it. */
export function guardErrorOf(
  { header: { format }, rows }: RunLog,
  { rowsToWrite }: Plan,
  { maxChanges, maxDelta, allowZero }: Guards,
): UsageError | undefined {
  const rowCount = rows.length;
  const { rows: most = Math.floor((rowCount * (maxChanges?.percent ?? 100)) / 100) } = maxChanges ?? {};
  if (maxChanges && rowsToWrite.length > most) {
    const limit = maxChanges.rows === undefined ? `${maxChanges.percent}%` : groupDigits(maxChanges.rows);
    return guardError(
      `the run changes ${groupDigits(rowsToWrite.length)} of ${groupDigits(rowCount)} rows, and --max-changes allows ${limit}`,
      'a larger --max-changes',
    );
  }
  const tooLarge =
    maxDelta !== undefined && rowsToWrite.find((row) => Math.abs(Number(changeOf(row) ?? 0)) > maxDelta);
  if (tooLarge) {
    const { line, id, planned } = tooLarge;
    const [before, after] = [valueBefore(tooLarge), planned?.after].map((count) =>
      count === null || count === undefined ? 'no entry' : groupDigits(Number(count)),
    );
    return guardError(
      `${recordPlace(format, line)} changes pet ${id} from ${before} to ${after}, and --max-delta allows ${groupDigits(maxDelta)}`,
      'a larger --max-delta',
    );
  }
  const zeros = rowsToWrite.filter((row) => row.planned?.after === 0 && valueBefore(row) !== null).length;
  if (rowCount >= minRowsForZeroGuard && zeros * 2 > rowCount && !allowZero)
    return guardError(
      `more than half of the rows go to 0: ${groupDigits(zeros)} of ${groupDigits(rowCount)}`,
      '--allow-zero',
    );
  return undefined;
}

function guardError(message: string, wayOn: string): UsageError {
  const hint = `look at the plan with --dry-run; if this is intended, give ${wayOn}`;
  return new UsageError(`${message}; nothing was sent`, hint, 'guard');
}

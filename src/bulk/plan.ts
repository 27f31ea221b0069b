import { eachAtPace, type Pace } from '../client/pace.ts';
import { monotonicMs } from '../process/deadline.ts';
import { UsageError } from '../process/errors.ts';
import { decide, type Outcome, type Row } from './decide.ts';
import { isPerhapsWritten } from './rows.ts';
import type { Run } from './run.ts';
import { toRowCount } from './run-header.ts';
import type { Reading, ValueAccess } from './value-access.ts';

/** The decisions of a session about its rows. */
export interface Plan {
  /** The rows that the session looked at. */
  readonly rows: readonly Row[];
  /** The rows that will be written. */
  readonly changes: readonly Row[];
  /** The strong ETags of the records that were read one by one. */
  readonly etags: ReadonlyMap<Row, string>;
  readonly elapsedMs: number;
}

/** With fewer rows than this, records are read one by one, with their ETags. Otherwise the whole list is read. */
const minRowsForList = 100;

/**
 * Reads the records of the rows and decides each row. A row that need not or cannot be written gets its outcome.
 *
 * @param rows the rows that this session looks at.
 * @param progress is increased for each record that was read.
 * @throws CliError if a record could not be read: there is no partial plan.
 */
export async function makePlan(
  access: ValueAccess,
  rows: readonly Row[],
  pace: Pace,
  progress: { recordsRead: number },
): Promise<Plan> {
  const startedMs = monotonicMs();
  const pending = new Map<bigint, Row>();
  for (const row of rows) pending.set(row.id, row);
  const etags = new Map<Row, string>();
  const decideByReading = (row: Row, reading: Reading) => {
    pending.delete(row.id);
    decideRow(access, row, reading);
    if (!row.outcome && reading.etag !== undefined) etags.set(row, reading.etag);
    progress.recordsRead += 1;
  };
  if (access.canList && !(access.canGet && rows.length < minRowsForList))
    try {
      for await (const page of readAhead(access.list()))
        for (const record of page) {
          // A list that changes during the reading may contain a record twice.
          const row = pending.get(access.idOf(record));
          if (row) decideByReading(row, { record });
        }
    } catch (error) {
      // The records are read one by one instead.
      if (!access.canGet || !isCutListError(error)) throw error;
    }
  if (access.canGet)
    await eachAtPace(pace, [...pending.values()], async (row) =>
      decideByReading(row, await access.read(row.id)),
    );
  for (const row of [...pending.values()]) decideByReading(row, { record: undefined });
  const changes = rows.filter(({ outcome }) => !outcome);
  return { rows, changes, etags, elapsedMs: monotonicMs() - startedMs };
}

/** Decides a row by a reading of its record. The row gets its outcome, or the value to write. */
function decideRow(access: ValueAccess, row: Row, { record }: Reading): void {
  const now = access.valueOf(row, record);
  const decision = decide(row, now);
  if (decision.state !== 'write') row.outcome = decision;
  else if (decision.after === null && !access.canRemove) row.outcome = noDeleteOutcome;
  else {
    row.before = now;
    row.after = decision.after;
    row.mayBeWritten = false;
    row.mayBeApplied = false;
    // Most rows lack this member. Adding it would make a million rows larger.
    if (row.laterReading !== undefined) row.laterReading = undefined;
    row.outcome = undefined;
  }
}

const noDeleteOutcome: Outcome = {
  state: 'failed',
  reason: {
    code: 'no_delete',
    message: 'the run created this entry, and the service offers no deleteInventory',
  },
};

/** Whether an error says that a list may end before its last record. */
function isCutListError(error: unknown): boolean {
  return error instanceof UsageError && error.details.code === 'unbound';
}

/** Yields the same pages, and requests each page while the caller processes the page before. */
async function* readAhead<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  const iterator = pages[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = iterator.next();
      // If the caller stops first, the page is awaited below and its error is ignored.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await next.catch(() => {});
  }
}

/** The change of a count by a plan, where no entry counts as 0. Undefined for fields of records. */
export function changeOf({ before = null, after = null }: Pick<Row, 'before' | 'after'>): number | undefined {
  const hasFields = [before, after].some((value) => value !== null && typeof value === 'object');
  return hasFields ? undefined : Number(after ?? 0) - Number(before ?? 0);
}

/** Fewer rows than this may all go to 0. */
const minRowsForZeroGuard = 10;

/**
 * Checks the guards of a run. The rows that earlier sessions of the run have written count too.
 *
 * @throws UsageError that names the guard and the value that breaks it.
 */
export function checkGuards({ header, rows }: Run, { changes }: Plan): void {
  const { maxChanges, maxDelta, allowZero } = header.guards;
  const rowCount = header.rows - header.invalid - header.skipped;
  const writes = [...changes, ...rows.filter((row) => row.outcome && isPerhapsWritten(row))];
  const guardError = (reason: string, hint: string) =>
    new UsageError(`${reason}; nothing was sent`, hint, 'guard');
  if (maxChanges && writes.length > toRowCount(maxChanges, rowCount)) {
    const limit = 'rows' in maxChanges ? maxChanges.rows : `${maxChanges.percent}%`;
    throw guardError(
      `the run changes ${writes.length} of ${rowCount} rows, and --max-changes allows ${limit}`,
      'look at the plan with --dry-run; if this is intended, give a larger --max-changes',
    );
  }
  const sizeOf = (row: Row) => Math.abs(changeOf(row) ?? 0);
  const [largest] = maxDelta === undefined ? [] : changes.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  if (maxDelta !== undefined && largest && sizeOf(largest) > maxDelta) {
    const { line, id, before, after } = largest;
    const subject = line > 0 ? `line ${line} changes pet` : 'the plan changes pet';
    throw guardError(
      `${subject} ${id} from ${before ?? 'no entry'} to ${after ?? 'no entry'}, and --max-delta allows ${maxDelta}`,
      'look at the plan with --dry-run; if this is intended, give a larger --max-delta',
    );
  }
  const zeros = writes.filter(({ before, after }) => after === 0 && before !== null).length;
  if (rowCount >= minRowsForZeroGuard && zeros * 2 > rowCount && !allowZero)
    throw guardError(
      `${zeros} of ${rowCount} rows go to 0, more than half`,
      'if this is intended, add --allow-zero',
    );
}

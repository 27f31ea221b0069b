import { eachAtPace, type Pace } from '../client/pace.ts';
import { monotonicMs } from '../process/deadline.ts';
import { UsageError } from '../process/errors.ts';
import { decide, type Outcome, type Row } from './decide.ts';
import { isPerhapsWritten } from './rows.ts';
import type { Run } from './run.ts';
import { toRows } from './run-header.ts';
import type { Reading, RunNoun } from './run-nouns.ts';

/** The rows of a session, decided. */
export interface Plan {
  /** The rows that it looked at. */
  readonly rows: readonly Row[];
  /** The rows that will be written. */
  readonly changes: readonly Row[];
  /** The strong tags of the records that were read by themselves. */
  readonly etags: ReadonlyMap<Row, string>;
  readonly elapsedMs: number;
}

/** With fewer rows than this each record is read by itself, with its ETag; otherwise the whole list is read. */
const rowsForList = 100;

/**
 * Reads the records of the rows and decides each of them. A row that need not or cannot be written gets its outcome.
 *
 * @param rows those that this session looks at.
 * @param progress counts the records that were read.
 * @throws CliError if a record could not be read: there is no partial plan.
 */
export async function makePlan(
  noun: RunNoun,
  rows: readonly Row[],
  pace: Pace,
  progress: { read: number },
): Promise<Plan> {
  const startedMs = monotonicMs();
  const pending = new Map<bigint, Row>();
  for (const row of rows) pending.set(row.id, row);
  const etags = new Map<Row, string>();
  const take = (row: Row, reading: Reading) => {
    pending.delete(row.id);
    planRow(noun, row, reading);
    if (!row.outcome && reading.etag !== undefined) etags.set(row, reading.etag);
    progress.read += 1;
  };
  if (noun.canList && !(noun.canGet && rows.length < rowsForList))
    try {
      for await (const page of ahead(noun.list()))
        for (const record of page) {
          // A list that changes while it is read may contain a record twice.
          const row = pending.get(noun.idOf(record));
          if (row) take(row, { record });
        }
    } catch (error) {
      // Then every record is read by itself.
      if (!noun.canGet || !isCut(error)) throw error;
    }
  if (noun.canGet)
    await eachAtPace(pace, [...pending.values()], async (row) => take(row, await noun.read(row.id)));
  for (const row of [...pending.values()]) take(row, { record: undefined });
  const changes = rows.filter(({ outcome }) => !outcome);
  return { rows, changes, etags, elapsedMs: monotonicMs() - startedMs };
}

/** Decides a row by a reading of its record, and keeps the value to write on the row. */
function planRow(noun: RunNoun, row: Row, { record }: Reading): void {
  const now = noun.valueOf(row, record);
  const decision = decide(row, now);
  if (decision.state !== 'write') row.outcome = decision;
  else if (decision.after === null && !noun.canRemove) row.outcome = noDelete;
  else {
    row.before = now;
    row.after = decision.after;
    row.isSent = false;
    row.mayBeApplied = false;
    // A member that most rows lack is not added to a million of them.
    if (row.laterReading !== undefined) row.laterReading = undefined;
    row.outcome = undefined;
  }
}

const noDelete: Outcome = {
  state: 'failed',
  reason: {
    code: 'no_delete',
    message: 'the run created this entry, and the service offers no deleteInventory',
  },
};

/** Whether a list was refused because it may end before its last record. */
function isCut(error: unknown): boolean {
  return error instanceof UsageError && error.details.code === 'unbound';
}

/** Yields the same pages, but requests each while the previous one is processed. */
async function* ahead<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  const iterator = pages[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = iterator.next();
      // If the consumer stops first, the page is awaited below and its error ignored.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await next.catch(() => {});
  }
}

/** The difference of the counts that a plan has read and wants, 0 for no entry; undefined for fields of records. */
export function changeOf({ before = null, after = null }: Pick<Row, 'before' | 'after'>): number | undefined {
  const isOfFields = [before, after].some((value) => value !== null && typeof value === 'object');
  return isOfFields ? undefined : Number(after ?? 0) - Number(before ?? 0);
}

/** Fewer rows than this may all go to 0. */
const rowsForZeroGuard = 10;

/**
 * Checks the guards of a run; what its earlier sessions have written counts too.
 *
 * @throws UsageError that names the guard and the value that breaks it.
 */
export function checkGuards({ header, rows }: Run, { changes }: Plan): void {
  const { maxChanges, maxDelta, allowZero } = header.guards;
  const rowCount = header.rows - header.invalid - header.skipped;
  const writes = [...changes, ...rows.filter((row) => row.outcome && isPerhapsWritten(row))];
  const guardError = (why: string, hint: string) => new UsageError(`${why}; nothing was sent`, hint, 'guard');
  if (maxChanges && writes.length > toRows(maxChanges, rowCount)) {
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
    const place = line > 0 ? `line ${line} changes pet` : 'the plan changes pet';
    throw guardError(
      `${place} ${id} from ${before ?? 'no entry'} to ${after ?? 'no entry'}, and --max-delta allows ${maxDelta}`,
      'look at the plan with --dry-run; if this is intended, give a larger --max-delta',
    );
  }
  const zeros = writes.filter(({ before, after }) => after === 0 && before !== null).length;
  if (rowCount >= rowsForZeroGuard && zeros * 2 > rowCount && !allowZero)
    throw guardError(
      `${zeros} of ${rowCount} rows go to 0, more than half`,
      'if this is intended, add --allow-zero',
    );
}

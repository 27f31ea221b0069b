import { eachAtPace, type Pace } from '../client/pace.ts';
import { UsageError } from '../process/errors.ts';
import { decide, type Outcome, type Row, type Value } from './decide.ts';
import { isPerhapsWritten } from './rows.ts';
import type { Run } from './run.ts';
import { toRows } from './run-header.ts';
import type { Reading, RunNoun } from './run-nouns.ts';

/** What a session will write. */
export interface Plan {
  /** The rows that it looked at. */
  readonly rows: readonly Row[];
  /** Those that will be written. */
  readonly changes: readonly Row[];
  /** The strong tags of the records that were read by themselves. */
  readonly etags: ReadonlyMap<Row, string>;
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
  const unread = new Map<bigint, Row>();
  for (const row of rows) unread.set(row.id, row);
  const etags = new Map<Row, string>();
  const take = (row: Row, reading: Reading) => {
    unread.delete(row.id);
    planRow(noun, row, reading);
    if (!row.outcome && reading.etag !== undefined) etags.set(row, reading.etag);
    progress.read += 1;
  };
  if (noun.canList && !(noun.canGet && rows.length < rowsForList))
    try {
      for await (const page of ahead(noun.list()))
        for (const record of page) {
          // A list that changes while it is read may contain a record twice.
          const row = unread.get(noun.idOf(record));
          if (row) take(row, { record });
        }
    } catch (error) {
      // A list that may end early says nothing about the rows that it lacks; they are read one by one.
      if (!noun.canGet || !isCut(error)) throw error;
    }
  if (noun.canGet)
    await eachAtPace(pace, [...unread.values()], async (row) => take(row, await noun.read(row.id)));
  for (const row of [...unread.values()]) take(row, { record: undefined });
  return { rows, changes: rows.filter(({ outcome }) => !outcome), etags };
}

/** Decides a row by its reading, and keeps what is to be written. */
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
    row.later = undefined;
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

/** Whether a list was not read because it may end before its last record without saying so. */
function isCut(error: unknown): boolean {
  return error instanceof UsageError && error.details.code === 'unbound';
}

/** The same pages; each is requested while the previous one is processed. */
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

/** The difference of two counts; none between fields. */
export function changeOf(before: Value, after: Value): number {
  return countOf(after) - countOf(before);
}

function countOf(value: Value): number {
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0;
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
  const considered = header.rows - header.invalid - header.skipped;
  const written = [...changes, ...rows.filter((row) => row.outcome && isPerhapsWritten(row))];
  const broken = (why: string, hint: string) => new UsageError(`${why}; nothing was sent`, hint, 'guard');
  if (maxChanges && written.length > toRows(maxChanges, considered)) {
    const limit = 'rows' in maxChanges ? maxChanges.rows : `${maxChanges.percent}%`;
    throw broken(
      `the run changes ${written.length} of ${considered} rows, and --max-changes allows ${limit}`,
      'look at the plan with --dry-run; if this is intended, give a larger --max-changes',
    );
  }
  const sizeOf = ({ before = null, after = null }: Row) => Math.abs(changeOf(before, after));
  const [largest] = maxDelta === undefined ? [] : changes.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  if (maxDelta !== undefined && largest && sizeOf(largest) > maxDelta) {
    const { line, id, before, after } = largest;
    const place = line > 0 ? `line ${line} changes pet` : 'the plan changes pet';
    throw broken(
      `${place} ${id} from ${before ?? 'no entry'} to ${after ?? 'no entry'}, and --max-delta allows ${maxDelta}`,
      'look at the plan with --dry-run; if this is intended, give a larger --max-delta',
    );
  }
  const zeros = written.filter(({ before, after }) => after === 0 && before !== null).length;
  if (considered >= rowsForZeroGuard && zeros * 2 > considered && !allowZero)
    throw broken(
      `${zeros} of ${considered} rows go to 0, more than half`,
      'if this is intended, add --allow-zero',
    );
}

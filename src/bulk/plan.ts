import { eachAtPace } from '../client/pace.ts';
import { UsageError } from '../process/errors.ts';
import { StoppedError } from '../process/signals.ts';
import { type Decision, decide, type Outcome, type Row, type Value } from './decide.ts';
import { isPerhapsWritten } from './rows.ts';
import type { Run } from './run.ts';
import { toRows } from './run-flags.ts';
import type { Reading } from './run-nouns.ts';

/** What a session will write. */
export interface Plan {
  /** The rows that it looked at. */
  readonly rows: readonly Row[];
  /** Those that will be written. */
  readonly changes: readonly Row[];
  readonly unchanged: number;
  /** Of counts: */
  readonly raised: ChangeTotal;
  readonly lowered: ChangeTotal;
  /** Changes to a count of 0. */
  readonly toZero: number;
  /** Records to create, and to remove. */
  readonly created: number;
  readonly removed: number;
}

interface ChangeTotal {
  readonly rows: number;
  /** Sum of the differences, as absolute value. */
  readonly units: bigint;
}

/** With fewer rows than this each record is read by itself, with its ETag; otherwise the whole list is read. */
const rowsForList = 100;

/**
 * Reads the records of the rows and decides each of them. A row that need not or cannot be written gets its outcome.
 *
 * @param rows those that this session looks at.
 * @throws StoppedError if the run has stopped; CliError if a record could not be read: there is no partial plan.
 */
export async function makePlan(run: Run, rows: readonly Row[]): Promise<Plan> {
  const unread = new Map<bigint, Row>();
  for (const row of rows) unread.set(row.id, row);
  const take = (row: Row, reading: Reading) => {
    unread.delete(row.id);
    planRow(run, row, reading);
    run.progress.read += 1;
  };
  const { noun } = run;
  if (noun.canList && !(noun.canGet && rows.length < rowsForList))
    try {
      for await (const page of ahead(noun.list(run.options)))
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
    await eachAtPace(run.pace, [...unread.values()], async (row) =>
      take(row, await noun.read(row.id, run.options)),
    ).catch((error) => {
      // That the run has stopped has aborted the reads.
      throw run.stop.reason ? new StoppedError() : error;
    });
  for (const row of [...unread.values()]) take(row, { record: undefined });
  return sumUp(rows);
}

/** Decides a row by its reading, and keeps what is to be written. */
function planRow(run: Run, row: Row, reading: Reading): void {
  const now = run.noun.valueOf(row, reading.record);
  const decision = decideInRun(run, row, now);
  if (decision.state !== 'write') {
    row.outcome = decision;
    return;
  }
  row.before = now;
  row.after = decision.after;
  row.isSent = false;
  row.mayBeApplied = false;
  row.outcome = undefined;
  run.laterReadings.delete(row);
  if (reading.etag !== undefined) run.etags.set(row, reading.etag);
}

/**
 * What becomes of a row in this run: as its values say, but a row that another run has written or booked is left alone.
 */
export function decideInRun(run: Run, row: Row, now: Value): Decision {
  const later = run.laterReadings.get(row.undoes && !row.isSent ? row.undoes : row);
  const decision = decide(row, { now, later });
  if (decision.state === 'unchanged' || decision.state === 'applied') return decision;
  const barred = run.barred.get(row.id);
  if (barred && !row.isSent) return barred;
  if (decision.state === 'write' && decision.after === null && !run.noun.canRemove) return noDelete;
  if (decision.state === 'failed' && decision.reason?.code === 'no_entry' && run.noun.name === 'inventory')
    return noEntry;
  return decision;
}

const noEntry: Outcome = {
  state: 'failed',
  reason: {
    status: 404,
    code: 'no_entry',
    message: 'the pet has no inventory entry: check the id, or create the entry with --create-missing',
  },
};

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

function sumUp(rows: readonly Row[]): Plan {
  const changes = rows.filter(({ outcome }) => !outcome);
  const totals = { toZero: 0, created: 0, removed: 0 };
  const raised = { rows: 0, units: 0n };
  const lowered = { rows: 0, units: 0n };
  for (const { before = null, after = null } of changes) {
    if (after === 0 && before !== null) totals.toZero += 1;
    if (before === null) totals.created += 1;
    if (after === null) totals.removed += 1;
    const delta = changeOf(before, after);
    const total = delta >= 0 && after !== null ? raised : lowered;
    total.rows += 1;
    total.units += BigInt(Math.abs(delta));
  }
  const unchanged = rows.filter(({ outcome }) => outcome?.state === 'unchanged').length;
  return { rows, changes, unchanged, raised, lowered, ...totals };
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
export function checkGuards({ header, rows }: Run, { toZero, changes }: Plan): void {
  const { maxChanges, maxDelta, allowZero } = header.guards;
  const considered = header.rows - header.invalid - header.skipped;
  const earlier = rows.filter((row) => row.outcome && row.after !== undefined && isPerhapsWritten(row));
  const writes = changes.length + earlier.length;
  const broken = (why: string, hint: string) => new UsageError(`${why}; nothing was sent`, hint, 'guard');
  if (maxChanges && writes > toRows(maxChanges, considered)) {
    const limit = 'rows' in maxChanges ? maxChanges.rows : `${maxChanges.percent}%`;
    throw broken(
      `the run changes ${writes} of ${considered} rows, and --max-changes allows ${limit}`,
      'look at the plan with --dry-run; if this is intended, give a larger --max-changes',
    );
  }
  if (maxDelta !== undefined) {
    const size = ({ before = null, after = null }: Row) => Math.abs(changeOf(before, after));
    const largest = changes.reduce<Row | undefined>(
      (most, row) => (most && size(most) >= size(row) ? most : row),
      undefined,
    );
    if (largest && size(largest) > maxDelta) {
      const { line, id, before, after } = largest;
      const place = line > 0 ? `line ${line} changes pet` : 'the plan changes pet';
      throw broken(
        `${place} ${id} from ${before ?? 'no entry'} to ${after ?? 'no entry'}, and --max-delta allows ${maxDelta}`,
        'look at the plan with --dry-run; if this is intended, give a larger --max-delta',
      );
    }
  }
  const zeros = toZero + earlier.filter(({ after }) => after === 0).length;
  if (considered >= rowsForZeroGuard && zeros * 2 > considered && !allowZero)
    throw broken(
      `${zeros} of ${considered} rows go to 0, more than half`,
      'if this is intended, add --allow-zero',
    );
}

import { eachAtPace, type Pace } from '../client/pace.ts';
import { monotonicMs } from '../process/deadline.ts';
import { UsageError } from '../process/errors.ts';
import {
  decide,
  newState,
  type Outcome,
  plannedOf,
  type Row,
  type RowState,
  type Rules,
  uncertaintyOf,
} from '../writes/decide.ts';
import type { Reading, RecordPort } from '../writes/port.ts';
import { changeBetween, type Value } from '../writes/value.ts';
import type { Claims } from './claims.ts';
import { isAppliedOrUncertain, type PlannedRow, type Run, type RunRow } from './run.ts';
import { type Guards, toRowCount } from './run-header.ts';

/** The decisions of a session about its rows. It is carried out, or thrown away as it is. */
export interface Plan {
  /** The rows that the session looked at, each with its state in the plan. */
  readonly rows: readonly PlannedRow[];
  /** The rows that will be written. */
  readonly changes: readonly PlannedRow[];
  readonly elapsedMs: number;
}

/** With fewer rows than this, records are read one by one, with their ETags. Otherwise the whole list is read. */
const minRowsForList = 100;

interface PlanOptions {
  readonly rules: Rules;
  readonly claims: Claims;
  readonly pace: Pace;
  /** Increased for each record that was read. */
  readonly progress: { recordsRead: number };
}

/**
 * Reads the records of rows and decides each row. A row that need not or cannot be written has its outcome.
 *
 * @param rows the rows that this session looks at.
 * @throws CliError if a record could not be read: there is no partial plan.
 */
export async function makePlan(
  port: RecordPort,
  rows: readonly RunRow[],
  { pace, progress, rules, claims }: PlanOptions,
): Promise<Plan> {
  const startedMs = monotonicMs();
  const unread = new Map<bigint, number>();
  const planned = rows.map((row, at): PlannedRow => {
    const claim = claims.get(row);
    if (claim) return { row, state: claimedState(row, claim) };
    if (row.id === undefined) return planRow(port, row, null, rules);
    unread.set(row.id, at);
    return { row, state: newState };
  });
  const planByReading = (at: number, { record }: Reading) => {
    const row = rows[at] as RunRow;
    planned[at] = planRow(port, row, port.valueOf(row, record), rules);
    unread.delete(row.id as bigint);
    progress.recordsRead += 1;
  };
  if (unread.size > 0 && port.canList && !(port.canGet && rows.length < minRowsForList))
    try {
      for await (const page of readAhead(port.list()))
        for (const record of page) {
          // A list that changes during the reading may contain a record twice.
          const at = unread.get(port.idOf(record));
          if (at !== undefined) planByReading(at, { record });
        }
    } catch (error) {
      // The records are read one by one instead.
      if (!port.canGet || !isCutListError(error)) throw error;
    }
  // A record that the list lacks is read by itself before it is called missing.
  if (port.canGet)
    await eachAtPace(pace, [...unread], async ([id, at]) => planByReading(at, await port.read(id)));
  for (const at of [...unread.values()]) planByReading(at, { record: undefined });
  return { rows: planned, changes: planned.filter(isChange), elapsedMs: monotonicMs() - startedMs };
}

function isChange({ state }: PlannedRow): boolean {
  return state.at === 'planned' || state.at === 'uncertain';
}

/** The state of a row that another run has settled. It stays as uncertain as it was. */
function claimedState(row: Row, claim: Outcome): RowState {
  const uncertain = uncertaintyOf(row);
  if (!uncertain) return { at: 'settled', outcome: claim };
  const { mayBeApplied } = uncertain;
  return { at: 'settled', outcome: { ...claim, mayBeApplied }, planned: uncertain };
}

function planRow(port: RecordPort, row: RunRow, now: Value, rules: Rules): PlannedRow {
  const uncertain = uncertaintyOf(row);
  const decision = decide(row, now, rules);
  if (decision.state !== 'write')
    return { row, state: { at: 'settled', outcome: decision, planned: uncertain }, now };
  const { action, after } = decision;
  if (action === 'remove' && !port.canRemove)
    return { row, state: { at: 'settled', outcome: noDelete }, now };
  const state = uncertain
    ? ({ ...uncertain, at: 'uncertain' } as const)
    : ({ at: 'planned', action, before: now, after } as const);
  return { row, state, now };
}

const noDelete: Outcome = {
  state: 'failed',
  reason: {
    code: 'no_delete',
    message: 'the run created this record, and the service offers no way to delete it',
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

/**
 * The change of a count by a row, as the plan has read it. Undefined for fields of records, and for a row that no plan
 * writes.
 */
export function changeOf({ state, now }: Pick<PlannedRow, 'state' | 'now'>): number | undefined {
  const planned = plannedOf({ state });
  return planned && changeBetween(now ?? planned.before, planned.after);
}

/** The size of a change of a count. Changes of other records have no size. */
function sizeOf(row: PlannedRow): number {
  return Math.abs(changeOf(row) ?? 0);
}

/** The largest changes of counts, the largest one first. Of changes without a size the first ones. */
export function largestChanges(changes: readonly PlannedRow[], count: number): readonly PlannedRow[] {
  return changes.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, count);
}

/** Fewer rows than this may all go to 0. */
const minRowsForZeroGuard = 10;

/**
 * Checks the guards of a command. The rows that earlier sessions of the run have written count too.
 *
 * @throws UsageError that names the guard and the value that breaks it.
 */
export function checkGuards({ header, rows }: Run, { changes }: Plan, guards: Guards): void {
  const { maxChanges, maxDelta, allowZero } = guards;
  const rowCount = header.rows - header.invalid - header.skipped;
  const changing = new Set(changes.map(({ row }) => row));
  const earlier = rows.filter((row) => isAppliedOrUncertain(row) && !changing.has(row));
  const writeCount = changes.length + earlier.length;
  const guardError = (reason: string, hint: string) =>
    new UsageError(`${reason}; nothing was sent`, hint, 'guard');
  if (maxChanges && writeCount > toRowCount(maxChanges, rowCount)) {
    const limit = 'rows' in maxChanges ? maxChanges.rows : `${maxChanges.percent}%`;
    throw guardError(
      `the run changes ${writeCount} of ${rowCount} rows, and --max-changes allows ${limit}`,
      'look at the plan with --dry-run; if this is intended, give a larger --max-changes',
    );
  }
  const tooLarge = maxDelta === undefined ? undefined : changes.find((change) => sizeOf(change) > maxDelta);
  if (tooLarge) {
    const { row, now = null } = tooLarge;
    const after = plannedOf(tooLarge)?.after ?? 'no entry';
    const subject = row.line > 0 ? `line ${row.line} changes pet` : 'the plan changes pet';
    throw guardError(
      `${subject} ${row.id} from ${now ?? 'no entry'} to ${after}, and --max-delta allows ${maxDelta}`,
      'look at the plan with --dry-run; if this is intended, give a larger --max-delta',
    );
  }
  const goesToZero = ({ state }: Pick<Row, 'state'>, now = plannedOf({ state })?.before) =>
    plannedOf({ state })?.after === 0 && now !== null;
  const zeros =
    changes.filter((change) => goesToZero(change, change.now)).length +
    earlier.filter((row) => goesToZero(row)).length;
  if (rowCount >= minRowsForZeroGuard && zeros * 2 > rowCount && !allowZero)
    throw guardError(
      `${zeros} of ${rowCount} rows go to 0, more than half`,
      'if this is intended, add --allow-zero',
    );
}

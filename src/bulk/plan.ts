import { eachAtPace, type Pace } from '../client/pace.ts';
import { monotonicMs } from '../process/deadline.ts';
import { UsageError } from '../process/errors.ts';
import { decide, type Outcome, plannedOf, type Row, type Rules, uncertaintyOf } from '../writes/decide.ts';
import type { Reading, RecordPort } from '../writes/port.ts';
import { changeBetween } from '../writes/value.ts';
import type { Claims } from './claims.ts';
import { isPerhapsWritten, type PlannedRow, type Run } from './run.ts';
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

export interface PlanOptions {
  readonly rules: Rules;
  readonly claims: Claims;
  readonly pace: Pace;
  /** Whether If-Match is sent, so that a reading with a strong ETag can be proved. */
  readonly sendsEtags: boolean;
  /** Increased for each record that was read. */
  readonly progress: { recordsRead: number };
}

/**
 * Reads the records of rows and decides each row. A row that need not or cannot be written has its outcome.
 *
 * @param rows the rows that this session looks at.
 * @throws CliError if a record could not be read: there is no partial plan.
 */
export async function makePlan(port: RecordPort, rows: readonly Row[], options: PlanOptions): Promise<Plan> {
  const { pace, progress } = options;
  const startedMs = monotonicMs();
  const planned = new Map<Row, PlannedRow>();
  const pending = new Map<number | bigint, Row>();
  for (const row of rows)
    if (row.id === undefined) planned.set(row, planUnread(row));
    else pending.set(keyOfId(row.id), row);
  const planByReading = (row: Row, reading: Reading, isAlone: boolean) => {
    pending.delete(keyOfId(row.id ?? 0n));
    planned.set(row, planRow(port, row, reading, isAlone, options));
    progress.recordsRead += 1;
  };
  if (pending.size > 0 && port.canList && !(port.canGet && rows.length < minRowsForList))
    try {
      for await (const page of readAhead(port.list()))
        for (const record of page) {
          // A list that changes during the reading may contain a record twice.
          const row = pending.get(keyOfId(port.idOf(record)));
          if (row) planByReading(row, { record }, false);
        }
    } catch (error) {
      // The records are read one by one instead.
      if (!port.canGet || !isCutListError(error)) throw error;
    }
  // A record that the list lacks is read by itself before it is called missing.
  if (port.canGet)
    await eachAtPace(pace, [...pending.values()], async (row) =>
      planByReading(row, await port.read(row.id ?? 0n), true),
    );
  for (const row of [...pending.values()]) planByReading(row, { record: undefined }, false);
  const all = rows.flatMap((row) => planned.get(row) ?? []);
  const changes = all.filter(({ state }) => state.at === 'planned' || state.at === 'uncertain');
  return { rows: all, changes, elapsedMs: monotonicMs() - startedMs };
}

/** A small number as a key of a map takes less memory than a bigint. */
function keyOfId(id: bigint): number | bigint {
  return id <= Number.MAX_SAFE_INTEGER && id >= 0 ? Number(id) : id;
}

/** Plans a row without a record that could be read: one that creates a record, or the undo of a create that is unknown. */
function planUnread(row: Row): PlannedRow {
  const { intent, undone } = row;
  const uncertain = uncertaintyOf(row);
  if (intent.kind === 'create' && !uncertain)
    return {
      row,
      state: { at: 'planned', action: 'create', before: null, after: intent.fields },
      reading: null,
    };
  const message = 'it may have been made: look for it before you send it again';
  const mayBeApplied = uncertain?.mayBeApplied ?? undone?.mayBeApplied ?? true;
  const outcome: Outcome = { state: 'unknown', reason: { code: 'perhaps_made', message }, mayBeApplied };
  return { row, state: { at: 'settled', outcome, planned: uncertain } };
}

/** @param isAlone whether the record was read alone, so that the reading has the ETag if the service gives one. */
function planRow(
  port: RecordPort,
  row: Row,
  { record, etag }: Reading,
  isAlone: boolean,
  { rules, claims, sendsEtags }: PlanOptions,
): PlannedRow {
  const now = port.valueOf(row, record);
  const uncertain = uncertaintyOf(row);
  const claim = claims.get(row);
  if (claim && uncertain) return { row, state: { at: 'settled', outcome: claim, planned: uncertain } };
  const decision = decide(row, now, rules);
  // What a delivery has booked is booked, whatever the count is now. An undo leaves alone only what it would write.
  if (claim && (!rules.isUndo || decision.state === 'write'))
    return { row, state: { at: 'settled', outcome: claim } };
  if (decision.state === 'write') {
    if (decision.action === 'remove' && !port.canRemove)
      return { row, state: { at: 'settled', outcome: noDelete } };
    if (uncertain) return { row, state: { ...uncertain, at: 'uncertain' }, reading: now };
    const { action, after } = decision;
    return { row, state: { at: 'planned', action, before: now, after }, reading: now };
  }
  // What confirms a row is proved when it is written, because a plan writes nothing.
  const mayHaveTag = sendsEtags && port.canGet && (!isAlone || etag !== undefined);
  if (uncertain && decision.state === 'applied' && uncertain.action !== 'remove' && mayHaveTag)
    return { row, state: { ...uncertain, at: 'uncertain' }, reading: now };
  const canProve = record ? mayHaveTag : row.intent.kind === 'remove' && row.intent.createdTag !== undefined;
  if (rules.isUndo && decision.state === 'unchanged' && canProve)
    return { row, state: { at: 'planned', action: 'set', before: now, after: now }, reading: now };
  return { row, state: { at: 'settled', outcome: decision, planned: uncertain } };
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

/** The change of a count by a row. Undefined for fields of records, and for a row that no plan writes. */
export function changeOf(row: Pick<Row, 'state'>): number | undefined {
  const planned = plannedOf(row);
  return planned && changeBetween(planned.before, planned.after);
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
  const earlier = rows.filter((row) => !changing.has(row) && isPerhapsWritten(row));
  const writes = [...changes, ...earlier];
  const guardError = (reason: string, hint: string) =>
    new UsageError(`${reason}; nothing was sent`, hint, 'guard');
  if (maxChanges && writes.length > toRowCount(maxChanges, rowCount)) {
    const limit = 'rows' in maxChanges ? maxChanges.rows : `${maxChanges.percent}%`;
    throw guardError(
      `the run changes ${writes.length} of ${rowCount} rows, and --max-changes allows ${limit}`,
      'look at the plan with --dry-run; if this is intended, give a larger --max-changes',
    );
  }
  const sizeOf = (row: Pick<Row, 'state'>) => Math.abs(changeOf(row) ?? 0);
  const [largest] = maxDelta === undefined ? [] : changes.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  if (maxDelta !== undefined && largest && sizeOf(largest) > maxDelta) {
    const { line, id } = largest.row;
    const { before = null, after = null } = plannedOf(largest) ?? {};
    const subject = line > 0 ? `line ${line} changes pet` : 'the plan changes pet';
    throw guardError(
      `${subject} ${id} from ${before ?? 'no entry'} to ${after ?? 'no entry'}, and --max-delta allows ${maxDelta}`,
      'look at the plan with --dry-run; if this is intended, give a larger --max-delta',
    );
  }
  const goesToZero = (row: Pick<Row, 'state'>) => {
    const planned = plannedOf(row);
    return planned?.after === 0 && planned.before !== null;
  };
  const zeros = writes.filter(goesToZero).length;
  if (rowCount >= minRowsForZeroGuard && zeros * 2 > rowCount && !allowZero)
    throw guardError(
      `${zeros} of ${rowCount} rows go to 0, more than half`,
      'if this is intended, add --allow-zero',
    );
}

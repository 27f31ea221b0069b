import { eachAtPace, type Pace } from '../client/pace.ts';
import { monotonicMs } from '../process/deadline.ts';
import { UsageError } from '../process/errors.ts';
import {
  decide,
  type Outcome,
  plannedOf,
  type Row,
  type RowState,
  type Rules,
  uncertaintyOf,
} from '../writes/decide.ts';
import type { Reading, RecordPort } from '../writes/port.ts';
import { plannedState } from '../writes/shared-states.ts';
import { changeBetween, type Value } from '../writes/value.ts';
import type { Claims } from './claims.ts';
import { isAppliedOrUncertain, type PlannedRow, type Run } from './run.ts';
import { type Guards, toRowCount } from './run-header.ts';

/** The decisions of a session about its rows. It is carried out, or thrown away as it is. */
export interface Plan {
  /** The rows that the session looked at, each with its state in the plan. */
  readonly rows: PlannedRows;
  /** The rows that will be written. */
  readonly changes: PlannedRows;
  readonly elapsedMs: number;
}

/** Rows with their states in a plan. Two lists take a quarter of the memory of an object for each row. */
class PlannedRows implements Iterable<PlannedRow> {
  readonly rows: readonly Row[];
  private readonly states: readonly RowState[];
  /** What was read of uncertain rows. */
  private readonly readings: ReadonlyMap<Row, Value>;

  constructor(rows: readonly Row[], states: readonly RowState[], readings: ReadonlyMap<Row, Value>) {
    this.rows = rows;
    this.states = states;
    this.readings = readings;
  }

  get length(): number {
    return this.rows.length;
  }

  *[Symbol.iterator](): Generator<PlannedRow> {
    const { rows, states, readings } = this;
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at] as Row;
      yield { row, state: states[at] as RowState, reading: readings.get(row) };
    }
  }

  /** The rows that will be written. */
  changes(): PlannedRows {
    const isChange = (state: RowState) => state.at === 'planned' || state.at === 'uncertain';
    const { rows, states, readings } = this;
    if (states.every(isChange)) return this;
    const changes = states.flatMap((state, at) => (isChange(state) ? at : []));
    return new PlannedRows(
      changes.map((at) => rows[at] as Row),
      changes.map((at) => states[at] as RowState),
      readings,
    );
  }

  /** Counts the rows of which something is true. */
  count(is: (row: PlannedRow) => boolean): number {
    let count = 0;
    for (const row of this) if (is(row)) count += 1;
    return count;
  }
}

/** With fewer rows than this, records are read one by one, with their ETags. Otherwise the whole list is read. */
const minRowsForList = 100;

interface PlanOptions {
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
  const states = rows.map((row) => (row.id === undefined ? planUnread(row, options.rules) : unread));
  const readings = new Map<Row, Value>();
  const planByReading = (at: number, reading: Reading, isAlone: boolean) => {
    const row = rows[at] as Row;
    const state = planRow(port, row, reading, isAlone, options);
    states[at] = state;
    if (state.at === 'uncertain') readings.set(row, port.valueOf(row, reading.record));
    progress.recordsRead += 1;
  };
  const findUnread = () => rows.flatMap((_, at) => (states[at] === unread ? at : []));
  if (states.includes(unread) && port.canList && !(port.canGet && rows.length < minRowsForList))
    try {
      const search = new RowSearch(rows);
      for await (const page of readAhead(port.list()))
        for (const record of page) {
          const at = search.find(port.idOf(record));
          // A list that changes during the reading may contain a record twice.
          if (at !== undefined && states[at] === unread) planByReading(at, { record }, false);
        }
    } catch (error) {
      // The records are read one by one instead.
      if (!port.canGet || !isCutListError(error)) throw error;
    }
  // A record that the list lacks is read by itself before it is called missing.
  if (port.canGet)
    await eachAtPace(pace, findUnread(), async (at) =>
      planByReading(at, await port.read(rows[at]?.id ?? 0n), true),
    );
  for (const at of findUnread()) planByReading(at, { record: undefined }, false);
  const planned = new PlannedRows(rows, states, readings);
  return { rows: planned, changes: planned.changes(), elapsedMs: monotonicMs() - startedMs };
}

/** The state of a row in a plan whose record has not been read yet. */
const unread: RowState = { at: 'new' };

/**
 * Finds rows by the ids of the records of a list. While the ids of both rise it goes through the rows, else it makes a map of
 * them: 30 MB for a million rows.
 */
class RowSearch {
  private readonly rows: readonly Row[];
  /** The position of the first row whose id is not below that of the last record. */
  private next = 0;
  private lastId = -1n;
  private positions: Map<bigint | undefined, number> | undefined;

  constructor(rows: readonly Row[]) {
    this.rows = rows;
    if (rows.some(({ id = -1n }, at) => at > 0 && id <= (rows[at - 1]?.id ?? -1n))) this.makeMap();
  }

  /** The position of the row with an id. */
  find(id: bigint): number | undefined {
    if (!this.positions && id <= this.lastId) this.makeMap();
    if (this.positions) return this.positions.get(id);
    const { rows } = this;
    this.lastId = id;
    let rowId = rows[this.next]?.id;
    while (rowId !== undefined && rowId < id) {
      this.next += 1;
      rowId = rows[this.next]?.id;
    }
    return rowId === id ? this.next : undefined;
  }

  private makeMap(): void {
    this.positions = new Map(this.rows.map(({ id }, at) => [id, at]));
  }
}

/** Plans a row without a record that could be read: one that creates a record, or the undo of a create that is unknown. */
function planUnread(row: Row, rules: Rules): RowState {
  const decision = decide(row, null, rules);
  if (decision.state !== 'write') return { at: 'settled', outcome: decision, planned: uncertaintyOf(row) };
  const { action, after } = decision;
  return { at: 'planned', action, before: null, after };
}

/** @param isAlone whether the record was read alone, so that the reading has the ETag if the service gives one. */
function planRow(
  port: RecordPort,
  row: Row,
  { record, etag }: Reading,
  isAlone: boolean,
  { rules, claims, sendsEtags }: PlanOptions,
): RowState {
  const now = port.valueOf(row, record);
  const uncertain = uncertaintyOf(row);
  const claim = claims.get(row);
  if (claim && uncertain) return { at: 'settled', outcome: claim, planned: uncertain };
  const decision = decide(row, now, rules);
  // What a delivery has booked is booked, whatever the count is now. An undo leaves alone only what it would write.
  if (claim && (!rules.isUndo || decision.state === 'write')) return { at: 'settled', outcome: claim };
  if (decision.state === 'write') {
    if (decision.action === 'remove' && !port.canRemove) return { at: 'settled', outcome: noDelete };
    if (uncertain) return { ...uncertain, at: 'uncertain' };
    const { action, after } = decision;
    return plannedState({ action, before: now, after });
  }
  // What confirms a row is proved when it is written, because a plan writes nothing.
  const mayHaveTag = sendsEtags && port.canGet && (!isAlone || etag !== undefined);
  const canProve = record ? mayHaveTag : row.intent.kind === 'remove' && row.intent.createdTag !== undefined;
  if (uncertain && decision.state === 'applied' && canProve) return { ...uncertain, at: 'uncertain' };
  if (rules.isUndo && decision.state === 'unchanged' && canProve)
    return { at: 'planned', action: 'set', before: now, after: now };
  return { at: 'settled', outcome: decision, planned: uncertain };
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

/** The size of a change of a count. Changes of other records have no size. */
function sizeOf(row: Pick<Row, 'state'>): number {
  return Math.abs(changeOf(row) ?? 0);
}

/** The largest changes of counts, the largest one first. Of changes without a size the first ones. */
export function largestChanges(changes: Iterable<PlannedRow>, count: number): readonly PlannedRow[] {
  const largest: PlannedRow[] = [];
  for (const change of changes) {
    const isFull = largest.length === count;
    if (isFull && sizeOf(change) <= sizeOf(largest.at(-1) ?? change)) continue;
    const index = largest.findIndex((other) => sizeOf(other) < sizeOf(change));
    largest.splice(index === -1 ? largest.length : index, 0, change);
    if (isFull) largest.pop();
  }
  return largest;
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
  const written = rows.filter(isAppliedOrUncertain);
  const changing = new Set(written.length > 0 ? changes.rows : []);
  const earlier = written.filter((row) => !changing.has(row));
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
  const [largest] = maxDelta === undefined ? [] : largestChanges(changes, 1);
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
  const zeros = changes.count(goesToZero) + earlier.filter(goesToZero).length;
  if (rowCount >= minRowsForZeroGuard && zeros * 2 > rowCount && !allowZero)
    throw guardError(
      `${zeros} of ${rowCount} rows go to 0, more than half`,
      'if this is intended, add --allow-zero',
    );
}

import type { IdIndex } from './id-index.ts';
import type { PlannedChange } from './journal-lines.ts';
import type { Ledger } from './ledger.ts';
import type { Outcome } from './outcome.ts';
import { ExactSum } from './quantities.ts';
import { type CountReading, readCounts } from './read-counts.ts';
import type { Rows } from './rows.ts';
import { unexpected } from './write-row.ts';

/** What a run would do. */
export interface Plan {
  readonly rows: Rows;
  /** Rows that the run considers: neither invalid nor skipped. */
  readonly considered: number;
  /** Rows whose count would change, blind ones all of them. */
  readonly changes: number;
  /** Rows that are as they should be. */
  readonly unchanged: number;
  readonly isBlind: boolean;
  readonly raised: ChangeTotal;
  readonly lowered: ChangeTotal;
  /** Changes that leave nothing. */
  readonly toZero: number;
  /** Entries that would be made. */
  readonly created: number;
  /** Entries that would be taken away. */
  readonly removed: number;
  /** The row with the largest change, up or down, and its size. */
  readonly largest: { readonly row: number; readonly delta: number } | undefined;
  /** ETags by row, where the service sends them. */
  readonly etags: ReadonlyMap<number, string>;
}

interface ChangeTotal {
  readonly rows: number;
  /** Sum of the differences, without a sign. */
  readonly units: bigint;
}

interface PlanOptions extends Omit<CountReading, 'isWanted' | 'found' | 'missing' | 'rows' | 'index'> {
  readonly index: IdIndex;
  readonly ledger: Ledger;
  readonly createMissing: boolean;
  /** Whether an earlier session of the run may have sent this row. */
  mayHaveBeenSent?(row: number): boolean;
}

/**
 * Reads the current counts of the rows that are unprocessed, and settles those that need no write: unchanged, or failed
 * for want of an entry or of the count that they expect. What stays unprocessed is to be written.
 */
export async function makePlan(options: PlanOptions): Promise<Plan> {
  const { ledger, createMissing } = options;
  const { rows } = ledger;
  const etags = new Map<number, string>();
  const isWanted = (row: number) => rows.isState(row, 'unprocessed');
  const before = (row: number) => rows.before(row);
  await readCounts({
    ...options,
    rows,
    isWanted,
    found(row, count, etag) {
      const quantity = rows.quantity(row);
      if (count === quantity) settleSame(options, row, before(row));
      else if (quantity !== null && !Number.isSafeInteger(quantity)) ledger.settle(row, inexact);
      else if (!isExpected(rows, row, count)) ledger.settle(row, unexpected(count, rows.expected(row)));
      else {
        rows.setBefore(row, Number(count));
        if (etag !== undefined) etags.set(row, etag);
      }
    },
    missing(row) {
      if (rows.quantity(row) === null) return settleSame(options, row, before(row));
      rows.setBefore(row, null);
      const message = 'the pet has no inventory entry';
      if (!isExpected(rows, row, null)) ledger.settle(row, unexpected(null, rows.expected(row)));
      else if (!createMissing)
        ledger.settle(row, { state: 'failed', status: 404, code: 'no_entry', message });
    },
  });
  return sumUp(rows, { etags });
}

/** The plan of rows whose counts are known already, or are not to be read. */
export function sumUp(
  rows: Rows,
  { etags = new Map(), isBlind = false }: Partial<Pick<Plan, 'etags' | 'isBlind'>> = {},
): Plan {
  const [up, down] = [new ExactSum(), new ExactSum()];
  const counts = {
    considered: 0,
    changes: 0,
    unchanged: 0,
    raised: 0,
    lowered: 0,
    toZero: 0,
    created: 0,
    removed: 0,
  };
  let largest: Plan['largest'];
  for (let row = 0; row < rows.length; row += 1) {
    const state = rows.state(row);
    if (state === 'invalid' || state === 'skipped') continue;
    counts.considered += 1;
    if (state === 'unchanged' || state === 'applied') counts.unchanged += 1;
    if (state !== 'unprocessed') continue;
    counts.changes += 1;
    const quantity = rows.quantity(row);
    const before = rows.before(row);
    if (quantity === 0 && before !== null) counts.toZero += 1;
    if (before === undefined) continue;
    if (before === null) counts.created += 1;
    if (quantity === null) counts.removed += 1;
    const delta = (quantity ?? 0) - (before ?? 0);
    if (delta >= 0 && quantity !== null) {
      counts.raised += 1;
      up.add(delta);
    } else {
      counts.lowered += 1;
      down.add(-delta);
    }
    if (!largest || Math.abs(delta) > Math.abs(largest.delta)) largest = { row, delta };
  }
  const { raised, lowered, ...rest } = counts;
  return {
    ...rest,
    rows,
    isBlind,
    raised: { rows: raised, units: up.value() },
    lowered: { rows: lowered, units: down.value() },
    largest,
    etags,
  };
}

/** The changes of a plan for its journal, as many as go into one line. */
export function* plannedChanges({ rows, etags }: Plan): Generator<PlannedChange[]> {
  let changes: PlannedChange[] = [];
  for (const row of rows.inState('unprocessed')) {
    const etag = etags.get(row);
    const change = [row, rows.id(row), rows.before(row) ?? null, rows.quantity(row)] as const;
    changes.push(etag === undefined ? change : [...change, etag]);
    if (changes.length < 500) continue;
    yield changes;
    changes = [];
  }
  if (changes.length > 0) yield changes;
}

/** Of an undo: the count before the run was beyond a double, and another one must not take its place. */
const inexact: Outcome = {
  state: 'failed',
  code: 'inexact_count',
  message: `the count before was beyond ${Number.MAX_SAFE_INTEGER}, and cannot be set back to the unit`,
};

/** The count is as the file says: by this run, where an earlier session of it saw another one and may have sent the row. */
function settleSame(
  { ledger, mayHaveBeenSent }: PlanOptions,
  row: number,
  before: number | null | undefined,
): void {
  const isOurs =
    before !== undefined && before !== ledger.rows.quantity(row) && mayHaveBeenSent?.(row) === true;
  if (!isOurs) ledger.rows.setBefore(row, ledger.rows.quantity(row));
  ledger.settle(row, { state: isOurs ? 'applied' : 'unchanged' });
}

function isExpected(rows: Rows, row: number, count: number | bigint | null): boolean {
  const expected = rows.expected(row);
  return expected === undefined || expected === count;
}

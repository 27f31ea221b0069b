import { UsageError } from '../errors.ts';
import { IdIndex } from './id-index.ts';
import type { Replay } from './replay.ts';
import { Rows } from './rows.ts';

/** The rows that take a run back. */
interface UndoRows {
  /** Each sets the count of before the run, or takes away the entry that it made, and expects what the run left. */
  readonly rows: Rows;
  readonly index: IdIndex;
  /** Whether entries that the run took away are made again. */
  readonly createsEntries: boolean;
  /** Entries that the run made and that stay, for the service removes none. */
  readonly staying: StayingEntries;
}

export interface StayingEntries {
  readonly count: number;
  /** The pets of the first few. */
  readonly first: readonly bigint[];
}

/** What a run left, and what the service can do about it. */
interface Undone {
  readonly replay: Replay;
  /** Whether the service can take an entry away. */
  readonly canRemove: boolean;
}

/** How many pets of entries that stay are named. */
const mostNamed = 20;

/**
 * What to set back: what the run applied, and what it may have applied.
 *
 * @param image the rows as the run's journal has them.
 * @throws UsageError for a run that did not read the counts before.
 */
export function toUndoRows(image: Rows, { replay, canRemove }: Undone): UndoRows {
  refuseBlind(replay);
  const rows = new Rows();
  const first: bigint[] = [];
  let count = 0;
  let createsEntries = false;
  for (const row of changedRows(image, replay)) {
    const quantity = image.before(row) ?? null;
    if (quantity === null && !canRemove) {
      count += 1;
      if (count <= mostNamed) first.push(image.id(row));
      continue;
    }
    const expected = image.quantity(row);
    createsEntries ||= expected === null;
    rows.add({ id: image.id(row), quantity, expected, line: 0 });
  }
  return { rows, index: indexOf(rows), createsEntries, staying: { count, first } };
}

function refuseBlind({ header: { run, options } }: Replay): void {
  if (!options.blind) return;
  throw new UsageError(
    `undo ${run}: it was written with --blind: the counts before it are not known`,
    'apply a file that holds the counts to go back to',
  );
}

function* changedRows(image: Rows, { sentTo }: Replay): Generator<number> {
  for (let row = 0; row < image.length; row += 1) {
    const before = image.before(row);
    const mayBeApplied =
      image.isState(row, 'unknown') || (image.isState(row, 'unprocessed') && row <= sentTo);
    const isApplied = image.isState(row, 'applied') || mayBeApplied;
    if (isApplied && before !== undefined && before !== image.quantity(row)) yield row;
  }
}

function indexOf(rows: Rows): IdIndex {
  const index = new IdIndex(rows);
  for (let row = 0; row < rows.length; row += 1) index.put(row);
  return index;
}

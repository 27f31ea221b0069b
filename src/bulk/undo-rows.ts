import { UsageError } from '../errors.ts';
import { IdIndex } from './id-index.ts';
import type { Replay } from './replay.ts';
import { Rows } from './rows.ts';

/** The rows that take a run back. */
export interface UndoRows {
  /** Each sets the count of before the run, and expects the one that the run set. */
  readonly rows: Rows;
  readonly index: IdIndex;
  /** Entries that the run made; they stay, for before it there was no count to go back to. */
  readonly created: MadeEntries;
}

export interface MadeEntries {
  readonly count: number;
  /** The pets of the first few. */
  readonly first: readonly bigint[];
}

/** How many pets of entries that stay are named. */
const mostNamed = 20;

/**
 * What to set back: what the run applied, and what it may have applied.
 *
 * @param image the rows as the run's journal has them.
 * @throws UsageError for a run that did not read the counts before.
 */
export function toUndoRows(image: Rows, { header, sentTo }: Replay): UndoRows {
  if (header.options.blind)
    throw new UsageError(
      `undo ${header.run}: it was written with --blind: the counts before it are not known`,
      'apply a file that holds the counts to go back to',
    );
  const rows = new Rows();
  const first: bigint[] = [];
  let count = 0;
  for (let row = 0; row < image.length; row += 1) {
    const before = image.before(row);
    const expected = image.quantity(row);
    const mayBeApplied =
      image.isState(row, 'unknown') || (image.isState(row, 'unprocessed') && row <= sentTo);
    if (before === undefined || before === expected || !(image.isState(row, 'applied') || mayBeApplied))
      continue;
    if (before === null) {
      count += 1;
      if (count <= mostNamed) first.push(image.id(row));
    } else rows.add({ id: image.id(row), quantity: before, expected, line: 0 });
  }
  return { rows, index: indexOf(rows), created: { count, first } };
}

function indexOf(rows: Rows): IdIndex {
  const index = new IdIndex(rows);
  for (let row = 0; row < rows.length; row += 1) index.put(row);
  return index;
}

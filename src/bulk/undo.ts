import { UsageError } from '../errors.ts';
import { IdIndex } from './id-index.ts';
import type { JournalImage } from './journal.ts';
import { Rows } from './rows.ts';

/** The rows that take a run back. */
interface UndoRows {
  /** Each sets the count of before the run, or takes away the entry that it made, and expects what the run left. */
  readonly rows: Rows;
  readonly index: IdIndex;
  /** Whether entries that the run took away are made again. */
  readonly createsEntries: boolean;
  /** Entries that the run made and that stay, because the service removes none. */
  readonly staying: StayingEntries;
}

export interface StayingEntries {
  readonly count: number;
  /** The pets of the first few. */
  readonly first: readonly bigint[];
}

/** How many pets of entries that stay are named. */
const mostNamed = 20;

/**
 * What to set back: what the run applied, and what it may have applied.
 *
 * @param ran the rows as the run's journal has them.
 * @param canRemove whether the service can take an entry away.
 * @throws UsageError for a run that did not read the counts before.
 */
export function toUndoRows({ header }: JournalImage, ran: Rows, canRemove: boolean): UndoRows {
  if (header.flags.blind)
    throw new UsageError(
      `undo ${header.run}: it was written with --blind: the counts before it are not known`,
      'apply a file that holds the counts to go back to',
    );
  const rows = new Rows();
  const first: bigint[] = [];
  let count = 0;
  let createsEntries = false;
  for (let row = 0; row < ran.length; row += 1) {
    const before = ran.before(row);
    if (!ran.wasSent(row) || before === undefined || before === ran.quantity(row)) continue;
    if (before === null && !canRemove) {
      count += 1;
      if (count <= mostNamed) first.push(ran.id(row));
      continue;
    }
    const expected = ran.quantity(row);
    createsEntries ||= expected === null;
    rows.add({ id: ran.id(row), quantity: before, expected, line: 0 });
  }
  const index = new IdIndex(rows);
  for (let row = 0; row < rows.length; row += 1) index.put(row);
  return { rows, index, createsEntries, staying: { count, first } };
}

/** What a run leaves open when it is resumed. */
interface ResumeOptions {
  readonly image: JournalImage;
  readonly blind: boolean;
  readonly relative: boolean;
}

/**
 * Makes the rows of a journal those that the next session plans: all are looked at again, but of a blind run those that were
 * applied, because there is nothing to compare, and of a relative one those that were applied or failed: the first are
 * booked, and the second are in its rejects.
 *
 * @returns the rows whose failure stands.
 */
export function reopenRows(rows: Rows, { image, blind, relative }: ResumeOptions): number[] {
  const stands: number[] = [];
  for (let row = 0; row < rows.length; row += 1) {
    const state = rows.state(row);
    rows.keepState(row);
    if (state === 'invalid' || state === 'skipped') continue;
    if ((blind || relative) && state === 'applied') continue;
    if (relative && state === 'failed') {
      stands.push(row);
      continue;
    }
    // A run that has ended with rows that are unknown goes on with these alone.
    if (image.ending?.ended === 'finished' && state === 'unchanged') continue;
    rows.setState(row, 'unprocessed');
  }
  return stands;
}

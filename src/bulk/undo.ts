import { UsageError } from '../errors.ts';
import { IdIndex } from './id-index.ts';
import type { JournalImage } from './journal.ts';
import { Rows } from './rows.ts';

/** The rows of an undo. */
interface UndoRows {
  /**
   * Each restores the count before the run, or removes the entry that the run created, and expects the count that the
   * run set.
   */
  readonly rows: Rows;
  readonly index: IdIndex;
  /** True if entries that the run removed are created again. */
  readonly createsEntries: boolean;
  /** Entries that the run created and that stay, because the service cannot remove entries. */
  readonly staying: StayingEntries;
}

export interface StayingEntries {
  readonly count: number;
  /** The first of their pets. */
  readonly first: readonly bigint[];
}

/** Most pets of remaining entries that are named. */
const mostNamed = 20;

/**
 * The rows to undo: those that the run applied or may have applied.
 *
 * @param ran the rows from the run's journal.
 * @param canRemove whether the service can remove an entry.
 * @throws UsageError for a run that did not read the counts before it.
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

/** How a run is resumed. */
interface ResumeOptions {
  readonly image: JournalImage;
  readonly blind: boolean;
  readonly relative: boolean;
}

/**
 * Prepares the rows of a journal for the next session. All are planned again, except: in a blind run the applied ones,
 * because there is nothing to compare; in a relative run those that were applied, because they are booked, and those
 * that failed, because they are in its rejects.
 *
 * @returns the rows whose failure is final.
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
    // A finished run with unknown rows is resumed with those only.
    if (image.ending?.ended === 'finished' && state === 'unchanged') continue;
    rows.setState(row, 'unprocessed');
  }
  return stands;
}

import { UsageError } from '../process/errors.ts';
import type { JournalImage } from './journal-reader.ts';
import { Rows } from './rows.ts';

/** The rows of an undo. */
interface UndoRows {
  /**
   * Each restores the count before the run, or removes the entry that the run created, and expects the count that the
   * run set.
   */
  readonly rows: Rows;
  /** True if entries that the run removed are created again. */
  readonly createsEntries: boolean;
  /** Pets whose entries the run created and that stay, because the service cannot remove entries. */
  readonly staying: readonly bigint[];
}

/**
 * The rows to undo: those that the run applied or may have applied.
 *
 * @param canRemove whether the service can remove an entry.
 * @throws UsageError for a run that did not read the counts before it.
 */
export function toUndoRows({ header, rows: ran }: JournalImage, canRemove: boolean): UndoRows {
  if (header.flags.blind)
    throw new UsageError(
      `undo ${header.run}: it was written with --blind: the counts before it are not known`,
      'apply a file that holds the counts to go back to',
    );
  const rows = new Rows();
  const staying: bigint[] = [];
  let createsEntries = false;
  for (let row = 0; row < ran.length; row += 1) {
    const before = ran.before(row);
    if (!ran.wasSent(row) || before === undefined || before === ran.quantity(row)) continue;
    if (before === null && !canRemove) {
      staying.push(ran.id(row));
      continue;
    }
    const expected = ran.quantity(row);
    createsEntries ||= expected === null;
    rows.add({ id: ran.id(row), quantity: before, expected, line: 0 });
  }
  for (let row = 0; row < rows.length; row += 1) rows.indexRow(row);
  return { rows, createsEntries, staying };
}

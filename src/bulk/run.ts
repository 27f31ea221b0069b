import type { Issue } from '../input/issues.ts';
import type { InputRow, RowLayout } from '../input/read-records.ts';
import type { Source } from '../input/source.ts';
import type { Row } from './decide.ts';
import type { JournalImage } from './read-journal.ts';
import { createRow, isPerhapsWritten } from './rows.ts';
import { defaultFlags, type RunHeader } from './run-header.ts';

// How records become those of a file. A `Run` is made from an input, from a run that it undoes (which-run.ts chooses it), or
// from the journal of a run that goes on; other-runs.ts marks the rows that other runs have booked or written. A `Session`
// (session.ts) carries it out: it reads the records and asks `decide` for each row (plan.ts), keeps the plan in a journal
// (journal.ts), writes row by row (write-row.ts), keeps the outcomes (outcome-log.ts), writes the rejects (reject-rows.ts) and
// returns a report (report.ts). Later, read-journal.ts reads what a session has kept, and run-store.ts lists all runs.
// target.ts keeps other processes away.

/** What is to be done. */
export interface Run {
  readonly header: RunHeader;
  readonly rows: readonly Row[];
  readonly invalid: readonly Issue[];
  /** The input, if there is one and it can be read: the rejects have its columns. */
  readonly original?: { readonly source: Source; readonly layout: RowLayout<InputRow> } | undefined;
  /** The journal of its earlier sessions, if there were any. */
  readonly journal?: JournalImage | undefined;
}

/** A further session of a run. @param createMissing of this session, if it is given anew */
export function resumeOf(journal: JournalImage, createMissing = journal.header.flags.createMissing): Run {
  const rows = [...journal.rows.values()].map((row) => ({ ...row, mayCreate: createMissing }));
  return { header: journal.header, rows, invalid: journal.invalid, journal };
}

/**
 * The undo of a run: a row that was set is set back if it is still as the run left it; a row that was added gets the
 * opposite; a record that the run created is removed.
 */
export function undoOf({ id, header, rows: writtenRows }: JournalImage): Run {
  const rows = [...writtenRows.values()].filter(isPerhapsWritten).map(undoRow);
  return {
    rows,
    invalid: [],
    header: {
      ...header,
      ...{ kind: 'undo', undoes: id, file: null, delivery: null },
      // It touches the records of its run's shard.
      flags: { ...defaultFlags, relative: header.flags.relative, shard: header.flags.shard },
      ...{ rows: rows.length, invalid: 0, skipped: 0 },
    },
  };
}

function undoRow(row: Row): Row {
  const { id, intent, before = null, after = null, outcome } = row;
  if (intent.kind === 'set' || before === null)
    return createRow(0, id, { kind: 'set', value: before, expected: after });
  const isCertain = outcome?.state === 'applied';
  return createRow(0, id, { kind: 'add', change: -intent.change }, isCertain ? {} : { undoneRow: row });
}

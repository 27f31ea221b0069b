import type { InputFile } from '../input/input-file.ts';
import type { Issue } from '../input/issues.ts';
import type { InputRow, RowLayout } from '../input/read-records.ts';
import type { Row } from './decide.ts';
import type { JournalContent } from './read-journal.ts';
import { createRow, isPerhapsWritten } from './rows.ts';
import { defaultFlags, type RunHeader } from './run-header.ts';

// A run gives records the values of a file. A `Run` is made from an input, from the run that it undoes, or from the journal
// of the run that it resumes; which-run.ts chooses that run. other-runs.ts marks the rows that other runs have booked or
// written. A `Session` (session.ts) carries out the run:
//
//   1. plan.ts reads the records and asks `decide` (decide.ts) for each row.
//   2. journal.ts keeps the plan.
//   3. write-row.ts writes the rows one by one, and outcome-log.ts keeps their outcomes.
//   4. reject-rows.ts writes the rejects, and report.ts has the report.
//
// read-journal.ts reads a journal again, and run-store.ts lists all runs. target.ts keeps other processes away from a target
// during a run.

/** A run before its next session. */
export interface Run {
  readonly header: RunHeader;
  readonly rows: readonly Row[];
  readonly invalid: readonly Issue[];
  /** The input whose columns the rejects have. Undefined if there is no input, or it cannot be read again. */
  readonly input?: { readonly inputFile: InputFile; readonly layout: RowLayout<InputRow> } | undefined;
  /** The journal of the earlier sessions, if there were any. */
  readonly journal?: JournalContent | undefined;
}

/** Makes a run for a further session. @param createMissing overrides the flag of the run. */
export function toResumedRun(
  journal: JournalContent,
  createMissing = journal.header.flags.createMissing,
): Run {
  const rows = [...journal.rows.values()].map((row) => ({ ...row, mayCreate: createMissing }));
  return { header: journal.header, rows, invalid: journal.invalid, journal };
}

/**
 * Makes the undo of a run. A row that was set is set back if its record is still as the run left it. A row that added gets
 * the opposite change. A record that the run created is removed.
 */
export function toUndoRun({ id, header, rows: writtenRows }: JournalContent): Run {
  const rows = [...writtenRows.values()].filter(isPerhapsWritten).map(toUndoRow);
  return {
    rows,
    invalid: [],
    header: {
      ...header,
      kind: 'undo',
      undoes: id,
      file: null,
      delivery: null,
      // The undo writes only records of the same shard.
      flags: { ...defaultFlags, relative: header.flags.relative, shard: header.flags.shard },
      rows: rows.length,
      invalid: 0,
      skipped: 0,
    },
  };
}

function toUndoRow(row: Row): Row {
  const { id, intent, before = null, after = null, outcome } = row;
  if (intent.kind === 'set' || before === null)
    return createRow(0, id, { kind: 'set', value: before, expected: after });
  const isCertain = outcome?.state === 'applied';
  return createRow(0, id, { kind: 'add', change: -intent.change }, isCertain ? {} : { undoneRow: row });
}

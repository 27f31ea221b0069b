import { doubtOf, type Intent } from '../writes/row.ts';
import type { ContinueVerb } from './choose-run.ts';
import { isOpen, type RunList, readLog } from './list-runs.ts';
import { createLog, type Run, type RunHeader, type RunLog, type Shard } from './run.ts';
import { createRow, idOfRow, isPerhapsWritten, needsPlan, type RunRow } from './run-row.ts';

/** The run of a session, and the other runs that it must know. */
export interface SessionRuns {
  /** All runs of this user, as listed after the target was locked. A dry run locks nothing. */
  readonly list: RunList;
  /** The run that is continued. Undefined for a new run, which has no journal yet. */
  readonly run: Run | undefined;
  readonly log: RunLog;
  /** The log of the run that an undo takes back. */
  readonly undoneLog: RunLog | undefined;
}

/** Reads a run that is continued. An undo gets the rows that its run has applied since. @throws as `readLog`. */
export async function readSessionRuns(list: RunList, run: Run): Promise<SessionRuns> {
  const { undoes } = run.header;
  const log = await readLog(list, run.id);
  if (undoes === undefined) return { list, run, log, undoneLog: undefined };
  const undoneLog = await readLog(list, undoes);
  return { list, run, log: extendUndo(log, undoneLog), undoneLog };
}

/** Reads the runs of the next session of a resume or an undo. Returns undefined if nothing is left to do. @throws as `readLog`. */
export async function readNextRuns(
  list: RunList,
  verb: ContinueVerb,
  run: Run,
): Promise<SessionRuns | undefined> {
  if (verb === 'resume') return isOpen(run) ? await readSessionRuns(list, run) : undefined;
  const { undo } = run;
  if (!undo) {
    if (run.perhapsWrittenCount === 0 && !isOpen(run)) return undefined;
    const undoneLog = await readLog(list, run.id);
    return { list, run: undefined, log: createUndo(run.id, undoneLog), undoneLog };
  }
  // Since then a person may have settled rows that the undo could not take back, or the reason may have passed.
  const runs = await readSessionRuns(list, undo);
  return isOpen(undo) || runs.log.rows.some(needsPlan) ? runs : undefined;
}

/**
 * Makes the undo of a run. A row that was set is set back if its record is still as the run left it. A row that added gets
 * the opposite change. A record that the run created is removed if it is as created. An uncertain row becomes a row of the
 * undo too: the undo does not write it (`claimsOfUndoneRun`), but its report names it.
 */
function createUndo(id: string, { header, rows }: RunLog): RunLog {
  return createLog(
    {
      ...header,
      kind: 'undo',
      undoes: id,
      file: undefined,
      delivery: undefined,
      flags: { shard: shardOfUndo(header) },
      skipped: 0,
    },
    rows.filter(isPerhapsWritten).map(createUndoRow),
  );
}

/** Returns the shard of the undo of a run. A file of creates is split by its lines, so their ids may be of any shard. */
export function shardOfUndo({ kind, flags }: Pick<RunHeader, 'kind' | 'flags'>): Shard | undefined {
  return kind === 'create' ? undefined : flags.shard;
}

/**
 * Adds to an undo the rows of its run that a person has since settled as applied, and the ids of the records that they created. Tries
 * a row again that the undo could not take back, unless the run still does not know whether it wrote the row.
 */
function extendUndo(undo: RunLog, undone: RunLog): RunLog {
  const earlierRows = new Map(undo.rows.map((row) => [row.line, row]));
  const rows = undone.rows.flatMap((row) => {
    const earlierRow = earlierRows.get(row.line);
    if (!earlierRow) return isPerhapsWritten(row) ? createUndoRow(row) : [];
    // A person may know better than the reading of the undo, which found the old value of a row of a killed session.
    const isSettled =
      row.state.kind === 'applied' && row.state.reason && earlierRow.state.kind === 'unchanged';
    const isTriedAgain = (earlierRow.state.kind === 'failed' || isSettled) && !doubtOf(row);
    return isTriedAgain ? createUndoRow(row) : earlierRow;
  });
  return { ...undo, rows };
}

function createUndoRow(row: RunRow): RunRow {
  return createRow({ line: row.line, id: idOfRow(row), intent: oppositeOf(row) });
}

function oppositeOf(row: RunRow): Intent {
  const { intent, planned, state } = row;
  const { action = 'set', before = null, after = null } = planned ?? {};
  if (intent.kind === 'add')
    return { kind: 'add', change: -intent.change, created: action === 'create' ? after : undefined };
  const made = state.kind === 'applied' ? state.made : undefined;
  if (action === 'create') return { kind: 'remove', created: after, expected: made?.value };
  return { kind: 'set', value: before, expected: after };
}

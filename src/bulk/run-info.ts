import { type Ending, type EndLine, endings, type JournalHeader } from './journal-lines.ts';
import { readLastLine } from './journal-reader.ts';
import { blankRows, replayJournal } from './replay.ts';
import { settleUnplanned } from './resumption.ts';
import type { RunStore } from './run-store.ts';
import type { State } from './states.ts';

/** `running` has a process at work on it; `killed` ended without a word. Both it and `stopped` can be resumed. */
export type RunState = Ending | 'running' | 'killed';

/** A past run, as it stands. */
export interface RunInfo {
  readonly header: JournalHeader;
  readonly state: RunState;
  /** The run that took it back, or was started in its place. */
  readonly by: string | undefined;
  readonly counts: Readonly<Record<State, number>>;
}

/** Reads how a run stands: from its last line, or all of its lines where it ended without one; undefined for no run yet. */
export async function readRunInfo(store: RunStore, run: string): Promise<RunInfo | undefined> {
  const isRunning = store.isHeld(run);
  const last = await readLastLine(store.pathOf(run));
  const journal = await store.open(run);
  if (!journal) return undefined;
  const { header } = journal;
  if (last && isEnding(last) && !isRunning) {
    await journal.lines.return(undefined);
    return { header, state: last.ended, by: last.by, counts: last.counts };
  }
  const rows = blankRows(header.rows);
  const replay = await replayJournal(journal, rows);
  settleUnplanned(rows, replay);
  const counts = rows.countStates();
  const { invalid, skipped } = header;
  const quiet = replay.isPlanned ? 'unchanged' : 'unprocessed';
  // Rows that the run leaves out have no line: here they look like those that it found no need to change.
  const told = { ...counts, invalid, skipped, [quiet]: counts[quiet] - invalid - skipped };
  return { header, state: isRunning ? 'running' : 'killed', by: undefined, counts: told };
}

export function isResumable(state: RunState): boolean {
  return state === 'stopped' || state === 'killed';
}

function isEnding(line: object): line is EndLine {
  return 'ended' in line && endings.includes(line.ended as Ending);
}

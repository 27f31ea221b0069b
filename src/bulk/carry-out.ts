import { CliError, messageOf } from '../process/errors.ts';
import { defaultRejectsFile, type NewFile } from '../process/new-file.ts';
import { systemReason } from '../process/system-error.ts';
import { Journal, type RunHeader } from './journal.ts';
import { countRows } from './read-journal.ts';
import { hasRejects, writeRejects } from './reject-rows.ts';
import { marks } from './rows.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';
import { type Summary, summarise } from './summary.ts';

// A confirmed plan is begun, written and ended. The steps are apart, because a command shows progress and takes signals
// between them.

/**
 * Keeps a plan in the journal: of a new run in a new one. From here on the run exists. When this returns, the plan is on
 * the disk.
 *
 * @returns its id.
 * @throws CliError `failed` if it cannot be written: then nothing may be sent.
 */
export async function beginRun(run: Run, runs: RunStore): Promise<string> {
  const { earlier, rows, header, invalid } = run;
  if (earlier) {
    const journal = new Journal(runs.pathOf(earlier.header.run), rows, earlier.bytes);
    writePlan(run, journal);
    for (const row of rows.where((each) => rows.isMarked(each, marks.planned))) {
      const state = rows.state(row);
      if (state === 'applied') journal.outcome(row, { effect: 'done' });
      else if (state === 'unchanged') journal.outcome(row, { effect: 'none' });
      else if (state === 'unknown') journal.outcome(row, { effect: 'maybe', reason: rows.reason(row) });
    }
    run.journal = journal;
    return earlier.header.run;
  }
  return runs.create(rows, (id, journal) => {
    journal.begin({ journal: 4, run: id, ...header, started: new Date().toISOString() }, invalid);
    writePlan(run, journal);
    run.id = id;
    run.journal = journal;
  });
}

/** The plan lines of this session: of the rows to write, and of those that failed. */
function writePlan({ rows, earlier }: Run, journal: Journal): void {
  let count = 0;
  for (const row of rows.where((each) => rows.isMarked(each, marks.planned))) {
    if (!earlier && !rows.isState(row, 'failed') && !rows.isState(row, 'unprocessed')) continue;
    journal.plan(row);
    count += 1;
  }
  journal.planned(count);
}

/** What a session has left behind. */
export interface EndedRun {
  readonly summary: Summary;
  /** The file of rejected rows, as the user may type it. */
  readonly rejects: string | undefined;
  /** Why the rejects or the end of the journal could not be written. */
  readonly problem: CliError | undefined;
}

/**
 * Ends a session: writes its rejects, and then its end into the journal.
 *
 * @param named the file of `--rejects`.
 * @param folder in which the user works, for the default file.
 */
export async function endRun(
  run: Run,
  { named, folder }: { readonly named: NewFile | undefined; readonly folder: string },
): Promise<EndedRun> {
  const { rows, journal } = run;
  // An earlier session has perhaps written it, and this one stopped before it.
  for (const row of rows.inState('unprocessed'))
    if (rows.isMarked(row, marks.perhaps))
      run.settle(row, {
        effect: 'maybe',
        reason: { code: 'not_settled', message: notSettled, passes: true },
      });
  let rejects: string | undefined;
  let problem: CliError | undefined;
  try {
    if (hasRejects(run)) {
      const { header } = run;
      const file = named ?? (await defaultRejectsFile(rejectsStem(header), folder, header.format));
      await writeRejects(file, run);
      rejects = file.name;
    }
    // Without its rejects the run has not ended: resume writes them.
    journal?.end({ counts: countRows(run), left: rows.countLeft(), ended: Date.now() });
  } catch (error) {
    if (messageOf(error) !== run.stop.reason?.message)
      problem = error instanceof CliError ? error : new CliError('failed', systemReason(error));
  }
  journal?.close();
  return { summary: summarise(run), rejects, problem };
}

const notSettled = 'an earlier session has perhaps written it, and this one stopped before it';

/** Beside the input; in the current folder if the input came through a pipe. */
function rejectsStem({ file, name }: Pick<RunHeader, 'file' | 'name'>): string {
  return file === null && name !== 'edit' ? 'stdin' : name;
}

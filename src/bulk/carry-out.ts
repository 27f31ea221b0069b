import { CliError } from '../process/errors.ts';
import { LineFile } from '../process/line-file.ts';
import { defaultRejectsFile, type NewFile } from '../process/new-file.ts';
import { systemReason } from '../process/system-error.ts';
import { Journal, type RunHeader } from './journal.ts';
import type { Run } from './open-run.ts';
import { hasRejects, invalidRows, writeRejects } from './reject-rows.ts';
import { marks } from './rows.ts';
import type { RunStore } from './run-store.ts';
import { type Summary, summarise } from './summary.ts';
import { writeRows } from './write-rows.ts';

// A confirmed plan is begun, written and ended. The steps are apart, because a command shows progress and takes signals
// between them.

/**
 * Keeps a plan in the journal: of a new run in a new one. From here on the run exists. When this returns, the plan is on
 * the disk.
 *
 * @throws CliError `failed` if it cannot be written: then nothing may be sent.
 */
export async function beginRun(run: Run, runs: RunStore): Promise<void> {
  const { earlier, rows } = run;
  if (earlier) {
    const file = LineFile.reopen(runs.pathOf(earlier.header.run), earlier.bytes);
    const journal = new Journal(file, rows);
    writePlan(run, journal);
    for (let row = 0; row < rows.length; row += 1) {
      if (!rows.isMarked(row, marks.planned)) continue;
      const state = rows.state(row);
      if (state === 'applied') journal.outcome(row, { effect: 'done' });
      else if (state === 'unchanged') journal.outcome(row, { effect: 'none' });
      else if (state === 'unknown')
        journal.outcome(row, { effect: 'maybe', reason: run.failures.reasonOf(row) });
    }
    run.journal = journal;
    return;
  }
  await runs.create(async (id, file) => {
    const journal = new Journal(file, rows);
    const { header } = run;
    journal.header({ journal: 4, run: id, ...header, started: new Date().toISOString() } satisfies RunHeader);
    if (run.source && header.invalid > 0)
      for await (const row of invalidRows(run.source, header.flags)) journal.invalid(row);
    writePlan(run, journal);
    run.id = id;
    run.journal = journal;
  });
}

/** The plan lines of this session: of the rows to write, and of those that failed. */
function writePlan({ rows, failures, etags, earlier }: Run, journal: Journal): void {
  let count = 0;
  for (let row = 0; row < rows.length; row += 1) {
    if (!rows.isMarked(row, marks.planned)) continue;
    const isFailed = rows.isState(row, 'failed');
    if (!earlier && !isFailed && !rows.isState(row, 'unprocessed')) continue;
    journal.plan(row, etags.get(row), isFailed ? failures.reasonOf(row) : undefined);
    count += 1;
  }
  journal.planned(count);
}

/** Writes the rows of a plan, until all are settled or the run stops. */
export async function writePlanned(run: Run): Promise<void> {
  await run.time('writing', () => writeRows(run));
}

/** What a session has left behind. */
export interface EndedRun {
  readonly summary: Summary;
  /** The file of rejected rows, as the user may type it. */
  readonly rejects: string | undefined;
  /** Why the rejects or the end of the journal could not be written. */
  readonly problem: Error | undefined;
}

/**
 * Ends a session: writes its rejects, and then its end into the journal.
 *
 * @param named the file of `--rejects`.
 * @param folder in which the user works, for the default file.
 */
export async function endRun(
  run: Run,
  runs: RunStore,
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
  let problem: Error | undefined;
  const attempt = async (work: () => Promise<void> | void) => {
    try {
      await work();
    } catch (error) {
      if ((error as Error).message !== run.stop.reason?.message) problem ??= error as Error;
    }
  };
  await attempt(async () => {
    if (!hasRejects(run)) return;
    const { header, id } = run;
    const file = named ?? (await defaultRejectsFile(rejectsStem(header), folder, header.format));
    await writeRejects(file, run, id === undefined ? undefined : runs.pathOf(id));
    rejects = file.name;
  });
  // Without its rejects the run has not ended: resume writes them.
  if (!problem)
    await attempt(() => journal?.end({ counts: run.counts(), left: run.left(), ended: Date.now() }));
  journal?.close();
  const summary = summarise(run);
  if (problem instanceof CliError || problem === undefined) return { summary, rejects, problem };
  return { summary, rejects, problem: new CliError('failed', systemReason(problem)) };
}

const notSettled = 'an earlier session has perhaps written it, and this one stopped before it';

/** Beside the input; in the current folder if the input came through a pipe. */
function rejectsStem({ file, name }: Pick<RunHeader, 'file' | 'name'>): string {
  return file === null && name !== 'edit' ? 'stdin' : name;
}

import { UsageError } from '../process/errors.ts';
import type { RunParts } from './run.ts';
import { isUnfinished, type RunInfo, type RunStore } from './run-store.ts';

/** What `resume` or `undo` is to do: go on with a run, undo a run, or nothing, because nothing is left of `last`. */
export type RunChoice =
  | { readonly go: 'resume' | 'undo'; readonly info: RunInfo }
  | { readonly go: 'nothing'; readonly info: RunInfo | undefined };

/**
 * The run that `resume` goes on with: the named one, or the last one on the target.
 *
 * @throws UsageError if it must not be resumed; CliError `failed` if its journal cannot be read.
 */
export async function chooseResume(
  runs: RunStore,
  target: string,
  named: string | undefined,
): Promise<RunChoice> {
  if (named !== undefined) {
    const info = await runs.find(named);
    checkNotUndone(info);
    return { go: 'resume', info };
  }
  const all = await runs.onTarget(target);
  const [last] = all;
  if (!last) return { go: 'nothing', info: undefined };
  if (last.state === 'running' || isUnfinished(last)) return { go: 'resume', info: last };
  const older = all.filter((each) => isUnfinished(each) && !each.undo);
  if (older.length === 0) return { go: 'nothing', info: last };
  const names = older.map(({ header }) => `${header.run} (${header.name})`);
  throw new UsageError(
    `resume: the last run, ${last.header.run}, is ${last.state}; unfinished ${older.length === 1 ? 'is' : 'are'} ${names.join(', ')}`,
    `name one: petstore inventory resume ${older[0]?.header.run}`,
  );
}

/**
 * The run that `undo` undoes, or the undo that it goes on with.
 *
 * @throws UsageError for an undo, or if there is no run; CliError `failed` if its journal cannot be read.
 */
export async function chooseUndo(
  runs: RunStore,
  target: string,
  named: string | undefined,
): Promise<RunChoice> {
  if (named === undefined) {
    const [last] = await runs.onTarget(target);
    if (!last)
      throw new UsageError(
        `undo: no run at ${target}`,
        '`petstore inventory runs` lists those of other targets',
      );
    if (last.header.kind === 'undo')
      return isUnfinished(last) || last.state === 'running'
        ? { go: 'resume', info: last }
        : { go: 'nothing', info: last };
    return { go: 'undo', info: last };
  }
  const info = await runs.find(named);
  const { header, undo, state } = info;
  if (header.kind === 'undo')
    throw new UsageError(
      `undo ${named}: it is an undo itself, of run ${header.undoes}`,
      isUnfinished(info)
        ? `go on with it: petstore inventory undo ${header.undoes}`
        : `apply the file of run ${header.undoes} again`,
    );
  if (undo && (isUnfinished(undo) || undo.state === 'running')) return { go: 'resume', info: undo };
  return state === 'undone' ? { go: 'nothing', info: undo } : { go: 'undo', info };
}

/** @throws UsageError if a planned undo names the run. */
function checkNotUndone({ header: { run }, state, undo }: RunInfo): void {
  if (!undo) return;
  const by = undo.header.run;
  throw new UsageError(
    `resume ${run}: ${state === 'undone' ? `run ${by} has undone it` : `run ${by} has begun to undo it, and has not set back every row`}`,
    state === 'undone' ? 'apply the file again' : `go on with that: petstore inventory undo ${run}`,
  );
}

/**
 * Which later run on the same target wrote, or may have written, a pet of a run, by row. For a run of counts that is
 * resumed every later run counts; for an undo those that another undo would set back.
 *
 * @throws CliError `failed` if the journal of one cannot be read.
 */
export async function laterRuns(
  runs: RunStore,
  { header, rows, earlier }: RunParts,
): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  const after = header.undoes ?? (header.flags.relative ? undefined : earlier?.header.run);
  if (after === undefined) return found;
  for (const info of await runs.onTarget(header.target, after)) {
    const { run, kind } = info.header;
    if (header.kind === 'undo' && (kind === 'undo' || info.state === 'undone')) continue;
    const { rows: wrote } = await runs.read(run);
    for (const at of wrote.where((each) => wrote.mayHaveBeenWritten(each))) {
      const row = rows.find(wrote.id(at));
      if (row !== undefined && !found.has(row)) found.set(row, run);
    }
  }
  return found;
}

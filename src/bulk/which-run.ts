import { UsageError } from '../process/errors.ts';
import { areDisjoint } from './run-header.ts';
import { findRun, type RunInfo, type RunList, runsOnTarget } from './run-store.ts';

/** The run that `resume` goes on with or `undo` undoes; `nothing` if the run of `info` has nothing left to do. */
export type RunChoice =
  | { readonly go: 'resume' | 'undo'; readonly info: RunInfo }
  | { readonly go: 'nothing'; readonly info: RunInfo | undefined };

/**
 * The run that `resume` goes on with: the named one, or the last one on the target.
 *
 * @throws UsageError if it must not be resumed; CliError `failed` if its journal cannot be read.
 */
export function chooseResume(list: RunList, target: string, runId: string | undefined): RunChoice {
  const all = runId === undefined ? runsOnTarget(list, target) : [findRun(list, runId)];
  const [last] = all;
  if (!last) return { go: 'nothing', info: undefined };
  if (runId === undefined && !isUnfinished(last) && last.state !== 'running') {
    const older = all.filter((info) => isUnfinished(info) && whyNotResumed(list, info) === undefined);
    if (older.length === 0) return { go: 'nothing', info: last };
    const names = older.map(({ id, header }) => `${id} (${header.name})`);
    throw new UsageError(
      `resume: the last run, ${last.id}, is ${last.state}; still unfinished: ${names.join(', ')}`,
      `name one: petstore resume ${older[0]?.id}`,
    );
  }
  const refusal = whyNotResumed(list, last);
  if (refusal) throw refusal;
  return { go: last.open > 0 || last.state !== 'finished' ? 'resume' : 'nothing', info: last };
}

/** Why a run must not be resumed; undefined if it may be. */
function whyNotResumed(list: RunList, { id, header, undo, state }: RunInfo): UsageError | undefined {
  if (undo && state === 'undone')
    return new UsageError(`resume ${id}: run ${undo.id} has undone it`, 'apply the file again');
  if (undo)
    return new UsageError(
      `resume ${id}: run ${undo.id} has begun to undo it, and has not set back every row`,
      isUnfinished(undo)
        ? `finish the undo, and apply the file again: petstore undo ${id}`
        : 'apply the file again',
    );
  if (header.kind === 'undo' || header.flags.relative || state === 'finished') return undefined;
  const later = runsOnTarget(list, header.target, id).find(
    (run) => run.header.noun === header.noun && !areDisjoint(run.header.flags.shard, header.flags.shard),
  );
  if (!later) return undefined;
  return new UsageError(
    `resume ${id}: run ${later.id} (${later.header.name}) has come after it, and its values must not be replaced`,
    'apply the file again if it is still right',
  );
}

/**
 * The run that `undo` undoes, or the undo that it goes on with: of the named run, or of the last one on the target.
 *
 * @throws UsageError for an undo, or if there is no run; CliError `failed` if its journal cannot be read.
 */
export function chooseUndo(list: RunList, target: string, runId: string | undefined): RunChoice {
  const info = runId === undefined ? runsOnTarget(list, target)[0] : findRun(list, runId);
  if (!info)
    throw new UsageError(`undo: no run at ${target}`, '`petstore runs` lists those of other targets');
  const { header } = info;
  if (runId !== undefined && header.kind === 'undo')
    throw new UsageError(
      `undo ${runId}: it is an undo itself, of run ${header.undoes}`,
      isUnfinished(info)
        ? `go on with it: petstore undo ${header.undoes}`
        : `apply the file of run ${header.undoes} again`,
    );
  const undo = header.kind === 'undo' ? info : info.undo;
  if (!undo) return { go: 'undo', info };
  return { go: isUnfinished(undo) || undo.state === 'running' ? 'resume' : 'nothing', info: undo };
}

function isUnfinished({ state }: RunInfo): boolean {
  return state === 'stopped';
}

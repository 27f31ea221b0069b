import { UsageError } from '../process/errors.ts';
import { areDisjoint } from './run-header.ts';
import { findRun, type RunInfo, type RunList, runsOnTarget } from './run-store.ts';

/** The choice of `resume` or `undo`: a run and what to do with it. `nothing` if nothing is left to do, or there is no run. */
export type RunChoice =
  | { readonly action: 'resume' | 'undo'; readonly info: RunInfo }
  | { readonly action: 'nothing'; readonly info: RunInfo | undefined };

/**
 * Chooses the run that `resume` continues: the run with this id, or else the last run on the target.
 *
 * @throws UsageError if the run must not be resumed; CliError `failed` if its journal cannot be read.
 */
export function chooseResume(list: RunList, target: string, runId: string | undefined): RunChoice {
  const candidates = runId === undefined ? runsOnTarget(list, target) : [findRun(list, runId)];
  const [last] = candidates;
  if (!last) return { action: 'nothing', info: undefined };
  if (runId === undefined && last.state !== 'stopped' && last.state !== 'running') {
    const older = candidates.filter(
      (info) => info.state === 'stopped' && resumeRefusal(list, info) === undefined,
    );
    if (older.length === 0) return { action: 'nothing', info: last };
    const names = older.map(({ id, header }) => `${id} (${header.name})`);
    throw new UsageError(
      `resume: the last run, ${last.id}, is ${last.state}; still unfinished: ${names.join(', ')}`,
      `name one: petstore resume ${older[0]?.id}`,
    );
  }
  const refusal = resumeRefusal(list, last);
  if (refusal) throw refusal;
  return { action: last.open > 0 || last.state !== 'finished' ? 'resume' : 'nothing', info: last };
}

/** The error that says why a run must not be resumed. Undefined if it may be resumed. */
function resumeRefusal(list: RunList, { id, header, undo, state }: RunInfo): UsageError | undefined {
  if (undo && state === 'undone')
    return new UsageError(`resume ${id}: run ${undo.id} has undone it`, 'apply the file again');
  if (undo)
    return new UsageError(
      `resume ${id}: run ${undo.id} has begun to undo it, and has not set back every row`,
      undo.state === 'stopped'
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
 * Chooses the run that `undo` takes back: the run with this id, or else the last run on the target. If its undo has begun,
 * chooses that undo, to continue it.
 *
 * @throws UsageError if the id is that of an undo, or there is no run; CliError `failed` if a journal cannot be read.
 */
export function chooseUndo(list: RunList, target: string, runId: string | undefined): RunChoice {
  const info = runId === undefined ? runsOnTarget(list, target)[0] : findRun(list, runId);
  if (!info)
    throw new UsageError(`undo: no run at ${target}`, '`petstore runs` lists those of other targets');
  const { header } = info;
  if (runId !== undefined && header.kind === 'undo')
    throw new UsageError(
      `undo ${runId}: it is an undo itself, of run ${header.undoes}`,
      info.state === 'stopped'
        ? `go on with it: petstore undo ${header.undoes}`
        : `apply the file of run ${header.undoes} again`,
    );
  const undo = header.kind === 'undo' ? info : info.undo;
  if (!undo) return { action: 'undo', info };
  return { action: undo.state === 'stopped' || undo.state === 'running' ? 'resume' : 'nothing', info: undo };
}

import { UsageError } from '../process/errors.ts';
import { areDisjoint } from './run-header.ts';
import { findRun, type RunInfo, type RunList, runsOnTarget } from './run-store.ts';

/** The choice of `resume` or `undo`: a run and what to do with it. `nothing` if nothing is left to do, or there is no run. */
export type RunChoice =
  | { readonly action: 'resume' | 'undo'; readonly info: RunInfo }
  | { readonly action: 'nothing'; readonly info: RunInfo | undefined; readonly before?: RunInfo | undefined };

/**
 * Chooses the run that `resume` continues: the run with this id, or else the last run on the target.
 *
 * @throws UsageError if the run must not be resumed, or if its journal cannot be read.
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
  return last.state === 'finished' ? { action: 'nothing', info: last } : { action: 'resume', info: last };
}

/** The error that says why a run must not be resumed. Undefined if it may be resumed. */
function resumeRefusal(list: RunList, info: RunInfo): UsageError | undefined {
  const { id, header, undo, state, left, counts } = info;
  if (undo && state === 'undone')
    return new UsageError(`resume ${id}: run ${undo.id} has undone it`, 'apply the file again');
  if (undo)
    return new UsageError(
      `resume ${id}: run ${undo.id} has begun to undo it`,
      undo.left > 0
        ? `finish the undo, and apply the file again: petstore undo ${id}`
        : `look at its unknown rows (petstore runs show ${undo.id}), and settle them: petstore runs settle ${undo.id}`,
    );
  // Only rows that set without a condition could replace what came later. Without such rows the run is only brought to its end.
  const { kind, flags } = header;
  const sets = kind !== 'undo' && kind !== 'create' && kind !== 'delete' && !flags.relative;
  if (!sets || left + counts.unknown === 0) return undefined;
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
 * Chooses the run that `undo` takes back: the run with this id, or else the last run on the target that wrote anything or may
 * have. If its undo has begun, chooses that undo, to continue it.
 *
 * @throws UsageError if the run cannot be undone, or there is none, or it is one of several shards that no id names.
 */
export function chooseUndo(list: RunList, target: string, runId: string | undefined): RunChoice {
  const writers = runsOnTarget(list, target).filter(hasAppliedOrUncertain);
  const info = runId === undefined ? writers[0] : findRun(list, runId);
  if (!info)
    throw new UsageError(
      `undo: no run ${target.startsWith('offline:') ? 'on the embedded store' : `at ${target}`} has written anything`,
      '`petstore runs` lists all runs; a write of a single command has no undo',
    );
  const { header } = info;
  if (header.kind === 'undo' && runId !== undefined && info.state === 'finished')
    throw new UsageError(
      `undo ${runId}: it is an undo itself, of run ${header.undoes}, and is not undone`,
      `apply the file of run ${header.undoes} again`,
    );
  if (header.kind === 'delete')
    throw new UsageError(
      `undo ${info.id}: it removed records, which cannot be undone`,
      `its records are in \`petstore runs show ${info.id} -o json\`, which ${header.noun} create --from takes`,
    );
  if (runId === undefined && header.kind !== 'undo') checkShards(writers, info);
  const undo = header.kind === 'undo' ? info : info.undo;
  if (!undo) return { action: 'undo', info };
  if (undo.state !== 'finished') return { action: 'resume', info: undo };
  const before = writers.find(
    (run) => run.header.kind !== 'undo' && !run.undo && run.id !== undo.header.undoes,
  );
  return { action: 'nothing', info: undo, before };
}

function hasAppliedOrUncertain({ written, header, state }: RunInfo): boolean {
  return written > 0 || state === 'running' || (header.kind === 'undo' && state !== 'finished');
}

/** @throws UsageError if the run is one of several shards of a file. */
function checkShards(runs: readonly RunInfo[], { header }: RunInfo): void {
  const { shard } = header.flags;
  if (!shard) return;
  const shards = runs.filter(
    ({ header: other, undo }) =>
      !undo &&
      other.name === header.name &&
      other.kind === header.kind &&
      other.flags.shard?.count === shard.count,
  );
  if (shards.length < 2) return;
  const names = shards.map(({ id, header: other }) => `${id} (${other.flags.shard?.index}/${shard.count})`);
  throw new UsageError(
    `undo: the last run is one of ${shards.length} shards of ${header.name}: ${names.join(', ')}`,
    `undo each of them: ${shards.map(({ id }) => `petstore undo ${id}`).join('; ')}`,
  );
}

import { UsageError } from '../process/errors.ts';
import type { Intent } from '../writes/decide.ts';
import { findRun, isUnfinished, type RunInfo, type RunList, readRun, runsOnTarget } from './list-runs.ts';
import { idOfRow, isAppliedOrUncertain, isForSession, newRow, type RunRow, unfinishedCount } from './row.ts';
import { areDisjoint, canBeUndone, createRun, defaultFlags, type Run } from './run.ts';
import type { SessionRuns } from './session.ts';

/** The choice of `resume` or `undo`: a run and what to do with it. `nothing` if nothing is left to do, or there is no run. */
export type RunChoice =
  | { readonly kind: 'resume' | 'undo'; readonly info: RunInfo }
  | {
      readonly kind: 'nothing';
      readonly info: RunInfo | undefined;
      /** The last other run that has something left to do; undefined if the run was chosen by its id. */
      readonly other?: RunInfo | undefined;
    };

/**
 * Chooses the run that `resume` continues: the run with this id, or else the last run on the target.
 *
 * @throws UsageError if the run must not be resumed, or if its journal cannot be read.
 */
export function chooseResume(list: RunList, target: string, runId: string | undefined): RunChoice {
  const runs = runsOnTarget(list, target);
  const info = namedOrLastRun(list, 'resume', runs, runId);
  if (info && (runId !== undefined || isUnfinished(info))) {
    const refusal = resumeRefusal(list, info);
    if (refusal) throw refusal;
    if (isUnfinished(info)) return { kind: 'resume', info };
  }
  if (runId !== undefined) return { kind: 'nothing', info };
  const other = runs.find((run) => run !== info && isUnfinished(run) && !resumeRefusal(list, run));
  return { kind: 'nothing', info, other };
}

/**
 * Chooses the run that `undo` takes back: the run with this id, or else the last run on the target, whether it wrote or not, so
 * that no earlier run is taken back by mistake. If its undo has begun, chooses that undo, to continue it.
 *
 * @throws UsageError if the run cannot be undone, or its journal cannot be read.
 */
export async function chooseUndo(
  list: RunList,
  target: string,
  runId: string | undefined,
): Promise<RunChoice> {
  const runs = runsOnTarget(list, target);
  const info = namedOrLastRun(list, 'undo', runs, runId);
  if (!info) return { kind: 'nothing', info };
  const { header } = info;
  if (header.kind === 'undo' && runId !== undefined && info.state === 'finished')
    throw new UsageError(
      `undo ${runId}: it is an undo itself, of run ${header.undoes}, and is not undone`,
      `apply the file of run ${header.undoes} again`,
    );
  if (header.kind === 'delete')
    throw new UsageError(
      `undo ${info.id}: it removed records, which cannot be undone`,
      `its records are in \`petstore runs show ${info.id} -o json\`, which ${header.noun} create --from takes${header.noun === 'pets' ? '; _quantity is the count of each' : ''}`,
    );
  const undo = header.kind === 'undo' ? info : info.undo;
  if (!undo && (info.appliedOrUncertain > 0 || isUnfinished(info))) return { kind: 'undo', info };
  if (undo) {
    const choice = { kind: 'resume', info: undo } as const;
    if (isUnfinished(undo)) return choice;
    // Rows that it left alone can be taken back if a person has settled them in their run since, or if the reason has passed.
    const isUndoneKept = list.runs.some(({ id }) => id === undo.header.undoes);
    if (isUndoneKept && (await readSessionRuns(list, choice)).run.rows.some(isForSession)) return choice;
  }
  const isOther = (run: RunInfo) =>
    run !== info && run.appliedOrUncertain > 0 && canBeUndone(run.header) && !run.undo;
  const other = runId === undefined ? runs.find(isOther) : undefined;
  return { kind: 'nothing', info: undo ?? info, other };
}

/** @throws UsageError if no id is given, and the last run is a shard: the others belong to it. */
function namedOrLastRun(
  list: RunList,
  verb: string,
  runs: readonly RunInfo[],
  runId: string | undefined,
): RunInfo | undefined {
  if (runId !== undefined) return findRun(list, runId);
  const [last] = runs;
  const shard = last?.header.flags.shard;
  if (!last || !shard) return last;
  throw new UsageError(
    `${verb}: the last run, ${last.id}, is shard ${shard.index}/${shard.count} of ${last.header.name}`,
    `name it, and the runs of the other shards: petstore ${verb} ${last.id}; \`petstore runs\` lists them`,
  );
}

/** The error that says why a run must not be resumed, or undefined if it may be resumed. */
function resumeRefusal(list: RunList, info: RunInfo): UsageError | undefined {
  const { id, header, undo, state, planNumber } = info;
  if (undo)
    return new UsageError(
      `resume ${id}: run ${undo.id} ${state === 'undone' ? 'has undone it' : 'has begun to undo it'}`,
      `apply the file again; an undo that has not ended goes on with: petstore undo ${id}`,
    );
  // A row that sets could replace a value of a later run. Without rows to settle, the session only writes the end of the journal.
  const { kind, flags } = header;
  const sets = canBeUndone(header) && kind !== 'create' && !flags.relative;
  if (!sets || !isUnfinished(info) || unfinishedCount(info) === 0) return undefined;
  const later = runsOnTarget(list, header.target).find(
    (run) =>
      run.planNumber > planNumber &&
      run.header.noun === header.noun &&
      !areDisjoint(run.header.flags.shard, flags.shard),
  );
  if (!later) return undefined;
  return new UsageError(
    `resume ${id}: run ${later.id} (${later.header.name}) has come after it, and its values must not be replaced`,
    'apply the file again if it is still right',
  );
}

/**
 * Reads a run that is resumed, or makes or reads its undo.
 *
 * @throws as `readRun`.
 */
export async function readSessionRuns(
  list: RunList,
  { kind, info }: Extract<RunChoice, { kind: 'resume' | 'undo' }>,
): Promise<SessionRuns> {
  const chosen = await readRun(list, info.id);
  const { undoes } = info.header;
  const isNew = kind === 'undo';
  const undone = isNew ? chosen : undoes === null ? undefined : await readRun(list, undoes);
  const run = isNew ? createUndoRun(chosen) : undone ? extendUndo(chosen, undone) : chosen;
  return { list, run, undone };
}

/**
 * Makes the undo of a run. A row that was set is set back if its record is still as the run left it. A row that added gets
 * the opposite change. A record that the run created is removed if it is as created. Rows that may have been written are
 * rows of the undo too, so that it names them.
 */
function createUndoRun({ id, header, rows: writtenRows }: Run): Run {
  const rows = writtenRows.filter(isAppliedOrUncertain).map(createUndoRow);
  return createRun(
    {
      ...header,
      kind: 'undo',
      undoes: id ?? null,
      file: null,
      delivery: null,
      // The undo writes only records of the same shard.
      flags: { ...defaultFlags, shard: header.flags.shard },
      rows: rows.length,
      invalid: 0,
      skipped: 0,
    },
    rows,
  );
}

/**
 * Adds to an undo the rows of its run that a person has since settled as applied, and the ids of records they created. Rows that
 * it could not take back are tried again, unless nobody knows yet what became of them in their run.
 */
function extendUndo(undo: Run, undone: Run): Run {
  const earlierRows = new Map(undo.rows.map((row) => [row.line, row]));
  const rows = undone.rows.flatMap((row) => {
    const earlier = earlierRows.get(row.line);
    if (!earlier) return isAppliedOrUncertain(row) ? createUndoRow(row) : [];
    const isTriedAgain = earlier.outcome?.kind === 'failed' && !row.doubt;
    return isTriedAgain ? createUndoRow(row) : earlier;
  });
  return { ...undo, rows };
}

function createUndoRow(row: RunRow): RunRow {
  return newRow({ line: row.line, id: idOfRow(row), intent: oppositeOf(row) });
}

function oppositeOf(row: RunRow): Intent {
  const { intent, planned, outcome } = row;
  const { action = 'set', before = null, after = null } = planned ?? {};
  if (intent.kind === 'add')
    return { kind: 'add', change: -intent.change, created: action === 'create' ? after : undefined };
  if (action === 'create') return { kind: 'remove', created: outcome?.made?.value ?? after };
  return { kind: 'set', value: before, expected: after };
}

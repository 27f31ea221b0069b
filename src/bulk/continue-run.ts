import type { Context } from '../context.ts';
import type { Notice } from '../output/messages.ts';
import type { Output, PreparedCommand } from '../output/printer.ts';
import { UsageError } from '../process/errors.ts';
import { counted, groupDigits, minuteText } from '../process/text.ts';
import { carryOut, previewRun, type SessionFlags } from './carry-out.ts';
import {
  checkProfile,
  findRun,
  isUnfinished,
  listRuns,
  type RunInfo,
  type RunList,
  readHeader,
  runsOnTarget,
} from './list-runs.ts';
import { runError, toRunJson } from './report.ts';
import { reportView } from './report-output.ts';
import { isAppliedOrUncertain, isResumable, unfinishedCount } from './row.ts';
import { createRowView } from './row-view.ts';
import { areDisjoint, defaultFlags, type Run, runKinds } from './run.ts';
import { beginUndo, readSessionRuns, type SessionRuns } from './session-runs.ts';
import { findTarget, lockTarget, type TargetLock } from './target.ts';

type SessionVerb = 'resume' | 'undo';

/**
 * Prepares `resume` or `undo`. A dry run prints a plan, whose columns are those of the noun of the run, so it chooses the run at
 * once.
 *
 * @param runId by default the last run on the target.
 */
export async function prepareSession(
  context: Context,
  verb: SessionVerb,
  runId: string | undefined,
  flags: SessionFlags,
): Promise<PreparedCommand> {
  const target = await findTarget(context);
  if (!context.flags.dryRun)
    return {
      view: reportView,
      async run() {
        // A shard can only be named.
        const header =
          runId === undefined ? { name: verb, flags: defaultFlags } : await readHeader(context.io, runId);
        await using lock = await lockTarget(context, { ...header, target }, flags);
        const choice = await chooseRun(context, target, verb, runId);
        return await carryOutChoice(context, verb, choice, flags, lock);
      },
    };
  const choice = await chooseRun(context, target, verb, runId);
  return {
    view: createRowView(choice.info?.header.noun ?? 'inventory'),
    run: () => carryOutChoice(context, verb, choice, flags),
  };
}

/** The run that a command goes on with. */
interface Choice {
  /** Undefined if there is no run on the target. */
  readonly info?: RunInfo | undefined;
  /** The runs of the next session. Undefined if nothing is left to do. */
  readonly runs?: SessionRuns | undefined;
  /** If nothing is left to do, the last other run that can go on, unless the run was chosen by its id. */
  readonly other?: RunInfo | undefined;
}

/**
 * Chooses the run with this id, or else the last run on the target, whether it wrote or not, so that `undo` takes back no earlier
 * run by mistake.
 *
 * @throws UsageError if the run is of another target or profile, or cannot go on; CliError `usage` if its journal cannot be read.
 */
async function chooseRun(
  context: Context,
  target: string,
  verb: SessionVerb,
  runId: string | undefined,
): Promise<Choice> {
  const list = await listRuns(context.io);
  const onTarget = runsOnTarget(list, target);
  const info = runId === undefined ? lastRun(onTarget, verb) : findRun(list, runId);
  if (!info) return {};
  if (info.header.target !== target) throw otherTargetError(context, info);
  checkProfile(info, context.settings);
  const runs = await (verb === 'resume' ? readResumed(list, info) : findUndo(list, info, runId));
  if (runs) return { info, runs };
  const canGoOn = (run: RunInfo) =>
    verb === 'resume'
      ? isUnfinished(run) && !resumeRefusal(list, run)
      : run.appliedOrUncertain > 0 && runKinds[run.header.kind].canBeUndone && !run.undo;
  const other = runId === undefined ? onTarget.find((run) => run !== info && canGoOn(run)) : undefined;
  return { info: verb === 'undo' ? (info.undo ?? info) : info, other };
}

/** @throws UsageError if the last run is a shard: the others belong to it. */
function lastRun([last]: readonly RunInfo[], verb: SessionVerb): RunInfo | undefined {
  const shard = last?.header.flags.shard;
  if (!last || !shard) return last;
  throw new UsageError(
    `${verb}: the last run, ${last.id}, is shard ${shard.index}/${shard.count} of ${last.header.name}`,
    `name it, and the runs of the other shards: petstore ${verb} ${last.id}; \`petstore runs\` lists them`,
  );
}

function otherTargetError({ settings }: Context, { id, header: { target, profile } }: RunInfo): UsageError {
  return new UsageError(
    `run ${id} wrote to ${target}, and this command goes to another service`,
    profile === null || profile === settings.profile?.value
      ? 'give its --base-url, or --offline, and set its tenant'
      : `give --profile ${profile}`,
  );
}

/** Reads the run of a resume, unless it is finished. @throws UsageError if it must not be resumed. */
async function readResumed(list: RunList, info: RunInfo): Promise<SessionRuns | undefined> {
  const refusal = resumeRefusal(list, info);
  if (refusal) throw refusal;
  return isUnfinished(info) ? await readSessionRuns(list, info) : undefined;
}

/** Returns the error of a run that must not be resumed. */
function resumeRefusal(list: RunList, info: RunInfo): UsageError | undefined {
  const { id, header, undo, state, planNumber } = info;
  if (undo)
    return new UsageError(
      `resume ${id}: run ${undo.id} ${state === 'undone' ? 'has undone it' : 'has begun to undo it'}`,
      `apply the file again; to go on with an undo that has not ended: petstore undo ${id}`,
    );
  // A row that sets could replace a value of a later run. Without rows to settle, the session only writes the end of the journal.
  const { kind, flags } = header;
  const sets = runKinds[kind].operation === 'update' && header.undoes === null && !flags.relative;
  if (!sets || !isUnfinished(info) || unfinishedCount(info) === 0) return undefined;
  const later = runsOnTarget(list, header.target).find(
    (run) =>
      run.planNumber > planNumber &&
      run.header.noun === header.noun &&
      !areDisjoint(run.header.flags.shard, flags.shard),
  );
  if (!later) return undefined;
  return new UsageError(
    `resume ${id}: run ${later.id} (${later.header.name}) is later, and its values must not be replaced`,
    'apply the file again if it is still right',
  );
}

/**
 * Makes the undo of a run, or reads the undo that has begun, or returns undefined if there is nothing to take back.
 *
 * @throws UsageError if the run cannot be undone.
 */
async function findUndo(
  list: RunList,
  info: RunInfo,
  runId: string | undefined,
): Promise<SessionRuns | undefined> {
  const { id, header, state } = info;
  if (header.undoes !== null && runId !== undefined && state === 'finished')
    throw new UsageError(
      `undo ${id}: it is itself an undo, of run ${header.undoes}, and cannot be undone`,
      `apply the file of run ${header.undoes} again`,
    );
  if (header.kind === 'delete')
    throw new UsageError(
      `undo ${id}: it removed records, which cannot be undone`,
      `\`petstore runs show ${id} -o json\` prints its records for ${header.noun} create --from${header.noun === 'pets' ? '; _quantity is the count of each' : ''}`,
    );
  const undo = header.undoes === null ? info.undo : info;
  if (!undo)
    return info.appliedOrUncertain > 0 || isUnfinished(info) ? await beginUndo(list, info) : undefined;
  if (isUnfinished(undo)) return await readSessionRuns(list, undo);
  if (!list.runs.some((run) => run.id === undo.header.undoes)) return undefined;
  // Since then a person may have settled rows that the undo could not take back, or the reason may have passed.
  const runs = await readSessionRuns(list, undo);
  return runs.run.rows.some(isResumable) ? runs : undefined;
}

/** Carries out the session, or previews it without a lock, or says that there is nothing to do. */
async function carryOutChoice(
  context: Context,
  verb: SessionVerb,
  choice: Choice,
  flags: SessionFlags,
  lock?: TargetLock,
): Promise<Output> {
  const { runs } = choice;
  if (!runs) return nothingOutput(verb, choice, lock !== undefined);
  if (runs.undoneRun) await context.notice('summary', describeUndone(runs.undoneRun));
  return lock ? carryOut(context, runs, flags, lock) : previewRun(context, runs, flags, 'dry-run');
}

/** Says which run is undone. */
function describeUndone({ id, started = '', header, rows }: Run): string {
  const written = rows.filter(isAppliedOrUncertain).length;
  // The text of an editor is not a file with a name.
  const origin = header.kind === 'edit' ? 'edit' : `${header.kind} ${header.name}`;
  return `undoing ${id}: ${origin}, ${minuteText(started)}, ${groupDigits(written)} of ${counted(header.rows, 'row', 'rows')}`;
}

/** Says that there is nothing to do. The exit code repeats the end of the run. */
function nothingOutput(verb: SessionVerb, { info, other }: Choice, isWrite: boolean): Output {
  if (!info) {
    const note = `there is no run on this target: there is nothing to ${verb}`;
    return { kind: 'text', text: '', data: { rows: 0 }, notices: [['result', note]] };
  }
  const { undoes } = info.header;
  const isUndone = verb === 'undo' && undoes !== null;
  const state = verb === 'undo' && info.appliedOrUncertain === 0 ? 'has written nothing' : `is ${info.state}`;
  const fact = isUndone ? `run ${undoes} is undone` : `run ${info.id} ${state}`;
  const next = other
    ? `; the last other run is ${other.id} (${other.header.name}): petstore ${verb} ${other.id}`
    : '';
  const notices: readonly Notice[] = [['result', `${fact}: nothing is left to do${next}`]];
  return { kind: 'text', text: '', data: isWrite ? toRunJson(info) : [], notices, error: runError(info) };
}

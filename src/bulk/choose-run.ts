import { type CommandFlags, type Context, followUpCommand } from '../context.ts';
import { UsageError } from '../process/errors.ts';
import { isOpen, type RunList, requireReadableRuns, requireRun, runsOnTarget } from './list-runs.ts';
import {
  areDisjointShards,
  isSameTarget,
  openRowCount,
  type Run,
  runKinds,
  runName,
  setsValues,
  type Target,
  targetName,
} from './run.ts';
import { requireSameService } from './same-service.ts';

// Which run `resume` or `undo` means. It depends only on the runs of this user as they were listed.

export type ContinueVerb = 'resume' | 'undo';

/**
 * Chooses the run with this id. Without an id chooses the last run on the target, even if it wrote nothing: otherwise `undo` would
 * take back an earlier run by mistake. Returns undefined if there is none.
 *
 * @throws UsageError if the run is of another target or profile, or may not continue; CliError `usage` if its journal cannot be read.
 */
export async function chooseRun(
  context: Context,
  list: RunList,
  target: Target,
  verb: ContinueVerb,
  id: string | undefined,
): Promise<Run | undefined> {
  const [last] = runsOnTarget(list, target);
  const named = id === undefined ? last : requireRun(list, id);
  const undone = verb === 'undo' ? named?.header.undoes : undefined;
  if (id !== undefined && undone !== undefined && named && !isOpen(named))
    throw new UsageError(
      `undo ${id}: this run is itself an undo, of run ${undone}, and cannot be undone`,
      `apply its values again: \`petstore runs show ${undone}\` lists them`,
    );
  // An undo goes on as the undo of its run.
  const run = undone === undefined ? named : requireRun(list, undone);
  requireReadableRuns(list, target, run);
  if (!run) return undefined;
  const { header } = run;
  if (id === undefined && header.flags.shard)
    throw new UsageError(
      `${verb}: the last run, ${run.id}, is a shard, and each shard is a run of its own`,
      `name the run: ${followUpCommand(context, [verb, run.id])}`,
    );
  if (!isSameTarget(header.target, target))
    throw new UsageError(
      `run ${run.id} wrote to ${targetName(header.target)}, and this command goes to another service`,
      `give the --profile${header.profile === undefined ? '' : ` ${header.profile}`}, the --base-url or --offline of that run, and its tenant if it had one`,
    );
  requireSameService(run, context.settings, await context.contract());
  const refusal = verb === 'resume' ? resumeErrorOf(context, list, run) : undoErrorOf(context, run);
  if (refusal) throw refusal;
  return run;
}

/** Finds the newest other run on the same target that can be resumed, or undone. */
export function findOtherRun(
  context: CommandFlags,
  list: RunList,
  verb: ContinueVerb,
  run: Run,
): Run | undefined {
  const canContinue = (other: Run) => {
    if (verb === 'resume') return isOpen(other) && !resumeErrorOf(context, list, other);
    const canBeUndone = other.perhapsWrittenCount > 0 && runKinds[other.header.kind].canBeUndone;
    return canBeUndone && (!other.undo || isOpen(other.undo));
  };
  return runsOnTarget(list, run.header.target).find((other) => other !== run && canContinue(other));
}

function resumeErrorOf(context: CommandFlags, list: RunList, run: Run): UsageError | undefined {
  const { id, undo } = run;
  if (undo)
    return new UsageError(
      `resume ${id}: run ${undo.id} has begun to undo it`,
      `apply the file again; to continue an undo that has not ended: ${followUpCommand(context, ['undo', id])}`,
    );
  const laterRun = findLaterRun(list, run);
  if (!laterRun) return undefined;
  return new UsageError(
    `resume ${id}: run ${laterRun.id} (${runName(laterRun.header)}) came later, and a resume could replace what it wrote`,
    'if the file is still right, apply it again',
  );
}

/**
 * Finds a run of the noun that has planned later than a run that sets, and may have planned the same records. A run without open
 * rows goes on in any case: its next session only writes its rejects and its end.
 */
function findLaterRun(list: RunList, run: Run): Run | undefined {
  const { noun, target, flags } = run.header;
  if (!setsValues(run.header) || openRowCount(run) === 0) return undefined;
  return runsOnTarget(list, target).find(
    ({ planNumber, header }) =>
      planNumber > run.planNumber &&
      header.noun === noun &&
      !areDisjointShards(header.flags.shard, flags.shard),
  );
}

function undoErrorOf(context: CommandFlags, run: Run): UsageError | undefined {
  const { kind, noun } = run.header;
  if (runKinds[kind].canBeUndone || (run.perhapsWrittenCount === 0 && !isOpen(run))) return undefined;
  const createCommand = followUpCommand(context, [noun, 'create', '--from', '<file>']);
  const note = noun === 'pets' ? '; _quantity was the count of each pet' : '';
  return new UsageError(
    `undo ${run.id}: this run deletes records, which cannot be undone`,
    `\`petstore runs show ${run.id} -o json\` prints the removed records, and \`${createCommand}\` creates them again${note}`,
  );
}

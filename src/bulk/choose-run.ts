import { type Context, followUpCommand } from '../context.ts';
import { UsageError } from '../process/errors.ts';
import {
  findRun,
  isOpen,
  type ListedRun,
  type RunList,
  requireReadableRuns,
  runsOnTarget,
} from './list-runs.ts';
import { isSameTarget, runKinds, targetName } from './run.ts';
import { requireSameService } from './same-service.ts';
import { findTarget } from './target.ts';

// Which run `resume` or `undo` means. It depends only on the runs of this user as they were listed.

/** A command that continues a run. */
export type Verb = 'resume' | 'undo';

/**
 * Chooses the run with this id. Without an id chooses the last run on the target, even if it wrote nothing: otherwise `undo` would
 * take back an earlier run by mistake. Returns undefined if there is none.
 *
 * @throws UsageError if the run is of another target or profile, or may not continue; CliError `usage` if its journal cannot be read.
 */
export async function chooseRun(
  context: Context,
  list: RunList,
  verb: Verb,
  id: string | undefined,
): Promise<ListedRun | undefined> {
  const target = await findTarget(context);
  const [last] = runsOnTarget(list, target);
  const info = id === undefined ? last : findRun(list, id);
  if (!info) {
    requireReadableRuns(list, target, undefined);
    return undefined;
  }
  const { header } = info;
  if (id === undefined && header.flags.shard)
    throw new UsageError(
      `${verb}: the last run, ${info.id}, is a shard, and each shard is a run of its own`,
      `name the run: ${followUpCommand(context, [verb, info.id])}`,
    );
  if (!isSameTarget(header.target, target))
    throw new UsageError(
      `run ${info.id} wrote to ${targetName(header.target)}, and this command goes to another service`,
      'give the --profile, the --base-url or --offline of that run, and set its tenant',
    );
  requireReadableRuns(list, target, info);
  requireSameService(info, context.settings, await context.contract());
  const refusal = verb === 'resume' ? resumeRefusal(context, info) : undoRefusal(info, id);
  if (refusal) throw refusal;
  return info;
}

/** Finds the last other run on the target of a run that can be resumed or undone. */
export function findOtherRun(list: RunList, verb: Verb, info: ListedRun): ListedRun | undefined {
  const canContinue = (run: ListedRun) => {
    if (verb === 'resume') return isOpen(run) && !run.undo;
    const canBeUndone = run.perhapsWritten > 0 && runKinds[run.header.kind].canBeUndone;
    return canBeUndone && (!run.undo || isOpen(run.undo));
  };
  return runsOnTarget(list, info.header.target).find((run) => run !== info && canContinue(run));
}

/** Returns the error of a run that must not be resumed. */
function resumeRefusal(context: Context, { id, undo }: ListedRun): UsageError | undefined {
  if (!undo) return undefined;
  return new UsageError(
    `resume ${id}: run ${undo.id} has begun to undo it`,
    `apply the file again; to continue an undo that has not ended: ${followUpCommand(context, ['undo', id])}`,
  );
}

/** Returns the error of a run that cannot be undone. An undo that is finished is refused only if it was named. */
function undoRefusal({ id, header, state }: ListedRun, askedId: string | undefined): UsageError | undefined {
  const { kind, noun, undoes } = header;
  if (undoes !== undefined && askedId !== undefined && state === 'finished')
    return new UsageError(
      `undo ${id}: this run is itself an undo, of run ${undoes}, and cannot be undone`,
      `apply the file of run ${undoes} again`,
    );
  if (kind !== 'delete') return undefined;
  const stocks = noun === 'pets' ? '; _quantity was the count of each pet' : '';
  return new UsageError(
    `undo ${id}: this run removed records, which cannot be undone`,
    `\`petstore runs show ${id} -o json\` prints the removed records, and \`petstore ${noun} create --from\` creates them again${stocks}`,
  );
}

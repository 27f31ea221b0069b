import type { RunHeader } from '../../bulk/journal.ts';
import { type RunParts, undoOf } from '../../bulk/run.ts';
import type { RunInfo, RunStore } from '../../bulk/run-store.ts';
import { errorOf } from '../../bulk/summary.ts';
import { chooseResume, chooseUndo, type RunChoice } from '../../bulk/which-run.ts';
import type { Context } from '../../context.ts';
import { openSource } from '../../input/source.ts';
import { UsageError } from '../../process/errors.ts';
import type { WriteFlags } from './bulk-flags.ts';
import { runSession, runStore, targetHere } from './session.ts';

/** Finishes a run that stopped: the named one, or the last one on this target. */
export function resumeRun(context: Context, named: string | undefined, flags: WriteFlags): Promise<void> {
  return follow(context, flags, (runs, target) => chooseResume(runs, target, named));
}

/** Sets back what a run wrote, or goes on with that. */
export function undoRun(context: Context, named: string | undefined, flags: WriteFlags): Promise<void> {
  return follow(context, flags, (runs, target) => chooseUndo(runs, target, named));
}

async function follow(
  context: Context,
  flags: WriteFlags,
  choose: (runs: RunStore, target: string) => Promise<RunChoice>,
): Promise<void> {
  await context.client('bulk');
  const runs = runStore(context);
  const here = await targetHere(context);
  const choice = await choose(runs, here);
  if (choice.go === 'nothing') return reportNothing(context, choice.info);
  const { go, info } = choice;
  const { header } = info;
  checkTarget(header, here);
  const held = go === 'undo' ? { ...header, name: `undo of ${header.run}` } : header;
  await runSession(context, held, flags, async () => {
    // Another process may have gone on with the run meanwhile, or begun to undo it.
    const chooseAgain = go === 'undo' ? chooseUndo : chooseResume;
    return toParts(context, runs, await chooseAgain(runs, here, header.run));
  });
}

/** Undefined if nothing is left to do, which it says. */
async function toParts(
  context: Context,
  runs: RunStore,
  { go, info }: RunChoice,
): Promise<RunParts | undefined> {
  if (go === 'nothing') {
    await reportNothing(context, info);
    return undefined;
  }
  const { run, file, name } = info.header;
  const image = await runs.read(run);
  if (go === 'undo') return undoOf(image);
  if (image.end && image.rows.countLeft() === 0) {
    await reportNothing(context, info);
    return undefined;
  }
  await context.warn(`resuming run ${run} of ${name}`);
  // The input is only wanted for the columns of the rejects.
  const source = file === null ? undefined : await openSource(context.io, file).catch(() => undefined);
  return { ...image, earlier: image, source: source && { ...source, name } };
}

/** Says that nothing is left to do. @throws CliError with the exit code of the run */
async function reportNothing(context: Context, info: RunInfo | undefined): Promise<void> {
  if (!info) return context.print('no run on this target: there is nothing to resume');
  const { header, counts, left } = info;
  const { run, kind, rows, flags, undoes } = header;
  await context.print(`run ${run} is ${info.state}: nothing is left to do`);
  const error = errorOf({
    ...counts,
    kind,
    name: undoes ?? header.name,
    rows,
    retryable: left > 0,
    isRelative: flags.relative,
    stop: undefined,
  });
  if (error) throw error;
}

/** A run can only be resumed or undone on its own target. @throws UsageError on any other */
function checkTarget({ run, target }: RunHeader, here: string): void {
  if (here === target) return;
  throw new UsageError(
    `run ${run} wrote to ${target}, and this command goes to ${here}`,
    target.startsWith('offline:')
      ? 'give --offline, with PETSTORE_OFFLINE_STORE if the store is not the usual one'
      : `give --base-url ${target}, or --profile with the profile of that run`,
  );
}

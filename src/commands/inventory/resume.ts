import type { RunHeader } from '../../bulk/journal.ts';
import { undoOf } from '../../bulk/run.ts';
import type { RunInfo } from '../../bulk/run-store.ts';
import { errorOf } from '../../bulk/summary.ts';
import { checkNotUndone, chooseResume, chooseUndo, type RunChoice } from '../../bulk/which-run.ts';
import type { Context } from '../../context.ts';
import { openSource } from '../../input/source.ts';
import { UsageError } from '../../process/errors.ts';
import type { WriteFlags } from './bulk-flags.ts';
import { dryRun, holdTargetOf, runSession, runStore, targetHere } from './session.ts';

/** Finishes a run that stopped: the named one, or the last one on this target. */
export async function resumeRun(
  context: Context,
  named: string | undefined,
  flags: WriteFlags,
): Promise<void> {
  await context.client('bulk');
  await follow(context, await chooseResume(runStore(context), await targetHere(context), named), flags);
}

/** Sets back what a run wrote, or goes on with that. */
export async function undoRun(context: Context, named: string | undefined, flags: WriteFlags): Promise<void> {
  await context.client('bulk');
  await follow(context, await chooseUndo(runStore(context), await targetHere(context), named), flags);
}

async function follow(context: Context, choice: RunChoice, flags: WriteFlags): Promise<void> {
  if (choice.go === 'nothing') return reportNothing(context, choice.info);
  const { go, info } = choice;
  await checkTarget(context, info.header);
  if (go === 'undo') await startUndo(context, info.header, flags);
  else await goOn(context, info.header, flags);
}

async function startUndo(context: Context, header: RunHeader, flags: WriteFlags): Promise<void> {
  const runs = runStore(context);
  const read = async () => undoOf(await runs.read(header.run));
  if (context.flags.dryRun) return dryRun(context, await read(), flags);
  await holdTargetOf(context, { ...header, name: `undo of ${header.run}` }, flags, async (nameRun) => {
    // Another process may have begun meanwhile to undo it.
    const choice = await chooseUndo(runs, header.target, header.run);
    if (choice.go === 'nothing') return reportNothing(context, choice.info);
    if (choice.go === 'resume') return goOnHeld(context, choice.info.header, flags, nameRun);
    await runSession(context, await read(), flags, nameRun);
  });
}

async function goOn(context: Context, header: RunHeader, flags: WriteFlags): Promise<void> {
  if (context.flags.dryRun) return goOnHeld(context, header, flags);
  await holdTargetOf(context, header, flags, (nameRun) => goOnHeld(context, header, flags, nameRun));
}

/** @param nameRun undefined for --dry-run. */
async function goOnHeld(
  context: Context,
  { run, file, name }: RunHeader,
  flags: WriteFlags,
  nameRun?: (run: string) => Promise<void>,
): Promise<void> {
  const runs = runStore(context);
  const image = await runs.read(run);
  const info = (await runs.onTarget(image.header.target)).find(({ header }) => header.run === run);
  if (info) checkNotUndone(info);
  if (image.end && image.rows.countLeft() === 0) return reportNothing(context, info);
  await nameRun?.(run);
  await context.warn(`resuming run ${run} of ${name}`);
  // The input is only wanted for the columns of the rejects.
  const source = file === null ? undefined : await openSource(context.io, file).catch(() => undefined);
  try {
    const parts = { ...image, earlier: image, source: source && { ...source, name } };
    await (nameRun ? runSession(context, parts, flags, nameRun) : dryRun(context, parts, flags));
  } finally {
    await source?.close();
  }
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
async function checkTarget(context: Context, { run, target }: RunHeader): Promise<void> {
  const here = await targetHere(context);
  if (here === target) return;
  throw new UsageError(
    `run ${run} wrote to ${target}, and this command goes to ${here}`,
    target.startsWith('offline:')
      ? 'give --offline, with PETSTORE_OFFLINE_STORE if the store is not the usual one'
      : `give --base-url ${target}, or --profile with the profile of that run`,
  );
}

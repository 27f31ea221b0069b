import { errorOf } from '../bulk/report.ts';
import type { RunParts } from '../bulk/run.ts';
import type { RunInfo, RunStore } from '../bulk/run-store.ts';
import {
  chooseResume,
  chooseUndo,
  type RunChoice,
  resumeOf,
  undoOf,
  withOtherRuns,
} from '../bulk/which-run.ts';
import { argument } from '../cli/flag.ts';
import { action } from '../cli/verb.ts';
import type { Context } from '../context.ts';
import { openSource } from '../input/source.ts';
import { UsageError } from '../process/errors.ts';
import { type ApplyFlags, resumeFlags, undoFlags } from './run-flags.ts';
import { originalOfRun } from './run-input.ts';
import { lockTarget, runSession, runStore, targetHere } from './run-session.ts';

const args = {
  run: argument('[run]', 'its id, such as r7 (default: the last run on this service)', { offers: 'run' }),
};

export const resume = action({
  description:
    'Continues a run that was stopped or killed: reads the records of the rows that are left, compares them with the plan, asks, and writes what is missing. It needs no file.',
  write: 'planned',
  examples: ['petstore resume', 'petstore resume r7'],
  args,
  flags: resumeFlags,
  run: (context, { run, ...flags }) => follow(context, 'resume', run, flags),
});

export const undo = action({
  description:
    'Takes back what a run wrote. What was set is set back if it is still as the run left it; what was added gets the opposite, so that sales in between stay; entries that the run created are removed. What somebody has changed since is left alone and reported. An undo that stopped goes on if it is started again.',
  write: 'planned',
  examples: ['petstore undo', 'petstore undo r7 --dry-run'],
  args,
  flags: undoFlags,
  run: (context, { run, ...flags }) => follow(context, 'undo', run, flags),
});

/** Finishes a run that stopped, or sets back what a run wrote: the named one, or the last one on this target. */
async function follow(
  context: Context,
  verb: 'resume' | 'undo',
  named: string | undefined,
  flags: ApplyFlags,
): Promise<void> {
  const choose = verb === 'resume' ? chooseResume : chooseUndo;
  const runs = runStore(context);
  const target = await targetHere(context);
  const first = await choose(runs, target, named);
  if (first.go === 'nothing') return reportNothing(context, first.info);
  const { header } = first.info;
  checkTarget(first.info, target);
  const name = first.go === 'undo' ? `undo of ${header.run}` : header.name;
  const lock = await lockTarget(context, { ...header, name }, flags);
  try {
    // Another process may have gone on with the run meanwhile, or begun to undo it.
    const run = verb === 'undo' ? (header.undoes ?? header.run) : header.run;
    const choice = await choose(runs, target, run);
    if (choice.go === 'nothing') return await reportNothing(context, choice.info);
    const parts = await partsOf(context, runs, choice, flags);
    if (choice.go === 'undo' && parts.rows.length === 0)
      return await context.print(`run ${header.run} wrote nothing: there is nothing to undo`);
    await runSession(context, parts, flags, lock);
  } finally {
    await lock.release();
  }
}

async function partsOf(
  context: Context,
  runs: RunStore,
  { go, info }: RunChoice & { readonly info: RunInfo },
  flags: ApplyFlags,
): Promise<RunParts> {
  const { run, undoes, name, file } = info.header;
  const image = await runs.read(run);
  if (go === 'undo') return withOtherRuns(runs, undoOf(image), image);
  await context.warn(`resuming run ${run} of ${undoes === null ? name : `the undo of ${undoes}`}`);
  const past = undoes === null ? undefined : await runs.read(undoes);
  // The input is only wanted for the columns of the rejects.
  const source = file === null ? undefined : await openSource(context.io, file).catch(() => undefined);
  const original = source && (await originalOfRun(context, image.header, source).catch(() => undefined));
  return withOtherRuns(runs, { ...resumeOf(image, flags.createMissing), again: original }, past);
}

/** Says that nothing is left to do. @throws CliError with the exit code of the run */
async function reportNothing(context: Context, info: RunInfo | undefined): Promise<void> {
  if (!info) return context.print('no run on this target: there is nothing to resume');
  const { header, counts, left } = info;
  const { run, kind, rows, flags, undoes, name } = header;
  await context.print(`run ${run} is ${info.state}: nothing is left to do`);
  const error = errorOf({
    ...counts,
    ...{ kind, name: undoes ?? name, rows },
    retryable: left > 0,
    isRelative: flags.relative,
    stop: undefined,
  });
  if (error) throw error;
}

/** A run can only be resumed or undone on its own target. @throws UsageError on any other */
function checkTarget({ header: { run, target } }: RunInfo, here: string): void {
  if (here === target) return;
  throw new UsageError(
    `run ${run} wrote to ${target}, and this command goes to ${here}`,
    target.startsWith('offline:')
      ? 'give --offline, with PETSTORE_OFFLINE_STORE if the store is not the usual one'
      : `give --base-url ${target}, or --profile with the profile of that run`,
  );
}

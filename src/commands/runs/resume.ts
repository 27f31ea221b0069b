import { countLayout } from '../../bulk/count-layout.ts';
import { markByOtherRuns } from '../../bulk/other-runs.ts';
import { toRunError } from '../../bulk/report.ts';
import { type Run, toResumedRun, toUndoRun } from '../../bulk/run.ts';
import type { RunHeader } from '../../bulk/run-header.ts';
import { listRuns, type RunInfo, type RunList, readRun, runFolderOf } from '../../bulk/run-store.ts';
import { chooseResume, chooseUndo, type RunChoice } from '../../bulk/which-run.ts';
import { argument } from '../../cli/flag.ts';
import { action } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { openInputFile } from '../../input/input-file.ts';
import { UsageError } from '../../process/errors.ts';
import { parseRunId } from '../arguments.ts';
import { type ApplyFlags, resumeFlags, runGuards, runPace, undoFlags } from './run-flags.ts';
import { findTarget, lockTarget, previewRun, runSession, runView } from './run-session.ts';

const args = {
  run: argument('[run]', 'its id, such as r7 (default: the last run on this service)', {
    parse: parseRunId,
    offers: 'run',
  }),
};

export const resume = action({
  description:
    'Continues a run that was stopped or killed: reads the records of the rows that are left, compares them with the plan, asks, and writes what is missing. It needs no file.',
  write: 'planned',
  examples: ['petstore resume', 'petstore resume r7'],
  args,
  flags: resumeFlags,
  view: (context, { run }) => viewOf(context, 'resume', run),
  run: (context, { run, ...flags }) => resumeOrUndo(context, 'resume', run, flags),
});

export const undo = action({
  description:
    'Takes back what a run wrote. It sets back each value that is still as the run left it, adds the opposite of what the run added, so that sales in between stay, and removes entries that the run created. It leaves alone and reports what somebody has changed since. An undo that stopped goes on if it is started again.',
  write: 'planned',
  examples: ['petstore undo', 'petstore undo r7 --dry-run'],
  args,
  flags: undoFlags,
  view: (context, { run }) => viewOf(context, 'undo', run),
  run: (context, { run, ...flags }) => resumeOrUndo(context, 'undo', run, flags),
});

/** Returns the columns of the run that a command chooses. */
async function viewOf(context: Context, verb: keyof typeof choices, runId: string | undefined) {
  const { info } = choices[verb](await listRuns(runFolderOf(context.io)), await findTarget(context), runId);
  return runView(context, info?.header.noun ?? 'inventory');
}

const choices = { resume: chooseResume, undo: chooseUndo };

/** Continues or takes back a run: the run with this id, or else the last run on the target. */
async function resumeOrUndo(
  context: Context,
  verb: keyof typeof choices,
  runId: string | undefined,
  flags: ApplyFlags,
): Promise<void> {
  const choose = choices[verb];
  const folder = runFolderOf(context.io);
  const target = await findTarget(context);
  const firstChoice = choose(await listRuns(folder), target, runId);
  if (firstChoice.action === 'nothing') return reportNothing(context, firstChoice.info);
  const { id, header } = firstChoice.info;
  checkTarget(firstChoice.info, target);
  const name = firstChoice.action === 'undo' ? `undo of ${id}` : header.name;
  const lock = context.flags.dryRun ? undefined : await lockTarget(context, { ...header, name }, flags);
  try {
    // Before the lock was taken, another process may have continued the run, or begun to undo it.
    const list = await listRuns(folder);
    const choice = choose(list, target, verb === 'undo' ? (header.undoes ?? id) : id);
    if (choice.action === 'nothing') return await reportNothing(context, choice.info);
    const run = await openRun(context, list, choice, flags);
    if (choice.action === 'undo' && run.rows.length === 0)
      return await context.print(`run ${id} wrote nothing: there is nothing to undo`);
    await (lock ? runSession(context, run, flags, lock) : previewRun(context, run, 'dry run'));
  } finally {
    await lock?.release();
  }
}

/** Makes a run of a choice. The flags of the command override the flags of the run. */
async function openRun(
  context: Context,
  list: RunList,
  { action, info }: RunChoice & { readonly info: RunInfo },
  flags: ApplyFlags,
): Promise<Run> {
  const journal = await readRun(list.folder, info.id);
  const { undoes, name } = info.header;
  const run = action === 'undo' ? toUndoRun(journal) : toResumedRun(journal, flags.createMissing);
  if (action === 'resume')
    await context.warn(`resuming run ${info.id} of ${undoes === null ? name : `the undo of ${undoes}`}`);
  const undoneRun =
    action === 'undo' ? journal : undoes === null ? undefined : await readRun(list.folder, undoes);
  await markByOtherRuns(list, run, undoneRun);
  const { pace, guards } = run.header;
  const header = { ...run.header, pace: runPace(context, pace), guards: runGuards(flags, guards) };
  return { ...run, header, input: await reopenInput(context, header) };
}

/** Opens the input of a run of counts again, for the columns of its rejects. Undefined if it cannot be read. */
async function reopenInput({ io }: Context, { noun, file, name, flags }: RunHeader): Promise<Run['input']> {
  if (noun !== 'inventory' || file === null) return undefined;
  const inputFile = await openInputFile(io, file).catch(() => undefined);
  return inputFile && { inputFile: { ...inputFile, name }, layout: countLayout(flags) };
}

/** Prints that nothing is left to do. @throws CliError with the exit code of the run. */
async function reportNothing(context: Context, info: RunInfo | undefined): Promise<void> {
  if (!info) return context.print('no run on this target: there is nothing to resume');
  await context.print(`run ${info.id} is ${info.state}: nothing is left to do`);
  const error = toRunError(info.header, info.counts, info.left > 0);
  if (error) throw error;
}

/** Checks that the command writes to the target of the run. @throws UsageError if not. */
function checkTarget({ id, header: { target } }: RunInfo, commandTarget: string): void {
  if (commandTarget === target) return;
  throw new UsageError(
    `run ${id} wrote to ${target}, and this command goes to ${commandTarget}`,
    target.startsWith('offline:')
      ? 'give --offline, with PETSTORE_OFFLINE_STORE if the store is not the usual one'
      : `give --base-url ${target}, or --profile with the profile of that run`,
  );
}

import { type Context, followUpCommand } from '../context.ts';
import type { Output, PreparedCommand } from '../output/printer.ts';
import { UsageError } from '../process/errors.ts';
import { counted, groupDigits, minuteText } from '../process/text.ts';
import { carryOut, runView, type SessionFlags, type SessionMode, sessionMode } from './carry-out.ts';
import { chooseResume, chooseUndo, type RunChoice, readSessionRuns } from './choose-run.ts';
import { checkProfile, listRuns, type RunList } from './list-runs.ts';
import { runError, toRunJson } from './report.ts';
import { reportView } from './report-output.ts';
import { isAppliedOrUncertain, isSettledByResume } from './row.ts';
import type { Run } from './run.ts';
import { findTarget, lockTarget, type TargetLock } from './target.ts';

const choices = { resume: chooseResume, undo: chooseUndo };
type SessionVerb = keyof typeof choices;

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
  if (sessionMode(context) === 'write')
    return { view: reportView, run: () => writeChosen(context, verb, runId, flags) };
  const choice = await chooseRun(context, verb, runId);
  const noun = choice.info?.header.noun ?? 'inventory';
  return { view: runView(context, noun), run: () => carryOutChoice(context, verb, choice, flags) };
}

type ListedChoice = RunChoice & { readonly list: RunList };

/** Chooses the run with this id, or else the last run on the target. @throws UsageError if it is of another target or profile. */
async function chooseRun(
  context: Context,
  verb: SessionVerb,
  runId: string | undefined,
): Promise<ListedChoice> {
  const target = await findTarget(context);
  const list = await listRuns(context.io);
  const choice = await choices[verb](list, target, runId);
  const { info } = choice;
  if (info && info.header.target !== target)
    throw new UsageError(
      `run ${info.id} wrote to ${info.header.target}, and this command goes to another service`,
      info.header.profile === null
        ? 'give --base-url or --offline as for that run'
        : `give --profile ${info.header.profile}`,
    );
  if (info) checkProfile(info, context.settings);
  return { ...choice, list };
}

async function writeChosen(
  context: Context,
  verb: SessionVerb,
  runId: string | undefined,
  flags: SessionFlags,
): Promise<Output> {
  const choice = await chooseRun(context, verb, runId);
  if (choice.kind === 'nothing') return await carryOutChoice(context, verb, choice, flags);
  await using lock = await lockTarget(context, choice.info.header, flags);
  // Before the lock was taken, another process may have continued the run, or begun to undo it.
  return await carryOutChoice(context, verb, await chooseRun(context, verb, runId), flags, lock);
}

async function carryOutChoice(
  context: Context,
  verb: SessionVerb,
  choice: ListedChoice,
  flags: SessionFlags,
  lock?: TargetLock,
): Promise<Output> {
  const mode = sessionMode(context);
  if (choice.kind === 'nothing') return nothingOutput(verb, choice, mode);
  const chosen = await readSessionRuns(choice.list, choice);
  if (chosen.undone) await context.printSummary(describeUndone(chosen.undone));
  const doubtful = choice.kind === 'undo' ? (chosen.undone?.rows.filter(isSettledByResume).length ?? 0) : 0;
  if (doubtful > 0)
    await context.printSummary(
      `note: ${counted(doubtful, 'row', 'rows')} may have been written, and an undo leaves such rows alone; to settle them first: ${followUpCommand(context, ['resume', choice.info.id])}`,
    );
  return await carryOut(context, chosen, flags, mode, lock);
}

/** Says which run is undone. */
function describeUndone({ id, started = '', header, rows }: Run): string {
  const written = rows.filter(isAppliedOrUncertain).length;
  // The text of an editor is not a file with a name.
  const what = header.kind === 'edit' ? 'edit' : `${header.kind} ${header.name}`;
  return `undoing ${id}: ${what}, ${minuteText(started)}, ${groupDigits(written)} of ${counted(header.rows, 'row', 'rows')}`;
}

/** Says that nothing is left to do. The exit code is that of the run. */
function nothingOutput(
  verb: SessionVerb,
  { info, other }: Extract<RunChoice, { kind: 'nothing' }>,
  mode: SessionMode,
): Output {
  if (!info) {
    const note = `there is no run on this target: there is nothing to ${verb}`;
    return { documents: [{ rows: 0 }], text: '', notes: [note] };
  }
  const { undoes } = info.header;
  const isUndone = verb === 'undo' && undoes !== null;
  const state = verb === 'undo' && info.appliedOrUncertain === 0 ? 'has written nothing' : `is ${info.state}`;
  const fact = isUndone ? `run ${undoes} is undone` : `run ${info.id} ${state}`;
  const next = other
    ? `; the last other run is ${other.id} (${other.header.name}): petstore ${verb} ${other.id}`
    : '';
  const ending = { text: '', notes: [`${fact}: nothing is left to do${next}`], error: runError(info) };
  return mode === 'write'
    ? { documents: [toRunJson(info)], ...ending }
    : { documents: [], asList: true, ...ending };
}

import { carryOut, runView, type SessionFlags, type SessionMode, sessionMode } from '../../bulk/carry-out.ts';
import { chooseResume, chooseUndo, type RunChoice, readChosenRun } from '../../bulk/choose-run.ts';
import { checkProfile, listRuns, type RunList } from '../../bulk/list-runs.ts';
import { runError, toRunJson } from '../../bulk/report.ts';
import { isAppliedOrUncertain, isForPerson } from '../../bulk/row-state.ts';
import type { Run, RunRow } from '../../bulk/run.ts';
import { findTarget, lockTarget, type TargetLock } from '../../bulk/target.ts';
import { argument } from '../../cli/flag.ts';
import { action } from '../../cli/verb.ts';
import { type Context, followUpCommand } from '../../context.ts';
import type { Output } from '../../output/printer.ts';
import { UsageError } from '../../process/errors.ts';
import { counted, groupDigits, minuteText } from '../../process/text.ts';
import { parseRunId, resumeFlags } from '../shared-flags.ts';

const args = {
  run: argument('[run]', 'its id, such as r7 (default: the last run on this service)', {
    parse: parseRunId,
    offers: 'run',
  }),
};

const choices = { resume: chooseResume, undo: chooseUndo };

export const resume = sessionVerb(
  'resume',
  'Continues a run that was stopped or killed: reads the records of the rows that are left, compares them with the plan, asks, and writes what is missing. It needs no file.',
  ['petstore resume', 'petstore resume r7'],
);

export const undo = sessionVerb(
  'undo',
  'Takes back what a run wrote. It sets back each value that is still as the run left it, adds the opposite of what the run added, so that sales in between stay, and removes records that the run created. It leaves alone and reports what somebody has changed since. An undo that stopped goes on if it is started again. Only runs can be undone, not commands with ids.',
  ['petstore undo', 'petstore undo r7 --dry-run'],
);

function sessionVerb(verb: keyof typeof choices, description: string, examples: readonly string[]) {
  return action({
    description,
    write: 'run',
    examples,
    args,
    flags: resumeFlags,
    prepare: async (context, { run, ...flags }) => {
      const choose = () => chooseRun(context, verb, run);
      if (sessionMode(context) === 'write')
        return { view: runView(context, 'inventory'), run: () => writeChosen(context, verb, choose, flags) };
      const choice = await choose();
      const noun = choice.info?.header.noun ?? 'inventory';
      return { view: runView(context, noun), run: () => carryOutChoice(context, verb, choice, flags) };
    },
  });
}

type ListedChoice = RunChoice & { readonly list: RunList };

/** Chooses the run with this id, or else the last run on the target. @throws UsageError if it is of another target or profile. */
async function chooseRun(
  context: Context,
  verb: keyof typeof choices,
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
  verb: keyof typeof choices,
  choose: () => Promise<ListedChoice>,
  flags: SessionFlags,
): Promise<Output> {
  const choice = await choose();
  if (choice.kind === 'nothing') return await carryOutChoice(context, verb, choice, flags);
  await using lock = await lockTarget(context, choice.info.header, flags);
  // Before the lock was taken, another process may have continued the run, or begun to undo it.
  return await carryOutChoice(context, verb, await choose(), flags, lock);
}

async function carryOutChoice(
  context: Context,
  verb: keyof typeof choices,
  choice: ListedChoice,
  flags: SessionFlags,
  lock?: TargetLock,
): Promise<Output> {
  const mode = sessionMode(context);
  if (choice.kind === 'nothing') return nothingOutput(verb, choice, mode);
  const chosen = await readChosenRun(choice.list, choice);
  if (chosen.undone) await context.printSummary(describeUndone(chosen.undone));
  const isSettledByResume = (row: RunRow) =>
    row.doubt !== undefined && row.intent.kind !== 'create' && !isForPerson(row);
  const doubtful = choice.kind === 'undo' ? (chosen.undone?.rows.filter(isSettledByResume).length ?? 0) : 0;
  if (doubtful > 0)
    await context.printSummary(
      `note: ${counted(doubtful, 'row', 'rows')} may have been written, and an undo leaves them alone; to settle them first: ${followUpCommand(context, ['resume', choice.info.id])}`,
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
  verb: keyof typeof choices,
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

import { type CommandFlags, type Context, followUpCommand } from '../context.ts';
import type { View } from '../output/columns.ts';
import type { Notice } from '../output/messages.ts';
import type { Output } from '../output/printer.ts';
import { countText, groupDigits, minuteText } from '../process/text.ts';
import { type ContinueVerb, chooseRun, findOtherRun } from './choose-run.ts';
import { listRuns, readHeader } from './list-runs.ts';
import { runErrorOf, toRunJson } from './report.ts';
import { openRowCount, type Run, type RunLog, rowCountOf, runName } from './run.ts';
import { needsPlan } from './run-row.ts';
import { runSession, type SessionFlags, type SessionMode, sessionMode, sessionView } from './session.ts';
import { readNextRuns, shardOfUndo } from './session-runs.ts';
import { lockTarget, requireTarget } from './target.ts';

/** Returns the columns of `resume` or `undo`. A dry run prints a plan, whose columns are those of the records of the run. */
export async function nextSessionView(
  context: Context,
  verb: ContinueVerb,
  id: string | undefined,
): Promise<View<object>> {
  const isPlan = sessionMode(context) !== 'write';
  const run = isPlan
    ? await chooseRun(context, await listRuns(context.io), await requireTarget(context), verb, id)
    : undefined;
  return sessionView(context, run?.header.noun ?? 'inventory');
}

/**
 * Finds the run and carries out its next session, or says that there is nothing to do.
 *
 * @param id the id of the run. By default it is the last run on the target.
 */
export async function continueRun(
  context: Context,
  verb: ContinueVerb,
  id: string | undefined,
  flags: SessionFlags,
): Promise<Output> {
  const mode = sessionMode(context);
  const target = await requireTarget(context);
  // A run of a shard must be named, so a command without an id locks the whole target.
  const header = id === undefined ? undefined : await readHeader(context.io, id);
  const { name = verb, flags: { shard } = {} } = header ?? {};
  const locked = { target, name, flags: { shard: header && verb === 'undo' ? shardOfUndo(header) : shard } };
  using _lock = mode === 'write' ? await lockTarget(context, locked, flags) : undefined;
  const list = await listRuns(context.io);
  const run = await chooseRun(context, list, target, verb, id);
  if (!run) {
    const note = `there is no run on this service, so there is nothing to ${verb}: only inventory apply, inventory edit and commands with --from make runs`;
    return { kind: 'text', text: '', data: { rows: 0 }, notices: [['summary', note]] };
  }
  const runs = await readNextRuns(list, verb, run);
  if (!runs) {
    const other = id === undefined ? findOtherRun(context, list, verb, run) : undefined;
    return nothingOutput(context, verb, run, other, mode);
  }
  await context.notice('summary', continuationText(verb, run, runs.log));
  // Awaited, because the lock is released at the end of this function.
  return await runSession(context, runs, flags, mode);
}

/** Says which run an undo takes back, or a resume goes on with, and how many of its rows are left to do. */
function continuationText(verb: ContinueVerb, run: Run, { rows }: RunLog): string {
  const { id, started, header, counts } = run;
  const isUndo = verb === 'undo';
  // The text of an editor is not a file with a name.
  const origin = header.kind === 'edit' ? 'edit' : `${header.kind} ${header.name}`;
  const rowCount = isUndo ? rows.filter(needsPlan).length : openRowCount(run);
  return `${isUndo ? 'undoing' : 'resuming'} ${id}: ${origin}, ${minuteText(started)}, ${groupDigits(rowCount)} of ${countText(rowCountOf(counts), 'row', 'rows')}`;
}

/** Says that nothing is left to do in a run. The exit code is that of the run. */
function nothingOutput(
  context: CommandFlags,
  verb: ContinueVerb,
  run: Run,
  other: Run | undefined,
  mode: SessionMode,
): Output {
  const ended = verb === 'undo' ? run.undo : run;
  const state = ended ? `is ${run.state}` : 'has written nothing';
  const next = other
    ? `; the last other run is ${other.id} (${runName(other.header)}): ${followUpCommand(context, [verb, other.id])}`
    : '';
  // If an undo has nothing to do, the run itself has already reported its failures.
  const notices: readonly Notice[] = [['summary', `run ${run.id} ${state}: nothing is left to do${next}`]];
  return {
    kind: 'text',
    text: '',
    data: mode === 'write' ? toRunJson(ended ?? run) : [],
    notices,
    error: ended && runErrorOf(ended, undefined, `see its rows with \`petstore runs show ${ended.id}\``),
  };
}

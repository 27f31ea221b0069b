import { type Context, followUpCommand } from '../context.ts';
import type { View } from '../output/columns.ts';
import type { Notice } from '../output/messages.ts';
import type { Output } from '../output/printer.ts';
import { countText, groupDigits, minuteText } from '../process/text.ts';
import { chooseRun, findOtherRun, type Verb } from './choose-run.ts';
import { type ListedRun, listRuns, readHeader } from './list-runs.ts';
import { runError, toRunJson } from './report.ts';
import type { Run } from './run.ts';
import { isPerhapsWritten } from './run-row.ts';
import { runSession, type SessionFlags, type SessionMode, sessionMode, sessionView } from './session.ts';
import { readNextRuns, shardOfUndo } from './session-runs.ts';
import { findTarget, lockTarget } from './target.ts';

/** Returns the columns of `resume` or `undo`. A dry run prints a plan, whose columns are those of the records of the run. */
export async function nextSessionView(
  context: Context,
  verb: Verb,
  id: string | undefined,
): Promise<View<object>> {
  const isPlan = sessionMode(context) !== 'write';
  const info = isPlan ? await chooseRun(context, await listRuns(context.io), verb, id) : undefined;
  return sessionView(context, info?.header.noun ?? 'inventory');
}

/**
 * Finds the run and carries out its next session, or says that there is nothing to do.
 *
 * @param id the id of the run. By default it is the last run on the target.
 */
export async function continueRun(
  context: Context,
  verb: Verb,
  id: string | undefined,
  flags: SessionFlags,
): Promise<Output> {
  const mode = sessionMode(context);
  const target = await findTarget(context);
  // A run of a shard must be named, so a command without an id locks the whole target.
  const header = id === undefined ? undefined : await readHeader(context.io, id);
  const { name = verb, flags: { shard } = {} } = header ?? {};
  const locked = { target, name, flags: { shard: header && verb === 'undo' ? shardOfUndo(header) : shard } };
  using _lock = mode === 'write' ? await lockTarget(context, locked, flags) : undefined;
  const list = await listRuns(context.io);
  const info = await chooseRun(context, list, verb, id);
  if (!info) {
    const note = `there is no run on this service, so there is nothing to ${verb}: only inventory apply, inventory edit and commands with --from make runs`;
    return { kind: 'text', text: '', data: { rows: 0 }, notices: [['summary', note]] };
  }
  const runs = await readNextRuns(list, verb, info);
  if (!runs) {
    const other = id === undefined ? findOtherRun(list, verb, info) : undefined;
    const ended = verb === 'undo' ? (info.undo ?? info) : info;
    return nothingOutput(context, verb, ended, other, mode);
  }
  if (runs.undoneRun) await context.notice('summary', undoneText(runs.undoneRun));
  // Awaited, because the lock is released at the end of this function.
  return await runSession(context, runs, flags, mode);
}

/** Says first what an undo takes back. */
function undoneText({ id, started = '', header, rows }: Run): string {
  const written = rows.filter(isPerhapsWritten).length;
  // The text of an editor is not a file with a name.
  const origin = header.kind === 'edit' ? 'edit' : `${header.kind} ${header.name}`;
  return `undoing ${id}: ${origin}, ${minuteText(started)}, ${groupDigits(written)} of ${countText(header.rows, 'row', 'rows')}`;
}

/** Says that nothing is left to do in a run. The exit code repeats its end. */
function nothingOutput(
  context: Context,
  verb: Verb,
  info: ListedRun,
  other: ListedRun | undefined,
  mode: SessionMode,
): Output {
  const { undoes } = info.header;
  const isUndone = verb === 'undo' && undoes !== undefined;
  const state = verb === 'undo' && info.perhapsWritten === 0 ? 'has written nothing' : `is ${info.state}`;
  const fact = isUndone ? `run ${undoes} is undone` : `run ${info.id} ${state}`;
  const next = other
    ? `; the last other run is ${other.id} (${other.header.name}): ${followUpCommand(context, [verb, other.id])}`
    : '';
  // If an undo has nothing to do, the run itself has already reported its failures.
  const error = verb === 'undo' && undoes === undefined ? undefined : runError(info);
  const notices: readonly Notice[] = [['summary', `${fact}: nothing is left to do${next}`]];
  return {
    kind: 'text',
    text: '',
    data: mode === 'write' ? toRunJson(info) : [],
    notices,
    error,
  };
}

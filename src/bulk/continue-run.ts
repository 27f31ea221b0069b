import type { Context } from '../context.ts';
import type { Notice } from '../output/messages.ts';
import type { Output, PreparedCommand } from '../output/printer.ts';
import { counted, groupDigits, minuteText } from '../process/text.ts';
import { carryOut, previewRun, type SessionFlags } from './carry-out.ts';
import { chooseRun, findOtherRun, type RunQuery } from './choose-run.ts';
import { listRuns, type RunInfo, type RunList, readHeader } from './list-runs.ts';
import { reportView, runError, toRunJson } from './report.ts';
import { createRowView } from './row-view.ts';
import { defaultFlags, type Run } from './run.ts';
import { isAppliedOrUncertain } from './run-row.ts';
import { readNextSubject } from './session-subject.ts';
import { findTarget, lockTarget, type TargetLock } from './target.ts';

/**
 * Prepares `resume` or `undo`. A dry run prints a plan, whose columns are those of the noun of the run, so it chooses the run at
 * once.
 *
 * @param id the id of the run. By default it is the last run on the target.
 */
export async function prepareSession(
  context: Context,
  verb: RunQuery['verb'],
  id: string | undefined,
  flags: SessionFlags,
): Promise<PreparedCommand> {
  const target = await findTarget(context);
  const query = { verb, target, id };
  if (context.flags.dryRun) {
    const list = await listRuns(context.io);
    const info = chooseRun(list, query, context.settings);
    return {
      view: createRowView(info?.header.noun ?? 'inventory'),
      run: () => continueRun(context, list, query, flags),
    };
  }
  return {
    view: reportView,
    async run() {
      // A shard can only be named.
      const header =
        id === undefined ? { name: verb, flags: defaultFlags } : await readHeader(context.io, id);
      await using lock = await lockTarget(context, { ...header, target }, flags);
      return await continueRun(context, await listRuns(context.io), query, flags, lock);
    },
  };
}

/** Carries out the next session of a run, or previews it without a lock, or says that there is nothing to do. */
async function continueRun(
  context: Context,
  list: RunList,
  query: RunQuery,
  flags: SessionFlags,
  lock?: TargetLock,
): Promise<Output> {
  const { verb, id } = query;
  const info = chooseRun(list, query, context.settings);
  if (!info) {
    const note = `there is no run on this target: there is nothing to ${verb}`;
    return { kind: 'text', text: '', data: { rows: 0 }, notices: [['result', note]] };
  }
  const subject = await readNextSubject(list, verb, info);
  if (!subject) {
    const other = id === undefined ? findOtherRun(list, query, info) : undefined;
    const ended = verb === 'undo' ? (info.undo ?? info) : info;
    return nothingOutput(verb, ended, other, lock !== undefined);
  }
  // The lock was taken before the run was chosen.
  lock?.nameRun(subject.run);
  if (subject.undoneRun) await context.notice('summary', describeUndone(subject.undoneRun));
  return lock ? carryOut(context, subject, flags, lock) : previewRun(context, subject, flags, 'dry-run');
}

/** Says which run is undone. */
function describeUndone({ id, started = '', header, rows }: Run): string {
  const written = rows.filter(isAppliedOrUncertain).length;
  // The text of an editor is not a file with a name.
  const origin = header.kind === 'edit' ? 'edit' : `${header.kind} ${header.name}`;
  return `undoing ${id}: ${origin}, ${minuteText(started)}, ${groupDigits(written)} of ${counted(header.rows, 'row', 'rows')}`;
}

/** Says that nothing is left to do in a run. The exit code repeats its end. */
function nothingOutput(
  verb: RunQuery['verb'],
  info: RunInfo,
  other: RunInfo | undefined,
  isWrite: boolean,
): Output {
  const { undoes } = info.header;
  const isUndone = verb === 'undo' && undoes !== null;
  const state = verb === 'undo' && info.appliedOrUncertain === 0 ? 'has written nothing' : `is ${info.state}`;
  const fact = isUndone ? `run ${undoes} is undone` : `run ${info.id} ${state}`;
  const next = other
    ? `; the last other run is ${other.id} (${other.header.name}): petstore ${verb} ${other.id}`
    : '';
  const notices: readonly Notice[] = [['result', `${fact}: nothing is left to do${next}`]];
  return { kind: 'text', text: '', data: isWrite ? toRunJson(info) : [], notices, error: runError(info) };
}

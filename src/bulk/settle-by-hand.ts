import type { Context } from '../context.ts';
import type { Output } from '../output/printer.ts';
import { UsageError } from '../process/errors.ts';
import { countText } from '../process/text.ts';
import type { Reason } from '../writes/reasons.ts';
import { doubtOf, type Outcome } from '../writes/row.ts';
import { endSession } from './end-session.ts';
import { byHandFollowUp, followUpOf } from './follow-up.ts';
import { Journal } from './journal.ts';
import { listRuns, readHeader, readLog, requireRun } from './list-runs.ts';
import { numbersOf, openRowCount } from './run.ts';
import { idOfRow, isLeft, type RunRow, rowName } from './run-row.ts';
import type { SessionFlags } from './session.ts';
import { lockTarget } from './target.ts';

/** A row as the user names it: by the id of its record, or as `line:7`, with the id of the record that it created. */
export interface NamedRow {
  readonly name: string;
  readonly madeId: bigint | undefined;
}

/**
 * Gives rows that are unknown, unsettled or left the outcome that a person has found out. Sends nothing. When no such row remains,
 * writes the rejects and the end of the run.
 */
export async function settleByHand(
  context: Context,
  runId: string,
  names: readonly NamedRow[],
  as: 'applied' | 'failed',
  flags: Pick<SessionFlags, 'lockWaitMs'>,
): Promise<Output> {
  using _lock = await lockTarget(context, await readHeader(context.io, runId), flags);
  const list = await listRuns(context.io);
  const run = requireRun(list, runId);
  const log = await readLog(list, runId);
  const twice = names.find((one) =>
    names.some(({ name, madeId }) => name === one.name && madeId !== one.madeId),
  );
  if (twice) throw new UsageError(`${twice.name} is given twice, with different ids`);
  // A row may be named twice, as `42` and as `line:7`.
  const outcomes = [...new Map(names.map((name) => toOutcome(runId, log.rows, name, as)))];
  const { undoes } = run.header;
  const undoneLog = undoes === undefined ? undefined : await readLog(list, undoes);
  const unknown = undoneLog?.rows.find(
    (row) => row.intent.kind === 'add' && doubtOf(row) && outcomes.some(([{ line }]) => line === row.line),
  );
  // If this ended the undo, the delivery could be booked again, and this row perhaps twice.
  if (unknown && undoes !== undefined)
    throw new UsageError(
      `run ${runId}: it is unknown whether run ${undoes} wrote the row ${rowName(unknown)}`,
      byHandFollowUp(context, undoes, [rowName(unknown)]).hint,
    );
  using journal = new Journal(list.folder, run, log);
  journal.append(outcomes.map(([row, outcome]) => ({ kind: 'outcome', row: row.line, outcome })));
  journal.sync();
  const remaining = openRowCount(numbersOf(log));
  const { rejects, unwritten } = remaining === 0 ? endSession([], journal, context.io.cwd) : {};
  const ending = unwritten ? ': all rows are settled, but the run is not finished' : ' is finished';
  const rest = `: ${countText(remaining, 'row is', 'rows are')} still unknown or not written`;
  // A run whose undo has begun is not resumed, so there is no next step.
  const next = unwritten && !run.undo ? followUpOf(context, run, log.rows, unwritten.part) : undefined;
  return {
    kind: 'text',
    text: `run ${runId}${remaining === 0 ? ending : rest}\n`,
    data: outcomes.map(([row]) => ({ id: idOfRow(row), line: row.line, state: as })),
    notices: rejects === undefined ? [] : [['summary', `rejected rows are in ${rejects}`]],
    error: unwritten?.error.with({ hint: next?.hint }),
  };
}

/** @throws UsageError for a name that no row has, for a row whose state is certain, and for an applied create without an id. */
function toOutcome(
  runId: string,
  rows: readonly RunRow[],
  { name, madeId }: NamedRow,
  as: 'applied' | 'failed',
): readonly [RunRow, Outcome] {
  const row = rows.find((candidate) => rowName(candidate) === name || `line:${candidate.line}` === name);
  if (!row)
    throw new UsageError(`run ${runId} has no row ${name}`, `\`petstore runs show ${runId}\` lists its rows`);
  if (row.state.kind !== 'unknown' && !isLeft(row))
    throw new UsageError(
      `run ${runId}: row ${name} is ${row.state.kind}; only a row that is unknown or still to be written can be settled`,
    );
  const isCreate = row.intent.kind === 'create';
  if (!isCreate && madeId !== undefined)
    throw new UsageError(`${name}=${madeId}: only a row that creates its record takes an id`);
  if (isCreate && as === 'applied' && madeId === undefined)
    throw new UsageError(`${name} needs the id of the record that was created: ${name}=<id>`);
  const reason: Reason = {
    code: 'settled',
    message: `a person has said that it was ${as === 'applied' ? 'applied' : 'not applied'}`,
  };
  if (as === 'failed') return [row, { kind: 'failed', reason }];
  return [row, { kind: 'applied', reason, made: madeId === undefined ? undefined : { id: madeId } }];
}

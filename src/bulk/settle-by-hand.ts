import { resolve } from 'node:path';
import type { Context } from '../context.ts';
import type { Output } from '../output/printer.ts';
import { UsageError } from '../process/errors.ts';
import { countText } from '../process/text.ts';
import type { Reason } from '../writes/reasons.ts';
import { doubtOf, type Outcome, reasonOf } from '../writes/row.ts';
import { writeNewRejects } from './end-session.ts';
import { settleFollowUp } from './follow-up.ts';
import { Journal } from './journal.ts';
import { findRun, journalPath, listRuns, readHeader, readRun } from './list-runs.ts';
import type { Run } from './run.ts';
import { idOfRow, isLeft, openRowCount, type RunRow, rowName, rowTotals } from './run-row.ts';
import type { SessionFlags } from './session.ts';
import { lockTarget } from './target.ts';

/** A row as the user names it: by the id of its record, or as `line:7`, with the id of the record that it created. */
export interface NamedRow {
  readonly name: string;
  readonly made: bigint | undefined;
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
  const run = await readRun(list, runId);
  const twice = names.find((one) => names.some(({ name, made }) => name === one.name && made !== one.made));
  if (twice) throw new UsageError(`${twice.name}: give the id of one record`);
  // What a person has said can be corrected until an undo has acted on it.
  const canCorrect = findRun(list, runId).undo === undefined;
  // A row may be named twice, as `42` and as `line:7`.
  const outcomes = [...new Map(names.map((name) => toOutcome(run, name, as, canCorrect)))];
  const settled = new Map(outcomes);
  const idsAfter = run.rows.map((row) => idOfRow({ id: row.id, state: settled.get(row) ?? row.state }));
  const shared = names.find(
    ({ made }) => made !== undefined && idsAfter.filter((id) => id === made).length > 1,
  );
  if (shared)
    throw new UsageError(`${shared.name}=${shared.made}: another row of the run has created this record`);
  const { undoes } = run.header;
  if (undoes !== undefined && list.runs.some(({ id }) => id === undoes)) {
    const undoneRun = await readRun(list, undoes);
    const lines = new Set(outcomes.map(([row]) => row.line));
    const unknown = undoneRun.rows.find((row) => doubtOf(row) && lines.has(row.line));
    // If no other row is open, settling this one ends the undo. Then the delivery could be booked again, and this row perhaps twice.
    if (unknown)
      throw new UsageError(
        `run ${runId}: it is unknown whether run ${undoes} wrote the row ${rowName(unknown)}`,
        settleFollowUp(context, undoes, [rowName(unknown)]).hint,
      );
  }
  using journal = new Journal(journalPath(list.folder, runId), run);
  journal.append(outcomes.map(([row, outcome]) => ({ kind: 'outcome', row: row.line, outcome })));
  journal.sync();
  const remaining = openRowCount(rowTotals(run.rows));
  const rejects = remaining === 0 ? writeNewRejects(run, context.io.cwd) : undefined;
  if (remaining === 0) journal.appendEnd(rejects && resolve(context.io.cwd, rejects));
  const rest = `: ${countText(remaining, 'row is', 'rows are')} still unknown or left`;
  return {
    kind: 'text',
    text: `run ${runId}${remaining === 0 ? ' is finished' : rest}\n`,
    data: outcomes.map(([row]) => ({ id: idOfRow(row), line: row.line, state: as })),
    notices: rejects === undefined ? [] : [['result', `rejected rows are in ${rejects}`]],
  };
}

/** @throws UsageError for a name that no row has, for a row whose state is certain, and for an applied create without an id. */
function toOutcome(
  run: Run,
  { name, made }: NamedRow,
  as: 'applied' | 'failed',
  canCorrect: boolean,
): readonly [RunRow, Outcome] {
  const row = run.rows.find((candidate) => rowName(candidate) === name || `line:${candidate.line}` === name);
  if (!row)
    throw new UsageError(
      `run ${run.id} has no row ${name}`,
      `\`petstore runs show ${run.id}\` lists its rows`,
    );
  const state = row.state.kind;
  const takesId = row.intent.kind === 'create' && as === 'applied';
  const isCorrection = canCorrect && reasonOf(row.state)?.code === 'settled';
  if (state !== 'unknown' && !isLeft(row) && !isCorrection)
    throw new UsageError(
      `run ${run.id}: the row ${name} is ${state}, and only a row that is unknown or left can be settled`,
    );
  if (!takesId && made !== undefined)
    throw new UsageError(`${name}=${made}: only a row that has created its record takes an id`);
  if (takesId && made === undefined)
    throw new UsageError(`${name} needs the id of the record that was created: ${name}=<id>`);
  const reason: Reason = {
    code: 'settled',
    message: `a person has said that it was ${as === 'applied' ? 'applied' : 'not applied'}`,
  };
  if (as === 'failed') return [row, { kind: 'failed', reason }];
  return [row, { kind: 'applied', reason, made: made === undefined ? undefined : { id: made } }];
}

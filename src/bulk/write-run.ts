import { existsSync } from 'node:fs';
import { shownCode } from '../client/reasons.ts';
import { type Reject, rejectsName, writeRejects } from '../input/rejects.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, messageOf } from '../process/errors.ts';
import type { FileName } from '../process/files.ts';
import { StoppedError } from '../process/signals.ts';
import { systemReason } from '../process/system-error.ts';
import type { Outcome } from '../writes/decide.ts';
import { settleAll } from '../writes/settle.ts';
import type { Journal } from './journal.ts';
import { createRowKeeper, markBeforeSending } from './keep-rows.ts';
import { toRunInfo } from './list-runs.ts';
import type { Plan } from './plan.ts';
import type { Report } from './report.ts';
import { rowStateOf, rowTotals } from './row.ts';
import { isReject, type Run } from './run.ts';
import type { Session } from './session.ts';

interface WriteOptions extends RejectsFile {
  /** The run stops when this many rows have failed or are unknown in this session. */
  readonly maxErrors?: number | undefined;
}

/**
 * Writes the rows of a plan, then the rejects, then the end of the session.
 *
 * @param journal has the plan.
 */
export async function writeRun(
  session: Session,
  plan: Plan,
  journal: Journal,
  { maxErrors = 100, ...file }: WriteOptions,
): Promise<Report> {
  const { run, stop } = session;
  const { rejectsFile, rejectedLines } = run;
  const startedMs = monotonicMs();
  await writeRows(session, plan, journal, maxErrors);
  const seconds = Math.round(monotonicMs() - startedMs) / 1000;
  const ending = endSession(run, plan, journal, file);
  const failing = run.rows.filter(
    (row) => rejectedLines?.has(row.line) && rowStateOf(row) === 'failed',
  ).length;
  return {
    info: toRunInfo(run),
    run,
    seconds,
    stop: stop.reason,
    earlier: rejectsFile === undefined ? undefined : { file: rejectsFile, failing },
    ...ending,
  };
}

/** Writes the rows of a plan. Returns when all are settled, or the run has stopped. */
async function writeRows(session: Session, plan: Plan, journal: Journal, maxErrors: number): Promise<void> {
  const { stop, port, concurrency, mayCreate, progress, client } = session;
  const policy = { mayCreate, ...client.limits };
  const saveStore = client.deferSaves?.();
  const keeper = createRowKeeper(journal, { stop, progress, maxErrors, saveStore });
  try {
    const marked = markBeforeSending(plan.changes, journal, stop, concurrency);
    await settleAll(port, marked, { policy, isRun: true, stopped: stop.stopped, concurrency }, keeper);
  } catch (error) {
    // If the journal cannot be written, the run stops and reports what it has done.
    if (!(error instanceof CliError || error instanceof StoppedError)) throw error;
    if (error instanceof CliError) stop.begin({ kind: 'partial', message: messageOf(error) });
  } finally {
    await keeper.flush();
  }
}

/** Writes the rejects of the session, and then its end into the journal. */
function endSession(
  run: Run,
  plan: Plan,
  journal: Journal,
  file: RejectsFile,
): Pick<Report, 'rejects' | 'unwritten'> {
  try {
    for (const row of plan.changes)
      if (row.doubt && !row.outcome)
        journal.appendChanges([{ kind: 'outcome', row, outcome: interrupted, doubt: row.doubt }]);
    journal.sync();
    return { rejects: writeEnd(run, journal, file), unwritten: undefined };
  } catch (thrown) {
    const error = thrown instanceof CliError ? thrown : new CliError('failed', systemReason(thrown));
    const what = error !== journal.error ? 'rejects' : existsSync(journal.path) ? 'end' : 'journal';
    return { rejects: undefined, unwritten: { what, error } };
  } finally {
    journal.close();
  }
}

/** Where rejects go. Without a name they go beside the input: see `rejectsName`. */
type RejectsFile = Omit<FileName, 'name'> & { readonly name?: string | undefined };

/**
 * Writes the rejects of a session, those that no earlier session has written, and then its end into the journal.
 *
 * @returns the name of the file, with a number if the name was in use, or undefined if there are no rejects.
 * @throws CliError `failed`. If the rejects cannot be written, the journal gets no end, and a resume writes them.
 */
export function writeEnd(
  run: Run,
  journal: Journal,
  { folder, name: given }: RejectsFile,
): string | undefined {
  const { header, rows, invalid, rejectedLines } = run;
  const { format, columns, name, file: path } = header;
  const rejects: Reject[] = rejectedLines
    ? []
    : invalid.map(({ line, text, message }) => ({
        line,
        text,
        state: 'invalid',
        reason: { code: 'invalid', message },
      }));
  for (const row of rows) {
    const { outcome, line, text = '' } = row;
    if (!isReject(run, row) || rejectedLines?.has(line)) continue;
    const reason = outcome?.reason;
    rejects.push({ line, text, state: 'failed', reason: reason && { ...reason, code: shownCode(reason) } });
  }
  const file = { folder, name: given ?? rejectsName({ name, path: path ?? undefined }, format, folder) };
  const written = rejects.length > 0 ? writeRejects(file, format, columns, rejects) : undefined;
  const end = { ...rowTotals(rows, header), planNumber: run.planNumber, ended: new Date().toISOString() };
  journal.appendChanges([{ kind: 'end', end: { ...end, rejects: written } }]);
  journal.sync();
  return written;
}

const interrupted: Outcome = {
  kind: 'unknown',
  reason: {
    code: 'interrupted',
    message: 'it may have been sent before, and the run stopped before its record was read',
  },
};

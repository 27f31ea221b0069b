import { existsSync } from 'node:fs';
import { offeredOperation } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { Client } from '../client/client.ts';
import { Pace, type StopReason } from '../client/pace.ts';
import type { Context } from '../context.ts';
import { type Reject, rejectsName, writeRejects } from '../input/rejects.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, messageOf, UsageError } from '../process/errors.ts';
import type { FileName } from '../process/files.ts';
import { Stop, StoppedError } from '../process/signals.ts';
import { systemReason } from '../process/system-error.ts';
import { createRecordPort, type RecordPort } from '../writes/port.ts';
import { shownCode } from '../writes/reasons.ts';
import type { Outcome } from '../writes/rows.ts';
import { settleAll } from '../writes/settle-all.ts';
import type { ChosenRun } from './choose-run.ts';
import { claimsOn } from './claims.ts';
import type { Journal } from './journal.ts';
import { createRowKeeper, markBeforeSending, type Progress } from './keep-rows.ts';
import { toRunInfo } from './list-runs.ts';
import { makePlan, type Plan, readStocks } from './plan.ts';
import type { Report } from './report.ts';
import { isForSession, rowStateOf, rowTotals } from './row-state.ts';
import { isReject, type Run } from './run.ts';

/** What a session of a run works with. */
export interface Session extends ChosenRun, Pick<Context, 'settings'> {
  readonly client: Client;
  readonly port: RecordPort;
  /** True if a row that finds no record creates it. */
  readonly mayCreate: boolean;
  readonly pace: Pace;
  /** The most rows at a time. */
  readonly atOnce: number;
  readonly stop: Stop<StopReason>;
  readonly progress: Progress;
}

/** @throws UsageError if the service cannot read or write such values. */
export async function createSession(context: Context, chosen: ChosenRun): Promise<Session> {
  const { run } = chosen;
  const { settings } = context;
  const { noun, flags } = run.header;
  const client = await context.client('bulk');
  const stop = new Stop<StopReason>();
  const rate = settings.get('rate') ?? null;
  const pace = new Pace(rate, stop, settings.get('timeout'));
  const port = createRecordPort(client, noun, { pace, sendsEtags: settings.get('etags') });
  checkOffers(client, port, run);
  const mayCreate = flags.createMissing;
  const progress = { recordsRead: 0, settled: 0, failed: 0, unknown: 0 };
  const atOnce = settings.get('concurrency');
  return { ...chosen, client, settings, port, mayCreate, pace, atOnce, stop, progress };
}

/**
 * Reads the records of the rows that the session looks at, and decides each row.
 *
 * @throws the error of a reading: there is no partial plan.
 */
export async function planRun(session: Session): Promise<Plan> {
  const { run, client, settings, pace, atOnce } = session;
  const rows = run.rows.filter(isForSession);
  const plan = await makePlan(session, rows, await claimsOn(session, rows));
  if (run.header.kind === 'delete' && run.header.noun === 'pets')
    await readStocks(
      createRecordPort(client, 'inventory', { pace, sendsEtags: settings.get('etags') }),
      plan.changes,
      atOnce,
    );
  return plan;
}

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
  const { stop, port, atOnce, mayCreate, progress, client } = session;
  const work = { kind: 'run' } as const;
  const policy = { mayCreate, ...client.limits };
  const saveStore = client.deferSaves?.();
  const keeper = createRowKeeper(journal, { stop, progress, maxErrors, saveStore });
  try {
    const marked = markBeforeSending(plan.changes, journal, stop, atOnce);
    await settleAll(port, marked, { policy, work, stopped: stop.stopped, atOnce }, keeper);
  } catch (error) {
    // If the journal cannot be written, the run stops and reports what it has done.
    if (!(error instanceof CliError || error instanceof StoppedError)) throw error;
    if (error instanceof CliError) stop.stop({ kind: 'partial', message: messageOf(error) });
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
        journal.keep({ kind: 'outcome', row, outcome: interrupted, doubt: row.doubt });
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

/** @throws UsageError if the service lacks an operation that the rows of a run need. */
function checkOffers({ contract }: Client, port: RecordPort, { header: { noun, kind }, rows }: Run): void {
  const { get, list, create, update, delete: remove } = nouns[noun].operations;
  const needed = kind === 'create' ? create : kind === 'delete' ? remove : update;
  const sets = rows.some(({ intent }) => intent.kind === 'set' || intent.kind === 'add');
  if (kind !== 'undo' || sets) offeredOperation(contract, needed);
  if (kind !== 'create' && !port.canRead)
    throw new UsageError(`the service offers neither ${get} nor ${list}, so nothing can be planned`, {
      hint: 'see `petstore api operations`',
      code: 'unbound',
    });
}

/** Where rejects go. Without a name they go beside the input: see `rejectsName`. */
type RejectsFile = Omit<FileName, 'name'> & { readonly name?: string | undefined };

/**
 * Writes the rejects of a session, those that no earlier session has written, and then its end into the journal.
 *
 * @returns the name of the file, with a number if the name was in use. Undefined if there are no rejects.
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
  journal.keep({ kind: 'end', end: { ...end, rejects: written } });
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

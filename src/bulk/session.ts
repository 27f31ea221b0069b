import { offeredOperation } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { Client } from '../client/client.ts';
import { Pace, type PaceFlags, type StopReason } from '../client/pace.ts';
import { type Reject, rejectsName, writeRejects } from '../input/rejects.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, messageOf, UsageError } from '../process/errors.ts';
import type { FileName } from '../process/files.ts';
import { graceMs, Stop, StoppedError } from '../process/signals.ts';
import { systemReason } from '../process/system-error.ts';
import type { Outcome, Rules } from '../writes/decide.ts';
import { createRecordPort, type RecordPort } from '../writes/port.ts';
import { shownCode } from '../writes/reasons.ts';
import { createTotals, settleAll } from '../writes/settle-all.ts';
import { claimsOn } from './claims.ts';
import { createJournal, Journal } from './journal.ts';
import { createRowKeeper, markBeforeSending } from './keep-rows.ts';
import type { OpenRun } from './open-run.ts';
import { makePlan, type Plan, readStocks } from './plan.ts';
import type { Report } from './report.ts';
import { fateOf, isReject, isUnfinished, type Run, rowTotals } from './run.ts';
import { journalPath, nextPlanNumber, type RunList, toRunInfo } from './run-store.ts';

interface SessionOptions {
  readonly client: Client;
  /** The runs on the target, as listed under its lock. */
  readonly list: RunList;
  readonly paceFlags: PaceFlags;
  /** The run stops when this many rows have failed or are unknown in this session. */
  readonly maxErrors: number;
  /** The maximum number of retries of a row. */
  readonly retries: number;
  /** False if the profile says that the ETags of the service are of no use. */
  readonly sendsEtags: boolean;
}

/** A session of a run. It plans, keeps the plan, writes and reports. */
export class Session {
  readonly run: Run;
  readonly stop = new Stop<StopReason>();
  /** Numbers for the live line. */
  readonly progress = { recordsRead: 0 };
  readonly totals = createTotals();
  private readonly pace: Pace;
  private readonly openRun: OpenRun;
  private readonly options: SessionOptions;
  private readonly port: RecordPort;
  private readonly rules: Rules;

  /** @throws UsageError if the service cannot read or write such values. */
  constructor(openRun: OpenRun, options: SessionOptions) {
    const { run } = openRun;
    this.run = run;
    this.openRun = openRun;
    this.options = options;
    const { noun, kind, flags } = run.header;
    const { client, sendsEtags, paceFlags } = options;
    this.pace = new Pace(paceFlags, this.stop);
    this.port = createRecordPort(client, noun, { pace: this.pace, sendsEtags });
    checkOffers(client, this.port, run);
    const { createsByPut } = this.port;
    this.rules = { mayCreate: flags.createMissing, isUndo: kind === 'undo', createsByPut };
  }

  /** Reads the records of the open rows, and decides each row. @throws the error of a reading: there is no partial plan. */
  async plan(): Promise<Plan> {
    const { port, rules, pace, progress } = this;
    const { run, undone } = this.openRun;
    const claims = await claimsOn(this.options.list, run, undone);
    const plan = await makePlan(port, run.rows.filter(isUnfinished), { rules, claims, pace, progress });
    if (run.header.kind === 'delete' && run.header.noun === 'pets') {
      const { client, sendsEtags } = this.options;
      await readStocks(createRecordPort(client, 'inventory', { pace, sendsEtags }), plan.changes, pace);
    }
    return plan;
  }

  /**
   * Keeps the plan in the journal, and creates the journal of a new run. Afterwards the run exists.
   *
   * @throws CliError `failed` if the plan cannot be kept: then nothing was sent.
   */
  async begin(plan: Plan): Promise<Journal> {
    const { run } = this;
    const { list } = this.options;
    const number = nextPlanNumber(list, run.header.target);
    if (run.id === undefined) return createJournal(list, run, plan.rows, number);
    const journal = new Journal(journalPath(list.folder, run.id), run);
    journal.keepPlan(plan.rows, number);
    return journal;
  }

  /** Writes the rows of a plan, then the rejects, then the end of the session. @param rejects the file of rejects. */
  async write(plan: Plan, journal: Journal, rejects: RejectsFile): Promise<Report> {
    const { run, pace, stop, totals } = this;
    const { rejects: file, rejected } = run;
    const startedMs = monotonicMs();
    await this.writeRows(plan, journal);
    const elapsedMs = monotonicMs() - startedMs;
    const ending = await this.end(plan, journal, rejects);
    const { id = '', started = '' } = run;
    const open = run.rows.filter((row) => rejected?.has(row.line) && fateOf(row) === 'failed').length;
    return {
      info: toRunInfo({ ...run, id, started }),
      run,
      requests: pace.requests,
      retries: totals.retries,
      seconds: Math.round(elapsedMs) / 1000,
      stop: stop.reason,
      earlier: file === undefined ? undefined : { file, open },
      ...ending,
    };
  }

  /** Writes the rows of a plan. Returns when all are settled, or the run has stopped. */
  private async writeRows(plan: Plan, journal: Journal): Promise<void> {
    const { stop, pace, port, rules, totals, options } = this;
    const { retries, maxErrors, client } = options;
    const limits = { retries, retriesUnreachable: true, rules, stop };
    const saveStore = client.deferSaves?.();
    const keeper = createRowKeeper(journal, { stop, totals, maxErrors, saveStore });
    let grace: NodeJS.Timeout | undefined;
    stop.stopped.addEventListener('abort', () => {
      grace = setTimeout(() => stop.abandon(), graceMs);
    });
    try {
      const marked = markBeforeSending(plan.changes, journal, stop, pace.max);
      await settleAll(port, marked, { limits, atOnce: pace.max, totals }, keeper);
    } catch (error) {
      // A journal that cannot be written stops the run, and what was written is told.
      if (!(error instanceof CliError || error instanceof StoppedError)) throw error;
      if (error instanceof CliError) stop.stop({ kind: 'partial', message: messageOf(error) });
    } finally {
      clearTimeout(grace);
      await keeper.flush();
    }
  }

  /** Writes the rejects of the session, and then its end into the journal. */
  private async end(
    plan: Plan,
    journal: Journal,
    file: RejectsFile,
  ): Promise<Pick<Report, 'rejects' | 'problem' | 'lacks'>> {
    const { run } = this;
    let rejects: string | undefined;
    let problem: CliError | undefined;
    try {
      for (const row of plan.changes)
        if (row.doubt && !row.outcome)
          journal.keep({ kind: 'outcome', row, outcome: interrupted, doubt: row.doubt });
      journal.sync();
      rejects = writeRunRejects(run, file);
      // If the rejects cannot be written, the journal gets no end, and `resume` writes them.
      endRun(run, journal, rejects);
    } catch (error) {
      problem = error instanceof CliError ? error : new CliError('failed', systemReason(error));
    }
    journal.close();
    const lacks = problem && (problem === journal.error ? 'end' : 'rejects');
    return { rejects, problem, lacks };
  }
}

/** @throws UsageError if the service lacks an operation that the rows of a run need. */
function checkOffers({ contract }: Client, port: RecordPort, { header: { noun, kind }, rows }: Run): void {
  const { get, list, create, update, delete: remove } = nouns[noun].operations;
  const needed = kind === 'create' ? create : kind === 'delete' ? remove : update;
  const sets = rows.some(({ intent }) => intent.kind === 'set' || intent.kind === 'add');
  if (kind !== 'undo' || sets) offeredOperation(contract, needed);
  if (kind !== 'create' && !port.canRead)
    throw new UsageError(
      `the service offers neither ${get} nor ${list}, so nothing can be planned`,
      'see `petstore api operations`',
      'unbound',
    );
}

/** Where rejects go. Without a name they go beside the input: see `rejectsName`. */
type RejectsFile = Omit<FileName, 'name'> & { readonly name?: string | undefined };

/**
 * Writes the rejects of a session, if there are any: those that no earlier session has written.
 *
 * @returns the name of the file, with a number if the name was in use. Undefined if there are no rejects.
 */
export function writeRunRejects(run: Run, { folder, name: given }: RejectsFile): string | undefined {
  const { header, rows, invalid, rejected } = run;
  const { format, columns, name, file: path } = header;
  const rejects: Reject[] = rejected
    ? []
    : invalid.map(({ line, text, message }) => ({
        ...{ line, text, state: 'invalid' },
        reason: { code: 'invalid', message },
      }));
  for (const row of rows) {
    const { outcome, line, text = '' } = row;
    if (!isReject(run, row) || rejected?.has(line)) continue;
    const reason = outcome?.reason;
    rejects.push({ line, text, state: 'failed', reason: reason && { ...reason, code: shownCode(reason) } });
  }
  if (rejects.length === 0) return undefined;
  const file = { folder, name: given ?? rejectsName({ name, path: path ?? undefined }, format) };
  return writeRejects(file, format, columns, rejects);
}

/** Writes the end of a session into its journal, and syncs it. */
export function endRun(run: Run, journal: Journal, rejects: string | undefined): void {
  const ended = new Date().toISOString();
  const end = { ...rowTotals(run.rows, run.header), planned: run.planned, ended, rejects };
  journal.keep({ kind: 'end', end });
  journal.sync();
}

const interrupted: Outcome = {
  kind: 'unknown',
  reason: {
    code: 'interrupted',
    message: 'it may have been sent before, and the run stopped before its record was read',
  },
};

import type { Client } from '../client/client.ts';
import { eachAtPace, Pace, type StopReason } from '../client/pace.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import type { FileName } from '../process/new-file.ts';
import { Stop, StoppedError } from '../process/signals.ts';
import { systemReason } from '../process/system-error.ts';
import { counted } from '../process/text.ts';
import type { Outcome, Row } from './decide.ts';
import { Journal } from './journal.ts';
import { OutcomeLog } from './outcome-log.ts';
import { makePlan, type Plan } from './plan.ts';
import { writeRunRejects } from './reject-rows.ts';
import type { Report } from './report.ts';
import { isOpen, rowTotals } from './rows.ts';
import type { Run } from './run.ts';
import { type RowLimit, toRowCount } from './run-header.ts';
import { createJournal, journalPath, listRuns, nextPlanNumber, type SessionStart } from './run-store.ts';
import { createValueAccess, type ValueAccess } from './value-access.ts';
import { RowWriter } from './write-row.ts';

interface SessionOptions {
  readonly client: Client;
  /** The folder of the journals. */
  readonly folder: string;
  /** The run stops when this many rows have failed or are unknown in this session. */
  readonly maxErrors: RowLimit;
  /** The most further attempts of a row. */
  readonly retries: number;
}

/** The time that requests in flight have after a run has stopped. */
export const graceMs = 10_000;

/** A session of a run. It plans, keeps the plan, writes and reports. */
export class Session {
  readonly run: Run;
  readonly stop = new Stop<StopReason>();
  readonly pace: Pace;
  /** Numbers for the live line. `rowsWritten` counts all rows that were settled, failed ones included. */
  readonly progress = { recordsRead: 0, rowsWritten: 0, rowsFailed: 0 };
  private readonly options: SessionOptions;
  private readonly access: ValueAccess;

  /** @throws UsageError if the service cannot read or write such values. */
  constructor(run: Run, options: SessionOptions) {
    this.run = run;
    this.options = options;
    const { noun, pace } = run.header;
    this.pace = new Pace(pace, this.stop);
    this.access = createValueAccess(options.client, noun, this.pace);
  }

  /**
   * Reads the records of the open rows, and decides each row.
   *
   * @throws StoppedError if the run has stopped; CliError if a record could not be read: there is no partial plan.
   */
  plan(): Promise<Plan> {
    const { access, run, pace, progress, stop } = this;
    return makePlan(access, run.rows.filter(isOpen), pace, progress).catch((error) => {
      // The stop has aborted the reading, so the error is only its consequence.
      throw stop.reason ? new StoppedError() : error;
    });
  }

  /**
   * Keeps the plan in the journal, and creates the journal of a new run. Afterwards the run exists.
   *
   * @throws CliError `failed` if the plan cannot be kept: then nothing was sent.
   */
  async begin(plan: Plan): Promise<SessionStart> {
    const { folder } = this.options;
    const { header, invalid, journal: content } = this.run;
    if (!content)
      return createJournal(folder, header.target, ({ id, journal, planNumber }) => {
        journal.begin(id, header, invalid);
        journal.keepPlan(plan.rows, planNumber);
      });
    const planNumber = nextPlanNumber(await listRuns(folder), header.target);
    const journal = new Journal(journalPath(folder, content.id), content.bytes);
    journal.keepPlan(plan.rows, planNumber);
    return { id: content.id, journal, planNumber };
  }

  /** Writes the rows of a plan, then the rejects, then the end of the session. @param rejects the file of rejects. */
  async write(plan: Plan, start: SessionStart, rejects: FileName): Promise<Report> {
    const { run, pace, progress, stop, access } = this;
    const { client, retries } = this.options;
    const writer = new RowWriter(access, stop, retries, plan.etags);
    const log = new OutcomeLog(start.journal, stop, client.deferSaves?.());
    const startedMs = monotonicMs();
    await this.writeRows(plan.changes, writer, log);
    const elapsedMs = monotonicMs() - startedMs;
    const ending = await this.end(start, rejects, log);
    return {
      id: start.id,
      header: run.header,
      rows: run.rows,
      planned: plan.rows,
      isResumed: run.journal !== undefined,
      requests: pace.requests,
      retries: pace.retries + writer.retryCount,
      seconds: Math.round(plan.elapsedMs + elapsedMs) / 1000,
      rowsPerSecond: elapsedMs > 0 ? Math.round((progress.rowsWritten * 1000) / elapsedMs) : 0,
      stop: stop.reason,
      ...ending,
    };
  }

  /** Writes the rows, as many at a time as the pace allows. Returns when all are settled, or the run has stopped. */
  private async writeRows(rows: readonly Row[], writer: RowWriter, log: OutcomeLog): Promise<void> {
    const { stop, pace } = this;
    let grace: NodeJS.Timeout | undefined;
    stop.stopped.addEventListener('abort', () => {
      grace = setTimeout(() => stop.abandon(), graceMs);
    });
    try {
      await eachAtPace(pace, stop.untilStopped(rows), async (row) => {
        row.outcome = await writer.write(row);
        if (row.outcome) await log.add(row);
        if (row.outcome) this.count(row.outcome);
      });
    } finally {
      clearTimeout(grace);
      await log.flush();
    }
  }

  /** Counts an outcome, and stops the run if too many rows have failed or are unknown. */
  private count({ state }: Outcome): void {
    const { progress, stop, run } = this;
    progress.rowsWritten += 1;
    if (state !== 'failed' && state !== 'unknown') return;
    progress.rowsFailed += 1;
    const maxErrors = Math.max(1, toRowCount(this.options.maxErrors, run.header.rows));
    if (progress.rowsFailed < maxErrors || stop.reason) return;
    const failures = counted(
      progress.rowsFailed,
      'row has failed or is unknown',
      'rows have failed or are unknown',
    );
    stop.stop({ kind: 'partial', message: `${failures}, as many as --max-errors allows` });
  }

  /** Writes the rejects of the session, and then its end into the journal. */
  private async end(
    { journal, planNumber }: SessionStart,
    file: FileName,
    log: OutcomeLog,
  ): Promise<Pick<Report, 'rejects' | 'problem'>> {
    const { run } = this;
    let rejects: string | undefined;
    let problem: CliError | undefined;
    try {
      journal.sync();
      rejects = await writeRunRejects(run, file);
      // If the rejects cannot be written, the journal gets no end, and `resume` writes them.
      const ended = new Date().toISOString();
      journal.end({ ...rowTotals(run.rows, run.header), planned: planNumber, ended });
    } catch (error) {
      if (error !== log.error)
        problem = error instanceof CliError ? error : new CliError('failed', systemReason(error));
    }
    journal.close();
    return { rejects, problem };
  }
}

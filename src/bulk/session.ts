import type { Client } from '../client/client.ts';
import { eachAtPace, Pace, type StopReason } from '../client/pace.ts';
import { isTable } from '../input/split-input.ts';
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
import { writeRejectsOf } from './reject-rows.ts';
import type { Report } from './report.ts';
import { isOpen, rowTotals } from './rows.ts';
import type { Run } from './run.ts';
import { type RowLimit, toRows } from './run-header.ts';
import { createNoun, type RunNoun } from './run-nouns.ts';
import { createRun, journalPath, listRuns, nextPlan, type RunStart } from './run-store.ts';
import { RowWriter } from './write-row.ts';

export interface SessionOptions {
  readonly client: Client;
  /** The folder of the journals. */
  readonly folder: string;
  /** The run stops when so many rows have failed or are unknown in this session. */
  readonly maxErrors: RowLimit;
  /** Most further attempts of a row. */
  readonly retries: number;
}

/** How long requests in flight may continue after a run has stopped. */
export const graceMs = 10_000;

/** One session of a run: it plans, keeps the plan, writes and reports. */
export class Session {
  readonly run: Run;
  readonly stop = new Stop<StopReason>();
  readonly pace: Pace;
  /** For the live line: the records that were read, and the rows that were written. */
  readonly progress = { read: 0, written: 0, failed: 0 };
  private readonly options: SessionOptions;
  private readonly noun: RunNoun;

  /** @throws UsageError if the service cannot read or write such values. */
  constructor(run: Run, options: SessionOptions) {
    this.run = run;
    this.options = options;
    const { noun, format, pace } = run.header;
    this.pace = new Pace(pace, this.stop);
    this.noun = createNoun(options.client, noun, isTable(format), this.pace);
  }

  /**
   * Reads the records of the rows that are open, and decides what becomes of each.
   *
   * @throws StoppedError if the run has stopped; CliError if a record could not be read: there is no partial plan.
   */
  plan(): Promise<Plan> {
    const { noun, run, pace, progress, stop } = this;
    return makePlan(noun, run.rows.filter(isOpen), pace, progress).catch((error) => {
      // The stop has aborted the reads.
      throw stop.reason ? new StoppedError() : error;
    });
  }

  /**
   * Keeps the plan in the journal, of a new run in a new one. From here on the run exists.
   *
   * @throws CliError `failed` if the plan cannot be kept: then nothing was sent.
   */
  async begin(plan: Plan): Promise<RunStart> {
    const { folder } = this.options;
    const { header, invalid, journal: image } = this.run;
    if (!image)
      return createRun(folder, header.target, ({ id, journal, planNumber }) => {
        journal.begin(id, header, invalid);
        journal.keepPlan(plan.rows, planNumber);
      });
    const planNumber = nextPlan(await listRuns(folder), header.target);
    const journal = new Journal(journalPath(folder, image.id), image.bytes);
    journal.keepPlan(plan.rows, planNumber);
    return { id: image.id, journal, planNumber };
  }

  /** Writes the rows of the plan that was begun, then the rejects, then the end. @param rejects the file for them */
  async write(plan: Plan, start: RunStart, rejects: FileName): Promise<Report> {
    const { run, pace, progress, stop, noun } = this;
    const { client, retries } = this.options;
    const writer = new RowWriter(noun, stop, retries, plan.etags);
    const log = new OutcomeLog(start.journal, stop, client.deferSaves?.());
    const startedMs = monotonicMs();
    await this.writeRows(plan.changes, writer, log);
    const elapsedMs = monotonicMs() - startedMs;
    const ending = await this.end(start, rejects, log);
    return {
      ...{ id: start.id, header: run.header, rows: run.rows, planned: plan.rows },
      isResumed: run.journal !== undefined,
      requests: pace.requests,
      retries: pace.retries + writer.retried,
      seconds: Math.round(plan.elapsedMs + elapsedMs) / 1000,
      rowsPerSecond: elapsedMs > 0 ? Math.round((progress.written * 1000) / elapsedMs) : 0,
      stop: stop.reason,
      ...ending,
    };
  }

  /** Writes the rows, as many at a time as the pace allows, until all are settled or the run stops. */
  private async writeRows(rows: readonly Row[], writer: RowWriter, log: OutcomeLog): Promise<void> {
    const { stop, pace } = this;
    let grace: NodeJS.Timeout | undefined;
    stop.stopped.addEventListener('abort', () => {
      grace = setTimeout(() => stop.abandon(), graceMs);
    });
    function* untilStopped(): Generator<Row> {
      for (const row of rows) {
        if (stop.reason) return;
        yield row;
      }
    }
    try {
      await eachAtPace(pace, untilStopped(), async (row) => {
        row.outcome = await writer.write(row);
        if (row.outcome) await log.add(row);
        if (row.outcome) this.count(row.outcome);
      });
    } finally {
      clearTimeout(grace);
      await log.flush();
    }
  }

  /** Counts an outcome, and stops the run if too many rows have gone wrong. */
  private count({ state }: Outcome): void {
    const { progress, stop, run } = this;
    progress.written += 1;
    if (state !== 'failed' && state !== 'unknown') return;
    progress.failed += 1;
    const maxErrors = Math.max(1, toRows(this.options.maxErrors, run.header.rows));
    if (progress.failed < maxErrors || stop.reason) return;
    const what = counted(progress.failed, 'row has failed or is unknown', 'rows have failed or are unknown');
    stop.stop({ kind: 'partial', message: `${what}, as many as --max-errors allows` });
  }

  /** Writes the rejects of this session, and then its end into the journal. */
  private async end(
    { journal, planNumber }: RunStart,
    file: FileName,
    log: OutcomeLog,
  ): Promise<Pick<Report, 'rejects' | 'problem'>> {
    const { run } = this;
    let rejects: string | undefined;
    let problem: CliError | undefined;
    try {
      journal.sync();
      rejects = await writeRejectsOf(run, file);
      // Without its rejects the session has not ended: resume writes them.
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

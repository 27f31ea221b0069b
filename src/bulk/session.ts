import type { Client } from '../client/client.ts';
import { eachAtPace, Pace, type StopReason } from '../client/pace.ts';
import { isTable } from '../input/split-input.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, messageOf } from '../process/errors.ts';
import type { FileName } from '../process/new-file.ts';
import { Stop, StoppedError } from '../process/signals.ts';
import { systemReason } from '../process/system-error.ts';
import { counted } from '../process/text.ts';
import type { Outcome, Row } from './decide.ts';
import { Journal } from './journal.ts';
import { makePlan, type Plan } from './plan.ts';
import { writeRejectsOf } from './reject-rows.ts';
import type { Report } from './report.ts';
import { isOpen, rowTotals } from './rows.ts';
import type { Run } from './run.ts';
import { type RowLimit, toRows } from './run-header.ts';
import { createNoun, type RunNoun } from './run-nouns.ts';
import { createRun, journalPath, listRuns, nextPlan } from './run-store.ts';
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

/** The embedded store is saved at most so often while a run writes. */
const saveEveryMs = 250;

/** How long requests in flight may continue after a run has stopped. */
export const graceMs = 10_000;

/** One session of a run: it plans, keeps the plan, writes and reports. */
export class Session {
  readonly stop = new Stop<StopReason>();
  readonly pace: Pace;
  /** For the live line: the records that were read, and the rows that were written. */
  readonly progress = { read: 0, written: 0, failed: 0 };
  readonly run: Run;
  private readonly options: SessionOptions;
  private readonly noun: RunNoun;
  private planningMs = 0;
  private journal: Journal | undefined;
  private id = '';
  /** The number of the plan of this session. */
  private planNumber = 0;
  /** Saves the embedded store; undefined for any other service. */
  private saveStore: (() => Promise<void>) | undefined;
  /** Settled rows that the embedded store on the disk does not have yet: their outcomes wait. */
  private unsaved: Row[] = [];
  private nextSaveMs = 0;
  /** Why an outcome could not be kept: the reason of the stop says so already. */
  private journalError: unknown;

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
  async plan(): Promise<Plan> {
    const { noun, run, pace, progress, stop } = this;
    const startedMs = monotonicMs();
    try {
      return await makePlan(noun, run.rows.filter(isOpen), pace, progress);
    } catch (error) {
      // The stop has aborted the reads.
      throw stop.reason ? new StoppedError() : error;
    } finally {
      this.planningMs = monotonicMs() - startedMs;
    }
  }

  /**
   * Keeps the plan in the journal, of a new run in a new one. From here on the run exists.
   *
   * @returns its id.
   * @throws CliError `failed` if the plan cannot be kept: then nothing was sent.
   */
  async begin(plan: Plan): Promise<string> {
    const { folder } = this.options;
    const { header, invalid, journal: image } = this.run;
    const keep = (journal: Journal, planNumber: number) => {
      for (const row of plan.rows) {
        if (row.outcome) journal.outcome(row, false);
        else journal.plan(row);
      }
      journal.planned(planNumber);
      this.journal = journal;
      this.planNumber = planNumber;
    };
    if (image) {
      const number = nextPlan(await listRuns(folder), header.target);
      keep(new Journal(journalPath(folder, image.id), image.bytes), number);
      this.id = image.id;
    } else
      this.id = await createRun(folder, header.target, (id, journal, number) => {
        journal.begin(id, header, invalid);
        keep(journal, number);
      });
    return this.id;
  }

  /** Writes the rows of the plan that was begun, then the rejects, then the end. @param rejects the file for them */
  async write(plan: Plan, rejects: FileName): Promise<Report> {
    const { run, pace, progress, planningMs, stop } = this;
    const startedMs = monotonicMs();
    const retries = await this.writeRows(plan);
    const writingMs = monotonicMs() - startedMs;
    const ending = await this.end(rejects);
    return {
      ...{ id: this.id, header: run.header, rows: run.rows, planned: plan.rows },
      isResumed: run.journal !== undefined,
      requests: pace.requests,
      retries: pace.retries + retries,
      seconds: Math.round(planningMs + writingMs) / 1000,
      rowsPerSecond: writingMs > 0 ? Math.round((progress.written * 1000) / writingMs) : 0,
      stop: stop.reason,
      ...ending,
    };
  }

  /**
   * Writes the rows, as many at a time as the pace allows, until all are settled or the run stops.
   *
   * @returns how many further attempts there were.
   */
  private async writeRows({ changes, etags }: Plan): Promise<number> {
    const { stop, noun, pace } = this;
    const { client, retries } = this.options;
    const writer = new RowWriter(noun, stop, retries, etags);
    this.saveStore = client.deferSaves?.();
    this.nextSaveMs = monotonicMs() + saveEveryMs;
    let grace: NodeJS.Timeout | undefined;
    stop.stopped.addEventListener('abort', () => {
      grace = setTimeout(() => stop.abandon(), graceMs);
    });
    function* untilStopped(): Generator<Row> {
      for (const row of changes) {
        if (stop.reason) return;
        yield row;
      }
    }
    try {
      await eachAtPace(pace, untilStopped(), async (row) => {
        const outcome = await writer.write(row);
        if (outcome) this.settle(row, outcome);
        if (this.saveStore && monotonicMs() >= this.nextSaveMs) await this.saveOutcomes(this.saveStore);
      });
    } finally {
      clearTimeout(grace);
      if (this.saveStore) await this.saveOutcomes(this.saveStore);
    }
    return writer.retried;
  }

  /** Saves the embedded store, and then keeps the outcomes of the rows that it has. */
  private async saveOutcomes(saveStore: () => Promise<void>): Promise<void> {
    const rows = this.unsaved;
    this.unsaved = [];
    this.nextSaveMs = Number.POSITIVE_INFINITY;
    const startedMs = monotonicMs();
    try {
      await saveStore();
    } catch (error) {
      const why = messageOf(error);
      this.stop.stop({ kind: 'partial', message: why });
      const reason = { code: 'not_saved', message: `the embedded store could not be saved: ${why}` };
      for (const row of rows) row.outcome = { state: 'unknown', reason };
    }
    for (const row of rows) this.keepOutcome(row);
    const endedMs = monotonicMs();
    this.nextSaveMs = endedMs + Math.max(saveEveryMs, 4 * (endedMs - startedMs));
  }

  private keepOutcome(row: Row): void {
    try {
      this.journal?.outcome(row, true);
    } catch (error) {
      // No row may be written if its outcome cannot be kept.
      this.journalError = error;
      this.stop.stop({ kind: 'partial', message: messageOf(error) });
    }
  }

  /** Keeps the outcome of a row, and stops the run if too many have gone wrong. */
  private settle(row: Row, outcome: Outcome): void {
    const { progress, stop, run } = this;
    row.outcome = outcome;
    if (this.saveStore) this.unsaved.push(row);
    else this.keepOutcome(row);
    progress.written += 1;
    if (outcome.state !== 'failed' && outcome.state !== 'unknown') return;
    progress.failed += 1;
    const maxErrors = Math.max(1, toRows(this.options.maxErrors, run.header.rows));
    if (progress.failed < maxErrors || stop.reason) return;
    const what = counted(progress.failed, 'row has failed or is unknown', 'rows have failed or are unknown');
    stop.stop({ kind: 'partial', message: `${what}, as many as --max-errors allows` });
  }

  /** Writes the rejects of this session, and then its end into the journal. */
  private async end(place: FileName): Promise<Pick<Report, 'rejects' | 'problem'>> {
    const { run, journal } = this;
    let rejects: string | undefined;
    let problem: CliError | undefined;
    try {
      journal?.sync();
      rejects = await writeRejectsOf(run, place);
      // Without its rejects the session has not ended: resume writes them.
      const ended = new Date().toISOString();
      journal?.end({ ...rowTotals(run.rows, run.header), planned: this.planNumber, ended });
    } catch (error) {
      if (error !== this.journalError)
        problem = error instanceof CliError ? error : new CliError('failed', systemReason(error));
    }
    journal?.close();
    return { rejects, problem };
  }
}

import { eachAtPace } from '../client/pace.ts';
import { rejectsName, writeRejects } from '../input/rejects.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, messageOf } from '../process/errors.ts';
import { systemReason } from '../process/system-error.ts';
import { counted } from '../process/text.ts';
import type { Outcome, Row } from './decide.ts';
import { Journal, version } from './journal.ts';
import { checkGuards, makePlan, type Plan } from './plan.ts';
import { rejectsOf } from './reject-rows.ts';
import { type Report, reportOf } from './report.ts';
import { countStates, isLeft, isOpen } from './rows.ts';
import { Run, type RunOptions, type RunParts } from './run.ts';
import { type RowLimit, toRows } from './run-flags.ts';
import type { RunStore } from './run-store.ts';
import { writeRow } from './write-row.ts';

// How records become those of a file: the rows of an input (or of a journal, or of a run to undo) are `RunParts`.
// `Session.plan` reads the records at the pace of client/pace.ts and asks `decide` for each row (plan.ts). The command shows
// the plan and asks. `Session.begin` keeps the plan in a journal (journal.ts), `Session.write` writes row by row (write-row.ts), writes the
// rejects, ends the journal and returns a report (report.ts). Later, read-journal.ts makes the same rows of the journal,
// and which-run.ts chooses what to resume or undo among the runs of run-store.ts. target.ts keeps other processes away,
// and deliveries.ts knows what was booked before.

export interface SessionOptions extends RunOptions {
  readonly runs: RunStore;
  /** The run stops when so many rows have failed or are unknown in this session. */
  readonly maxErrors: RowLimit;
}

/** Where the rejects go. */
export interface RejectsPlace {
  /** The file of `--rejects`. */
  readonly named: string | undefined;
  /** The folder in which the user works, for the default file. */
  readonly folder: string;
}

/** The embedded store is saved at most so often while a run writes. */
const saveEveryMs = 250;

/** How long requests in flight may continue after a run has stopped. */
export const graceMs = 10_000;

/** One session of a run: read, plan, journal, write, report. */
export class Session {
  readonly run: Run;
  private readonly runs: RunStore;
  private readonly client: SessionOptions['client'];
  private readonly maxErrors: number;
  private journal: Journal | undefined;
  /** The number of the plan of this session. */
  private planNumber = 0;
  /** Of the embedded store: saves what was answered. */
  private saveStore: (() => Promise<void>) | undefined;
  /** Settled rows whose outcomes wait for the store that has them. */
  private unsaved: Row[] = [];
  private nextSaveMs = 0;

  constructor(parts: RunParts, options: SessionOptions) {
    this.run = new Run(parts, options);
    this.runs = options.runs;
    this.client = options.client;
    this.maxErrors = Math.max(1, toRows(options.maxErrors, parts.header.rows));
  }

  /**
   * Reads the records of the rows that are open, and decides what becomes of each.
   *
   * @throws StoppedError if the run has stopped; CliError if a record could not be read: there is no partial plan.
   */
  async plan(): Promise<Plan> {
    const started = monotonicMs();
    const plan = await makePlan(this.run, this.run.rows.filter(isOpen));
    this.run.planningMs = monotonicMs() - started;
    return plan;
  }

  /** @throws UsageError if a plan breaks a guard of the run. */
  check(plan: Plan): void {
    checkGuards(this.run, plan);
  }

  /**
   * Keeps the plan in the journal, of a new run in a new one. From here on the run exists.
   *
   * @returns its id.
   * @throws CliError `failed` if the plan cannot be kept: then nothing was sent.
   */
  async begin(plan: Plan): Promise<string> {
    const { run, runs } = this;
    const { earlier, header } = run;
    const number = await runs.nextPlan(header.target);
    const keep = (journal: Journal) => {
      for (const row of plan.rows) {
        if (row.outcome) journal.outcome(row, false);
        else journal.plan(row);
      }
      journal.planned(number);
      this.journal = journal;
    };
    this.planNumber = number;
    if (earlier) keep(new Journal(runs.pathOf(earlier.header.run), earlier.bytes));
    run.id =
      earlier?.header.run ??
      (await runs.create((id, journal) => {
        const started = new Date().toISOString();
        journal.begin({ ...header, journal: version, run: id, started }, run.invalid);
        keep(journal);
      }));
    return run.id;
  }

  /** Carries a plan out that was begun: writes, rejects, end. */
  async write(plan: Plan, rejects: RejectsPlace): Promise<Report> {
    const started = monotonicMs();
    await this.writeRows(plan);
    this.run.writingMs = monotonicMs() - started;
    return this.end(plan, rejects);
  }

  /** Writes the rows, as many at a time as the pace allows, until all are settled or the run stops. */
  private async writeRows({ changes }: Plan): Promise<void> {
    const { run } = this;
    const { stop } = run;
    this.saveStore = this.client.deferSaves?.();
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
      await eachAtPace(run.pace, untilStopped(), async (row) => {
        const outcome = await writeRow(run, row);
        if (outcome) this.settle(row, outcome);
        if (this.saveStore && monotonicMs() >= this.nextSaveMs) await this.saveOutcomes(this.saveStore);
      });
    } finally {
      clearTimeout(grace);
      if (this.saveStore) await this.saveOutcomes(this.saveStore);
    }
  }

  /** Saves the embedded store, and then keeps the outcomes of the rows that it has. */
  private async saveOutcomes(saveStore: () => Promise<void>): Promise<void> {
    const rows = this.unsaved;
    this.unsaved = [];
    this.nextSaveMs = Number.POSITIVE_INFINITY;
    const started = monotonicMs();
    try {
      await saveStore();
    } catch (error) {
      this.run.stop.stop({ kind: 'partial', message: messageOf(error) });
      const reason = {
        code: 'not_saved',
        message: `the embedded store could not be saved: ${messageOf(error)}`,
      };
      for (const row of rows) row.outcome = { state: 'unknown', reason };
    }
    for (const row of rows) this.keepOutcome(row);
    const ended = monotonicMs();
    this.nextSaveMs = ended + Math.max(saveEveryMs, 4 * (ended - started));
  }

  private keepOutcome(row: Row): void {
    try {
      this.journal?.outcome(row, true);
    } catch (error) {
      // No row may be written if its outcome cannot be kept.
      this.run.stop.stop({ kind: 'partial', message: messageOf(error) });
    }
  }

  /** Keeps the outcome of a row, and stops the run if too many have gone wrong. */
  private settle(row: Row, outcome: Outcome): void {
    const { maxErrors } = this;
    const { progress, stop } = this.run;
    row.outcome = outcome;
    if (this.saveStore) this.unsaved.push(row);
    else this.keepOutcome(row);
    progress.written += 1;
    if (outcome.state !== 'failed' && outcome.state !== 'unknown') return;
    progress.failed += 1;
    if (progress.failed < maxErrors || stop.reason) return;
    const what = counted(progress.failed, 'row has failed or is unknown', 'rows have failed or are unknown');
    stop.stop({ kind: 'partial', message: `${what}, as many as --max-errors allows` });
  }

  /** Writes the rejects of this session, and then its end into the journal. */
  private async end(plan: Plan, { named, folder }: RejectsPlace): Promise<Report> {
    const { run, journal } = this;
    const { header, rows, stop, again } = run;
    let rejects: string | undefined;
    let problem: CliError | undefined;
    try {
      journal?.sync();
      const rejected = rejectsOf(run);
      if (rejected.length > 0) {
        const name =
          named ?? rejectsName({ name: header.name, path: header.file ?? undefined }, header.format);
        const original = header.flags.sum ? undefined : again;
        rejects = await writeRejects({ name, folder }, header.format, rejected, original);
      }
      // Without its rejects the session has not ended: resume writes them.
      journal?.end({
        counts: countStates(rows, header),
        open: rows.filter(isOpen).length,
        left: rows.filter(isLeft).length,
        planned: this.planNumber,
        ended: new Date().toISOString(),
      });
    } catch (error) {
      if (messageOf(error) !== stop.reason?.message)
        problem = error instanceof CliError ? error : new CliError('failed', systemReason(error));
    }
    journal?.close();
    return reportOf(run, plan, rejects, problem);
  }
}

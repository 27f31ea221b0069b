import { offeredOperation } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { Client } from '../client/client.ts';
import { Pace, type StopReason } from '../client/pace.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, messageOf, UsageError } from '../process/errors.ts';
import type { FileName } from '../process/new-file.ts';
import { graceMs, Stop, StoppedError } from '../process/signals.ts';
import { systemReason } from '../process/system-error.ts';
import type { Outcome, Row, Rules } from '../writes/decide.ts';
import { createRecordPort, type RecordPort } from '../writes/port.ts';
import { createTotals, type Kept, settleAll } from '../writes/settle-all.ts';
import type { Claims } from './claims.ts';
import { Journal } from './journal.ts';
import { OutcomeKeeper } from './outcome-keeper.ts';
import { makePlan, type Plan } from './plan.ts';
import type { JournalContent } from './read-journal.ts';
import { writeRunRejects } from './reject-rows.ts';
import type { Report } from './report.ts';
import { isOnce, isUnfinished, type Run, type RunRow, rowTotals } from './run.ts';
import { type RowLimit, toRowCount } from './run-header.ts';
import {
  createJournal,
  journalPath,
  listRuns,
  nextPlanNumber,
  type SessionStart,
  toRunInfo,
} from './run-store.ts';

interface SessionOptions {
  readonly client: Client;
  /** The folder of the journals. */
  readonly folder: string;
  /** The run stops when this many rows have failed or are unknown in this session. */
  readonly maxErrors: RowLimit;
  /** The maximum number of retries of a row. */
  readonly retries: number;
  /** False if the profile says that the ETags of the service are of no use. */
  readonly sendsEtags: boolean;
  readonly mayCreate: boolean;
  /** What other runs claim of the rows. */
  readonly claims: Claims;
  /** The journal of the earlier sessions. Undefined for a new run. */
  readonly journal: JournalContent | undefined;
}

/** A session of a run. It plans, keeps the plan, writes and reports. */
export class Session {
  readonly run: Run;
  readonly stop = new Stop<StopReason>();
  readonly pace: Pace;
  /** Numbers for the live line. */
  readonly progress = { recordsRead: 0 };
  readonly totals = createTotals();
  private readonly options: SessionOptions;
  private readonly port: RecordPort;
  private readonly rules: Rules;

  /** @throws UsageError if the service cannot read or write such values. */
  constructor(run: Run, options: SessionOptions) {
    this.run = run;
    this.options = options;
    const { noun, pace, kind } = run.header;
    this.pace = new Pace(pace, this.stop);
    const { client, sendsEtags, mayCreate } = options;
    this.port = createRecordPort(client, noun, { pace: this.pace, sendsEtags });
    checkOffers(client, this.port, run);
    this.rules = { mayCreate, isUndo: kind === 'undo', createsByPut: this.port.createsByPut };
  }

  /**
   * Reads the records of the open rows, and decides each row.
   *
   * @throws StoppedError if the run has stopped; CliError if a record could not be read: there is no partial plan.
   */
  plan(): Promise<Plan> {
    return this.planRows(this.run.rows.filter(isUnfinished), this.options.claims);
  }

  /**
   * Keeps the plan in the journal, and creates the journal of a new run. Afterwards the run exists.
   *
   * @throws CliError `failed` if the plan cannot be kept: then nothing was sent.
   */
  async begin(plan: Plan): Promise<SessionStart> {
    const { folder, journal: content } = this.options;
    const { run } = this;
    if (!content)
      return createJournal(folder, run, ({ id, journal, planNumber }) => {
        journal.begin(id);
        journal.keepPlan(plan.rows, planNumber);
      });
    const planNumber = nextPlanNumber(await listRuns(folder), run.header.target);
    const { id } = content.run;
    const journal = new Journal(journalPath(folder, id), run, content.bytes);
    journal.keepPlan(plan.rows, planNumber);
    return { id, journal, planNumber };
  }

  /** Writes the rows of a plan, then the rejects, then the end of the session. @param rejects the file of rejects. */
  async write(plan: Plan, { id, journal }: SessionStart, rejects: FileName): Promise<Report> {
    const { run, pace, stop, totals } = this;
    const { client } = this.options;
    const keeper = new OutcomeKeeper(journal, stop, client.deferSaves?.());
    const startedMs = monotonicMs();
    await this.writeRows(plan, journal, keeper);
    const elapsedMs = monotonicMs() - startedMs;
    const ending = await this.end(plan, journal, rejects);
    return {
      info: toRunInfo({ ...run, id, started: run.started ?? '' }),
      rows: run.rows,
      requests: pace.requests,
      retries: totals.retries,
      seconds: Math.round(plan.elapsedMs + elapsedMs) / 1000,
      rowsPerSecond: elapsedMs > 0 ? Math.round((totals.settled * 1000) / elapsedMs) : 0,
      stop: stop.reason,
      ...ending,
    };
  }

  private planRows(rows: readonly RunRow[], claims: Claims): Promise<Plan> {
    const { port, rules, pace, progress, stop } = this;
    return makePlan(port, rows, { rules, claims, pace, progress }).catch((error) => {
      // The stop has aborted the reading, so the error is only its consequence.
      throw stop.reason ? new StoppedError() : error;
    });
  }

  /** Writes the rows of a plan. Returns when all are settled, or the run has stopped. */
  private async writeRows(plan: Plan, journal: Journal, keeper: OutcomeKeeper): Promise<void> {
    const { stop, pace, port, rules, totals, run, options } = this;
    const limits = { retries: options.retries, retriesUnreachable: true, rules, stop };
    const maxErrors = Math.max(1, toRowCount(options.maxErrors, run.header.rows));
    const rows = plan.changes.map(({ row }) => row);
    const marked = markBeforeSending(rows, journal, () => (totals.settled === 0 ? 1 : pace.max));
    const keep = async (row: Row, kept: Kept) => {
      if (kept.kind === 'mark') {
        journal.keep({ kind: 'mark', rows: [row], planned: kept.planned });
        journal.sync();
      } else if (kept.settled.outcome) await keeper.keep(row, kept.settled.outcome);
    };
    let grace: NodeJS.Timeout | undefined;
    stop.stopped.addEventListener('abort', () => {
      grace = setTimeout(() => stop.abandon(), graceMs);
    });
    try {
      await settleAll(port, marked, { limits, atOnce: pace.max, maxErrors, totals }, keep);
    } catch (error) {
      // A journal that cannot be written stops the run, and what was written is told.
      if (!(error instanceof CliError || error instanceof StoppedError)) throw error;
      if (error instanceof CliError) stop.stop({ kind: error.kind, message: messageOf(error) });
    } finally {
      clearTimeout(grace);
      await keeper.flush();
    }
  }

  /** Writes the rejects of the session, and then its end into the journal. */
  private async end(
    plan: Plan,
    journal: Journal,
    file: FileName,
  ): Promise<Pick<Report, 'rejects' | 'problem'>> {
    const { run } = this;
    let rejects: string | undefined;
    let problem: CliError | undefined;
    try {
      for (const { row } of plan.changes)
        if (row.state.at === 'uncertain')
          journal.keep({ kind: 'outcome', row, outcome: interruptedOutcome(row.state) });
      journal.sync();
      rejects = await writeRunRejects(run, file);
      // If the rejects cannot be written, the journal gets no end, and `resume` writes them.
      endRun(run, journal);
    } catch (error) {
      if (error !== journal.error)
        problem = error instanceof CliError ? error : new CliError('failed', systemReason(error));
    }
    journal.close();
    return { rejects, problem };
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

/** Writes the end of a session into its journal, and syncs it. */
export function endRun(run: Run, journal: Journal): void {
  const ended = new Date().toISOString();
  const end = { ...rowTotals(run.rows, run.header), planned: run.planned, ended };
  journal.keep({ kind: 'end', end });
  journal.sync();
}

function interruptedOutcome({ mayBeApplied }: { readonly mayBeApplied: boolean }): Outcome {
  const message = 'it may have been sent before, and the run stopped before its record was read';
  return { state: 'unknown', reason: { code: 'interrupted', message }, mayBeApplied };
}

/** Rows that add are marked together, because each mark waits for the disk. */
const rowsOfMark = 64;

/**
 * Yields rows, and marks those that create or add before they go out. After a power cut, a row without a mark was certainly
 * never sent.
 *
 * @param creates how many creates are sent at once: a create without an answer stays unknown, so only those are marked.
 */
function* markBeforeSending(rows: readonly Row[], journal: Journal, creates: () => number): Generator<Row> {
  for (let from = 0; from < rows.length; ) {
    const first = rows[from] as Row;
    if (!isOnce(first)) {
      yield first;
      from += 1;
      continue;
    }
    const block = rows.slice(from, from + (first.intent.kind === 'add' ? rowsOfMark : creates()));
    from += block.length;
    journal.keep({ kind: 'mark', rows: block.filter(isOnce) });
    journal.sync();
    yield* block;
  }
}

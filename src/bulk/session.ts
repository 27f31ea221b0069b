import type { PetStatus } from '../api/schemas.ts';
import type { Client } from '../client/client.ts';
import { messageOf } from '../errors.ts';
import type { Events } from './events.ts';
import type { IdIndex } from './id-index.ts';
import type { RunJournal } from './journal.ts';
import type { WriteOptions } from './journal-lines.ts';
import { Ledger } from './ledger.ts';
import { Pace, type PaceOptions } from './pace.ts';
import { makePlan, type Plan, sumUp } from './plan.ts';
import type { Replay } from './replay.ts';
import type { Rows } from './rows.ts';
import { Stop, StoppedError } from './stop.ts';
import { StopRules, stopAtErrors } from './stop-rules.ts';
import { verifyRows } from './verify.ts';
import type { RowTarget } from './write-row.ts';
import { writeRows } from './write-rows.ts';

interface SessionOptions extends PaceOptions {
  readonly client: Client;
  readonly rows: Rows;
  readonly index: IdIndex;
  readonly write: WriteOptions;
  /** What an earlier session of the run left. */
  readonly replay?: Replay | undefined;
  readPetStatus(petId: bigint): Promise<PetStatus>;
}

/** One session of a run: plans, writes and reads back the rows that are unprocessed. */
export class Session {
  readonly ledger: Ledger;
  readonly stop = new Stop();
  readonly pace: Pace;
  /** Entries that were looked at while planning or reading back. */
  entriesRead = 0;
  private readonly options: SessionOptions;
  private journal: RunJournal | undefined;
  private events: Events | undefined;
  private isJournalLost = false;
  private isReadingBack = false;

  constructor(options: SessionOptions) {
    this.options = options;
    this.ledger = new Ledger(options.rows);
    this.pace = new Pace(options, this.stop);
  }

  /** Ends the session with the row that makes so many of failed and unknown ones, while there is something left to send. */
  limitErrors(most: number): void {
    const { ledger, stop } = this;
    ledger.tell({ settled: () => this.isReadingBack || stopAtErrors(stop, ledger.errorCount, most) });
  }

  keepJournal(journal: RunJournal): void {
    this.journal = journal;
    this.ledger.tell({ settled: (row, outcome) => this.keep(() => journal.settled(row, outcome)) });
  }

  tellEvents(events: Events): void {
    this.events = events;
    this.ledger.tell(events);
  }

  /** What would be written; reads the current counts, unless they are not wanted. */
  async plan(): Promise<Plan> {
    const { write, rows } = this.options;
    if (write.blind) return this.planAsKnown();
    const mayHaveBeenSent = (row: number) => this.mayHaveBeenSent(row);
    try {
      return await makePlan({ ...this.reading(), createMissing: write.createMissing, mayHaveBeenSent });
    } catch (error) {
      if (error instanceof StoppedError) return sumUp(rows);
      throw error;
    }
  }

  /** The same by the counts of an earlier session, or by none. */
  planAsKnown(): Plan {
    const { rows, write } = this.options;
    return sumUp(rows, { isBlind: write.blind });
  }

  /** Writes what the plan left unprocessed, until that is done or the session stops. */
  async write(plan: Plan): Promise<void> {
    const { options, journal, events, ledger, pace, stop } = this;
    if (stop.reason) return;
    await writeRows({
      ...options,
      ledger,
      pace,
      stop,
      rules: new StopRules(stop),
      rows: options.rows.inState('unprocessed'),
      targetOf: (row) => this.targetOf(row, plan),
      starting: (row) => this.keep(() => journal?.starting(row)),
      ready: () => events?.ready(),
    });
  }

  /** Reads back what was written, and corrects it; gives how many rows were read, undefined where the session stopped. */
  async verify(): Promise<number | undefined> {
    if (this.stop.reason) return undefined;
    this.isReadingBack = true;
    try {
      return await verifyRows(this.reading());
    } catch (error) {
      if (error instanceof StoppedError) return undefined;
      throw error;
    }
  }

  /** Does what keeps the session; where that fails, no row may be sent any more of which nobody would know. */
  private keep(write: () => void): void {
    if (this.isJournalLost) return;
    try {
      write();
    } catch (error) {
      this.isJournalLost = true;
      this.stop.stop({ kind: 'failed', message: messageOf(error) });
    }
  }

  private targetOf(row: number, { etags, isBlind }: Plan): RowTarget {
    const { rows, write } = this.options;
    return {
      petId: rows.id(row),
      quantity: rows.quantity(row),
      mayCreate: write.createMissing && (isBlind || rows.before(row) === null),
      etag: etags.get(row),
      expected: rows.expected(row),
      mayHaveBeenSent: this.mayHaveBeenSent(row),
    };
  }

  /** By an earlier session of the run. */
  private mayHaveBeenSent(row: number): boolean {
    return row <= (this.options.replay?.sentTo ?? -1);
  }

  private reading() {
    const { client, index } = this.options;
    const progress = (read: number) => {
      this.entriesRead = read;
      return this.events?.ready();
    };
    return { client, index, progress, ledger: this.ledger, pace: this.pace, stop: this.stop };
  }
}

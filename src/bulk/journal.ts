import { rm } from 'node:fs/promises';
import type { Ending, JournalLine, OutcomeLine } from './journal-lines.ts';
import type { JournalWriter } from './journal-writer.ts';
import type { OutcomeListener } from './ledger.ts';
import type { Outcome } from './outcome.ts';
import { type Plan, plannedChanges } from './plan.ts';
import { createOffsets, type Replay } from './replay.ts';
import type { Rows } from './rows.ts';
import type { NumberColumn } from './segments.ts';

/** Rows that are marked as sent ahead of their sending, in one line. */
const rowsPerMark = 64;

/** The journal of a run while it goes on. */
export class RunJournal implements OutcomeListener {
  readonly path: string;
  /** Byte at which the line of a row's failure begins. */
  readonly failureAt: NumberColumn;
  private readonly rows: Rows;
  private readonly writer: JournalWriter;
  private readonly now: () => Date;
  /** Rows of a first plan that need no change get no line: they are those that are not in it. */
  private isFirstPlan: boolean;
  private markedTo = -1;

  constructor(
    writer: JournalWriter,
    rows: Rows,
    { replay, now }: { replay?: Replay | undefined; now(): Date },
  ) {
    this.path = writer.path;
    this.writer = writer;
    this.rows = rows;
    this.now = now;
    this.failureAt = replay?.failureAt ?? createOffsets();
    this.isFirstPlan = replay === undefined;
  }

  settled(row: number, outcome: Outcome): void {
    if (outcome.state === 'unchanged' && this.isFirstPlan) return;
    const at = this.writer.append(this.toLine(row, outcome));
    if (outcome.state === 'failed' || outcome.state === 'unknown') this.failureAt.set(row, at);
  }

  /** Keeps what is about to be done, and with it the counts that an undo goes back to. */
  planned(plan: Plan): void {
    if (!plan.isBlind) for (const changes of plannedChanges(plan)) this.writer.append({ plan: changes });
    this.writer.append({ planned: plan.changes, at: this.now().getTime() });
    this.isFirstPlan = false;
  }

  /** To be told of a row before it is sent: a kill must not leave a sent row that nobody knows of. */
  starting(row: number): void {
    if (row <= this.markedTo) return;
    this.markedTo = row + rowsPerMark;
    this.append({ sending: this.markedTo, at: this.now().getTime() });
    this.writer.flush();
  }

  /** Ends the session; the run can be resumed unless it has finished. */
  async end(ended: Ending, by?: string): Promise<void> {
    try {
      this.append({ ended, by, counts: this.rows.countStates(), at: this.now().getTime() });
    } finally {
      await this.writer.close();
    }
  }

  /** Ends a session that did nothing: the plan in the journal is no younger for it. */
  close(): Promise<void> {
    return this.writer.close();
  }

  /** Removes the journal of a run that never began. */
  async discard(): Promise<void> {
    await this.writer.close();
    await rm(this.path, { force: true });
  }

  private append(line: JournalLine): void {
    this.writer.append(line);
  }

  private toLine(row: number, { state, status, code, message, attempts }: Outcome): OutcomeLine {
    const { rows } = this;
    const before = rows.before(row);
    const line = { row, petId: rows.id(row), state, before, after: rows.quantity(row) };
    return message === undefined ? line : { ...line, status, code, message, attempts };
  }
}

import type { FailureKind, Outcome } from './outcome.ts';
import type { Rows } from './rows.ts';

/** Who is told of every outcome. */
export interface OutcomeListener {
  settled(row: number, outcome: Outcome): void;
}

/** Most kinds of failure that are told apart: a service could send a code of its own for every row. */
const mostKinds = 50;

/** The only way for a row to get its outcome, and what is counted on the way. */
export class Ledger {
  readonly rows: Rows;
  /** Rows that got an outcome. */
  settledCount = 0;
  /** Of these, failed or unknown. */
  errorCount = 0;
  private readonly kinds = new Map<string, FailureKind>();
  private readonly kindsOfUnknown = new Map<number, FailureKind>();
  private readonly listeners: OutcomeListener[] = [];

  constructor(rows: Rows) {
    this.rows = rows;
  }

  tell(listener: OutcomeListener): void {
    this.listeners.push(listener);
  }

  settle(row: number, outcome: Outcome): void {
    const { state } = outcome;
    this.rows.setState(row, state);
    this.settledCount += 1;
    if (state === 'failed' || state === 'unknown') this.countFailure(row, state, outcome);
    for (const listener of this.listeners) listener.settled(row, outcome);
  }

  /** Takes over a failure of an earlier session; nobody is told. */
  restore(row: number, outcome: Outcome): void {
    const { state } = outcome;
    this.rows.setState(row, state);
    if (state === 'failed' || state === 'unknown') this.countFailure(row, state, outcome);
  }

  /** Puts a later finding in the place of a row's outcome. */
  correct(row: number, outcome: Outcome): void {
    if (this.rows.isState(row, 'unknown')) {
      this.errorCount -= 1;
      const kind = this.kindsOfUnknown.get(row);
      if (kind) kind.count -= 1;
    }
    this.settledCount -= 1;
    this.settle(row, outcome);
  }

  /** Kinds of failure, the most frequent first. */
  failures(): FailureKind[] {
    const kinds = [...this.kinds.values()].filter(({ count }) => count > 0);
    return kinds.sort((one, other) => other.count - one.count);
  }

  private countFailure(row: number, state: 'failed' | 'unknown', outcome: Outcome): void {
    const { status, code, message = '', isUnavailable = false } = outcome;
    this.errorCount += 1;
    const named = [status, code].filter((part) => part !== undefined).join(' ');
    const kind = this.kinds.size < mostKinds || this.kinds.has(`${state} ${named}`) ? named : 'other';
    const key = `${state} ${kind}`;
    const example = { line: this.rows.line(row), petId: this.rows.id(row), message };
    const known = this.kinds.get(key) ?? { kind, state, count: 0, example, isUnavailable };
    known.count += 1;
    known.isUnavailable &&= isUnavailable;
    this.kinds.set(key, known);
    if (state === 'unknown') this.kindsOfUnknown.set(row, known);
  }
}

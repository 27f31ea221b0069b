import type { Rows, State } from './rows.ts';

/** The outcome of a row, and its reason. */
export interface Outcome {
  readonly state: Exclude<State, 'unprocessed'>;
  /** HTTP status of the answer that decided it. */
  readonly status?: number | undefined;
  /** The service's own code, or this program's code for the reason. */
  readonly code?: string | undefined;
  /** For people; may contain foreign text. */
  readonly message?: string | undefined;
  /** How many requests were sent for the row. */
  readonly attempts?: number | undefined;
  /** The service's id of the request. */
  readonly requestId?: string | undefined;
  /** The service could not be reached or was overloaded: the same row may succeed later. */
  readonly isUnavailable?: boolean | undefined;
  /** It failed finally, although one of its writes may have been applied. */
  readonly isFinal?: boolean | undefined;
}

/** Failures of one kind. */
export interface FailureKind {
  /** Such as `404 not_found` or `timeout`. */
  readonly kind: string;
  readonly state: 'failed' | 'unknown';
  count: number;
  /** True if for each of them the service could not be reached or was overloaded. */
  isUnavailable: boolean;
  /** The first of them. */
  example: {
    readonly line: number;
    readonly petId: bigint;
    readonly message: string;
    readonly requestId: string | undefined;
  };
}

/** Receives every outcome. */
export interface OutcomeListener {
  settled(row: number, outcome: Outcome): void;
}

/** Most kinds of failure that are counted separately: a service could send a different code for every row. */
const mostKinds = 50;
/** Most failures whose texts are kept; further ones are only counted. */
const mostTexts = 10_000;

/** Settles rows: the only way for a row to get its outcome. Also counts them. */
export class Ledger {
  readonly rows: Rows;
  /** Rows that got an outcome in this session. */
  settledCount = 0;
  /** How many of these failed or are unknown. */
  errorCount = 0;
  /** How many of these had not already failed in an earlier session. */
  newErrorCount = 0;
  private readonly kinds = new Map<string, FailureKind>();
  private readonly kindOfRow = new Map<number, FailureKind>();
  private readonly texts = new Map<number, Outcome>();
  private readonly listeners: OutcomeListener[] = [];

  constructor(rows: Rows) {
    this.rows = rows;
  }

  tell(listener: OutcomeListener): void {
    this.listeners.push(listener);
  }

  /** Settles a row. It is failed only if none of its writes, in any session, can have been applied. */
  settle(row: number, outcome: Outcome): void {
    const { rows } = this;
    const isUnknown = outcome.state === 'failed' && rows.wasSent(row) && !outcome.isFinal;
    const told: Outcome = isUnknown ? { ...outcome, state: 'unknown' } : outcome;
    const { state } = told;
    rows.setState(row, state);
    if (told.isFinal) rows.setSent(row);
    this.settledCount += 1;
    if (state === 'failed' || state === 'unknown') this.countFailure(row, state, told);
    for (const listener of this.listeners) listener.settled(row, told);
  }

  /** Takes over a final failure of an earlier session, without calling the listeners. */
  restore(row: number, outcome: Outcome): void {
    this.rows.setState(row, outcome.state);
    if (outcome.state === 'failed' || outcome.state === 'unknown')
      this.countFailure(row, outcome.state, outcome);
  }

  /** Replaces the outcome of a row by a later finding. */
  correct(row: number, outcome: Outcome): void {
    const kind = this.kindOfRow.get(row);
    if (kind) {
      kind.count -= 1;
      this.errorCount -= 1;
      this.kindOfRow.delete(row);
      this.texts.delete(row);
      if (kind.example.petId === this.rows.id(row)) this.replaceExample(kind);
    }
    this.settledCount -= 1;
    this.settle(row, outcome);
  }

  /** Why a row failed or is unknown; undefined for other rows, and beyond the texts that are kept. */
  failureOf(row: number): Outcome | undefined {
    return this.texts.get(row);
  }

  /** Kinds of failure, the most frequent first. */
  failures(): FailureKind[] {
    const kinds = [...this.kinds.values()].filter(({ count }) => count > 0);
    return kinds.sort((one, other) => other.count - one.count);
  }

  private exampleOf(row: number, message: string, requestId: string | undefined): FailureKind['example'] {
    return { line: this.rows.line(row), petId: this.rows.id(row), message, requestId };
  }

  /** The row of the example has succeeded later: replace it by another one of the kind. */
  private replaceExample(kind: FailureKind): void {
    for (const [row, each] of this.kindOfRow) {
      if (each !== kind) continue;
      const { message = kind.example.message, requestId } = this.texts.get(row) ?? {};
      kind.example = this.exampleOf(row, message, requestId);
      return;
    }
  }

  private countFailure(row: number, state: 'failed' | 'unknown', outcome: Outcome): void {
    const { rows, kinds } = this;
    const { status, code, message = '', requestId, isUnavailable = false } = outcome;
    this.errorCount += 1;
    const earlier = rows.earlierState(row);
    if (earlier !== 'failed' && earlier !== 'unknown') this.newErrorCount += 1;
    const named = [status, code].filter((part) => part !== undefined).join(' ');
    const kind = kinds.size < mostKinds || kinds.has(`${state} ${named}`) ? named : 'other';
    const key = `${state} ${kind}`;
    const example = this.exampleOf(row, message, requestId);
    const known = kinds.get(key) ?? { kind, state, count: 0, example, isUnavailable };
    known.count += 1;
    known.isUnavailable &&= isUnavailable;
    kinds.set(key, known);
    if (this.texts.size < mostTexts) this.texts.set(row, outcome);
    // Only an unknown row, or one that reads back differently, can get another outcome later.
    if (state === 'unknown') this.kindOfRow.set(row, known);
  }
}

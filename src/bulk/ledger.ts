import { messageOf } from '../process/errors.ts';
import type { Stop } from '../process/signals.ts';
import type { Events } from './events.ts';
import type { Journal } from './journal.ts';
import { createBytes, NumberList } from './number-list.ts';
import type { StopReason } from './pace.ts';
import type { Outcome, Rows } from './rows.ts';

/** Failures of one kind, as a summary has them. */
export interface FailureKind {
  /** Such as `404 not_found` or `timeout`. */
  readonly kind: string;
  readonly state: 'failed' | 'unknown';
  count: number;
  /** True if for each of them the service could not be reached or was overloaded. */
  retryable: boolean;
  /** The first of them. */
  readonly example: {
    readonly line: number;
    readonly petId: bigint;
    readonly message: string;
    readonly requestId?: string;
  };
}

type Kind = Pick<FailureKind, 'kind' | 'state' | 'retryable'>;

/** Most kinds of failure that are counted separately: a service could send a different code for every row. */
const mostKinds = 50;
/** Most failures whose texts are kept; further ones are only counted. */
const mostTexts = 10_000;

/** Settles rows: the only way for a row to get its outcome. Counts, journals and tells them. */
export class Ledger {
  /** How many rows failed or are unknown. */
  errorCount = 0;
  unknownCount = 0;
  /** How many of these had not already failed in an earlier session. */
  newErrorCount = 0;
  /** Set when the session has a plan, as are the events. */
  journal: Journal | undefined;
  events: Events | undefined;
  private readonly rows: Rows;
  private readonly stop: Stop<StopReason>;
  private readonly kinds: Kind[] = [];
  /** The index of the kind of each failed or unknown row. */
  private readonly kindOfRow = new NumberList(createBytes);
  private readonly texts = new Map<number, Outcome>();

  constructor(rows: Rows, stop: Stop<StopReason>) {
    this.rows = rows;
    this.stop = stop;
  }

  /** Records the row in the journal before it is sent. */
  starting(row: number): void {
    try {
      this.journal?.starting(row);
    } catch (error) {
      this.stopWithoutJournal(error);
    }
  }

  /**
   * Settles a row, or replaces its outcome by a later finding. It is failed only if none of its writes, in any session,
   * can have been applied.
   */
  settle(row: number, outcome: Outcome): void {
    const { rows } = this;
    const isUnknown = outcome.state === 'failed' && rows.wasSent(row) && !outcome.isFinal;
    const told: Outcome = isUnknown ? { ...outcome, state: 'unknown' } : outcome;
    if (rows.isState(row, 'failed') || rows.isState(row, 'unknown')) {
      this.errorCount -= 1;
      if (rows.isState(row, 'unknown')) this.unknownCount -= 1;
      this.texts.delete(row);
    }
    rows.setState(row, told.state);
    if (told.isFinal) rows.setSent(row);
    if (told.state === 'failed' || told.state === 'unknown') this.countFailure(row, told.state, told);
    this.events?.settled(row, told);
    try {
      this.journal?.settled(row, told);
    } catch (error) {
      this.stopWithoutJournal(error);
    }
  }

  /** Takes over a final failure of an earlier session. */
  restore(row: number, outcome: Outcome): void {
    this.countFailure(row, 'failed', outcome);
  }

  /** Why a row failed or is unknown; undefined for other rows, and beyond the texts that are kept. */
  failureOf(row: number): Outcome | undefined {
    return this.texts.get(row);
  }

  /** The outcomes of this session so far. */
  *outcomes(): Generator<readonly [row: number, outcome: Outcome]> {
    const { rows } = this;
    for (let row = 0; row < rows.length; row += 1) {
      const state = rows.state(row);
      if (state !== 'unprocessed' && state !== rows.earlierState(row))
        yield [row, this.failureOf(row) ?? { state }];
    }
  }

  /** Kinds of failure, the most frequent first. */
  failures(): FailureKind[] {
    const { rows } = this;
    const found = new Map<number, FailureKind>();
    for (let row = 0; row < rows.length; row += 1) {
      if (!rows.isState(row, 'failed') && !rows.isState(row, 'unknown')) continue;
      const at = this.kindOfRow.get(row);
      const known = found.get(at);
      if (known) {
        known.count += 1;
        continue;
      }
      const { kind, state, retryable } = this.kinds[at] as Kind;
      const { message = '', requestId } = this.failureOf(row) ?? {};
      const example = { line: rows.line(row), petId: rows.id(row), message };
      const whole = requestId === undefined ? example : { ...example, requestId };
      found.set(at, { kind, state, count: 1, retryable, example: whole });
    }
    return [...found.values()].sort((one, other) => other.count - one.count);
  }

  private countFailure(row: number, state: 'failed' | 'unknown', outcome: Outcome): void {
    const { rows, kinds } = this;
    const { status, code, isUnavailable: retryable = false } = outcome;
    this.errorCount += 1;
    if (state === 'unknown') this.unknownCount += 1;
    const earlier = rows.earlierState(row);
    if (earlier !== 'failed' && earlier !== 'unknown') this.newErrorCount += 1;
    const indexOf = (name: string) => kinds.findIndex((each) => each.kind === name && each.state === state);
    const named = [status, code].filter((part) => part !== undefined).join(' ');
    const kind = kinds.length < mostKinds || indexOf(named) !== -1 ? named : 'other';
    if (indexOf(kind) === -1) kinds.push({ kind, state, retryable });
    const at = indexOf(kind);
    if (!retryable) (kinds[at] as Kind).retryable = false;
    this.kindOfRow.set(row, at);
    if (this.texts.size < mostTexts) this.texts.set(row, outcome);
  }

  /** No row may be sent without being recorded. */
  private stopWithoutJournal(error: unknown): void {
    this.stop.stop({ kind: 'partial', message: messageOf(error) });
  }
}

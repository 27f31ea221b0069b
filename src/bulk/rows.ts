import { type Count, CountList, createBytes, createWords, IdList, NumberList } from './number-lists.ts';

/** The states of a row of an input. Every row is in exactly one of them, so a summary adds up. */
export const rowStates = [
  'unprocessed',
  'applied',
  'unchanged',
  'failed',
  'unknown',
  'invalid',
  'skipped',
] as const;
export type RowState = (typeof rowStates)[number];

export type StateCounts = Record<RowState, number>;

/**
 * What a run has done for a row: nothing, perhaps something, or what it was to do. Nothing, without a reason: the count
 * was already as it should be.
 */
export interface RowOutcome {
  readonly effect: 'none' | 'maybe' | 'done';
  readonly reason?: Reason | undefined;
}

/** Why a row failed or is unknown. */
export interface Reason {
  /** The service's own code, or this program's. */
  readonly code: string;
  /** For people; may contain foreign text. */
  readonly message: string;
  /** HTTP status of the answer that decided it. */
  readonly status?: number | undefined;
  /** How many requests were sent for the row. */
  readonly attempts?: number | undefined;
  /** The service's id of the request. */
  readonly requestId?: string | undefined;
  /** The same row may succeed later: `resume` takes it. Without it a person must correct the row. */
  readonly passes?: boolean | undefined;
}

/** A row of the input that is invalid. */
export interface InvalidRow {
  readonly line: number;
  readonly message: string;
  /** The cells that apply reads, as they were written, if they were found. */
  readonly cells: readonly string[];
}

/** The values of a data row of the input. */
export interface RowValues {
  readonly id: number | bigint;
  /** The count that the pet is to have; 0 for a relative row until it is planned. Null: the entry is removed. */
  readonly after: Count;
  /** For a relative row: the change to add to the count. */
  readonly change?: number | undefined;
  /** The count that the pet must have for the row to apply. */
  readonly expected?: Count | undefined;
  /** The line on which the row begins, from 1; 0 for a row that did not come from an input. */
  readonly line: number;
}

/** Marks of a row, as bits. */
export const marks = {
  /** A write of an earlier session was perhaps sent. */
  perhaps: 1,
  /** It is in the plan of this session. */
  planned: 2,
  /** It was settled before the last end of its run, and is in the rejects of that session. */
  reported: 4,
} as const;

/**
 * The rows of a run, one for each pet, by their number from 0, in about 40 bytes each. Other columns of the input are not
 * kept; they are read again if necessary.
 */
export class Rows {
  /** ETags that the last plan saw, by row. */
  readonly etags = new Map<number, string>();
  private readonly ids = new IdList();
  private readonly lines = new NumberList(createWords);
  private readonly codes = new NumberList(createBytes);
  private readonly bits = new NumberList(createBytes);
  private readonly afters = new CountList();
  private readonly befores = new CountList();
  private readonly expectations = new CountList();
  private readonly changes = new CountList();
  private readonly reasons = new Map<number, Reason>();

  get length(): number {
    return this.ids.length;
  }

  /** Adds the row of a pet that has none, and returns its number. */
  add({ id, after, change, expected, line }: RowValues): number {
    const row = this.length;
    this.ids.add(id);
    this.lines.set(row, line);
    this.afters.set(row, after);
    if (change !== undefined) this.changes.set(row, change);
    if (expected !== undefined) this.expectations.set(row, expected);
    return row;
  }

  id(row: number): bigint {
    return this.ids.get(row);
  }

  /** The row of a pet; undefined if there is none. */
  find(id: number | bigint): number | undefined {
    return this.ids.find(id);
  }

  line(row: number): number {
    return this.lines.get(row);
  }

  /** The count that the row writes; null if it removes the entry. */
  after(row: number): Count {
    return this.afters.get(row) ?? null;
  }

  setAfter(row: number, after: Count): void {
    this.afters.set(row, after);
  }

  /** The count that was read before the write; undefined if it was not read. */
  before(row: number): Count | undefined {
    return this.befores.get(row);
  }

  setBefore(row: number, before: Count): void {
    this.befores.set(row, before);
  }

  /** The change of a relative row; undefined for a row that sets the count. */
  change(row: number): number | undefined {
    return this.changes.get(row) as number | undefined;
  }

  setChange(row: number, change: number): void {
    this.changes.set(row, change);
  }

  /** The count that the pet must have; undefined for any. */
  expected(row: number): Count | undefined {
    return this.expectations.get(row);
  }

  state(row: number): RowState {
    return rowStates[this.codes.get(row)] ?? 'unprocessed';
  }

  isState(row: number, state: RowState): boolean {
    return this.codes.get(row) === rowStates.indexOf(state);
  }

  setState(row: number, state: RowState): void {
    this.codes.set(row, rowStates.indexOf(state));
  }

  /** Why the row failed or is unknown; undefined for one whose run was killed. */
  reason(row: number): Reason | undefined {
    return this.reasons.get(row);
  }

  /** Gives a row its outcome. */
  settle(row: number, { effect, reason }: RowOutcome): void {
    this.setState(row, stateOf(effect, reason));
    this.mark(row, marks.perhaps, effect === 'maybe');
    if (reason) this.reasons.set(row, reason);
    else this.reasons.delete(row);
  }

  /** Takes a row into a new plan. */
  reopen(row: number): void {
    this.setState(row, 'unprocessed');
    this.reasons.delete(row);
    this.mark(row, marks.reported, false);
  }

  isMarked(row: number, mark: number): boolean {
    return (this.bits.get(row) & mark) !== 0;
  }

  mark(row: number, mark: number, isSet = true): void {
    const bits = this.bits.get(row);
    this.bits.set(row, isSet ? bits | mark : bits & ~mark);
  }

  /** Whether a write of the row was, or may have been, applied. */
  mayHaveBeenWritten(row: number): boolean {
    return this.isState(row, 'applied') || this.isState(row, 'unknown') || this.isMarked(row, marks.perhaps);
  }

  /** Whether `resume` takes the row: neither as it should be, nor failed for a reason of its own. */
  isLeft(row: number): boolean {
    const state = this.state(row);
    return (
      state === 'unprocessed' ||
      state === 'unknown' ||
      (state === 'failed' && this.reason(row)?.passes === true)
    );
  }

  /** How many rows are in each state. */
  countStates(): StateCounts {
    const counts = Object.fromEntries(rowStates.map((state) => [state, 0])) as StateCounts;
    for (let row = 0; row < this.length; row += 1) counts[this.state(row)] += 1;
    return counts;
  }

  /** The rows that are wanted, in order; what is wanted may change during the iteration. */
  *where(isWanted: (row: number) => boolean): Generator<number> {
    for (let row = 0; row < this.length; row += 1) if (isWanted(row)) yield row;
  }

  count(isWanted: (row: number) => boolean): number {
    let count = 0;
    for (const _ of this.where(isWanted)) count += 1;
    return count;
  }

  inState(state: RowState): Generator<number> {
    return this.where((row) => this.isState(row, state));
  }

  /** How many rows `resume` would take. */
  countLeft(): number {
    return this.count((row) => this.isLeft(row));
  }
}

function stateOf(effect: RowOutcome['effect'], reason: Reason | undefined): RowState {
  if (effect === 'done') return 'applied';
  if (effect === 'maybe') return 'unknown';
  return reason ? 'failed' : 'unchanged';
}

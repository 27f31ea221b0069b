import { IdList } from './id-list.ts';
import { createBytes, createWords, NumberList } from './number-list.ts';

/** The states of a row; the first is that of a new one. Every row is in exactly one of them, so a summary adds up. */
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

/** A state as one byte. */
const stateCodes = Object.fromEntries(rowStates.map((state, code) => [state, code])) as Readonly<
  Record<RowState, number>
>;

export type StateCounts = Record<RowState, number>;

/** A count of the service or of a file; null for a pet without an entry, a bigint beyond 2^53. */
export type Count = number | bigint | null;

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

export function stateOf({ effect, reason }: RowOutcome): RowState {
  if (effect === 'done') return 'applied';
  if (effect === 'maybe') return 'unknown';
  return reason ? 'failed' : 'unchanged';
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
  /** It failed for a reason that passes: `resume` takes it. */
  passes: 2,
  /** It is in the plan of this session. */
  planned: 4,
  /** It was settled before the last end of its run, and is in the rejects of that session. */
  reported: 8,
} as const;

/**
 * The data rows of a run, by their number from 0, in about 35 bytes each. Other columns of the input are not kept; they
 * are read again if necessary.
 */
export class Rows {
  length = 0;
  private readonly ids = new IdList();
  private readonly lines = new NumberList(createWords);
  private readonly codes = new NumberList(createBytes);
  private readonly bits = new NumberList(createBytes);
  private readonly afters = new CountList();
  private readonly befores = new CountList();
  private readonly expectations = new CountList();
  private readonly changes = new CountList();

  /** Adds a row and returns its number. */
  add({ id, after, change, expected, line }: RowValues): number {
    const row = this.length;
    this.ids.set(row, id);
    this.lines.set(row, line);
    this.afters.set(row, after);
    if (change !== undefined) this.changes.set(row, change);
    if (expected !== undefined) this.expectations.set(row, expected);
    this.length += 1;
    return row;
  }

  /** Adds a row without usable values. */
  addInvalid(line: number): void {
    this.setState(this.add({ id: 0, after: 0, line }), 'invalid');
  }

  id(row: number): bigint {
    return this.ids.get(row);
  }

  /** Lets `find` find a row; returns the row that it found for this id before. */
  index(row: number): number | undefined {
    return this.ids.index(row);
  }

  /** The indexed row with this id; undefined if there is none. */
  find(id: bigint): number | undefined {
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

  get hasExpectations(): boolean {
    return !this.expectations.isEmpty;
  }

  state(row: number): RowState {
    return rowStates[this.codes.get(row)] ?? 'unprocessed';
  }

  isState(row: number, state: RowState): boolean {
    return this.codes.get(row) === stateCodes[state];
  }

  setState(row: number, state: RowState): void {
    this.codes.set(row, stateCodes[state]);
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
      (state === 'failed' && this.isMarked(row, marks.passes))
    );
  }

  /** How many rows are in each state. */
  countStates(): StateCounts {
    const counts = Object.fromEntries(rowStates.map((state) => [state, 0])) as StateCounts;
    for (let row = 0; row < this.length; row += 1) counts[this.state(row)] += 1;
    return counts;
  }

  /** The rows in a state, in order; states may change during the iteration. */
  *inState(state: RowState): Generator<number> {
    for (let row = 0; row < this.length; row += 1) if (this.isState(row, state)) yield row;
  }
}

/** The count is unknown, or the pet has no entry, or the count is beyond 2^53 and in a map. */
const notKnown = Number.NaN;
const noEntry = Number.NEGATIVE_INFINITY;
const beyond = Number.POSITIVE_INFINITY;

const createCounts = (length: number) => new Float64Array(length).fill(notKnown);

/** A list of counts, in 8 bytes each. */
class CountList {
  private readonly numbers = new NumberList(createCounts);
  private readonly large = new Map<number, bigint>();

  get isEmpty(): boolean {
    return this.numbers.isEmpty;
  }

  get(at: number): Count | undefined {
    const stored = this.numbers.get(at);
    if (Number.isFinite(stored)) return stored;
    if (stored === noEntry) return null;
    return stored === beyond ? this.large.get(at) : undefined;
  }

  set(at: number, count: Count): void {
    if (typeof count === 'bigint' && !Number.isSafeInteger(Number(count))) {
      this.large.set(at, count);
      this.numbers.set(at, beyond);
    } else this.numbers.set(at, count === null ? noEntry : Number(count));
  }
}

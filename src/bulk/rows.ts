import { IdList } from './id-list.ts';
import { createBytes, createWords, NumberList } from './number-list.ts';

/**
 * The states of a row; the first is that of a new one. Every row is in exactly one of them, so that a summary always adds
 * up.
 */
export const states = [
  'unprocessed',
  'applied',
  'unchanged',
  'failed',
  'unknown',
  'invalid',
  'skipped',
] as const;
export type State = (typeof states)[number];

/** A state as one byte of the row store. */
const stateCodes = Object.fromEntries(states.map((state, code) => [state, code])) as Readonly<
  Record<State, number>
>;

/** What became of a row, and why. */
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

/** The values of a data row of the input. */
export interface RowValues {
  readonly id: number | bigint;
  /** Null: the entry is removed. For a relative row: 0 until the plan knows the count. */
  readonly quantity: number | null;
  /** For a relative row: the change to add to the count. */
  readonly change?: number | undefined;
  /** The count that the pet must have for the row to apply; null: it must not have an entry. */
  readonly expected?: number | null | undefined;
  /** The line on which the row begins, from 1; 0 for a row that did not come from an input. */
  readonly line: number;
}

/** The count is unknown. */
const notKnown = Number.NaN;
/** The count of a pet without an entry. */
const noEntry = Number.NEGATIVE_INFINITY;

const createCounts = (length: number) => new Float64Array(length).fill(notKnown);

/** Bits of a row's marks: its state after the last session, and whether a write may have been applied. */
const stateMask = 7;
const sentMark = 8;

/**
 * All data rows of an input, by their number from 0, in about 20 bytes each; the counts before the run and the expected
 * counts take 8 more if they are used. Other columns are not kept; they are read again from the input if necessary.
 */
export class Rows {
  length = 0;
  private readonly ids = new IdList();
  private readonly quantities = new NumberList(createCounts);
  private readonly lines = new NumberList(createWords);
  private readonly codes = new NumberList(createBytes);
  private readonly expectations = new NumberList(createCounts);
  private readonly changes = new NumberList(createCounts);
  private readonly befores = new NumberList(createCounts);
  private readonly marks = new NumberList(createBytes);

  add(values: RowValues): void {
    this.lines.set(this.length, values.line);
    this.put(this.length, values);
    this.length += 1;
  }

  /** Sets the values of an existing row. */
  put(row: number, { id, quantity, expected, change }: Omit<RowValues, 'line'>): void {
    this.ids.set(row, id);
    this.quantities.set(row, toStored(quantity));
    if (change !== undefined) this.changes.set(row, change);
    if (expected !== undefined) this.expectations.set(row, toStored(expected));
  }

  /** Adds a row without usable values. */
  addInvalid(line: number): void {
    this.setState(this.length, 'invalid');
    this.add({ id: 0, quantity: 0, line });
  }

  id(row: number): bigint {
    return this.ids.get(row);
  }

  /** Lets `find` find a row; returns the row that it found for this id before. All rows must have been added. */
  indexRow(row: number): number | undefined {
    return this.ids.index(row, this.length);
  }

  /** The indexed row with this id; undefined if there is none. */
  find(id: bigint): number | undefined {
    return this.ids.find(id);
  }

  /** The new count; null if the row removes the entry. */
  quantity(row: number): number | null {
    const quantity = this.quantities.get(row);
    return quantity === noEntry ? null : quantity;
  }

  setQuantity(row: number, quantity: number): void {
    this.quantities.set(row, quantity);
  }

  /** The change of a relative row; undefined for a row that sets the count. */
  change(row: number): number | undefined {
    return fromStored(this.changes.get(row)) ?? undefined;
  }

  setChange(row: number, change: number): void {
    this.changes.set(row, change);
  }

  /** The expected count: null for no entry, undefined for any count. */
  expected(row: number): number | null | undefined {
    return fromStored(this.expectations.get(row));
  }

  get hasExpectations(): boolean {
    return !this.expectations.isEmpty;
  }

  line(row: number): number {
    return this.lines.get(row);
  }

  state(row: number): State {
    return stateOf(this.codes.get(row));
  }

  isState(row: number, state: State): boolean {
    return this.codes.get(row) === stateCodes[state];
  }

  setState(row: number, state: State): void {
    this.codes.set(row, stateCodes[state]);
  }

  /** The count of the service before the run: null for a pet without an entry, undefined if it was not read. */
  before(row: number): number | null | undefined {
    return fromStored(this.befores.get(row));
  }

  setBefore(row: number, before: number | null | undefined): void {
    this.befores.set(row, toStored(before));
  }

  /** Whether a write of this row was, or may have been, applied: in an earlier session, or before it failed in this one. */
  wasSent(row: number): boolean {
    return (this.marks.get(row) & sentMark) !== 0;
  }

  setSent(row: number): void {
    this.marks.set(row, this.marks.get(row) | sentMark);
  }

  /** The state of the row after the last session of the run; `unprocessed` in a first session. */
  earlierState(row: number): State {
    return stateOf(this.marks.get(row) & stateMask);
  }

  /** Keeps the current state as the one after the last session. */
  keepState(row: number): void {
    this.marks.set(row, (this.marks.get(row) & ~stateMask) | this.codes.get(row));
  }

  /** How many rows are in each state. */
  countStates(): Record<State, number> {
    const counts = Object.fromEntries(states.map((state) => [state, 0])) as Record<State, number>;
    for (let row = 0; row < this.length; row += 1) counts[this.state(row)] += 1;
    return counts;
  }

  /** The rows in a state, in order; states may change during the iteration. */
  *inState(state: State): Generator<number> {
    for (let row = 0; row < this.length; row += 1) if (this.isState(row, state)) yield row;
  }
}

function stateOf(code: number): State {
  return states[code] ?? 'unprocessed';
}

function toStored(count: number | null | undefined): number {
  return count === null ? noEntry : (count ?? notKnown);
}

function fromStored(stored: number): number | null | undefined {
  if (Number.isNaN(stored)) return undefined;
  return stored === noEntry ? null : stored;
}

/** The states of a row. Every row is in exactly one of them, so that a summary always adds up. */
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
export const stateCodes = Object.fromEntries(states.map((state, code) => [state, code])) as Readonly<
  Record<State, number>
>;

export function stateOf(code: number): State {
  return states[code] ?? 'unprocessed';
}

const bits = 16;
const size = 1 << bits;
const mask = size - 1;

type Cells = Float64Array | Uint32Array | Uint8Array;

/** A growing column of numbers in segments of 65,536, so that nothing is copied when it grows. */
class NumberColumn {
  private readonly segments: Cells[] = [];
  private readonly create: () => Cells;

  /** @param create creates a segment of the given length, filled with the value of unset rows. */
  constructor(create: (length: number) => Cells) {
    this.create = () => create(size);
  }

  get(row: number): number {
    return (this.segments[row >>> bits] as Cells)[row & mask] as number;
  }

  set(row: number, value: number): void {
    const at = row >>> bits;
    this.segments[at] ??= this.create();
    (this.segments[at] as Cells)[row & mask] = value;
  }
}

/** A growing column of int64 ids, also accessible as pairs of 32-bit words, because arithmetic on bigints is slow. */
class IdColumn {
  private readonly segments: { ids: BigInt64Array; words: Uint32Array }[] = [];

  get(row: number): bigint {
    return this.segmentOf(row).ids[row & mask] as bigint;
  }

  set(row: number, id: number | bigint): void {
    const { ids, words } = this.segmentOf(row);
    if (typeof id === 'bigint') ids[row & mask] = id;
    else {
      words[2 * (row & mask)] = id;
      words[2 * (row & mask) + 1] = id / 2 ** 32;
    }
  }

  /** Bits 0 to 31. */
  low(row: number): number {
    return this.segmentOf(row).words[2 * (row & mask)] as number;
  }

  /** Bits 32 to 63. */
  high(row: number): number {
    return this.segmentOf(row).words[2 * (row & mask) + 1] as number;
  }

  private segmentOf(row: number) {
    const at = row >>> bits;
    const segment = this.segments[at];
    if (segment) return segment;
    const ids = new BigInt64Array(size);
    const made = { ids, words: new Uint32Array(ids.buffer) };
    this.segments[at] = made;
    return made;
  }
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

/** Bits of a row's marks: its state after the last session, and whether a write may have been applied. */
const stateMask = 7;
const sentMark = 8;

/** The count is unknown. */
const notKnown = Number.NaN;
/** The count of a pet without an entry. */
const noEntry = Number.NEGATIVE_INFINITY;

/**
 * All data rows of an input, by their number from 0, in about 20 bytes each; the counts before the run and the expected
 * counts take 8 more if they are used. Other columns are not kept; they are read again from the input if necessary.
 */
export class Rows {
  length = 0;
  private readonly ids = new IdColumn();
  private readonly quantities = new NumberColumn((length) => new Float64Array(length));
  private readonly lines = new NumberColumn((length) => new Uint32Array(length));
  private readonly codes = new NumberColumn((length) => new Uint8Array(length));
  private expectations: NumberColumn | undefined;
  private changes: NumberColumn | undefined;
  private counts: NumberColumn | undefined;
  private marks: NumberColumn | undefined;

  add(values: RowValues): void {
    this.put(this.next(values.line), values);
  }

  /** Sets the values of an existing row. */
  put(row: number, { id, quantity, expected, change }: Omit<RowValues, 'line'>): void {
    this.ids.set(row, id);
    this.quantities.set(row, toCell(quantity));
    if (change !== undefined) this.setChange(row, change);
    if (expected === undefined && !this.expectations) return;
    this.expectations ??= this.notKnownColumn();
    this.expectations.set(row, toCell(expected));
  }

  /** Adds a row without usable values. */
  addInvalid(line: number): void {
    const row = this.next(line);
    this.ids.set(row, 0);
    this.quantities.set(row, 0);
    this.expectations?.set(row, notKnown);
    this.setState(row, 'invalid');
  }

  id(row: number): bigint {
    return this.ids.get(row);
  }

  /** Bits 0 to 31 of the id. */
  idLow(row: number): number {
    return this.ids.low(row);
  }

  /** Bits 32 to 63 of the id. */
  idHigh(row: number): number {
    return this.ids.high(row);
  }

  hasId(row: number, low: number, high: number): boolean {
    return this.ids.low(row) === low && this.ids.high(row) === high;
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
    return this.changes?.get(row);
  }

  setChange(row: number, change: number): void {
    this.changes ??= new NumberColumn((length) => new Float64Array(length));
    this.changes.set(row, change);
  }

  /** The expected count: null for no entry, undefined for any count. */
  expected(row: number): number | null | undefined {
    return ofCell(this.expectations?.get(row));
  }

  get hasExpectations(): boolean {
    return this.expectations !== undefined;
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
    return ofCell(this.counts?.get(row));
  }

  setBefore(row: number, before: number | null | undefined): void {
    this.counts ??= this.notKnownColumn();
    this.counts.set(row, toCell(before));
  }

  /**
   * Whether a write of this row was, or may have been, applied: in an earlier session, or before it failed in this one.
   */
  wasSent(row: number): boolean {
    return this.marks !== undefined && (this.marks.get(row) & sentMark) !== 0;
  }

  setSent(row: number): void {
    this.mark(row, sentMark);
  }

  /** The state of the row after the last session of the run; undefined in a first session. */
  earlierState(row: number): State | undefined {
    return this.marks && stateOf(this.marks.get(row) & stateMask);
  }

  /** Keeps the current state as the one after the last session. */
  keepState(row: number): void {
    this.mark(row, this.codes.get(row));
  }

  private mark(row: number, bits: number): void {
    if (!this.marks) {
      this.marks = new NumberColumn((length) => new Uint8Array(length));
      for (let at = 0; at < this.length; at += size) this.marks.set(at, 0);
    }
    this.marks.set(row, this.marks.get(row) | bits);
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

  private next(line: number): number {
    const row = this.length;
    this.length += 1;
    this.lines.set(row, line);
    this.codes.set(row, 0);
    return row;
  }

  private notKnownColumn(): NumberColumn {
    const column = new NumberColumn((length) => new Float64Array(length).fill(notKnown));
    for (let row = 0; row < this.length; row += size) column.set(row, notKnown);
    return column;
  }
}

function toCell(count: number | null | undefined): number {
  return count === null ? noEntry : (count ?? notKnown);
}

function ofCell(cell = notKnown): number | null | undefined {
  if (Number.isNaN(cell)) return undefined;
  return cell === noEntry ? null : cell;
}

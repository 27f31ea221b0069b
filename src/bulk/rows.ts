/** What may become of a row; every row is in one of them at any time, so that a summary always adds up. */
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

/** A growing column of numbers: segments of 65,536, so that nothing is copied when it grows. */
class NumberColumn {
  private readonly segments: Cells[] = [];
  private readonly create: () => Cells;

  /** @param create makes a segment of the given length, filled with the value of rows that were not set. */
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

/** A growing column of int64 ids, also seen as two 32-bit words each: arithmetic on bigints is slow. */
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

/** What a data row of the input says. */
export interface RowValues {
  readonly id: number | bigint;
  /** Null: the pet is to have no entry. Of a relative row: 0 until the plan knows the count. */
  readonly quantity: number | null;
  /** Of a relative row: what is added to the count. */
  readonly change?: number | undefined;
  /** The count that the pet must have now for the row to apply; null: it must have no entry. */
  readonly expected?: number | null | undefined;
  /** Where the row begins in the input, from 1; 0 for a row that came from none. */
  readonly line: number;
}

/** Bits of a row's marks: the state in which the last session left it, and whether a write may have been applied. */
const stateMask = 7;
const sentMark = 8;

/** A count that is not known. */
const notKnown = Number.NaN;
/** The count of a pet without an entry. */
const noEntry = Number.NEGATIVE_INFINITY;

/**
 * All data rows of an input in about 20 bytes each, by their number from 0; the counts before the run and those expected
 * take 8 more where they are used. What was in other columns is not kept: who needs it reads the input again.
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

  /** Sets what a row that is there says. */
  put(row: number, { id, quantity, expected, change }: Omit<RowValues, 'line'>): void {
    this.ids.set(row, id);
    this.quantities.set(row, toCell(quantity));
    if (change !== undefined) this.setChange(row, change);
    if (expected === undefined && !this.expectations) return;
    this.expectations ??= this.notKnownColumn();
    this.expectations.set(row, toCell(expected));
  }

  /** A row that holds nothing that can be used. */
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

  /** The count that the row sets; null where it takes the entry away. */
  quantity(row: number): number | null {
    const quantity = this.quantities.get(row);
    return quantity === noEntry ? null : quantity;
  }

  setQuantity(row: number, quantity: number): void {
    this.quantities.set(row, quantity);
  }

  /** What a relative row adds to the count; undefined for a row that sets it. */
  change(row: number): number | undefined {
    return this.changes?.get(row);
  }

  setChange(row: number, change: number): void {
    this.changes ??= new NumberColumn((length) => new Float64Array(length));
    this.changes.set(row, change);
  }

  /** The count that the row expects: null for no entry, undefined for any. */
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

  /** The count that the service had before the run: null for a pet without an entry, undefined where it was not read. */
  before(row: number): number | null | undefined {
    return ofCell(this.counts?.get(row));
  }

  setBefore(row: number, before: number | null | undefined): void {
    this.counts ??= this.notKnownColumn();
    this.counts.set(row, toCell(before));
  }

  /** Whether a write of this row was, or may have been, applied: in an earlier session, or before it failed in this one. */
  wasSent(row: number): boolean {
    return this.marks !== undefined && (this.marks.get(row) & sentMark) !== 0;
  }

  setSent(row: number): void {
    this.mark(row, sentMark);
  }

  /** The state in which the last session of the run left the row; undefined in a first session. */
  earlierState(row: number): State | undefined {
    return this.marks && stateOf(this.marks.get(row) & stateMask);
  }

  /** Keeps the state of the row as the one in which the last session left it. */
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

  /** The rows in a state, in order; it may change on the way. */
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

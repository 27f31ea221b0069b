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

const bits = 16;
const size = 1 << bits;
const mask = size - 1;

type Cells = Float64Array | Uint32Array | Uint8Array;

/** A growing column of numbers in segments of 65,536: nothing is copied when it grows, and unset ones take no memory. */
export class NumberColumn {
  private readonly segments: Cells[] = [];
  private readonly create: (length: number) => Cells;
  private readonly unset: number;

  /** @param create creates a segment of the given length, filled with the value of unset rows. */
  constructor(create: (length: number) => Cells) {
    this.create = create;
    this.unset = create(1)[0] as number;
  }

  get isEmpty(): boolean {
    return this.segments.length === 0;
  }

  get(row: number): number {
    const segment = this.segments[row >>> bits];
    return segment === undefined ? this.unset : (segment[row & mask] as number);
  }

  set(row: number, value: number): void {
    const at = row >>> bits;
    this.segments[at] ??= this.create(size);
    (this.segments[at] as Cells)[row & mask] = value;
  }
}

/** The count is unknown. */
const notKnown = Number.NaN;
/** The count of a pet without an entry. */
const noEntry = Number.NEGATIVE_INFINITY;

export const createBytes = (length: number) => new Uint8Array(length);
const createWords = (length: number) => new Uint32Array(length);
const createCounts = (length: number) => new Float64Array(length).fill(notKnown);

/** Converts an id to two words and back. Arithmetic on bigints is slow. */
const scratch = new BigInt64Array(1);
const scratchWords = new Uint32Array(scratch.buffer);

/** Bits of a row's marks: its state after the last session, and whether a write may have been applied. */
const stateMask = 7;
const sentMark = 8;

/**
 * All data rows of an input, by their number from 0, in about 20 bytes each; the counts before the run and the expected
 * counts take 8 more if they are used. Other columns are not kept; they are read again from the input if necessary.
 */
export class Rows {
  length = 0;
  private readonly lows = new NumberColumn(createWords);
  private readonly highs = new NumberColumn(createWords);
  private readonly quantities = new NumberColumn(createCounts);
  private readonly lines = new NumberColumn(createWords);
  private readonly codes = new NumberColumn(createBytes);
  private readonly expectations = new NumberColumn(createCounts);
  private readonly changes = new NumberColumn(createCounts);
  private readonly befores = new NumberColumn(createCounts);
  private readonly marks = new NumberColumn(createBytes);
  private index: IdIndex | undefined;

  add(values: RowValues): void {
    this.lines.set(this.length, values.line);
    this.put(this.length, values);
    this.length += 1;
  }

  /** Sets the values of an existing row. */
  put(row: number, { id, quantity, expected, change }: Omit<RowValues, 'line'>): void {
    if (typeof id === 'bigint') {
      scratch[0] = id;
      this.lows.set(row, scratchWords[0] as number);
      this.highs.set(row, scratchWords[1] as number);
    } else {
      this.lows.set(row, id);
      this.highs.set(row, id / 2 ** 32);
    }
    this.quantities.set(row, toCell(quantity));
    if (change !== undefined) this.changes.set(row, change);
    if (expected !== undefined) this.expectations.set(row, toCell(expected));
  }

  /** Adds a row without usable values. */
  addInvalid(line: number): void {
    this.setState(this.length, 'invalid');
    this.add({ id: 0, quantity: 0, line });
  }

  id(row: number): bigint {
    scratchWords[0] = this.lows.get(row);
    scratchWords[1] = this.highs.get(row);
    return scratch[0] as bigint;
  }

  /** Lets `find` find a row; returns the row that it found for this id before. All rows must have been added. */
  indexRow(row: number): number | undefined {
    this.index ??= new IdIndex(this.length, this.lows, this.highs);
    return this.index.put(row);
  }

  /** The indexed row with this id; undefined if there is none. */
  find(id: bigint): number | undefined {
    return this.index?.find(id);
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
    return ofCell(this.changes.get(row)) ?? undefined;
  }

  setChange(row: number, change: number): void {
    this.changes.set(row, change);
  }

  /** The expected count: null for no entry, undefined for any count. */
  expected(row: number): number | null | undefined {
    return ofCell(this.expectations.get(row));
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
    return ofCell(this.befores.get(row));
  }

  setBefore(row: number, before: number | null | undefined): void {
    this.befores.set(row, toCell(before));
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

function toCell(count: number | null | undefined): number {
  return count === null ? noEntry : (count ?? notKnown);
}

function ofCell(cell: number): number | null | undefined {
  if (Number.isNaN(cell)) return undefined;
  return cell === noEntry ? null : cell;
}

/** Finds the row of an id: a hash table with open addressing, 8 to 16 bytes a row. */
class IdIndex {
  private readonly slots: Int32Array;
  private readonly lows: NumberColumn;
  private readonly highs: NumberColumn;

  /** Empty, with room for this many rows, whose ids are in the columns. */
  constructor(length: number, lows: NumberColumn, highs: NumberColumn) {
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(2, length) * 1.5))).fill(-1);
    this.lows = lows;
    this.highs = highs;
  }

  find(id: bigint): number | undefined {
    scratch[0] = id;
    const row = this.slots[this.slotOf(scratchWords[0] as number, scratchWords[1] as number)] as number;
    return row === -1 ? undefined : row;
  }

  /** Makes `row` the row of its id, and returns the previous one. */
  put(row: number): number | undefined {
    const slot = this.slotOf(this.lows.get(row), this.highs.get(row));
    const before = this.slots[slot] as number;
    this.slots[slot] = row;
    return before === -1 ? undefined : before;
  }

  private slotOf(low: number, high: number): number {
    const { slots, lows, highs } = this;
    for (let slot = mix(low, high); ; slot += 1) {
      slot &= slots.length - 1;
      const row = slots[slot] as number;
      if (row === -1 || (lows.get(row) === low && highs.get(row) === high)) return slot;
    }
  }
}

/** Spreads similar ids over all slots; the constants are those of murmur3. */
function mix(low: number, high: number): number {
  let hash = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

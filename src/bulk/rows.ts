import { IdColumn, NumberColumn } from './segments.ts';
import { type State, stateCodes, stateOf, states } from './states.ts';

/** What a data row of the input says. */
export interface RowValues {
  readonly id: number | bigint;
  /** Null: the pet is to have no entry. */
  readonly quantity: number | null;
  /** The count that the pet must have now for the row to apply; null: it must have no entry. */
  readonly expected?: number | null | undefined;
  /** Where the row begins in the input, from 1; 0 for a row that came from none. */
  readonly line: number;
}

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
  private counts: NumberColumn | undefined;

  add(values: RowValues): void {
    this.put(this.next(values.line), values);
  }

  /** Sets what a row that is there says. */
  put(row: number, { id, quantity, expected }: Omit<RowValues, 'line'>): void {
    this.ids.set(row, id);
    this.quantities.set(row, toCell(quantity));
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
    for (let row = 0; row < this.length; row += 65_536) column.set(row, notKnown);
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

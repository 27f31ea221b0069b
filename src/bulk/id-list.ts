import { createWords, NumberList } from './number-list.ts';

/** Converts an id to two words and back. Arithmetic on bigints is slow. */
const scratch = new BigInt64Array(1);
const scratchWords = new Uint32Array(scratch.buffer);

/**
 * The ids of rows, in 8 bytes each. If rows are indexed, also finds the row of an id: by a hash table with open
 * addressing, in 8 to 16 bytes more.
 */
export class IdList {
  private readonly lows = new NumberList(createWords);
  private readonly highs = new NumberList(createWords);
  /** Indexed rows by the hash of their ids; -1 if free. */
  private slots = new Int32Array(256).fill(-1);
  private indexed = 0;
  private length = 0;

  get(row: number): bigint {
    scratchWords[0] = this.lows.get(row);
    scratchWords[1] = this.highs.get(row);
    return scratch[0] as bigint;
  }

  set(row: number, id: number | bigint): void {
    if (row >= this.length) this.length = row + 1;
    if (typeof id === 'bigint') {
      scratch[0] = id;
      this.lows.set(row, scratchWords[0] as number);
      this.highs.set(row, scratchWords[1] as number);
    } else {
      this.lows.set(row, id);
      this.highs.set(row, id / 2 ** 32);
    }
  }

  /** Makes `row` the row of its id, and returns the row that was it before. */
  index(row: number): number | undefined {
    if (this.indexed * 1.5 >= this.slots.length) this.grow();
    const slot = this.slotOf(this.slots, this.lows.get(row), this.highs.get(row));
    const before = this.slots[slot] as number;
    this.slots[slot] = row;
    if (before !== -1) return before;
    this.indexed += 1;
    return undefined;
  }

  /** Room for all ids that there are, because an input is indexed when it has been read. */
  private grow(): void {
    const { slots } = this;
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2((this.length + 1) * 1.5))).fill(-1);
    for (const row of slots)
      if (row !== -1) this.slots[this.slotOf(this.slots, this.lows.get(row), this.highs.get(row))] = row;
  }

  /** The indexed row with this id; undefined if there is none. */
  find(id: bigint): number | undefined {
    scratch[0] = id;
    const slot = this.slotOf(this.slots, scratchWords[0] as number, scratchWords[1] as number);
    const row = this.slots[slot] as number;
    return row === -1 ? undefined : row;
  }

  /** The slot of the row with this id, or the free one for it. */
  private slotOf(slots: Int32Array, low: number, high: number): number {
    const { lows, highs } = this;
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

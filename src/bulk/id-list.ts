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
  private slots: Int32Array | undefined;

  get(row: number): bigint {
    scratchWords[0] = this.lows.get(row);
    scratchWords[1] = this.highs.get(row);
    return scratch[0] as bigint;
  }

  set(row: number, id: number | bigint): void {
    if (typeof id === 'bigint') {
      scratch[0] = id;
      this.lows.set(row, scratchWords[0] as number);
      this.highs.set(row, scratchWords[1] as number);
    } else {
      this.lows.set(row, id);
      this.highs.set(row, id / 2 ** 32);
    }
  }

  /**
   * Makes `row` the row of its id, and returns the previous one.
   *
   * @param most how many rows may be indexed.
   */
  index(row: number, most: number): number | undefined {
    this.slots ??= new Int32Array(2 ** Math.ceil(Math.log2(Math.max(2, most) * 1.5))).fill(-1);
    const slot = this.slotOf(this.slots, this.lows.get(row), this.highs.get(row));
    const before = this.slots[slot] as number;
    this.slots[slot] = row;
    return before === -1 ? undefined : before;
  }

  /** The indexed row with this id; undefined if there is none. */
  find(id: bigint): number | undefined {
    if (!this.slots) return undefined;
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

import type { Rows } from './rows.ts';

/** Finds the row of an id: a hash table with open addressing, 8 to 16 bytes a row. */
export class IdIndex {
  private readonly rows: Rows;
  private readonly slots: Int32Array;
  private readonly scratch = new BigInt64Array(1);
  private readonly words = new Uint32Array(this.scratch.buffer);

  /** Empty, with room for all rows. */
  constructor(rows: Rows) {
    this.rows = rows;
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(2, rows.length) * 1.5))).fill(-1);
  }

  /** The row with this id; undefined if there is none. */
  find(id: bigint): number | undefined {
    this.scratch[0] = id;
    const [low = 0, high = 0] = this.words;
    const row = this.slots[this.slotOf(low, high)] as number;
    return row === -1 ? undefined : row;
  }

  /** Makes `row` the row of its id, and returns the previous one. */
  put(row: number): number | undefined {
    const slot = this.slotOf(this.rows.idLow(row), this.rows.idHigh(row));
    const before = this.slots[slot] as number;
    this.slots[slot] = row;
    return before === -1 ? undefined : before;
  }

  private slotOf(low: number, high: number): number {
    const { slots, rows } = this;
    let slot = mix(low, high) & (slots.length - 1);
    for (;;) {
      const row = slots[slot] as number;
      if (row === -1 || rows.hasId(row, low, high)) return slot;
      slot = (slot + 1) & (slots.length - 1);
    }
  }
}

/** Spreads similar ids over all slots; the constants are those of murmur3. */
function mix(low: number, high: number): number {
  let hash = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

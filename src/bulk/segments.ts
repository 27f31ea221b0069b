const bits = 16;
const size = 1 << bits;
const mask = size - 1;

type Cells = Float64Array | Uint32Array | Uint8Array;

/** A growing column of numbers: segments of 65,536, so that nothing is copied when it grows. */
export class NumberColumn {
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
export class IdColumn {
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

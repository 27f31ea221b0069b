const bits = 16;
const size = 1 << bits;
const mask = size - 1;

type Segment = Float64Array | Uint32Array | Uint8Array;

/** A growing list of numbers in segments of 65,536: nothing is copied when it grows, and unset ones take no memory. */
export class NumberList {
  private readonly segments: Segment[] = [];
  private readonly create: (length: number) => Segment;
  private readonly unset: number;

  /** @param create creates a segment of the given length, filled with the value of unset items. */
  constructor(create: (length: number) => Segment) {
    this.create = create;
    this.unset = create(1)[0] as number;
  }

  get isEmpty(): boolean {
    return this.segments.length === 0;
  }

  get(at: number): number {
    const segment = this.segments[at >>> bits];
    return segment === undefined ? this.unset : (segment[at & mask] as number);
  }

  set(at: number, value: number): void {
    this.segments[at >>> bits] ??= this.create(size);
    (this.segments[at >>> bits] as Segment)[at & mask] = value;
  }
}

export const createBytes = (length: number) => new Uint8Array(length);
export const createWords = (length: number) => new Uint32Array(length);

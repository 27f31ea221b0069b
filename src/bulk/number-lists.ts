const bits = 12;
const size = 1 << bits;
const mask = size - 1;

type Segment = Float64Array | Uint32Array | Uint8Array;

/** A growing list of numbers in segments of 4,096: nothing is copied when it grows, and unset ones take no memory. */
export class NumberList {
  private readonly segments: Segment[] = [];
  private readonly create: (length: number) => Segment;
  private readonly unset: number;

  /** @param create creates a segment of the given length, filled with the value of unset items. */
  constructor(create: (length: number) => Segment) {
    this.create = create;
    this.unset = create(1)[0] as number;
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

/** A count of the service or of a file; null for a pet without an entry, a bigint beyond 2^53. */
export type Count = number | bigint | null;

const notKnown = Number.NaN;
const noEntry = Number.NEGATIVE_INFINITY;
/** The count is beyond 2^53, and in a map. */
const beyond = Number.POSITIVE_INFINITY;

/** A list of counts, in 8 bytes each. */
export class CountList {
  private readonly numbers = new NumberList((length) => new Float64Array(length).fill(notKnown));
  private readonly large = new Map<number, bigint>();

  get(at: number): Count | undefined {
    const stored = this.numbers.get(at);
    if (Number.isFinite(stored)) return stored;
    if (stored === noEntry) return null;
    return stored === beyond ? this.large.get(at) : undefined;
  }

  set(at: number, count: Count): void {
    if (typeof count === 'bigint' && !Number.isSafeInteger(Number(count))) {
      this.large.set(at, count);
      this.numbers.set(at, beyond);
    } else this.numbers.set(at, count === null ? noEntry : Number(count));
  }
}

/** Converts an id to two words and back. Arithmetic on bigints is slow. */
const scratch = new BigInt64Array(1);
const scratchWords = new Uint32Array(scratch.buffer);

/** Different ids, in 8 bytes each; finds the place of one by a hash table with open addressing, in 8 to 16 bytes more. */
export class IdList {
  length = 0;
  private readonly lows = new NumberList(createWords);
  private readonly highs = new NumberList(createWords);
  /** Places by the hash of their ids; -1 if free. */
  private slots = new Int32Array(256).fill(-1);

  get(at: number): bigint {
    scratchWords[0] = this.lows.get(at);
    scratchWords[1] = this.highs.get(at);
    return scratch[0] as bigint;
  }

  /** Appends an id that is not in the list. */
  add(id: number | bigint): void {
    const at = this.length;
    this.length += 1;
    loadScratch(id);
    this.lows.set(at, scratchWords[0] as number);
    this.highs.set(at, scratchWords[1] as number);
    if (this.length * 1.5 >= this.slots.length) this.grow();
    else this.slots[this.slotOf(scratchWords[0] as number, scratchWords[1] as number)] = at;
  }

  /** The place of an id; undefined if it is not in the list. */
  find(id: number | bigint): number | undefined {
    loadScratch(id);
    const at = this.slots[this.slotOf(scratchWords[0] as number, scratchWords[1] as number)] as number;
    return at === -1 ? undefined : at;
  }

  private grow(): void {
    this.slots = new Int32Array(this.slots.length * 2).fill(-1);
    for (let at = 0; at < this.length; at += 1)
      this.slots[this.slotOf(this.lows.get(at), this.highs.get(at))] = at;
  }

  /** The slot of the id, or the free one for it. */
  private slotOf(low: number, high: number): number {
    const { lows, highs, slots } = this;
    for (let slot = mix(low, high); ; slot += 1) {
      slot &= slots.length - 1;
      const at = slots[slot] as number;
      if (at === -1 || (lows.get(at) === low && highs.get(at) === high)) return slot;
    }
  }
}

function loadScratch(id: number | bigint): void {
  if (typeof id === 'bigint') scratch[0] = id;
  else {
    scratchWords[0] = id;
    scratchWords[1] = id / 2 ** 32;
  }
}

/** Spreads similar ids over all slots; the constants are those of murmur3. */
function mix(low: number, high: number): number {
  let hash = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

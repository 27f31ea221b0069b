/** Returns numbers from 0 up to 1, the same sequence for the same seed. */
export type Random = () => number;

/** Mulberry32: 32 bits of state, good enough for demo data and injected faults, not for secrets. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An integer from 0 up to `count`. */
export function below(random: Random, count: number): number {
  return Math.floor(random() * count);
}

/** One of a list, which must not be empty. */
export function oneOf<Value>(random: Random, list: readonly Value[]): Value {
  return list[below(random, list.length)] as Value;
}

import { hashOf } from '../../src/process/text.ts';

export interface Random {
  /** From 0 to 1, without 1. */
  next(): number;
  /** A whole number from 0 to `count` - 1. */
  below(count: number): number;
  chance(share: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
}

/** mulberry32. The same keys give the same numbers. */
export function randomOf(...keys: readonly (number | string)[]): Random {
  let state = hashOf(keys.join('/'));
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    next,
    below,
    chance: (share) => next() < share,
    pick: (values) => values[below(values.length)] as never,
  };
}

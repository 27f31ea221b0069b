import { UsageError } from '../errors.ts';

/** One of `count` parts of a file; the pets of no two parts are the same. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/**
 * `i/n`: counted from 0 (JOB_COMPLETION_INDEX) or from 1 (GNU parallel, most CI matrices), for n is the same part as 0.
 *
 * @throws UsageError
 */
export function parseShard(text: string): Shard {
  const [, index, count] = /^(\d{1,6})\/([1-9]\d{0,5})$/.exec(text) ?? [];
  if (index === undefined || Number(index) > Number(count))
    throw new UsageError(`--shard '${text}': must be <i>/<n>, i from 0 or from 1 and at most n, as 2/8`);
  return { index: Number(index) % Number(count), count: Number(count) };
}

/** The part that an id belongs to: FNV-1a (32 bits) over its decimal digits, modulo n; the same on every machine. */
export function shardOf(id: bigint, count: number): number {
  let hash = 0x811c9dc5;
  for (const digit of String(id)) hash = Math.imul(hash ^ digit.charCodeAt(0), 0x01000193);
  return (hash >>> 0) % count;
}

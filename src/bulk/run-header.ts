import type { NounName } from '../api/operations.ts';
import type { PaceFlags } from '../client/pace.ts';
import type { ColumnMap } from '../config/column-map.ts';
import type { ThousandsSeparator } from '../config/setting-values.ts';
import type { InputFormat } from '../input/split-input.ts';

/** The facts of a run that are fixed when it begins. Its journal begins with them. */
export interface RunHeader {
  readonly kind: 'apply' | 'undo';
  readonly noun: NounName;
  /** The name of the service, as `targetOf` makes it. */
  readonly target: string;
  /** The input as the user named it. An undo has that of its run. */
  readonly name: string;
  /** The absolute path of the input; null for stdin, an edit and an undo. */
  readonly file: string | null;
  readonly format: InputFormat;
  /** The number of the delivery, if it has one. */
  readonly delivery: string | null;
  /** The id of the run that an undo undoes; null for any other run. */
  readonly undoes: string | null;
  readonly flags: RunFlags;
  readonly guards: Guards;
  readonly pace: PaceFlags;
  /** The data rows of the input; `invalid` and `skipped` ones are left out from the start. */
  readonly rows: number;
  readonly invalid: number;
  readonly skipped: number;
}

/** The flags that decide how an input is read, and what a run writes. A resumed run keeps them. */
export interface RunFlags {
  readonly map: ColumnMap;
  readonly thousands: ThousandsSeparator | null;
  /** Adds up several rows of one pet; only with `relative`. */
  readonly sum: boolean;
  readonly skipInvalid: boolean;
  readonly shard: Shard | null;
  /** The rows add to counts instead of setting them. */
  readonly relative: boolean;
  /** Books rows once more that their delivery has booked; only with `relative`. */
  readonly again: boolean;
  readonly createMissing: boolean;
}

export const defaultFlags: RunFlags = {
  map: {},
  thousands: null,
  sum: false,
  skipInvalid: false,
  shard: null,
  relative: false,
  again: false,
  createMissing: false,
};

/** One of `count` parts of a file; no pet is in two parts. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** The part that an id belongs to: FNV-1a (32 bits) over its decimal digits, modulo n; the same on every machine. */
export function shardOf(id: bigint, count: number): number {
  let hash = 0x811c9dc5;
  for (const digit of String(id)) hash = Math.imul(hash ^ digit.charCodeAt(0), 0x01000193);
  return (hash >>> 0) % count;
}

/** Whether two shards are different parts of the same number of parts, so that they share no pet. */
export function areDisjoint(a: Shard | null, b: Shard | null): boolean {
  return a !== null && b !== null && a.count === b.count && a.index !== b.index;
}

/** A number of rows, or a percentage of the rows of a run. */
export type RowLimit = { readonly rows: number } | { readonly percent: number };

/** The limit as a number of rows. */
export function toRows(limit: RowLimit, all: number): number {
  return 'rows' in limit ? limit.rows : Math.floor((all * limit.percent) / 100);
}

/** Limits that the plans of a run must keep. */
export interface Guards {
  readonly maxChanges?: RowLimit | undefined;
  /** The largest change of one row, up or down. */
  readonly maxDelta?: number | undefined;
  readonly allowZero: boolean;
}

import type { NounName } from '../api/nouns.ts';
import type { DecimalMark, ThousandsSeparator } from '../config/setting-values.ts';
import type { InputFormat } from '../input/split-input.ts';

/** What a run does. An `edit` sets counts, as an `apply` does. */
export type RunKind = 'apply' | 'edit' | 'create' | 'update' | 'delete' | 'undo';

/** The facts of a run. They are the first line of its journal. */
export interface RunHeader {
  readonly kind: RunKind;
  readonly noun: NounName;
  /** The name of the service, as `targetOf` makes it. */
  readonly target: string;
  /** The profile that was active. Null if there was none. */
  readonly profile: string | null;
  /** The input as the user named it. An undo has the name of the run that it undoes. */
  readonly name: string;
  /** The absolute path of the input. Null for stdin, an edit and an undo. */
  readonly file: string | null;
  readonly format: InputFormat;
  /** The text of the header of an input that is a table. */
  readonly columns: string;
  /** The number of the delivery as the user gave it, if it has one. `deliveryKey` compares numbers. */
  readonly delivery: string | null;
  /** The id of the run that an undo undoes. Null for any other run. */
  readonly undoes: string | null;
  readonly flags: RunFlags;
  /** The number of rows of the input, without a header. `invalid` and `skipped` of them are in no plan. */
  readonly rows: number;
  readonly invalid: number;
  readonly skipped: number;
}

/** The flags that decide how a run reads its input and what it writes. A resumed run keeps them. */
export interface RunFlags {
  /** The columns of the input by field, if they have names of their own. */
  readonly map: Readonly<Record<string, string>>;
  readonly thousands: ThousandsSeparator | null;
  readonly decimal: DecimalMark | null;
  /** True if several rows of one pet are added up. */
  readonly sum: boolean;
  readonly skipInvalid: boolean;
  readonly shard: Shard | null;
  /** True if rows add to counts instead of setting them. */
  readonly relative: boolean;
  /** True if rows that were booked before are booked again. Only with `relative`. */
  readonly again: boolean;
  readonly createMissing: boolean;
}

export const defaultFlags: RunFlags = {
  map: {},
  thousands: null,
  decimal: null,
  sum: false,
  skipInvalid: false,
  shard: null,
  relative: false,
  again: false,
  createMissing: false,
};

/** One of `count` parts of a file. Every pet is in exactly one part. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** The part that an id belongs to: FNV-1a (32 bits) of its decimal digits, modulo `count`. It is the same on every machine. */
export function shardOf(id: bigint, count: number): number {
  let hash = 0x811c9dc5;
  for (const digit of String(id)) hash = Math.imul(hash ^ digit.charCodeAt(0), 0x01000193);
  return (hash >>> 0) % count;
}

/** Returns true if two shards share no pet: they are different parts of the same number of parts. */
export function areDisjoint(a: Shard | null, b: Shard | null): boolean {
  return a !== null && b !== null && a.count === b.count && a.index !== b.index;
}

/** Makes numbers of deliveries that differ only in form the same: NFKC, lower case, no outer spaces, every dash a `-`. */
export function deliveryKey(number: string): string {
  return number
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Dash}/gu, '-')
    .trim();
}

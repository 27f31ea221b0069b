import * as v from 'valibot';
import { type NounName, nouns } from '../api/nouns.ts';
import { decimalMarks, thousandsSeparators } from '../input/numbers.ts';
import type { InvalidRecord } from '../input/read-rows.ts';
import { hashOf } from '../process/text.ts';
import { isLeft, isPerhapsWritten, type RunRow, rowStates } from './run-row.ts';

/** One of `count` parts of a file. Every row is in exactly one part: see `shardIndexOf`. The part `3/3` has the index 0. */
const shard = v.object({ index: v.number(), count: v.number() });

/** The flags that decide how a run reads its input and what it writes. A resumed run keeps them. */
const flags = v.object({
  /** The columns of the input by field, from `--map`. */
  map: v.optional(v.record(v.string(), v.string())),
  thousands: v.optional(v.picklist(thousandsSeparators)),
  decimal: v.optional(v.picklist(decimalMarks)),
  /** True if several rows of one pet are added up. */
  sum: v.optional(v.boolean()),
  skipInvalid: v.optional(v.boolean()),
  shard: v.optional(shard),
  /** True if rows add to counts instead of setting them. */
  relative: v.optional(v.boolean()),
  /** True if rows that were booked before are booked again. Only with `relative`. */
  again: v.optional(v.boolean()),
  createMissing: v.optional(v.boolean()),
});

/**
 * The kinds of runs: the operation, the verb in a question and in the progress, and whether `undo` can reverse it. An undo may also delete: see
 * `requireOperations`.
 */
export const runKinds = {
  apply: { operation: 'update', action: 'set', progress: 'applying', canBeUndone: true },
  edit: { operation: 'update', action: 'set', progress: 'applying', canBeUndone: true },
  create: { operation: 'create', action: 'create', progress: 'creating', canBeUndone: true },
  update: { operation: 'update', action: 'change', progress: 'updating', canBeUndone: true },
  // A removal leaves nothing to restore.
  delete: { operation: 'delete', action: 'delete', progress: 'deleting', canBeUndone: false },
  undo: { operation: 'update', action: 'take back', progress: 'undoing', canBeUndone: false },
} as const;

/** The service that runs write to, as `requireTarget` finds it. All spellings of a URL give the same address. */
export const targetSchema = v.object({
  /** The base URL, with the base path of the binding; `offline:<id>` for an embedded store. */
  address: v.string(),
  /** The address without the base path of the binding. */
  unboundAddress: v.string(),
  /** The setting `tenant`, if it is set. Two tenants at one address are two targets. */
  tenant: v.optional(v.string()),
});

/** The facts of a run that do not change. */
export const headerSchema = v.object({
  kind: v.picklist(Object.keys(runKinds) as (keyof typeof runKinds)[]),
  noun: v.picklist(Object.keys(nouns) as NounName[]),
  target: targetSchema,
  /** Where the requests of the noun went: see `routesOf`. */
  routes: v.record(v.string(), v.string()),
  /** The profile that was active, if there was one. The embedded store has none. */
  profile: v.optional(v.string()),
  /** The input as the user named it. An undo has the name of the run that it undoes. */
  name: v.string(),
  /** The absolute path of the input. Stdin, an edit and an undo have none. */
  file: v.optional(v.string()),
  format: v.object({ kind: v.picklist(['csv', 'tsv', 'json', 'jsonl']), delimiter: v.string() }),
  /** The text of the header of an input that is a table. */
  columns: v.string(),
  /** The number of the delivery as the user gave it, if it has one. `isSameDelivery` compares numbers. */
  delivery: v.optional(v.string()),
  /** The id of the run that an undo undoes. Only an undo has it. */
  undoes: v.optional(v.string()),
  flags,
  /** The number of rows of the input that belong to other shards, or repeat a row. */
  skipped: v.number(),
});

export type Target = v.InferOutput<typeof targetSchema>;
export type Shard = v.InferOutput<typeof shard>;
export type RunFlags = v.InferOutput<typeof flags>;
export type RunHeader = v.InferOutput<typeof headerSchema>;

/** The name of a target for people, locks and files: `http://localhost:4010 tenant north`. */
export function targetName({ address, tenant }: Target): string {
  return tenant === undefined ? address : `${address} tenant ${tenant}`;
}

export function isSameTarget(a: Target, b: Target): boolean {
  return a.address === b.address && a.tenant === b.tenant;
}

/** The name of a run for people: that of its input, or `undo r1`. */
export function runName({ name, undoes }: RunHeader): string {
  return undoes === undefined ? name : `undo ${undoes}`;
}

/** Returns the index of the shard of an id: the hash of its decimal digits, modulo `count`. It is the same on every machine. */
export function shardIndexOf(id: bigint, count: number): number {
  return hashOf(String(id)) % count;
}

/** The name of a shard: `1/3` to `3/3`. */
export function shardName({ index, count }: Shard): string {
  return `${index || count}/${count}`;
}

/** Returns true if two shards share no row: they are different parts of the same number of parts. */
export function areDisjointShards(a: Shard | undefined, b: Shard | undefined): boolean {
  return a !== undefined && b !== undefined && a.count === b.count && a.index !== b.index;
}

/** The last line of a journal: the numbers of a run at the end of its last session. */
export const runNumbersSchema = v.object({
  counts: v.object(v.entriesFromList(rowStates, v.number())),
  /** The rows that `resume` tries again, without the unknown ones. */
  leftCount: v.number(),
  /** The rows that were written, or may have been. */
  perhapsWrittenCount: v.number(),
  /** The number of its last plan, 0 before the first. The plans of all runs on a target are counted together, from 1. */
  planNumber: v.number(),
  /** The absolute path of the last file of rejects, if there is one. */
  rejects: v.optional(v.string()),
});
export type RunNumbers = v.InferOutput<typeof runNumbersSchema>;
export type RowCounts = RunNumbers['counts'];

/** The first line of a journal. */
export interface RunBegin {
  /** Such as `r7`. */
  readonly id: string;
  /** RFC 3339. */
  readonly started: string;
  readonly header: RunHeader;
}

/** A run that has begun: what the first and the last line of its journal say. */
export interface Run extends RunBegin, Readonly<RunNumbers> {
  /**
   * `open`: rows are left or unknown, or its last session has no end. `undone`: an undo has finished and has taken back all rows;
   * `partly undone`: it has left rows alone.
   */
  readonly state: 'open' | 'finished' | 'undone' | 'partly undone';
  readonly undo: Run | undefined;
}

/**
 * The rows of a run, and what became of them. The journal is the file: each of its lines is an event that has changed this value. A new
 * run has no line yet.
 */
export interface RunLog {
  readonly header: RunHeader;
  /** In the order of their lines. */
  readonly rows: readonly RunRow[];
  /** They are in no plan. */
  readonly invalid: readonly InvalidRecord[];
  /** As in `RunNumbers`. */
  planNumber: number;
  /** False while a session runs, and after it was killed. */
  isEnded: boolean;
  /** As in `RunNumbers`. */
  rejects: string | undefined;
  /** The lines of the records that were rejected at the end of a session. */
  rejectedLines: ReadonlySet<number>;
  /** The lines of the rows that may have gone out, and have no outcome yet. */
  readonly marked: Set<number>;
  /** The length in bytes of the lines that were read, without an incomplete end. */
  bytes: number;
}

/**
 * Returns true if a row belongs in the file of rejects: it has failed, and the run is not an undo. If the run adds or creates, a row
 * that `resume` tries again does not belong there, so that no row is done twice.
 */
export function isReject({ kind, flags, undoes }: RunHeader, row: RunRow): boolean {
  if (undoes !== undefined || row.state.kind !== 'failed') return false;
  return !((flags.relative || kind === 'create') && isLeft(row));
}

/** Returns true if the rows of a run replace values, whatever was written since. An undo decides that row by row. */
export function setsValues({ kind, flags }: RunHeader): boolean {
  return runKinds[kind].operation === 'update' && kind !== 'undo' && !flags.relative;
}

export function createLog(
  header: RunHeader,
  rows: readonly RunRow[],
  invalid: readonly InvalidRecord[] = [],
): RunLog {
  return {
    header,
    rows,
    invalid,
    planNumber: 0,
    isEnded: false,
    rejects: undefined,
    rejectedLines: new Set(),
    marked: new Set(),
    bytes: 0,
  };
}

/** Returns the numbers of a run as its rows are now. Invalid and skipped rows are in no plan. */
export function numbersOf({ header, rows, invalid, planNumber, rejects }: RunLog): RunNumbers {
  const zeros = Object.fromEntries(rowStates.map((state) => [state, 0])) as RowCounts;
  const counts = { ...zeros, invalid: invalid.length, skipped: header.skipped };
  let leftCount = 0;
  let perhapsWrittenCount = 0;
  for (const row of rows) {
    counts[row.state.kind] += 1;
    if (isLeft(row)) leftCount += 1;
    if (isPerhapsWritten(row)) perhapsWrittenCount += 1;
  }
  return { counts, leftCount, perhapsWrittenCount, planNumber, rejects };
}

/** Returns the number of rows of an input, with the invalid and the skipped ones. */
export function rowCountOf(counts: RowCounts): number {
  return rowStates.reduce((sum, state) => sum + counts[state], 0);
}

/** Returns the number of open rows: they are left or unknown. A finished run has none. */
export function openRowCount({ leftCount, counts }: RunNumbers): number {
  return leftCount + counts.unknown;
}

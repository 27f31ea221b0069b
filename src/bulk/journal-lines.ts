import type { RecordFormat } from '../input/records.ts';
import { printJson } from '../json.ts';
import type { ColumnMap } from './columns.ts';
import type { DuplicateRule } from './duplicates.ts';
import type { Shard } from './shard.ts';
import type { State } from './states.ts';

/** How the input of a run was read: what `resume` must do alike, and what makes a run another one. */
export interface InputOptions {
  readonly format: RecordFormat | null;
  readonly delimiter: string | null;
  readonly map: ColumnMap;
  readonly onDuplicate: DuplicateRule;
  readonly skipInvalid: boolean;
  readonly shard: Shard | null;
}

/** What a run was told to do with its rows. */
export interface WriteOptions {
  readonly blind: boolean;
  readonly createMissing: boolean;
}

/** The first line of a journal. */
export interface JournalHeader {
  /** Of the format. */
  readonly journal: 1;
  readonly run: string;
  readonly kind: 'apply' | 'undo';
  /** Of the input's bytes; for an undo, of the id of the run that it takes back. */
  readonly sha256: string;
  /** Absolute path; null for stdin and undo. */
  readonly file: string | null;
  /** The input as it was named; for an undo, the run that it takes back. */
  readonly name: string;
  /** Where the run writes: the base URL, or the file of the embedded store. */
  readonly target: string;
  readonly profile: string | null;
  readonly input: InputOptions;
  readonly options: WriteOptions;
  /** Data rows in the input. */
  readonly rows: number;
  /** Of these, left out from the start. */
  readonly invalid: number;
  readonly skipped: number;
  /** RFC 3339. */
  readonly started: string;
}

/** A change that is planned: row number from 0, pet, count now and count to be (null: no entry), and the entry's ETag. */
export type PlannedChange = readonly [
  row: number,
  petId: bigint | number,
  before: number | null,
  after: number | null,
  etag?: string,
];

/** What became of a row. */
export interface OutcomeLine {
  readonly row: number;
  readonly petId: bigint | number;
  readonly state: State;
  /** The count before: null for a pet that had no entry, absent where it was not read. */
  readonly before?: number | null | undefined;
  /** Null for an entry that was taken away. */
  readonly after: number | null;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly attempts?: number | undefined;
}

/** How a run stands at the end of a session: all rows settled, or stopped before that, or superseded. */
export const endings = ['finished', 'stopped', 'undone', 'abandoned'] as const;
export type Ending = (typeof endings)[number];

export interface EndLine {
  readonly ended: Ending;
  /** Why it stopped; the run that took it back, or that was started in its place. */
  readonly by?: string | undefined;
  readonly counts: Readonly<Record<State, number>>;
  readonly at: number;
}

/** Any line after the header; `at` is in milliseconds since the epoch. */
export type JournalLine =
  | { readonly plan: readonly PlannedChange[] }
  /** The plan is whole: what is in no plan line and has no outcome needs no change. */
  | { readonly planned: number; readonly at: number }
  /** Rows up to this number may have been sent. */
  | { readonly sending: number; readonly at: number }
  | OutcomeLine
  | EndLine;

/** A line as JSON; what is written for every row is put together by hand, five times as fast. */
export function printLine(line: JournalHeader | JournalLine): string {
  if ('row' in line && line.message === undefined) {
    const { row, petId, state, before, after } = line;
    const known = before === undefined ? '' : `,"before":${before}`;
    return `{"row":${row},"petId":${petId},"state":"${state}"${known},"after":${after}}`;
  }
  if ('plan' in line && line.plan.every(([, , , , etag]) => etag === undefined))
    return `{"plan":[${line.plan.map(([row, petId, before, after]) => `[${row},${petId},${before},${after}]`).join()}]}`;
  return printJson(line);
}

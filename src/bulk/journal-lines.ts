import type { Outcome, State } from './rows.ts';
import type { Guards } from './run-flags.ts';
import type { RunIdentity } from './run-identity.ts';

// The format of a journal: JSON lines, each with a checksum, in the order in which a run writes them.

/** The version of the format; a program reads only its own. */
export const version = 3;

/** The first line of a journal. */
export interface JournalHeader extends RunIdentity {
  readonly journal: typeof version;
  readonly run: string;
  /** Absolute path; null for stdin and undo. */
  readonly file: string | null;
  /** The input as the user named it; for an undo, the run that it undoes. */
  readonly name: string;
  readonly profile: string | null;
  readonly guards: Guards;
  /** The file of `--events`, absolute. */
  readonly events: string | null;
  /** Data rows in the input. */
  readonly rows: number;
  /** How many of these were left out from the start. */
  readonly invalid: number;
  readonly skipped: number;
  /** RFC 3339. */
  readonly started: string;
}

/** A planned change: row number from 0, pet, current count and new count (null: no entry). */
export type PlannedChange = readonly [
  row: number,
  petId: bigint | number,
  before: number | bigint | null,
  after: number | bigint | null,
];

/** The outcome of a row. */
export interface OutcomeLine extends Omit<Outcome, 'isFinal' | 'isUnavailable'> {
  readonly row: number;
  readonly petId: bigint | number;
  /** The count before: null for a pet that had no entry, absent if it was not read. */
  readonly before?: number | bigint | null | undefined;
  /** Null for an entry that was removed. */
  readonly after: number | bigint | null;
  /** Set for a row that failed although a write may have been applied. */
  readonly maySent?: true | undefined;
}

/**
 * The end of a session: all rows settled, or stopped before that; or a later end of the run: undone (completely or
 * partly), or discarded.
 */
export const endings = ['finished', 'stopped', 'undone', 'discarded'] as const;
export type Ending = (typeof endings)[number];

export interface EndLine {
  readonly ended: Ending;
  /** The run that undid it; `restart` if another run replaced it. */
  readonly by?: string | undefined;
  /** Of `undone`: true if some rows could not be undone. */
  readonly isPartial?: boolean | undefined;
  readonly counts: Readonly<Record<State, number>>;
  /** Milliseconds since the epoch, as in all lines. */
  readonly at: number;
}

export type JournalLine =
  | JournalHeader
  | { readonly plan: readonly PlannedChange[] }
  /**
   * The plan of a session is complete, with this many changes. In a first session, a row without a plan line needs no
   * change.
   */
  | { readonly planned: number; readonly at: number }
  /** Another session begins. */
  | { readonly session: number; readonly at: number }
  /** Rows up to this number may have been sent, unless the session ended in order. */
  | { readonly sending: number }
  | OutcomeLine
  | EndLine;

import type { RecordValue } from '../api/record-values.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { findFirstIndex } from '../process/sorted.ts';
import { type Reason, reasonRule } from '../writes/reasons.ts';
import { type Row, type RowState, reasonOf, unprocessed } from '../writes/row.ts';

/** A row of a run: its line, what its plans have read, and the text of its record. Only `run-events.ts` changes it. */
export interface RunRow extends Row {
  /** The line of the input, from 1. A row of an undo has the line of the row that it takes back. */
  readonly line: number;
  /** The number of the last plan that was to write the row, or found it unchanged; 0 before the first. */
  planNumber: number;
  state: RowState;
  /** The value that the last plan read, of an uncertain row. Its `planned` keeps the value from before the first attempt. */
  lastRead?: RecordValue | undefined;
  /** The count of the inventory entry that is deleted with a pet. */
  entryCount?: JsonValue | undefined;
  /** The text of its record as it was read, or of all records that are added up in it; undefined in an undo. */
  readonly text?: string | readonly string[] | undefined;
}

/** Makes a row that no plan has seen. */
export function createRow<Known extends Pick<RunRow, 'line' | 'id' | 'intent' | 'text'>>({
  line,
  id,
  intent,
  text,
}: Known): Omit<RunRow, 'id' | 'intent'> & Pick<Known, 'id' | 'intent'> {
  return {
    line,
    id,
    intent,
    text,
    planned: undefined,
    lastRead: undefined,
    state: unprocessed,
    planNumber: 0,
  };
}

/** Finds the row of a line. Rows are in the order of their lines. */
export function findRow(rows: readonly RunRow[], line: number): RunRow | undefined {
  const row = rows[findFirstIndex(rows, (other) => other.line < line)];
  return row?.line === line ? row : undefined;
}

/** The name of a row for people: the id of its record, or `line:7` of the input. */
export function rowName({ id, line }: Pick<RunRow, 'id' | 'line'>): string {
  return id === undefined ? `line:${line}` : `${id}`;
}

/** Returns the id of the record of a row. A create has none until an answer or a person gives it. */
export function idOfRow({ id, state }: Pick<RunRow, 'id' | 'state'>): bigint | undefined {
  return id ?? (state.kind === 'applied' ? state.made?.id : undefined);
}

/** The states of the rows of an input. `invalid` and `skipped` rows are in no plan. */
export const rowStates = [
  'applied',
  'unchanged',
  'booked',
  'failed',
  'unknown',
  'invalid',
  'skipped',
  'unprocessed',
  'unsettled',
] as const satisfies readonly (RowState['kind'] | 'invalid' | 'skipped')[];

/** Returns true if a row was written, or may have been. */
export function isPerhapsWritten({ state }: Pick<RunRow, 'state'>): boolean {
  return state.kind === 'applied' || 'doubt' in state;
}

/** Returns the outcome of a row that failed or is unknown. */
export function failureOf({
  state,
}: Pick<RunRow, 'state'>): Extract<RowState, { kind: 'failed' | 'unknown' }> | undefined {
  return state.kind === 'failed' || state.kind === 'unknown' ? state : undefined;
}

/** Returns true if a row is left for `resume`: it has no outcome, or it failed for a transient reason. */
export function isLeft({ state }: Pick<RunRow, 'state'>): boolean {
  if (state.kind === 'failed') return state.reason.isTransient === true;
  return state.kind === 'unprocessed' || state.kind === 'unsettled';
}

/**
 * Returns what an open row, left or unknown, waits for: a resume, a person who says what happened to it, or another run. Any other
 * row waits for nothing.
 */
export function waitingFor({
  state,
  intent,
}: Pick<RunRow, 'state' | 'intent'>): 'resume' | 'person' | Reason['waitsFor'] {
  if (isLeft({ state })) return reasonOf(state)?.waitsFor ?? 'resume';
  if (state.kind !== 'unknown') return undefined;
  const { code, isTransient } = state.reason;
  // What the service refuses for good, a resume gets refused again.
  const isFinal = code === 'rejected' && !isTransient;
  return intent.kind === 'create' || isFinal || reasonRule(code).needsPerson ? 'person' : 'resume';
}

/** Returns true if a row has stopped its run, because the service did something else than asked. Nothing more is sent for the row. */
export function hasStoppedRun({ state }: Pick<RunRow, 'state'>): boolean {
  const reason = reasonOf(state);
  return reason !== undefined && reasonRule(reason.code).stopsRun === true;
}

/**
 * Returns true if `resume` looks at a row. It also reads the record of an unknown row that waits for a person, unless the row is a create,
 * or has stopped its run.
 */
export function needsPlan(row: RunRow): boolean {
  return isLeft(row) || (row.state.kind === 'unknown' && row.intent.kind !== 'create' && !hasStoppedRun(row));
}

import type { RecordValue } from '../api/record-values.ts';
import type { Issue } from '../input/read-rows.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Doubt, Intent, Outcome, Planned, Row } from '../writes/decide.ts';
import { isLeft, type RunTotals, rowStateOf } from './row-state.ts';
import type { RunHeader } from './run-header.ts';

/** The facts of a run, its rows and what became of them. */
export interface Run {
  readonly header: RunHeader;
  readonly rows: readonly RunRow[];
  readonly invalid: readonly Issue[];
  /** The id, such as `r7`; undefined before its journal begins. */
  id?: string | undefined;
  /** RFC 3339. */
  started?: string | undefined;
  /** The length of its journal in bytes, without an incomplete plan or line at the end; undefined before it is read. */
  bytes?: number | undefined;
  /** The number of the last plan among all plans on the target. 0 before the first. */
  planNumber: number;
  /** The end of the last session; undefined if it was killed or is going on. */
  end?: SessionEnd | undefined;
  /** The lines of the rows that were rejects when a session ended: these are written; undefined before the first end. */
  rejectedLines?: ReadonlySet<number> | undefined;
  /** The last file of rejects. */
  rejectsFile?: string | undefined;
  /** The lines of the rows that may have gone out, and have no outcome yet. */
  readonly marked: Set<number>;
}

/** A row of a run, with the numbers of plans on its target. */
export interface RunRow extends Row {
  /** The line of the input, from 1. In an undo that of the row that it takes back. */
  readonly line: number;
  /** The number of the last plan that the row was in, to be written. 0 before the first. */
  lastPlan: number;
  /** The value that the last plan has read for an uncertain row, which keeps the `before` of the plan that sent it. */
  now?: RecordValue | undefined;
  /** The count of the inventory entry that is deleted with a pet. */
  stock?: JsonValue | undefined;
  /** The text of its record as it was read, or of all records that are added up in it; undefined in an undo. */
  readonly text?: string | readonly string[] | undefined;
}

/** Makes a row that no plan has seen. */
export function newRow<Id extends RunRow['id'], RowIntent extends Intent>({
  line,
  id,
  intent,
  text,
}: Pick<RunRow, 'line' | 'text'> & { readonly id: Id; readonly intent: RowIntent }): RunRow & {
  readonly id: Id;
  readonly intent: RowIntent;
} {
  return {
    line,
    id,
    intent,
    text,
    planned: undefined,
    doubt: undefined,
    outcome: undefined,
    lastPlan: 0,
  };
}

/** The name of a row for people: the id of its record, or `line:7` of the input. */
export function rowName({ id, line }: Pick<RunRow, 'id' | 'line'>): string {
  return id === undefined ? `line:${line}` : `${id}`;
}

/** Returns the id of the record of a row, or undefined for a create whose id neither an answer nor a person has given. */
export function idOfRow({ id, outcome }: Pick<Row, 'id' | 'outcome'>): bigint | undefined {
  return id ?? outcome?.made?.id;
}

/** What a plan makes of a row: its write, or its outcome. Only an uncertain row has `now`, and keeps its write beside an outcome. */
export type RowPlan = Pick<RunRow, 'planned' | 'outcome' | 'now'>;

/** Changes a row by a plan, before the plan is kept: a copy of each row would take 100 MB for a million rows. */
export function applyPlan(row: RunRow, { planned, outcome, now }: RowPlan): void {
  row.planned = planned;
  row.now = now;
  row.outcome = undefined;
  if (outcome) setOutcome(row, outcome);
}

/** Returns a row of a later plan, which may leave it out of what is written. */
export function planAgain(earlier: RunRow, row: RunRow): RunRow {
  return Object.assign(earlier, row, { lastPlan: earlier.lastPlan });
}

/** Gives a row its outcome. Only an unknown row stays in doubt. */
function setOutcome(row: Row, outcome: Outcome, doubt = row.doubt): void {
  row.outcome = outcome;
  row.doubt = outcome.kind === 'unknown' ? doubt : undefined;
}

/** What happens to a run, in the order of its journal. */
export type RunEvent =
  | {
      readonly kind: 'begin';
      readonly run: string;
      readonly started: string;
      readonly header: RunHeader;
    }
  | { readonly kind: 'invalid'; readonly issue: Issue }
  | { readonly kind: 'plan'; readonly row: RunRow }
  /** Completes a plan. */
  | { readonly kind: 'plan-end'; readonly number: number; readonly rows: readonly RunRow[] }
  /** Rows are about to be sent. `planned`: the write of a row in place of the planned one, because its record has changed. */
  | { readonly kind: 'mark'; readonly rows: readonly RunRow[]; readonly planned?: Planned | undefined }
  /** `doubt`: only for an unknown row. */
  | {
      readonly kind: 'outcome';
      readonly row: RunRow;
      readonly outcome: Outcome;
      readonly doubt?: Doubt | undefined;
    }
  | { readonly kind: 'end'; readonly end: SessionEnd };

/** The events that change a run. `killed` is in no journal: the last session has not ended, and may have sent what it marked. */
export type RunChange =
  | Extract<RunEvent, { kind: 'begin' | 'plan-end' | 'mark' | 'outcome' | 'end' }>
  | { readonly kind: 'killed' };

/** Changes a run by an event, in a session that goes on and when its journal is read again. */
export function applyEvent(run: Run, event: RunChange): void {
  switch (event.kind) {
    case 'begin':
      run.id = event.run;
      run.started = event.started;
      return;
    case 'killed':
      for (const row of run.rows) if (run.marked.has(row.line)) row.doubt = 'sent';
      return;
    case 'plan-end':
      for (const row of event.rows) {
        run.marked.delete(row.line);
        if (!row.outcome) row.lastPlan = event.number;
      }
      run.planNumber = event.number;
      run.end = undefined;
      return;
    case 'mark':
      for (const row of event.rows) {
        if (event.planned) row.planned = event.planned;
        run.marked.add(row.line);
      }
      return;
    case 'outcome':
      setOutcome(event.row, event.outcome, event.doubt);
      run.marked.delete(event.row.line);
      // A person can settle a row after the end of a session. Then the journal needs another end.
      run.end = undefined;
      return;
    case 'end':
      run.end = event.end;
      run.marked.clear();
      run.rejectedLines = new Set(run.rows.filter((row) => isReject(run, row)).map(({ line }) => line));
      run.rejectsFile = event.end.rejects ?? run.rejectsFile;
  }
}

/**
 * Returns true if a row belongs into the file of rejects: it has failed, and the run is not an undo. If the run adds or creates,
 * rows that `resume` tries again are left out, so that no row is done twice.
 */
export function isReject({ header: { kind, flags } }: Pick<Run, 'header'>, row: Row): boolean {
  if (kind === 'undo' || rowStateOf(row) !== 'failed') return false;
  return !((flags.relative || kind === 'create') && isLeft(row));
}

export function createRun(header: RunHeader, rows: readonly RunRow[], invalid: readonly Issue[] = []): Run {
  return { header, rows, invalid, planNumber: 0, marked: new Set() };
}

/** The end of a session: the last line of its journal. */
export interface SessionEnd extends RunTotals {
  /** The number of the last plan among all plans on the target. */
  readonly planNumber: number;
  /** RFC 3339. */
  readonly ended: string;
  /** The file of rejects that the session has written. */
  readonly rejects?: string | undefined;
}

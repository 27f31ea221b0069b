import * as v from 'valibot';
import type { Fields } from '../api/record-values.ts';
import { type JsonValue, jsonIn, printJson } from '../process/exact-json.ts';
import {
  idSchema,
  intentSchema,
  outcomeOf,
  plannedSchema,
  rowStateSchema,
  toJournalValue,
  unprocessed,
} from '../writes/row.ts';
import { headerSchema, isReject, type RunLog, runNumbersSchema } from './run.ts';
import { createRow, findRow, type RunRow } from './run-row.ts';

/** The version of the format of journals. A journal of another version is not read. */
export const journalVersion = 16;

/**
 * The schema of the events of a run, in the order of its journal. Each is a line of JSON. `row`, `rows` and the `line` of a plan are
 * lines of the input, as in `RunRow`. A line of the journal that does not fit is damaged.
 */
const eventSchema = v.variant('kind', [
  v.object({ kind: v.literal('begin'), run: v.string(), started: v.string(), header: headerSchema }),
  v.object({
    kind: v.literal('invalid'),
    record: v.object({ line: v.number(), text: v.string(), message: v.string() }),
  }),
  v.pipe(
    v.object({
      kind: v.literal('plan'),
      line: v.number(),
      id: v.optional(idSchema),
      intent: intentSchema,
      planned: v.optional(plannedSchema),
      state: v.optional(rowStateSchema, unprocessed),
      entryCount: v.optional(v.custom<JsonValue>(() => true)),
      text: v.optional(v.union([v.string(), v.pipe(v.array(v.string()), v.readonly())])),
    }),
    v.check((row) => row.planned !== undefined || outcomeOf(row) !== undefined),
  ),
  // Completes a plan.
  v.object({ kind: v.literal('plan-end'), planNumber: v.number() }),
  // Rows are about to be sent. If a record has changed since the plan, its row is marked alone, with its new write as `planned`.
  v.object({ kind: v.literal('mark'), rows: v.array(v.number()), planned: v.optional(plannedSchema) }),
  v.pipe(
    v.object({ kind: v.literal('outcome'), row: v.number(), outcome: rowStateSchema }),
    v.check(({ outcome }) => outcomeOf({ state: outcome }) !== undefined),
  ),
  v.object({ kind: v.literal('end'), end: runNumbersSchema }),
]);

export type JournalEvent = v.InferOutput<typeof eventSchema>;
/** An event after a plan. */
export type RunEvent = EventOf<'mark' | 'outcome' | 'end'>;
type EventOf<Kind extends JournalEvent['kind']> = Extract<JournalEvent, { readonly kind: Kind }>;

/** Reads a line. Returns undefined if it does not fit. */
export function parseEvent(json: string): JournalEvent | undefined {
  const { success, output } = v.safeParse(eventSchema, jsonIn(json));
  return success ? output : undefined;
}

/** Prints an event as a line, without its line break. */
export function printEvent(event: JournalEvent): string {
  switch (event.kind) {
    case 'begin':
      // `kind` comes first: `readJournal` knows a first line that was cut short by its beginning.
      return printJson({ ...event, journal: journalVersion });
    case 'plan':
      return printJson(toLine({ ...event, state: event.state === unprocessed ? undefined : event.state }));
    case 'mark':
      return printJson(event.planned ? toLine(event) : event);
    case 'outcome':
      return printJson('made' in event.outcome ? toLine(event) : event);
    default:
      return printJson(event);
  }
}

/** The members of rows and outcomes that are values of records. */
const valueNames: ReadonlySet<string> = new Set([
  'fields',
  'value',
  'expected',
  'created',
  'before',
  'after',
]);

/** Returns a part of a line with its values as `toJournalValue` makes them. `for in` is faster than entries in a long plan. */
function toLine<Part extends object>(part: Part): object {
  const line: Partial<Record<keyof Part, unknown>> = {};
  for (const name in part) {
    const member: unknown = part[name];
    if (typeof member !== 'object' || member === null || Array.isArray(member)) line[name] = member;
    else line[name] = valueNames.has(name) ? toJournalValue(member as Fields) : toLine(member);
  }
  return line;
}

/** The result of planning a row: its write, or its outcome. Only an uncertain row has `lastRead`, and keeps its write beside an outcome. */
export type RowPlan = Pick<RunRow, 'planned' | 'state' | 'lastRead'>;

/** Sets what a plan has decided for a row. The row is changed, because copies would take 100 MB for a million rows. */
export function setRowPlan(row: RunRow, { planned, lastRead, state }: RowPlan): void {
  row.planned = planned;
  row.lastRead = lastRead;
  row.state = state;
}

export function toPlanEvent(row: RunRow): EventOf<'plan'> {
  const { line, id, intent, planned, state, entryCount, text } = row;
  return { kind: 'plan', line, id, intent, planned, state, entryCount, text };
}

/** Returns the row that a journal plans. @param earlierRow the row of an earlier plan. */
export function toRow(event: EventOf<'plan'>, earlierRow: RunRow | undefined): RunRow {
  const { line, id, intent, text, planned, state, entryCount } = event;
  // If this plan writes the row, `endPlan` replaces the number.
  const planNumber = earlierRow?.planNumber ?? 0;
  return { ...createRow({ line, id, intent, text }), planNumber, planned, state, entryCount };
}

/**
 * Completes a plan of a run. A later plan that neither writes a row nor finds one unchanged does not count for other runs.
 *
 * @param planNumber as in `RunNumbers`.
 */
export function endPlan(log: RunLog, rows: readonly RunRow[], planNumber: number): void {
  let isEmpty = true;
  for (const row of rows) {
    log.marked.delete(row.line);
    // A row that the plan has found unchanged counts as planned too.
    if (outcomeOf(row) && row.state.kind !== 'unchanged') continue;
    row.planNumber = planNumber;
    isEmpty = false;
  }
  if (!isEmpty || log.planNumber === 0) log.planNumber = planNumber;
  log.isEnded = false;
}

/** Changes a run after its last session was killed: that session may have sent the rows that it marked. */
export function endKilledSession({ rows, marked }: RunLog): void {
  for (const row of rows) if (marked.has(row.line)) row.state = { kind: 'unsettled', doubt: 'sent' };
}

/** Returns true if an event names only rows of the run. */
export function namesItsRows({ rows }: RunLog, event: JournalEvent): boolean {
  const lines = event.kind === 'mark' ? event.rows : event.kind === 'outcome' ? [event.row] : [];
  return lines.every((line) => findRow(rows, line) !== undefined);
}

/** Changes a run by an event, both during a session and when its journal is read again. */
export function applyEvent(log: RunLog, event: RunEvent): void {
  const { header, rows, invalid, marked } = log;
  switch (event.kind) {
    case 'mark':
      for (const line of event.rows) {
        if (event.planned) rowOfLine(log, line).planned = event.planned;
        marked.add(line);
      }
      return;
    case 'outcome':
      rowOfLine(log, event.row).state = event.outcome;
      marked.delete(event.row);
      // A person can settle a row after the end of a session. Then the journal needs another end.
      log.isEnded = false;
      return;
    case 'end':
      log.isEnded = true;
      log.rejects = event.end.rejects;
      log.rejectedLines = new Set(
        [...invalid, ...rows.filter((row) => isReject(header, row))].map(({ line }) => line),
      );
      marked.clear();
  }
}

function rowOfLine({ rows }: RunLog, line: number): RunRow {
  const row = findRow(rows, line);
  if (!row) throw new Error(`the run has no row of line ${line}`);
  return row;
}

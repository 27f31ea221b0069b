import * as v from 'valibot';
import type { RecordValue } from '../api/record-values.ts';
import { type JsonValue, jsonIn, printJson } from '../process/exact-json.ts';
import {
  doubtSchema,
  type Intent,
  idSchema,
  intentSchema,
  type Outcome,
  outcomeSchema,
  type Planned,
  plannedSchema,
  toJournalValue,
} from '../writes/row.ts';
import { headerSchema, isReject, type Run, sessionEndSchema } from './run.ts';
import { newRow, type RunRow } from './run-row.ts';

/** The version of the format of journals. A journal of another version is not read. */
export const journalVersion = 9;

/**
 * Makes the schema of the events of a run, in the order of its journal. Each is a line of JSON. A line that does not fit is damaged.
 *
 * @param rowsByLine the planned rows. A line names a row by its line of the input, in its run and in the undo of its run.
 * @param planRows the rows of the plan whose end has not been read.
 */
function createEventSchema(rowsByLine: ReadonlyMap<number, RunRow>, planRows: readonly RunRow[]) {
  const row = v.pipe(
    v.number(),
    v.transform((line) => rowsByLine.get(line)),
    v.custom<RunRow>((planned) => planned !== undefined),
  );
  return v.variant('kind', [
    v.object({ kind: v.literal('begin'), run: v.string(), started: v.string(), header: headerSchema }),
    v.object({
      kind: v.literal('invalid'),
      issue: v.object({
        line: v.number(),
        text: v.string(),
        message: v.string(),
      }),
    }),
    v.pipe(
      v.object({
        kind: v.literal('plan'),
        line: v.number(),
        id: v.optional(idSchema),
        intent: intentSchema,
        planned: v.optional(plannedSchema),
        doubt: v.optional(doubtSchema),
        outcome: v.optional(outcomeSchema),
        stock: v.optional(v.custom<JsonValue>(() => true)),
        text: v.optional(v.union([v.string(), v.array(v.string())])),
      }),
      v.check(({ planned, outcome }) => planned !== undefined || outcome !== undefined),
      v.transform(({ kind, line, id, intent, text, planned, doubt, outcome, stock }) => {
        // The row keeps the number of its last plan if this one does not write it.
        const planNumber = rowsByLine.get(line)?.planNumber ?? 0;
        const planRow: RunRow = {
          ...newRow({ line, id, intent, text }),
          planNumber,
          planned,
          doubt,
          outcome,
          stock,
        };
        return { kind, row: planRow };
      }),
    ),
    // Completes a plan. `number` is its number among all plans on the target.
    v.pipe(
      v.object({ kind: v.literal('plan-end'), number: v.number() }),
      v.transform((end) => ({ ...end, rows: planRows })),
    ),
    // Rows are about to be sent. `planned` is the write of a row in place of the planned one, because its record has changed.
    v.object({ kind: v.literal('mark'), rows: v.array(row), planned: v.optional(plannedSchema) }),
    // Only an unknown row has `doubt`.
    v.object({ kind: v.literal('outcome'), row, doubt: v.optional(doubtSchema), outcome: outcomeSchema }),
    v.object({ kind: v.literal('end'), end: sessionEndSchema }),
  ]);
}

/** An event of a run. Its journal names rows by their lines. */
export type JournalEvent = v.InferOutput<ReturnType<typeof createEventSchema>>;

/**
 * Makes a function that reads a line. It returns undefined for a line that does not fit, or that names a row that is not planned.
 *
 * @param rowsByLine @param planRows as of the schema.
 */
export function createEventParser(
  rowsByLine: ReadonlyMap<number, RunRow> = new Map(),
  planRows: readonly RunRow[] = [],
): (json: string) => JournalEvent | undefined {
  const schema = createEventSchema(rowsByLine, planRows);
  return (json) => {
    const { success, output } = v.safeParse(schema, jsonIn(json));
    return success ? output : undefined;
  };
}

/** Prints an event as a line, without its line break. */
export function printEvent(event: JournalEvent): string {
  return printJson(toLine(event));
}

function toLine(event: JournalEvent): object {
  switch (event.kind) {
    case 'begin': {
      // `kind` comes first, because the reader knows a torn first line by it.
      const { kind, ...facts } = event;
      return { kind, ...facts, journal: journalVersion };
    }
    case 'plan': {
      const { line, id, intent, planned, doubt, outcome, stock, text } = event.row;
      const parts = { intent: withJournalValues(intent), planned: withJournalValues(planned), doubt };
      return { kind: 'plan', line, id, ...parts, outcome: toOutcomeLine(outcome), stock, text };
    }
    case 'plan-end':
      return { kind: 'plan-end', number: event.number };
    case 'mark':
      return {
        ...event,
        rows: event.rows.map(({ line }) => line),
        planned: withJournalValues(event.planned),
      };
    case 'outcome':
      return { ...event, row: event.row.line, outcome: toOutcomeLine(event.outcome) };
    default:
      return event;
  }
}

function toOutcomeLine(outcome: Outcome | undefined): object | undefined {
  return outcome?.made ? { ...outcome, made: withJournalValues(outcome.made) } : outcome;
}

function withJournalValues(part: Intent | Planned | Outcome['made']): object | undefined {
  if (!part) return undefined;
  const members: [string, RecordValue | undefined][] = Object.entries(part);
  const line: Record<string, unknown> = {};
  for (const [name, member] of members) line[name] = member && toJournalValue(member);
  return line;
}

/** The result of planning a row: its write, or its outcome. Only an uncertain row has `lastRead`, and keeps its write beside an outcome. */
export type RowPlan = Pick<RunRow, 'planned' | 'outcome' | 'lastRead'>;

/** Plans a row, before the plan is in the journal. The row is changed, because copies would take 100 MB for a million rows. */
export function planRow(row: RunRow, { planned, lastRead, outcome }: RowPlan): void {
  row.planned = planned;
  row.lastRead = lastRead;
  row.outcome = undefined;
  if (outcome) setOutcome(row, outcome);
}

/** Changes a run after its last session was killed: that session may have sent the rows that it marked. */
export function endKilledSession({ rows, marked }: Run): void {
  for (const row of rows) if (marked.has(row.line)) row.doubt = 'sent';
}

/**
 * Changes a run by an event, both during a session and when its journal is read again. A plan changes it at its end. Its invalid
 * records are in it before.
 */
export function applyEvent(run: Run, event: JournalEvent): void {
  switch (event.kind) {
    case 'begin':
      run.id = event.run;
      run.started = event.started;
      return;
    case 'plan-end':
      for (const row of event.rows) {
        run.marked.delete(row.line);
        if (!row.outcome) row.planNumber = event.number;
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
  }
}

/** Gives a row its outcome. Only an unknown row stays in doubt. */
function setOutcome(row: RunRow, outcome: Outcome, doubt = row.doubt): void {
  row.outcome = outcome;
  row.doubt = outcome.kind === 'unknown' ? doubt : undefined;
}

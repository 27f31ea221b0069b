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
} from '../writes/decide.ts';
import { newRow, type RunRow, rowStates } from './row.ts';
import { headerSchema, type RunEvent } from './run.ts';

// An event is one line of JSON, and its member `kind` says which event it is: see `RunEvent`. A row is named by its line of the
// input, in its run and in the undo of its run.

/** The version of the format. A journal of another version is not read. */
export const journalVersion = 9;

/** The lines of a journal. A line that does not fit is damaged. */
const lineSchema = v.variant('kind', [
  v.object({ kind: v.literal('begin'), run: v.string(), started: v.string(), header: headerSchema }),
  v.object({
    kind: v.literal('invalid'),
    issue: v.object({
      line: v.number(),
      text: v.string(),
      message: v.string(),
      kind: v.optional(v.string()),
      hint: v.optional(v.string()),
    }),
  }),
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
  v.object({ kind: v.literal('plan-end'), number: v.number() }),
  v.object({ kind: v.literal('mark'), rows: v.array(v.number()), planned: v.optional(plannedSchema) }),
  v.object({
    kind: v.literal('outcome'),
    row: v.number(),
    doubt: v.optional(doubtSchema),
    outcome: outcomeSchema,
  }),
  v.object({
    kind: v.literal('end'),
    end: v.object({
      counts: v.object(v.entriesFromList(rowStates, v.number())),
      left: v.number(),
      appliedOrUncertain: v.number(),
      planNumber: v.number(),
      ended: v.string(),
      rejects: v.optional(v.string()),
    }),
  }),
]);

/** Prints an event as a line, without its line break. */
export function printEvent(event: RunEvent): string {
  return printJson(toLine(event));
}

function toLine(event: RunEvent): object {
  switch (event.kind) {
    case 'begin':
      return { ...event, journal: journalVersion };
    case 'plan': {
      const { line, id, intent, planned, doubt, outcome, stock, text } = event.row;
      const parts = { intent: withJournalValues(intent), planned: withJournalValues(planned), doubt };
      return { kind: 'plan', line, id, ...parts, outcome: toOutcomeLine(outcome), stock, text };
    }
    case 'plan-end':
      return { kind: 'plan-end', number: event.number };
    case 'mark':
      return {
        kind: 'mark',
        rows: event.rows.map(({ line }) => line),
        planned: withJournalValues(event.planned),
      };
    case 'outcome': {
      const { row, doubt, outcome } = event;
      return { kind: 'outcome', row: row.line, doubt, outcome: toOutcomeLine(outcome) };
    }
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

/**
 * Reads a line, or undefined if it does not fit, or names a row that is not planned.
 *
 * @param rowsByLine the planned rows.
 */
export function parseEvent(json: string, rowsByLine: ReadonlyMap<number, RunRow>): RunEvent | undefined {
  const { success, output } = v.safeParse(lineSchema, jsonIn(json));
  if (!success) return undefined;
  switch (output.kind) {
    case 'plan': {
      const { line, id, intent, text, planned, doubt, outcome, stock } = output;
      if (!planned && !outcome) return undefined;
      const row = newRow({ line, id, intent, text });
      return { kind: 'plan', row: { ...row, planned, doubt, outcome, stock } };
    }
    case 'plan-end':
      return { ...output, rows: [] };
    case 'mark': {
      const rows = output.rows.flatMap((row) => rowsByLine.get(row) ?? []);
      return rows.length === output.rows.length ? { ...output, rows } : undefined;
    }
    case 'outcome': {
      const row = rowsByLine.get(output.row);
      return row && { ...output, row };
    }
    default:
      return output;
  }
}

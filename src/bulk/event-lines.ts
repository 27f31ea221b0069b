import type { Issue } from '../input/read-rows.ts';
import { isJsonObject, jsonIn, printJson } from '../process/exact-json.ts';
import { fromJsonValue, toJsonValue } from '../writes/value.ts';
import { newRow, type RunEnd, type RunEvent, type RunRow } from './run.ts';
import type { RunHeader } from './run-header.ts';

// An event is one line of JSON, and its member `kind` says which event it is:
//
//   begin      the version of the format, the id of the run and its header
//   invalid    a row of the input that is in no plan
//   plan       a row with its intent, its text, and what the plan has made of it
//   planned    ends a plan, and has its number among all plans on the target: the commit point
//   mark       rows that may go out now, or one row that goes out with other values than planned
//   outcome    what became of a row
//   end        the totals of the run at the end of a session
//
// A row is named by its line of the input, in its run and in the undo of its run.

/** The version of the format. A journal of another version is not read. */
export const journalVersion = 8;

/** Makes an event a line, without its line break. */
export function printEvent(event: RunEvent): string {
  switch (event.kind) {
    case 'begin':
      return printJson({ ...event, journal: journalVersion });
    case 'plan': {
      const { line, id, intent, planned, doubt, outcome, stock, text } = event.row;
      const row = { line, id, intent, planned, doubt, outcome, stock, text };
      return printJson(convert({ kind: 'plan', ...row }, toMember));
    }
    case 'planned':
      return printJson({ kind: 'planned', number: event.number });
    case 'mark':
      return printJson({ ...convert(event, toMember), rows: event.rows.map(({ line }) => line) });
    case 'outcome':
      return printJson({
        kind: 'outcome',
        row: event.row.line,
        doubt: event.doubt,
        outcome: event.outcome.made ? convert(event.outcome, toMember) : event.outcome,
      });
    case 'end':
      return printJson({ kind: 'end', ...event.end });
    default:
      return printJson(event);
  }
}

type Member = (name: string, value: never) => unknown;

const toMember: Member = (name, value) => (name === 'id' ? value : toJsonValue(value));
const fromMember: Member = (name, value) => (name === 'id' ? BigInt(value) : fromJsonValue(value));

/** The members of an event whose values JSON cannot hold as they are. */
const valueNames = new Set(['id', 'value', 'fields', 'expected', 'created', 'before', 'after']);
/** The members that have such members. */
const partNames = new Set(['intent', 'planned', 'outcome', 'made']);

/** Makes the values in an event JSON, or reads them. */
function convert(part: object, toValue: Member): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const name in part) {
    const member = part[name as keyof typeof part] as unknown;
    const isPart = partNames.has(name) && typeof member === 'object' && member !== null;
    if (isPart) result[name] = convert(member, toValue);
    else
      result[name] = valueNames.has(name) && member !== undefined ? toValue(name, member as never) : member;
  }
  return result;
}

/** The members of a line. Which of them are there depends on its kind. */
type Line = Partial<
  RunRow & {
    readonly journal: unknown;
    readonly run: string;
    readonly started: string;
    readonly header: RunHeader;
    readonly issue: Issue;
    readonly number: number;
    readonly rows: readonly number[];
    readonly row: number;
  }
>;

const doubts: readonly unknown[] = ['sent', 'refused', undefined];
const outcomeKinds: readonly unknown[] = ['applied', 'unchanged', 'failed', 'unknown'];

/** Reads a line. Undefined if it is not an event, or names a row that is not planned. @param known the planned rows by their lines. */
export function parseEvent(text: string, known: ReadonlyMap<number, RunRow>): RunEvent | undefined {
  const json = jsonIn(text);
  if (!isJsonObject(json)) return undefined;
  const { kind, ...members } = convert(json, fromMember);
  const { journal, run = '', started = '', header, issue, number, rows, ...rest } = members as Line;
  const { line, id, intent, planned, doubt, stock, text: rowText, row, outcome } = rest;
  switch (kind) {
    case 'begin':
      return header && { kind, journal, run, started, header };
    case 'invalid':
      return issue && { kind, issue };
    case 'plan':
      if (line === undefined || !intent || !(planned || outcome) || !doubts.includes(doubt)) return undefined;
      if (outcome && !outcomeKinds.includes(outcome.kind)) return undefined;
      return {
        kind,
        row: Object.assign(newRow({ line, id, intent, text: rowText }), { planned, doubt, outcome, stock }),
      };
    case 'planned':
      return number === undefined ? undefined : { kind, number, rows: [] };
    case 'mark': {
      const marked = rows?.flatMap((number) => known.get(number) ?? []);
      return marked && marked.length === rows?.length ? { kind, rows: marked, planned } : undefined;
    }
    case 'outcome': {
      const settled = known.get(row ?? 0);
      const isOutcome = outcome && outcomeKinds.includes(outcome.kind) && doubts.includes(doubt);
      return settled && isOutcome ? { kind, row: settled, outcome, doubt } : undefined;
    }
    case 'end':
      return { kind, end: members as unknown as RunEnd };
    default:
      return undefined;
  }
}

import type { Issue } from '../input/issues.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  printJson,
} from '../process/exact-json.ts';
import {
  applied,
  type Intent,
  type MadeRecord,
  newState,
  type Outcome,
  type Planned,
  plannedOf,
  type Reason,
  type Row,
  type RowState,
  uncertaintyOf,
} from '../writes/decide.ts';
import { fromJsonValue, toJsonValue, type Value } from '../writes/value.ts';
import { keyOf, type PlannedRow, type RunEnd, type RunEvent } from './run.ts';
import type { RunHeader } from './run-header.ts';

// An event is one line of JSON, and its member `kind` says which event it is:
//
//   begin      the version of the format, the id of the run and its header
//   invalid    a row of the input that is in no plan
//   plan       a row to write with `before` and `after`, or a row that the plan has settled with its `state`
//   planned    ends a plan, and has its number among all plans on the target: the commit point
//   mark       rows that may go out now although they must not go out twice
//   deferred   a row that adds and must be planned again: it was certainly not written
//   settle     the outcome of a row
//   end        the totals of the run at the end of a session

/** The version of the format. A journal of another version is not read. */
export const journalVersion = 7;

/** Makes an event a line, without its line break. Texts are joined because it is faster for a million rows. @see bench/README.md */
export function printEvent(event: RunEvent): string {
  switch (event.kind) {
    case 'begin':
      return printJson({ ...event, journal: journalVersion });
    case 'invalid':
      return printJson({ kind: 'invalid', issue: event.issue });
    case 'plan':
      return `{"kind":"plan",${printRow(event.row)}${printState(event)}}`;
    case 'planned':
      return `{"kind":"planned","number":${event.number}}`;
    case 'mark':
      return `{"kind":"mark","rows":[${event.rows.map(printKey).join(',')}]}`;
    case 'deferred':
      return `{"kind":"deferred","row":${printKey(event.row)}}`;
    case 'settle':
      return `{"kind":"settle","row":${printKey(event.row)}${printOutcome(event.outcome)}}`;
    case 'end':
      return printJson({ kind: 'end', ...event.end });
  }
}

function printKey(row: Row): string {
  return row.id === undefined ? `"${keyOf(row)}"` : String(row.id);
}

function printRow({ id, line, intent }: Row): string {
  const idText = id === undefined ? '' : `"id":${id},`;
  return `${idText}"line":${line},${printIntent(intent)}`;
}

function printIntent(intent: Intent): string {
  switch (intent.kind) {
    case 'create':
      return `"create":${printValue(intent.fields)}`;
    case 'set':
      return `"set":${printValue(intent.value)}${printOptional('expected', intent.expected)}`;
    case 'add':
      return `"add":${intent.change}${printOptional('expected', intent.expected)}${printOptional('created', intent.created)}`;
    case 'remove':
      return `"remove":true${printOptional('expected', intent.expected)}`;
  }
}

function printState({ row, state }: PlannedRow): string {
  if (state.at === 'new') return '';
  const planned = plannedOf({ state });
  const plannedText = planned ? printPlanned(planned) : '';
  if (state.at === 'settled') return `${plannedText}${printOutcome(state.outcome)}`;
  const uncertain = uncertaintyOf({ ...row, state });
  return `${plannedText}${uncertain ? `,"uncertain":true,"maybe":${uncertain.mayBeApplied}` : ''}`;
}

function printPlanned({ action, before, after }: Planned): string {
  return `,"action":"${action}","before":${printValue(before)},"after":${printValue(after)}`;
}

function printOutcome({ state, reason, mayBeApplied, made }: Outcome): string {
  const maybe = mayBeApplied === undefined ? '' : `,"maybe":${mayBeApplied}`;
  const madeText = made ? `,"made":${printJson({ id: made.id, value: toJsonValue(made.value) })}` : '';
  return `,"state":"${state}"${maybe}${madeText}${reason ? `,"reason":${printJson(reason)}` : ''}`;
}

function printOptional(name: string, value: Value | undefined): string {
  return value === undefined ? '' : `,"${name}":${printValue(value)}`;
}

function printValue(value: Value): string {
  return typeof value === 'object' ? printJson(toJsonValue(value)) : String(value);
}

/** An event as its line says it. It names rows by their keys. */
export type EventLine =
  | {
      readonly kind: 'begin';
      readonly version: unknown;
      readonly run: string;
      readonly started: string;
      readonly header: RunHeader;
    }
  | { readonly kind: 'invalid'; readonly issue: Issue }
  | {
      readonly kind: 'plan';
      readonly row: Row;
      readonly state: RowState;
    }
  | { readonly kind: 'planned'; readonly number: number }
  | { readonly kind: 'mark'; readonly rows: readonly (bigint | string)[] }
  | { readonly kind: 'deferred'; readonly row: bigint | string }
  | { readonly kind: 'settle'; readonly row: bigint | string; readonly outcome: Outcome }
  | { readonly kind: 'end'; readonly end: RunEnd };

/** Reads a line. Undefined if it is not an event. */
export function parseEvent(text: string): EventLine | undefined {
  let line: JsonValue;
  try {
    line = parseJson(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(line)) return undefined;
  const { kind, ...members } = line;
  switch (kind) {
    case 'begin': {
      const { journal: version, run, started, header } = members;
      if (!isJsonObject(header)) return undefined;
      return {
        kind,
        version,
        run: String(run),
        started: String(started),
        header: header as unknown as RunHeader,
      };
    }
    case 'invalid':
      return { kind, issue: members.issue as unknown as Issue };
    case 'plan':
      return parsePlan(members);
    case 'planned':
      return typeof members.number === 'number' ? { kind, number: members.number } : undefined;
    case 'mark':
      return Array.isArray(members.rows) ? { kind, rows: members.rows.map(parseKey) } : undefined;
    case 'deferred':
      return { kind, row: parseKey(members.row) };
    case 'settle': {
      const outcome = parseOutcome(members);
      return outcome && { kind, row: parseKey(members.row), outcome };
    }
    case 'end':
      return { kind, end: members as unknown as RunEnd };
    default:
      return undefined;
  }
}

function parseKey(key: JsonValue | undefined): bigint | string {
  return typeof key === 'number' || typeof key === 'bigint' ? BigInt(key) : String(key);
}

function parsePlan(members: JsonObject): EventLine | undefined {
  const intent = parseIntent(members);
  if (!intent) return undefined;
  const { id, line } = members;
  const state = parseState(members, parsePlanned(members), parseOutcome(members));
  const row = {
    line: Number(line),
    id: id === undefined ? undefined : BigInt(id as number | bigint),
    intent,
  };
  return { kind: 'plan', row: { ...row, state: newState }, state };
}

function parseState(
  members: JsonObject,
  planned: Planned | undefined,
  outcome: Outcome | undefined,
): RowState {
  if (outcome) return { at: 'settled', outcome, planned };
  if (!planned) return newState;
  if (members.uncertain !== true) return { ...planned, at: 'planned' };
  return { at: 'uncertain', ...planned, mayBeApplied: members.maybe === true };
}

function parseIntent({ create, set, add, remove, expected, created }: JsonObject): Intent | undefined {
  if (create !== undefined) return { kind: 'create', fields: fromJsonValue(create) };
  if (set !== undefined) return { kind: 'set', value: fromJsonValue(set), expected: optionalValue(expected) };
  if (add !== undefined)
    return {
      kind: 'add',
      change: Number(add),
      expected: optionalValue(expected),
      created: optionalValue(created),
    };
  return remove === undefined ? undefined : { kind: 'remove', expected: optionalValue(expected) };
}

function parsePlanned({ action, before = null, after = null }: JsonObject): Planned | undefined {
  if (action !== 'create' && action !== 'set' && action !== 'remove') return undefined;
  return { action, before: fromJsonValue(before), after: fromJsonValue(after) };
}

const outcomeStates = ['applied', 'unchanged', 'failed', 'unknown'] as const;

function parseOutcome({ state, reason, maybe, made }: JsonObject): Outcome | undefined {
  if (state === 'applied' && reason === undefined && maybe === undefined && made === undefined)
    return applied;
  const known = outcomeStates.find((candidate) => candidate === state);
  if (!known) return undefined;
  return {
    state: known,
    reason: isJsonObject(reason) ? (reason as unknown as Reason) : undefined,
    mayBeApplied: typeof maybe === 'boolean' ? maybe : undefined,
    made: isJsonObject(made) ? parseMade(made) : undefined,
  };
}

function parseMade({ id, value = null }: JsonObject): MadeRecord {
  return {
    id: id === undefined || id === null ? undefined : BigInt(id as number | bigint),
    value: fromJsonValue(value),
  };
}

function optionalValue(json: JsonValue | undefined): Value | undefined {
  return json === undefined ? undefined : fromJsonValue(json);
}

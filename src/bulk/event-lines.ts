import type { Issue } from '../input/read-rows.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonIn, printJson } from '../process/exact-json.ts';
import { type Intent, newState, type Outcome, type Planned, type RowState } from '../writes/decide.ts';
import { fromJsonValue, toJsonValue } from '../writes/value.ts';
import { keyOf, type RowKey, type RunEnd, type RunEvent, type RunRow } from './run.ts';
import type { RunHeader } from './run-header.ts';

// An event is one line of JSON, and its member `kind` says which event it is:
//
//   begin      the version of the format, the id of the run and its header
//   invalid    a row of the input that is in no plan
//   plan       a row with its intent, and with its state unless that is `new`
//   planned    ends a plan, and has its number among all plans on the target: the commit point
//   mark       rows that may go out now, or one row that goes out with other values than planned
//   outcome    what became of a row
//   end        the totals of the run at the end of a session

/** The version of the format. A journal of another version is not read. */
export const journalVersion = 7;

/** Makes an event a line, without its line break. */
export function printEvent(event: RunEvent): string {
  switch (event.kind) {
    case 'begin':
      return printJson({ ...event, journal: journalVersion });
    case 'plan': {
      const { id, line, intent, state, stock } = event.row;
      const stateJson = state.at === 'new' ? undefined : convertState(state, toJsonValue);
      return printJson({
        kind: 'plan',
        id,
        line,
        intent: convert(intent, toJsonValue),
        state: stateJson,
        stock,
      });
    }
    case 'mark': {
      const planned = event.planned && convert(event.planned, toJsonValue);
      return printJson({ kind: 'mark', rows: event.rows.map(keyOf), planned });
    }
    case 'outcome': {
      const outcome = convertOutcome(event.outcome, toJsonValue);
      return printJson({ kind: 'outcome', row: keyOf(event.row), outcome });
    }
    case 'end':
      return printJson({ kind: 'end', ...event.end });
    default:
      return printJson(event);
  }
}

const valueNames = ['value', 'fields', 'expected', 'created', 'before', 'after'] as const;

/** Makes the values in an object JSON, or reads them. */
function convert<Part extends object>(part: Part, toValue: (value: never) => unknown): Part {
  const result = { ...part } as Record<string, unknown>;
  for (const name of valueNames)
    if (result[name] !== undefined) result[name] = toValue(result[name] as never);
  return result as Part;
}

function convertState<State extends object>(state: State, toValue: (value: never) => unknown): State {
  const result = convert(state, toValue) as { planned?: Planned; outcome?: Outcome };
  if (result.planned) result.planned = convert(result.planned, toValue);
  if (result.outcome) result.outcome = convertOutcome(result.outcome, toValue);
  return result as State;
}

function convertOutcome(outcome: Outcome, toValue: (value: never) => unknown): Outcome {
  return outcome.made ? { ...outcome, made: convert(outcome.made, toValue) } : outcome;
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
  | { readonly kind: 'plan'; readonly row: RunRow; readonly state: RowState }
  | { readonly kind: 'planned'; readonly number: number }
  | { readonly kind: 'mark'; readonly rows: readonly RowKey[]; readonly planned: Planned | undefined }
  | { readonly kind: 'outcome'; readonly row: RowKey; readonly outcome: Outcome }
  | { readonly kind: 'end'; readonly end: RunEnd };

/** Reads a line. Undefined if it is not an event. */
export function parseEvent(text: string): EventLine | undefined {
  const line = jsonIn(text);
  if (!isJsonObject(line)) return undefined;
  const { kind, ...members } = line;
  const { row, rows, outcome, planned, number, header } = members;
  switch (kind) {
    case 'begin': {
      const { journal: version, run, started } = members;
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
      return typeof number === 'number' ? { kind, number } : undefined;
    case 'mark':
      if (!Array.isArray(rows)) return undefined;
      return {
        kind,
        rows: rows.map(parseKey),
        planned: isJsonObject(planned) ? toPlanned(planned) : undefined,
      };
    case 'outcome':
      return isOutcome(outcome) ? { kind, row: parseKey(row), outcome: toOutcome(outcome) } : undefined;
    case 'end':
      return { kind, end: members as unknown as RunEnd };
    default:
      return undefined;
  }
}

function parseKey(key: JsonValue | undefined): RowKey {
  return typeof key === 'number' || typeof key === 'bigint' ? BigInt(key) : String(key);
}

function parsePlan({ id, line, intent, state, stock }: JsonObject): EventLine | undefined {
  if (!isJsonObject(intent) || typeof intent.kind !== 'string') return undefined;
  const row: RunRow = {
    line: Number(line),
    id: id === undefined ? undefined : BigInt(id as number | bigint),
    intent: convert(intent as unknown as Intent, fromJsonValue),
    state: newState,
    sentBy: 0,
    plannedBy: 0,
    ...(stock === undefined ? {} : { stock }),
  };
  const planned = isJsonObject(state) ? toState(state) : newState;
  return planned && { kind: 'plan', row, state: planned };
}

function toState(json: JsonObject): RowState | undefined {
  const { at, outcome } = json;
  const state = convertState(json as unknown as RowState, fromJsonValue);
  if (at === 'planned' || at === 'uncertain') return state;
  return at === 'settled' && isOutcome(outcome) && state.at === 'settled'
    ? { ...state, outcome: toOutcome(outcome) }
    : undefined;
}

function toPlanned(json: JsonObject): Planned {
  return convert(json as unknown as Planned, fromJsonValue);
}

const outcomeStates: readonly unknown[] = ['applied', 'unchanged', 'failed', 'unknown'];

function isOutcome(json: JsonValue | undefined): json is JsonObject {
  return isJsonObject(json) && outcomeStates.includes(json.state);
}

function toOutcome(json: JsonObject): Outcome {
  const { made, ...outcome } = json as unknown as Outcome;
  if (!made) return outcome;
  const id = made.id === undefined ? undefined : BigInt(made.id);
  return { ...outcome, made: { id, value: fromJsonValue(made.value as JsonValue) } };
}

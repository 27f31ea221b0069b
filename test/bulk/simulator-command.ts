import type { InputFile, TypedRows } from './simulator-files.ts';
import { numberIn } from './simulator-healthy.ts';
import type { Step } from './simulator-history.ts';
import type { Store } from './simulator-store.ts';

/** A command that was run, and all facts about it that an observer can see. */
export interface Command {
  readonly number: number;
  /** The words after `petstore`. */
  readonly words: readonly string[];
  readonly step: Step;
  readonly machine: number;
  /** The records of the profile that it was typed for. */
  readonly store: Store;
  /** The file that it applies, also by way of rejects, and its rows as they were typed. */
  readonly file: InputFile | undefined;
  readonly typed: TypedRows | undefined;
  readonly hasCrashed: boolean;
  readonly wasSignalled: boolean;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The summary that it printed. */
  readonly summary: Record<string, unknown> | undefined;
  /** The error that it printed as JSON. */
  readonly error: Record<string, unknown> | undefined;
  /** The journals that it wrote to, as keys of runs. */
  readonly touched: readonly string[];
  /** The first and the last of the service's changes while it ran. */
  readonly from: number;
  readonly to: number;
}

/** A run as `runs` lists it. */
export interface ListedRun extends Readonly<Record<string, unknown>> {
  readonly id: string;
  /** The id with its machine: see `runKey`. */
  readonly key: string;
  readonly machine: number;
  readonly kind: string;
  /** The input; of an undo, the run that it undoes. */
  readonly file: string;
  readonly state: string;
}

/** A row as `runs show` prints it. */
export interface ShownRow {
  /** Empty if no record is known. */
  readonly id: string;
  readonly line: number;
  readonly state: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly code: string | undefined;
}

/** The program broke a promise. */
export class Violation extends Error {}

/** A run on one of several machines, each of which counts from r1. */
export function runKey(machine: number, id: string): string {
  return machine === 0 ? id : `${machine}/${id}`;
}

export function runIdOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

export function machineOf(key: string): number {
  return key.includes('/') ? Number(key.split('/')[0]) : 0;
}

/** The rows that `runs show -o jsonl` prints. A run that removed prints its records, with what became of them. */
export function shownRows(text: string): ShownRow[] {
  return linesOf(text).map((line) => {
    const row = JSON.parse(line);
    const { id, petId, before, after, _line = row.line, _state = row.state, _code = row.reason?.code } = row;
    return {
      ...{ id: String(id ?? petId ?? ''), line: Number(_line), state: _state, code: _code },
      before: numberOf(row._state === undefined ? before : row),
      after: numberOf(after),
    };
  });
}

/** A count, or the number in the name of a record. */
function numberOf(cell: unknown): number | undefined {
  if (cell === null || cell === undefined) return undefined;
  if (typeof cell === 'number') return cell;
  const { name, quantity } = cell as Record<string, unknown>;
  const value = numberIn(name ?? quantity ?? cell);
  return Number.isNaN(value) ? undefined : value;
}

/** A row of a file of rejects. */
export interface RejectedRow {
  readonly id: string;
  readonly line: number;
  readonly state: string;
  readonly status: string;
  readonly code: string;
}

/** The rows of a file of rejects; its cells hold no commas but in the message, which comes after these. */
export function rejectedRows(text: string): RejectedRow[] {
  const lines = linesOf(text);
  if (text.startsWith('{'))
    return lines.flatMap((line) => {
      const record = parseJson(line) as Record<string, unknown> | undefined;
      if (!record) return [];
      const { id, petId, _line, _state, _status, _code } = record;
      return {
        ...{ id: String(id ?? petId ?? ''), line: Number(_line), state: String(_state) },
        ...{ status: String(_status ?? ''), code: String(_code) },
      };
    });
  const [header = [], ...rows] = lines.map((line) => line.replace('\r', '').split(','));
  const cell = (row: readonly string[], name: string) => row[header.indexOf(name)] ?? '';
  return rows.map((row) => ({
    id: cell(row, header.includes('id') ? 'id' : 'petId'),
    line: Number(cell(row, '_line')),
    state: cell(row, '_state'),
    status: cell(row, '_status'),
    code: cell(row, '_code'),
  }));
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** The command that a command names as the way on, as words after `petstore`. */
export function namedCommand({ error, summary, stderr }: Command): string[] | undefined {
  for (const text of [error?.hint, error?.message, summary?.resume, stderr]) {
    const match =
      /petstore ((?:resume|undo|inventory apply|pets (?:update|create|delete) --from)\b[^"`;,()\n]*)/.exec(
        String(text ?? ''),
      );
    if (match?.[1]) return match[1].trim().replace(/[.:]$/, '').split(/\s+/);
  }
  return undefined;
}

/** The runs whose journals a process wrote to. */
export function runsOf(touched: ReadonlySet<string>): string[] {
  const keys = [...touched].map((path) => {
    const [, machine, id] = /\/state(\d+)\/.*\/(r\d+)\.jsonl/.exec(path) ?? [];
    return id === undefined ? undefined : runKey(Number(machine), id);
  });
  return [...new Set(keys.filter((key) => key !== undefined))];
}

/** The error that a command printed as JSON, the last line on stderr. */
export function errorOf(stderr: string): Record<string, unknown> | undefined {
  const last = parseJson(linesOf(stderr).at(-1) ?? '') as { error?: Record<string, unknown> } | undefined;
  return last?.error;
}

/** Undefined if the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const countNames = [
  ...['run', 'rows', 'applied', 'unchanged', 'booked', 'failed', 'unknown'],
  ...['invalid', 'skipped', 'unprocessed', 'unsettled'],
];

/** A command and how it ended, as lines of a trace. */
export function describeCommand(command: Command): string[] {
  const { number, words, step, hasCrashed, wasSignalled, code, summary, error, touched } = command;
  const { conduct } = step;
  const facts = Object.fromEntries(countNames.map((name) => [name, summary?.[name]]));
  const how = [
    `faults ${conduct.writeFaults}/${conduct.readFaults} ${JSON.stringify(conduct.only ?? 'any')}`,
    ...(conduct.edits > 0 ? [`edits ${conduct.edits}`] : []),
    ...(wasSignalled ? ['Ctrl-C'] : []),
    ...(hasCrashed ? [`died at ${step.dieAt || `request ${conduct.dieAt}`}`] : []),
  ];
  const failure = error && JSON.stringify([error.code, error.message, error.hint, error.applied]);
  return [
    `${number}: petstore ${words.join(' ')}  [${how.join(', ')}] ${touched}`,
    `   ${hasCrashed ? '' : `exit ${code}; ${JSON.stringify(facts)} ${failure ?? ''}`}`,
  ];
}

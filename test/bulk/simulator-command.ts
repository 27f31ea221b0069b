import { parseJson } from '../helpers/stock-shop.ts';
import type { InputFile, TypedRows } from './simulator-files.ts';
import { numberIn } from './simulator-service.ts';

/** The program broke a promise. */
export class Violation extends Error {}

/** A command that was run, and all facts about it that an observer can see. */
export interface Command {
  readonly number: number;
  /** The words after `petstore`. */
  readonly words: readonly string[];
  /** The file that it applies, also by way of rejects, and its rows as they were typed. */
  readonly file: InputFile | undefined;
  readonly typed: TypedRows | undefined;
  readonly hasCrashed: boolean;
  readonly wasSignalled: boolean;
  /** Whether its disk was full. */
  readonly isFull: boolean;
  readonly code: number;
  readonly stderr: string;
  readonly summary: Record<string, unknown> | undefined;
  /** The error that it printed as JSON. */
  readonly error: Record<string, unknown> | undefined;
  /** The runs whose journals it wrote to. */
  readonly touched: readonly string[];
}

/** A run as `runs` lists it. */
export interface ListedRun extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly kind: string;
  /** The input; of an undo, the run that it undoes. */
  readonly file: string;
  readonly state: string;
  readonly undoneBy?: string | null;
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

/** The columns in which `runs show` prints the rows, after the id. */
export const shownColumns = ['before', 'after', 'state', 'code', 'line'];

/** The rows of `runs show -o tsv`. */
export function shownRows(text: string): ShownRow[] {
  const [, ...lines] = text.trimEnd().split('\n');
  return lines.map((line) => {
    const [id = '', before, after, state = '', code, number] = line.split('\t');
    return { id, before: numberOf(before), after: numberOf(after), state, code, line: Number(number) };
  });
}

/** A count, or the number in the name of a record. */
function numberOf(cell = ''): number | undefined {
  const value = numberIn(/"name":"[^"]*/.exec(cell) ?? cell);
  return Number.isNaN(value) ? undefined : value;
}

/** The command that a command names as the way on, as words after `petstore`. */
export function namedCommand({ error, summary, stderr }: Command): string[] | undefined {
  const pattern =
    /petstore ((?:resume|undo|inventory apply|pets (?:update|create|delete) --from)\b[^"`;,()\n]*)/;
  for (const text of [error?.hint, error?.message, summary?.next, stderr]) {
    const match = pattern.exec(String(text ?? ''));
    // The usual place of rejects is free again.
    const typed = match?.[1]?.replace(/ --rejects '?<file>'?/, '').trim();
    if (typed) return typed.replace(/[.:]$/, '').split(/\s+/);
  }
  return undefined;
}

/** The error that a command printed as JSON, the last line on stderr. */
export function errorOf(stderr: string): Record<string, unknown> | undefined {
  return parseJson(stderr.trimEnd().split('\n').at(-1) ?? '')?.error as Command['error'];
}

/** The states of the rows that a person may settle. */
export const openStates: readonly string[] = ['unknown', 'unprocessed', 'unsettled'];

/** The states of rows in a report: those that are as the file says, and the others. */
export const rightStates = ['applied', 'unchanged', 'booked', 'skipped'] as const;
export const wrongStates = ['failed', 'unknown', 'invalid', 'unprocessed', 'unsettled'] as const;

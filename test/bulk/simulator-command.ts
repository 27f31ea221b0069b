import { basename } from 'node:path';
import type { InputFile, Step } from './simulator-history.ts';
import { numberIn } from './simulator-service.ts';

/** A command that was run, and all facts about it that an observer can see. */
export interface Command {
  readonly number: number;
  /** The words after `petstore`. */
  readonly words: readonly string[];
  readonly step: Step;
  /** The file that it applies, also by way of rejects. */
  readonly file: InputFile | undefined;
  readonly hasCrashed: boolean;
  readonly wasSignalled: boolean;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The summary that it printed. */
  readonly summary: Record<string, unknown> | undefined;
  /** The error that it printed as JSON. */
  readonly error: Record<string, unknown> | undefined;
  /** The journals that it wrote to, as ids of runs. */
  readonly touched: readonly string[];
  /** The first and the last of the service's changes while it ran. */
  readonly from: number;
  readonly to: number;
}

/** A run as `runs` lists it. */
export interface ListedRun extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly kind: string;
  /** The input; of an undo, the run that it undoes. */
  readonly file: string;
  readonly state: string;
}

/** A row as `runs show` prints it. */
export interface ShownRow {
  readonly id: string;
  readonly state: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly code: string | undefined;
}

/** The program broke a promise. */
export class Violation extends Error {}

/** The rows that `runs show -o jsonl` prints. */
export function shownRows(text: string): ShownRow[] {
  return linesOf(text).map((line) => {
    const { id, petId, state, before, after, reason, code } = JSON.parse(line);
    const value = (cell: unknown) =>
      cell === null || cell === undefined ? undefined : numberIn(JSON.stringify(cell));
    return {
      ...{ id: String(id ?? petId), state, code: reason?.code ?? code },
      before: value(before),
      after: value(after),
    };
  });
}

/** A row of a file of rejects. */
export interface RejectedRow {
  readonly id: string;
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
      const { id, petId, _state, _status, _code } = record;
      return {
        id: String(id ?? petId),
        state: String(_state),
        status: String(_status ?? ''),
        code: String(_code),
      };
    });
  const [header = [], ...rows] = lines.map((line) => line.replace('\r', '').split(','));
  const cell = (row: readonly string[], name: string) => row[header.indexOf(name)] ?? '';
  return rows.map((row) => ({
    id: cell(row, header.includes('id') ? 'id' : 'petId'),
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
    const match = /petstore ((?:resume|undo|inventory apply|pets update)\b[^"`;,()\n]*)/.exec(
      String(text ?? ''),
    );
    if (match?.[1]) return match[1].trim().replace(/[.:]$/, '').split(/\s+/);
  }
  return undefined;
}

/** The runs whose journals a process wrote to. */
export function runsOf(touched: ReadonlySet<string>): string[] {
  const ids = [...touched].map((path) => /^(r\d+)\.jsonl/.exec(basename(path))?.[1]);
  return [...new Set(ids.filter((id) => id !== undefined))];
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

/** A command and how it ended, as lines of a trace. */
export function describeCommand(command: Command): string[] {
  const { number, words, step, hasCrashed, wasSignalled, code, summary, error, touched } = command;
  const { conduct } = step;
  const { run, rows, applied, unchanged, failed, unknown, invalid, skipped, unprocessed } = summary ?? {};
  const facts = { run, rows, applied, unchanged, failed, unknown, invalid, skipped, unprocessed };
  const how = [
    `faults ${conduct.writeFaults}/${conduct.readFaults} ${JSON.stringify(conduct.only ?? 'any')}`,
    ...(conduct.edits > 0 ? [`edits ${conduct.edits}`] : []),
    ...(wasSignalled ? ['Ctrl-C'] : []),
    ...(hasCrashed ? [`died at ${step.dieAt || `request ${conduct.dieAt}`}`] : []),
  ];
  const failure = error && JSON.stringify([error.code, error.message, error.hint]);
  return [
    `${number}: petstore ${words.join(' ')}  [${how.join(', ')}] ${touched}`,
    `   ${hasCrashed ? '' : `exit ${code}; ${JSON.stringify(facts)} ${failure ?? ''}`}`,
  ];
}

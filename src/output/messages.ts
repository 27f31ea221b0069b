import { type CliError, ManyError } from '../process/errors.ts';
import { printJson } from '../process/exact-json.ts';
import type { Io } from '../process/io.ts';
import { sanitize } from '../process/text.ts';
import type { Style } from './style.ts';

/** The kinds of lines on stderr. `--quiet` hides what is neither a summary nor a warning. */
const prefixes = {
  /** What the command is doing or has done. */
  status: '',
  /** A fact about the result. */
  note: 'note: ',
  /** A plan, the summary of a run, or what a write may destroy. */
  summary: '',
  /** A result that may be incomplete, or other than the user expects. */
  warning: 'warning: ',
} as const;

/** A line for people on stderr. */
export type Notice = readonly [level: keyof typeof prefixes, text: string];

/** Prints lines for people, each note and warning once. It never rejects: a command goes on without stderr. */
export interface Notices {
  notice(...notice: Notice): Promise<void>;
  /** The notes and warnings so far. */
  readonly remarks: ReadonlySet<string>;
}

interface NoticesOptions {
  readonly io: Io;
  readonly isQuiet: boolean;
  /** True for a completion, which must not disturb the line that the user is typing. */
  readonly isSilent: boolean;
}

export function createNotices({ io, isQuiet, isSilent }: NoticesOptions): Notices {
  const remarks = new Set<string>();
  return {
    remarks,
    async notice(level, text) {
      if (isSilent || (isQuiet && (level === 'status' || level === 'note'))) return;
      if (prefixes[level] !== '' && remarks.size === remarks.add(text).size) return;
      await io.stderr.write(`${sanitize(prefixes[level] + text)}\n`).catch(() => {});
    },
  };
}

/** Formats an error for people: the line `error: <what is wrong> (<request and answer>)`, and a line `hint:` for each different hint. */
export function errorText(error: CliError, style: Style): string {
  const errors = error instanceof ManyError ? error.errors : [error];
  const sentences = new Set(errors.map(errorSentence));
  const hints = new Set(errors.flatMap(({ details }) => details.hint ?? []));
  return [
    ...Array.from(sentences, (sentence) => `${style.red('error:')} ${sanitize(sentence)}\n`),
    ...Array.from(hints, (hint) => `${style.cyan('hint:')} ${sanitize(hint)}\n`),
  ].join('');
}

/** Formats an error as one sentence: what is wrong, and the request in parentheses. */
export function errorSentence(error: CliError): string {
  const request = requestOf(error);
  return request === '' ? errorMessage(error) : `${errorMessage(error)} (${request})`;
}

/** Joins what is wrong, the number of attempts, and whether the request may have been applied. */
export function errorMessage({ message, details }: CliError): string {
  const { attempts = 0, isPerhapsApplied, method } = details;
  const clauses = [message];
  if (attempts > 1) clauses.push(`after ${attempts} attempts`);
  // The error of a run has no request, and its message says how many rows are unknown.
  if (isPerhapsApplied && method) clauses.push('the request may have been applied');
  return clauses.join('; ');
}

/** Formats a request and its answer: `GET http://host/pets/99: 404 not_found; request id r-7`. */
function requestOf({ details: { method, url, status, code, requestId } }: CliError): string {
  if (method === undefined || url === undefined) return '';
  const answer = [status, code].filter((part) => part !== undefined).join(' ');
  return `${method} ${url}${answer && `: ${answer}`}${requestId === undefined ? '' : `; request id ${requestId}`}`;
}

/** Formats an error for programs: one line, `{"error": {...}}`. @param remarks the notes and warnings of the command. */
export function errorJson(error: CliError, remarks: ReadonlySet<string>): string {
  return `${printJson({ error: { ...toJson(error), warnings: remarks.size > 0 ? [...remarks] : undefined } })}\n`;
}

function toJson(error: CliError): object {
  const { code, status, method, url, attempts, retryable, isPerhapsApplied, requestId, hint } = error.details;
  return {
    kind: error.kind,
    message: error.details.serviceMessage ?? errorMessage(error),
    code,
    status,
    method,
    url,
    attempts,
    retryable,
    applied: isPerhapsApplied ? 'unknown' : undefined,
    requestId,
    hint,
    errors: error instanceof ManyError ? error.errors.map(toJson) : undefined,
  };
}

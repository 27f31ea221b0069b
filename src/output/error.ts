import { type CliError, ManyError } from '../errors.ts';
import { type JsonObject, printJson } from '../json.ts';
import { sanitize } from '../text.ts';
import { plainStyle } from './style.ts';

/**
 * An error as people read it: `error: <what failed>: <why>`, and a `hint:` line if there is one; each hint once.
 *
 * @param show makes a message safe to print, and folds it for a column at which its further lines begin.
 */
export function errorText(
  error: CliError,
  style = plainStyle,
  show: (text: string, indent: number) => string = sanitize,
): string {
  const errors = error instanceof ManyError ? error.errors : [error];
  const hints = new Set(errors.flatMap(({ details }) => details.hint ?? []));
  const lines = [
    ...errors.map(({ message }) => `${style.red('error:')} ${show(message, 'error: '.length)}\n`),
    ...Array.from(hints, (hint) => `${style.cyan('hint:')} ${show(hint, 'hint: '.length)}\n`),
  ];
  return lines.join('');
}

/** An error as programs read it: one line, `{"error": {...}}`. */
export function errorJson(error: CliError): string {
  return `${printJson({ error: toJson(error) })}\n`;
}

function toJson(error: CliError): JsonObject {
  const { serviceMessage, code, status, method, url, attempts, retryable, place } = error.details;
  const fields = {
    kind: shownKind(error),
    message: serviceMessage ?? error.message,
    code,
    status,
    method,
    url,
    attempts,
    retryable,
    hint: jsonHint(error),
    place,
  };
  const known = Object.entries(fields).filter(([, value]) => value !== undefined) as [string, string][];
  const many = error instanceof ManyError ? { errors: error.errors.map(toJson) } : {};
  return { ...Object.fromEntries(known), ...many };
}

/** What the service's own message cannot say stands in the hint. */
function jsonHint({ details: { serviceMessage, remark, hint } }: CliError): string | undefined {
  const parts = [serviceMessage === undefined ? undefined : remark, hint];
  return parts.filter((part) => part !== undefined).join('; ') || undefined;
}

/** Both signals are one kind to programs: which one it was, the exit code tells. */
function shownKind({ kind }: CliError): string {
  return kind === 'terminated' ? 'interrupted' : kind;
}

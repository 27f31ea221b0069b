import { type CliError, ManyError } from '../errors.ts';
import { type JsonObject, printJson } from '../json.ts';
import { sanitize } from '../text.ts';
import { plainStyle } from './style.ts';

/**
 * An error for people: `error: <what failed>: <why>`, with the service's request id if it sent one, and each different
 * hint as a `hint:` line.
 *
 * @param show makes a message safe to print, and folds it so that further lines begin at the given column.
 */
export function errorText(
  error: CliError,
  style = plainStyle,
  show: (text: string, indent: number) => string = sanitize,
): string {
  const errors = error instanceof ManyError ? error.errors : [error];
  const hints = new Set(errors.flatMap(({ details }) => details.hint ?? []));
  const lines = [
    ...errors.map((each) => `${style.red('error:')} ${show(messageOf(each), 'error: '.length)}\n`),
    ...Array.from(hints, (hint) => `${style.cyan('hint:')} ${show(hint, 'hint: '.length)}\n`),
  ];
  return lines.join('');
}

function messageOf({ message, details: { requestId } }: CliError): string {
  return requestId === undefined ? message : `${message}; request id ${requestId}`;
}

/**
 * An error for programs: one line, `{"error": {...}}`.
 *
 * @param warnings notices of the command.
 */
export function errorJson(error: CliError, warnings: readonly string[] = []): string {
  const shown = toJson(error);
  if (warnings.length > 0) shown.warnings = warnings.map((line) => line.replace(/^(warning|note): /, ''));
  return `${printJson({ error: shown })}\n`;
}

function toJson(error: CliError): JsonObject {
  const { code, status, method, url, attempts, retryable, requestId, applied } = error.details;
  const fields = {
    kind: shownKind(error),
    message: jsonMessage(error),
    code,
    status,
    method,
    url,
    attempts,
    retryable,
    applied,
    requestId,
    hint: jsonHint(error),
    errors: error instanceof ManyError ? error.errors.map(toJson) : undefined,
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The service's own message if it sent one, after the record's place in the input. */
function jsonMessage({ message, details: { serviceMessage, place } }: CliError): string {
  if (serviceMessage === undefined) return message;
  return place === undefined ? serviceMessage : `${place}: ${serviceMessage}`;
}

/** The hint, after the remark that the service's own message does not include. */
function jsonHint({ details: { serviceMessage, remark, hint } }: CliError): string | undefined {
  const parts = [serviceMessage === undefined ? undefined : remark, hint];
  return parts.filter((part) => part !== undefined).join('; ') || undefined;
}

/** SIGINT and SIGTERM share one kind; the exit code tells them apart. */
function shownKind({ kind }: CliError): string {
  return kind === 'terminated' ? 'interrupted' : kind;
}

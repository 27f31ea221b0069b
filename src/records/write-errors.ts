import { describeValue } from '../api/record-values.ts';
import { attemptDetails } from '../client/judge-write.ts';
import { type Reason, reasonRule } from '../client/reasons.ts';
import { followUpCommand } from '../context.ts';
import { CliError, type ErrorDetails, InterruptedError, UsageError } from '../process/errors.ts';
import { type Row, showCommand } from '../writes/decide.ts';
import type { Settled } from '../writes/settle.ts';
import type { Access } from './access.ts';

// The errors of the rows that a command could not write, or may not have written.

/**
 * Returns the error of a row that was not written, or may not have been.
 *
 * @param interruption the signal that ended the command.
 */
export function rowError(
  access: Access,
  row: Row,
  settled: Settled,
  interruption: InterruptedError | undefined,
): CliError | undefined {
  const { outcome, error } = settled;
  if (!outcome) return settled.request ? undefined : interruption;
  const { kind, reason } = outcome;
  if (!reason || kind === 'applied' || kind === 'unchanged') return undefined;
  if (kind === 'unknown')
    return unknownError(access, row, { ...settled, error: interruption ?? error }, reason);
  return failedError(access, row, reason, error);
}

function subjectOf({ noun }: Access, { id }: Row): string {
  return id === undefined ? noun.singular : `${noun.singular} ${id}`;
}

/** Returns the error of a row that was certainly not written. */
function failedError(
  access: Access,
  row: Row,
  { code, message }: Reason,
  error: CliError | undefined,
): CliError {
  const { kind = 'failed', hint } = reasonRule(code);
  const subject = subjectOf(access, row);
  if (kind === 'not-found') return error ?? new CliError(kind, `${subject} does not exist`);
  if (kind === 'usage') return new UsageError(`the count of pet ${row.id}: ${message}`);
  if (error && code !== 'stale') return error;
  const change = code === 'changed' ? ' was changed in the meantime' : '';
  return new CliError(kind, `${subject}${change}: ${message}`, {
    ...error?.details,
    serviceMessage: undefined,
    hint,
  });
}

/** Returns the error of a write that may have been applied: exit 6, or that of the signal. */
function unknownError(
  access: Access,
  row: Row,
  { error, state: { lastWrite, planned, attempts } }: Settled,
  { code, message }: Reason,
): CliError {
  const isPlainSet = row.intent.kind === 'set' && row.intent.expected === undefined;
  const lacksSent = row.intent.kind === 'add' && !reasonRule(code).saysSent;
  const sent = planned && lacksSent ? `; ${describeValue(planned.after)} was sent` : '';
  const text = `${subjectOf(access, row)}: ${message}${sent}`;
  const look = followUpCommand(access.context, showCommand(access.noun, row));
  const details: ErrorDetails = {
    ...attemptDetails(lastWrite),
    ...error?.details,
    attempts,
    // In JSON the message of the service replaces ours, if ours says no more.
    serviceMessage: code === 'rejected' && sent === '' ? error?.details.serviceMessage : undefined,
    mayBeApplied: true,
    retryable: isPlainSet && (lastWrite?.error?.details.retryable ?? false),
    hint: isPlainSet
      ? (error?.details.hint ?? `look at it: ${look}`)
      : `do not run it again before you have looked: ${look}`,
  };
  if (error instanceof InterruptedError) return new InterruptedError(error.signal, details);
  return new CliError('unavailable', text, details);
}

/** Adds the name of the record to an error, because several records may fail alike. */
export function namedError(access: Access, row: Row, error: CliError): CliError {
  const name = subjectOf(access, row);
  const isNamed = error.message.includes(name) || error instanceof InterruptedError;
  return isNamed || row.id === undefined ? error : error.with({}, `${name}: ${error.message}`);
}

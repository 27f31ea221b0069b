import type { StopReason } from '../client/pace.ts';
import { type Context, followUpCommand } from '../context.ts';
import { CliError, InterruptedError, UsageError } from '../process/errors.ts';
import type { Row } from '../writes/decide.ts';
import { requestDetails } from '../writes/port.ts';
import type { Settled } from '../writes/settle.ts';
import { describeValue } from '../writes/value.ts';
import type { Access } from './access.ts';
import { joinErrors } from './read-each.ts';

// What a command with ids says of rows that are not as it was asked to make them.

/** Returns a hint for the error of a row. */
export type RowHint = (row: Row, error: CliError) => string | undefined;

/** Joins the errors of a command, and says how many were written if it was stopped. @param begun the number of rows that were begun. */
export function joinWithStop(
  errors: readonly CliError[],
  begun: number,
  total: number,
  unit: string,
  stop: StopReason | undefined,
): CliError | undefined {
  const [first] = errors;
  if (!stop || total === 1) return joinErrors(errors, total, unit);
  const done = begun - errors.length;
  const isUncertain = errors.some(({ details }) => details.applied === 'unknown');
  return new CliError(stop.kind, `${stop.message}: ${done} of ${total} ${unit} were written`, {
    applied: isUncertain ? 'unknown' : undefined,
    hint: first?.details.hint,
  });
}

/** The error of a row that was not written, or may not have been. Undefined for one that was. */
export function rowError(
  access: Access,
  row: Row,
  settled: Settled,
  hintOf: RowHint | undefined,
  interruption: InterruptedError | undefined,
): CliError | undefined {
  const { outcome, error, attempted } = settled;
  if (!outcome) return error ?? interruption;
  if (outcome.state === 'applied' || outcome.state === 'unchanged' || attempted?.result === 'accepted')
    return undefined;
  if (outcome.state === 'unknown')
    return unknownError(access, row, { ...settled, error: interruption ?? error });
  const failure = failedError(access, row, settled);
  const hint = hintOf?.(row, failure);
  return hint === undefined ? failure : failure.with({ hint });
}

/** The error of a row that was certainly not written. */
export function failedError(
  { noun, context }: Access,
  row: Row,
  { outcome, error, before }: Settled,
): CliError {
  const { code = '', message = '' } = outcome?.reason ?? {};
  const subject = row.id === undefined ? noun.singular : `${noun.singular} ${row.id}`;
  switch (code) {
    case 'no_record':
    case 'no_entry':
      return error ?? new CliError('not-found', `${subject} does not exist`);
    case 'changed':
      return new CliError('failed', `${subject} was changed in the meantime: ${message}`, {
        hint: 'look at it and decide again; nothing was overwritten',
      });
    case 'below_zero':
    case 'too_large': {
      const limit = code === 'below_zero' ? 'below 0' : `above ${Number.MAX_SAFE_INTEGER}`;
      const change = row.intent.kind === 'add' ? row.intent.change : 0;
      return new UsageError(
        `the count of pet ${row.id} would go ${limit}: it is ${before?.quantity ?? 0} now, and the change is ${change < 0 ? '' : '+'}${change}`,
      );
    }
    case 'stale':
      return new CliError('failed', `${subject}: ${message}`, {
        ...error?.details,
        status: 412,
        hint: etagsHint(context),
      });
    default:
      return error ?? new CliError('failed', `${subject}: ${message}`);
  }
}

/** Says how to send no ETags, if a service refuses the tags that its readings give. */
export function etagsHint(context: Context): string {
  const { profile } = context.settings;
  const command = ['config', 'set', 'etags', 'false', ...(profile ? ['--profile', profile.value] : [])];
  return `if the tags of the service are of no use: petstore ${command.join(' ')}`;
}

/** The error of a write that may have been applied: exit 6, or that of the signal. */
function unknownError(access: Access, row: Row, { outcome, error, attempted, planned }: Settled): CliError {
  const { noun, context } = access;
  const { code, message = '' } = outcome?.reason ?? {};
  const subject = row.id === undefined ? noun.singular : `${noun.singular} ${row.id}`;
  const isPlainSet = row.intent.kind === 'set' && row.intent.expected === undefined;
  const get = [noun.name, 'get', `${row.id}`];
  const look = row.id === undefined ? lookCommand(access, row) : followUpCommand(context, get);
  // The words of a lost answer are its error's; a reading afterwards has words of its own.
  const isOwnMessage = error !== undefined && (code === undefined || message.startsWith(error.message));
  const sent = planned && row.intent.kind === 'add' ? `; ${describeValue(planned.after)} was sent` : '';
  const text = `${isOwnMessage ? '' : `${subject}: `}${message}${sent}`;
  const details = {
    ...(attempted && requestDetails(attempted)),
    status: attempted?.status,
    attempts: attempted?.attempt ? [attempted.attempt] : undefined,
    requestId: attempted?.requestId,
    ...error?.details,
    // JSON has the service's message in place of ours only if that says all.
    serviceMessage: text === error?.message ? error.details.serviceMessage : undefined,
    applied: 'unknown',
    retryable: isPlainSet && (error?.details.retryable ?? false),
    hint:
      code === 'stale'
        ? etagsHint(context)
        : isPlainSet
          ? (error?.details.hint ?? `look at it: ${look}`)
          : `do not run it again before you have looked: ${look}`,
  } as const;
  if (error instanceof InterruptedError) return new InterruptedError(error.signal, details);
  return new CliError('unavailable', text, details);
}

/** The command that finds a record that may have been made. */
function lookCommand({ noun, context }: Access, { intent }: Row): string {
  const fields = intent.kind === 'create' && typeof intent.fields === 'object' ? intent.fields : null;
  const name = fields?.name;
  if (noun.name === 'pets' && typeof name === 'string')
    return followUpCommand(context, ['pets', 'list', '--name', name]);
  return followUpCommand(context, [noun.name, 'list', '--sort', `-${noun.idField}`]);
}

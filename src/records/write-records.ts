import type { HttpRequest } from '../api/http.ts';
import { fieldsOf, fieldText, type ServiceRecord, valueText } from '../api/record-values.ts';
import { differencesOf } from '../api/same-values.ts';
import { attemptDetails } from '../client/judge-write.ts';
import { requestsOutput } from '../client/user-request.ts';
import { type Context, showCommand } from '../context.ts';
import type { Notice } from '../output/messages.ts';
import type { Output } from '../output/printer.ts';
import { CliError, type ErrorDetails, InterruptedError, joinErrors, UsageError } from '../process/errors.ts';
import { joinFirst } from '../process/text.ts';
import { isPlainSet } from '../writes/decide.ts';
import { createRecordPort } from '../writes/port.ts';
import { type Reason, reasonRule } from '../writes/reasons.ts';
import { type Row, reasonOf } from '../writes/row.ts';
import { type SettledRow, settleAll } from '../writes/settle.ts';
import { type Access, readNames, withNames } from './access.ts';

// A command with ids settles its rows like a run, but without a journal: their outcomes are printed. A dry run is the same, but sends
// nothing.

interface RowResult {
  readonly row: Row;
  /** A row has none if a signal ended the command before it began. */
  readonly settled: SettledRow | undefined;
  readonly error: CliError | undefined;
}

/**
 * Sends the writes and returns their records; with --dry-run returns the requests. Several rows are printed as a list. Of a deleted
 * record only the id is returned, as data.
 *
 * @param report returns the line on stderr that reports a deletion, for a format that does not have it as data.
 */
export async function writeRecords(
  access: Access,
  rows: readonly Row[],
  report?: (row: Row) => string,
): Promise<Output> {
  const { context, client, noun } = access;
  const { settings, flags } = context;
  const { signal } = context.interrupts;
  const port = createRecordPort(client, noun.name, { sendsEtags: settings.get('etags') });
  const settledRows = new Map<Row, SettledRow>();
  const keeper = {
    keepOutcome: async (row: Row, settled: SettledRow) => {
      settledRows.set(row, settled);
      await reportWrite(access, row, settled, report);
    },
  };
  const concurrency = settings.get('concurrency');
  await settleAll(port, rows, { stopped: signal, sends: !flags.dryRun, concurrency }, keeper);
  const interruption = signal.reason instanceof InterruptedError ? signal.reason : undefined;
  const results = rows.map((row): RowResult => {
    const settled = settledRows.get(row);
    return { row, settled, error: settled && rowError(access, row, settled, interruption) };
  });
  const errors = results.flatMap(({ error }) => error ?? []);
  const ending =
    interruption && results.length > 1 && !flags.dryRun
      ? interruptedEnding(results, errors, interruption, noun.plural)
      : { notices: [], error: joinErrors(errors, results.length, noun.plural) };
  return flags.dryRun ? toPreview(access, results, ending) : toOutput(access, results, ending);
}

/** Reports one write: the change on a terminal, or the line of the command. */
async function reportWrite(
  { context, noun }: Access,
  row: Row,
  settled: SettledRow,
  report: ((row: Row) => string) | undefined,
): Promise<void> {
  const { outcome, record } = settled;
  const { recordBefore: before } = settled.state;
  if (report) {
    if (outcome?.kind === 'applied' && !printsDeleted(context)) await context.notice('status', report(row));
    return;
  }
  if (!isDone(settled) || !before || !context.io.stderr.isTerminal || row.intent.kind === 'create') return;
  const names =
    row.intent.kind === 'set' && typeof row.intent.value === 'object'
      ? Object.keys(row.intent.value ?? {})
      : ['quantity'];
  const changes = differencesOf(fieldsOf(record?.fields ?? before, names), before).map(
    ({ name, expected, actual }) => `${name} ${fieldText(actual)} -> ${fieldText(expected)}`,
  );
  await context.notice(
    'status',
    `${noun.singular} ${row.id}: ${changes.length === 0 ? 'nothing changed' : changes.join(', ')}`,
  );
}

/** What a command says at its end besides its output. */
interface ClosingMessages {
  readonly notices: readonly Notice[];
  readonly error: CliError | undefined;
}

/** Returns the records, in the order of the command line. */
async function toOutput(
  access: Access,
  results: readonly RowResult[],
  { notices, error }: ClosingMessages,
): Promise<Output> {
  const { plural, idField } = access.noun;
  const records = results.flatMap(({ row, settled }): ServiceRecord | [] => {
    if (!settled || !isDone(settled)) return [];
    if (row.intent.kind !== 'remove') return settled.record ?? [];
    const fields = { [idField]: row.id ?? null };
    return printsDeleted(access.context) ? { fields, original: fields } : [];
  });
  const messages = { error, notices: [...notices, ...notesOf(results)] };
  if (records.length === 0) return { kind: 'nothing', ...messages };
  const namedRecords = withNames(access, records, await readNames(access));
  const [first] = namedRecords;
  if (first && results.length === 1)
    return {
      kind: 'record',
      record: first,
      ...messages,
      warningIfUnprinted: 'the write succeeded, but its record could not be printed',
    };
  const done = results.filter(({ settled }) => isDone(settled)).length;
  return {
    kind: 'list',
    pages: [namedRecords],
    ...messages,
    warningIfUnprinted: `${done} of ${results.length} ${plural} are done, but could not be printed`,
  };
}

/** Returns true if the format has the ids of deleted records as data. The empty cells of a table would look like their fields. */
function printsDeleted(context: Context): boolean {
  return ['documents', 'ids'].includes(context.printer().content);
}

function isDone(settled: SettledRow | undefined): boolean {
  const kind = settled?.outcome?.kind;
  return kind === 'applied' || kind === 'unchanged';
}

/** Says which writes were answered without a record. */
function notesOf(results: readonly RowResult[]): Notice[] {
  const count = results.filter(
    ({ row, settled }) =>
      row.intent.kind !== 'remove' && settled?.outcome?.kind === 'applied' && !settled.record,
  ).length;
  if (count === 0) return [];
  const writes = results.length > 1 ? `${count} of these writes` : 'the write';
  return [['note', `the service answered ${writes} without a record, so there is none to print`]];
}

/**
 * Returns the error of an interrupted command, which says how many records are done and which may be, and as warnings the
 * errors of the writes that ended before.
 */
function interruptedEnding(
  results: readonly RowResult[],
  errors: readonly CliError[],
  { kind, message }: InterruptedError,
  unit: string,
): ClosingMessages {
  const done = results.filter(({ settled, error }) => settled && !error).length;
  const uncertain = results.filter(({ error }) => error?.details.isPerhapsApplied);
  const names = uncertain.map(({ row }) => `${row.id ?? 'one without an id'}`);
  const clause = uncertain.length > 0 ? `, and these may be: ${joinFirst(names, 10)}` : '';
  const error = new CliError(kind, `${message}: ${done} of ${results.length} ${unit} are done${clause}`, {
    isPerhapsApplied: uncertain.length > 0,
    hint: errors[0]?.details.hint,
  });
  const doubt = '; it may have been applied';
  const notices = errors
    .filter((each) => !(each instanceof InterruptedError))
    .map(({ message, details }): Notice => ['warning', message + (details.isPerhapsApplied ? doubt : '')]);
  return { error, notices };
}

/** Returns the requests of a dry run, without the credential. */
function toPreview({ client }: Access, results: readonly RowResult[], { error }: ClosingMessages): Output {
  const requests = results.flatMap(({ settled }): HttpRequest | [] =>
    settled?.request ? client.preview(settled.request) : [],
  );
  if (requests.length === 0 && error) return { kind: 'nothing', error };
  const output = { ...requestsOutput(requests, results.length > 1), error };
  if (requests.length > 0) return output;
  const records = results.length === 1 ? 'the record has' : 'the records have';
  return { ...output, notices: [['note', `nothing would be sent: ${records} these values already`]] };
}

/** Returns the error of a row that was not written, or may not have been. @param interruption the signal that ended the command. */
function rowError(
  access: Access,
  row: Row,
  settled: SettledRow,
  interruption: InterruptedError | undefined,
): CliError | undefined {
  const { outcome, error } = settled;
  if (!outcome) return settled.request ? undefined : interruption;
  const reason = reasonOf(outcome);
  if (!reason || isDone(settled)) return undefined;
  if (outcome.kind === 'unknown')
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
  if (kind === 'usage')
    return new UsageError(`${access.noun.isCount ? `the count of pet ${row.id}` : subject}: ${message}`);
  if (error && code !== 'stale') return error;
  const change = code === 'changed' ? ' was changed in the meantime' : '';
  return new CliError(kind, `${subject}${change}: ${message}`, {
    ...error?.details,
    serviceMessage: undefined,
    hint,
  });
}

/** Returns the error of a write that may have been applied. Its exit code is 6, or the code of the signal. */
function unknownError(
  access: Access,
  row: Row,
  { error, state: { lastWrite, planned, attempts } }: SettledRow,
  { code, message }: Reason,
): CliError {
  const isPlain = isPlainSet(row.intent);
  const lacksSent = row.intent.kind === 'add' && !reasonRule(code).saysSent;
  const sent = planned && lacksSent ? `; ${valueText(planned.after)} was sent` : '';
  const text = `${subjectOf(access, row)}: ${message}${sent}`;
  const look = showCommand(access.context, access.noun, row);
  const details: ErrorDetails = {
    ...attemptDetails(lastWrite),
    ...error?.details,
    attempts,
    // In JSON the message of the service replaces ours, if ours says no more.
    serviceMessage: code === 'rejected' && sent === '' ? error?.details.serviceMessage : undefined,
    isPerhapsApplied: true,
    retryable: isPlain && (lastWrite?.error?.details.retryable ?? false),
    hint: isPlain
      ? (error?.details.hint ?? `look at the record: ${look}`)
      : `before you run it again, check what was written: ${look}`,
  };
  if (error instanceof InterruptedError) return error.with(details);
  return new CliError('unavailable', text, details);
}

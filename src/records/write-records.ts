import type { HttpRequest } from '../api/http.ts';
import { fieldText, isFields, valueText } from '../api/record-values.ts';
import { differencesOf } from '../api/same-values.ts';
import { writeDetails } from '../client/judge-write.ts';
import { dryRunOutput } from '../client/shown-request.ts';
import { showCommand } from '../context.ts';
import type { Output } from '../output/printer.ts';
import { CliError, type ErrorDetails, isInterruption, joinErrors, UsageError } from '../process/errors.ts';
import { countText } from '../process/text.ts';
import { isPlainSet, sentText } from '../writes/decide.ts';
import { createRecordPort, type RecordPort } from '../writes/port.ts';
import { type Reason, reasonRule } from '../writes/reasons.ts';
import { type Row, reasonOf } from '../writes/row.ts';
import { type SettleResult, settleAll } from '../writes/settle.ts';
import { type RecordAccess, recordsOutput } from './access.ts';

// A command with ids settles its rows like a run, but without a journal: their outcomes are printed. A dry run is the same, but sends
// nothing.

/** The results of the rows, in the order of the command line. A row that a signal kept from beginning has none. */
type Results = readonly (SettleResult | undefined)[];

/**
 * Sends the writes and returns their records; with --dry-run returns the requests. Several rows are printed as a list. Nothing is
 * printed of a deleted record.
 *
 * @param deletionText returns the line on stderr for a deleted record.
 */
export async function writeRecords(
  access: RecordAccess,
  rows: readonly Row[],
  deletionText?: (row: Row) => string,
): Promise<Output> {
  const { context, client, noun } = access;
  const { flags, stop } = context;
  const port = createRecordPort(client, noun.name);
  const settledRows = new Map<Row, SettleResult>();
  const keeper = {
    // A dry run stops before each write.
    ...(flags.dryRun && { mark: () => false }),
    keepOutcome: async (row: Row, settled: SettleResult) => {
      settledRows.set(row, settled);
      await reportWrite(access, row, settled, deletionText);
    },
  };
  await settleAll(port, rows, stop.stopped, keeper);
  const results = rows.map((row) => settledRows.get(row));
  const errors = rows.flatMap((row, at) => rowErrorOf(access, row, results[at]) ?? []);
  const error = joinErrors(errors, results.length, noun.plural);
  return flags.dryRun ? toPreview(access, port, results, error) : toOutput(access, results, error);
}

/** Reports one write: the change on a terminal, or the line of the command. */
async function reportWrite(
  { context, noun }: RecordAccess,
  row: Row,
  settled: SettleResult,
  deletionText: ((row: Row) => string) | undefined,
): Promise<void> {
  const { outcome, state } = settled;
  if (deletionText) {
    if (outcome?.kind === 'applied') await context.notice('status', deletionText(row));
    return;
  }
  // Without a reading, the value before is not known.
  if (!isDone(settled) || !state.reading || !context.io.stderr.isTerminal || row.intent.kind === 'create')
    return;
  const { before = null, after = null } = state.planned ?? {};
  const change =
    isFields(before) && isFields(after)
      ? differencesOf(after, before)
          .map(({ name, expected, actual }) => `${name} ${fieldText(actual)} -> ${fieldText(expected)}`)
          .join(', ')
      : `quantity ${valueText(before)} -> ${valueText(after)}`;
  await context.notice('status', `${noun.singular} ${row.id}: ${state.planned ? change : 'nothing changed'}`);
}

/** Returns the records, in the order of the command line. */
async function toOutput(
  access: RecordAccess,
  results: Results,
  error: CliError | undefined,
): Promise<Output> {
  const done = results.flatMap((settled) => (settled && isDone(settled) ? settled : []));
  const records = done.flatMap(({ state, record }) => (state.intent.kind === 'remove' ? [] : (record ?? [])));
  if (records.length === 0) return { kind: 'nothing', error };
  const { singular, plural } = access.noun;
  const doneText = `${done.length} of ${countText(results.length, singular, plural)}`;
  const warningIfUnprinted = `${doneText} ${done.length === 1 ? 'is' : 'are'} done, but could not be printed`;
  return { ...(await recordsOutput(access, records, results.length)), error, warningIfUnprinted };
}

function isDone(settled: SettleResult | undefined): boolean {
  const kind = settled?.outcome?.kind;
  return kind === 'applied' || kind === 'unchanged';
}

/** Returns the requests of a dry run, without the credential. */
async function toPreview(
  { client }: RecordAccess,
  port: RecordPort,
  results: Results,
  error: CliError | undefined,
): Promise<Output> {
  const requests: HttpRequest[] = [];
  for (const settled of results) {
    const { outcome, state } = settled ?? {};
    if (!outcome && state?.planned)
      requests.push(client.preview(await port.prepareRequest(state, state.planned, state.reading)));
  }
  if (requests.length === 0 && error) return { kind: 'nothing', error };
  const output = { ...dryRunOutput(requests, results.length > 1), error };
  return requests.length > 0
    ? output
    : { ...output, notices: [['note', 'nothing would be sent: the records have these values already']] };
}

/** Returns the error of a row that was not written, or may not have been. */
function rowErrorOf(access: RecordAccess, row: Row, settled: SettleResult | undefined): CliError | undefined {
  const { cause } = access.context.stop;
  if (!settled?.outcome)
    return cause?.with({}, `${subjectOf(access, row)}: interrupted, nothing was written`);
  const { outcome, error } = settled;
  const reason = reasonOf(outcome);
  if (!reason || isDone(settled)) return undefined;
  if (outcome.kind === 'unknown')
    return unknownError(access, row, { ...settled, error: cause ?? error }, reason);
  return failedError(access, row, reason, error);
}

function subjectOf({ noun }: RecordAccess, { id }: Row): string {
  return id === undefined ? noun.singular : `${noun.singular} ${id}`;
}

/** Returns the error of a row that was certainly not written. */
function failedError(
  access: RecordAccess,
  row: Row,
  { code, message }: Reason,
  error: CliError | undefined,
): CliError {
  const { kind = 'failed', hint } = reasonRule(code);
  const subject = subjectOf(access, row);
  if (kind === 'not-found') {
    const missing = error ?? new CliError(kind, `${subject} does not exist`);
    const isCreatable = code === 'no_entry' && access.client.contract.operations.has('createInventory');
    if (!isCreatable) return missing;
    return missing.with({
      hint: 'if the pet exists, `petstore inventory create <petId> <quantity>` creates its entry',
    });
  }
  if (kind === 'usage') return new UsageError(`${subject}: ${message}`);
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
  access: RecordAccess,
  row: Row,
  { error, state: { lastAttempt, planned, attempts } }: SettleResult,
  { message }: Reason,
): CliError {
  const isPlain = isPlainSet(row.intent);
  const sent = row.intent.kind === 'add' && planned ? sentText(planned.after) : '';
  const text = `${subjectOf(access, row)}: ${message}${message.includes(sent) ? '' : `; ${sent}`}`;
  const look = showCommand(access.context, access.noun, row);
  const details: ErrorDetails = {
    ...writeDetails(lastAttempt),
    ...error?.details,
    attempts,
    isPerhapsApplied: true,
    retryable: isPlain && (lastAttempt?.error?.details.retryable ?? false),
    hint: isPlain
      ? `look at the record: ${look}`
      : `before you run it again, check what was written: ${look}`,
  };
  if (isInterruption(error)) return error.with(details);
  return new CliError('unavailable', text, details);
}

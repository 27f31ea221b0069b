import type { HttpRequest } from '../api/http.ts';
import { differencesOf, fieldsOf, fieldText, type ServiceRecord } from '../api/record-values.ts';
import { requestsOutput } from '../client/shown-calls.ts';
import type { Notice } from '../output/messages.ts';
import type { Output } from '../output/printer.ts';
import { CliError, InterruptedError } from '../process/errors.ts';
import type { Row } from '../writes/decide.ts';
import { createRecordPort } from '../writes/port.ts';
import { type Settled, settleAll } from '../writes/settle.ts';
import { type Access, joinErrors, type PrintAccess, readNames, withNames } from './access.ts';
import { namedError, rowError } from './write-errors.ts';

// A command with ids settles its rows like a run, but without a journal: their outcomes are printed. A dry run is the same, but sends
// nothing.

interface RecordWriteOptions {
  /** Print a list, even if there is only one record. */
  readonly asList: boolean;
  /** Returns the line on stderr that reports a write, for a command that prints no record. */
  report?(row: Row): string;
}

/** The end of a row of a command. */
interface RowEnd {
  readonly row: Row;
  /** A row has none if a signal ended the command before it began. */
  readonly settled: Settled | undefined;
  readonly error: CliError | undefined;
}

/** Sends the writes and returns their records; with --dry-run returns the requests. */
export async function writeRecords(
  access: PrintAccess,
  writes: readonly Pick<Row, 'id' | 'intent'>[],
  options: RecordWriteOptions,
): Promise<Output> {
  const { context, client, noun } = access;
  const { settings, flags } = context;
  const { signal } = context.interrupts;
  const port = createRecordPort(client, noun.name, { sendsEtags: settings.get('etags') });
  const rows = writes.map(({ id, intent }): Row => ({ id, intent }));
  const results = new Map<Row, Settled>();
  const keeper = {
    outcome: async (row: Row, settled: Settled) => {
      results.set(row, settled);
      await reportWrite(access, row, settled, options);
    },
  };
  const concurrency = settings.get('concurrency');
  await settleAll(port, rows, { stopped: signal, sends: !flags.dryRun, concurrency }, keeper);
  const interruption = signal.reason instanceof InterruptedError ? signal.reason : undefined;
  const ends = rows.map((row): RowEnd => {
    const settled = results.get(row);
    const error = settled && rowError(access, row, settled, interruption);
    return { row, settled, error: error && rows.length > 1 ? namedError(access, row, error) : error };
  });
  return flags.dryRun ? toPreview(access, ends, options) : toOutput(access, ends, interruption, options);
}

/** Reports one write: the change on a terminal, or the line of the command. */
async function reportWrite(
  { context, noun }: Access,
  row: Row,
  settled: Settled,
  { report }: RecordWriteOptions,
): Promise<void> {
  const { outcome, record } = settled;
  const { before } = settled.state;
  if (report) {
    if (outcome?.kind === 'applied') await context.notice('result', report(row));
    return;
  }
  if (!isDone(settled) || !before || !context.io.stderr.isTerminal || row.intent.kind === 'create') return;
  const names =
    row.intent.kind === 'set' && typeof row.intent.value === 'object'
      ? Object.keys(row.intent.value ?? {})
      : ['quantity'];
  const changes = differencesOf(fieldsOf(record?.fields ?? before, names), before).map(
    ({ name, expected, actual }) => `${name} ${fieldText(name, actual)} -> ${fieldText(name, expected)}`,
  );
  await context.notice(
    'status',
    `${noun.singular} ${row.id}: ${changes.length === 0 ? 'nothing changed' : changes.join(', ')}`,
  );
}

/** Returns the output: the records, in the order of the command line, and the error of the failed writes. */
async function toOutput(
  access: PrintAccess,
  ends: readonly RowEnd[],
  interruption: InterruptedError | undefined,
  options: RecordWriteOptions,
): Promise<Output> {
  const { plural } = access.noun;
  const records = ends.map(writtenRecord).filter((record) => record !== undefined);
  const failure =
    interruption && ends.length > 1
      ? interruptedFailure(ends, interruption, plural)
      : { error: joinErrors(errorsOf(ends), ends.length, plural) };
  const notices = [...(failure.notices ?? []), ...notesOf(ends, options)];
  const messages = { notices, error: failure.error };
  if (records.length === 0) return { kind: 'nothing', ...messages };
  const namedRecords = withNames(access, records, await readNames(access, records));
  const [first] = namedRecords;
  if (first && !options.asList)
    return {
      kind: 'record',
      record: first,
      ...messages,
      warningIfUnprinted: 'the write succeeded, but its record could not be printed',
    };
  return {
    kind: 'list',
    pages: [namedRecords],
    ...messages,
    warningIfUnprinted: `${records.length} of ${ends.length} ${plural} were written`,
  };
}

function errorsOf(ends: readonly RowEnd[]): readonly CliError[] {
  return ends.flatMap(({ error }) => error ?? []);
}

function writtenRecord({ row, settled }: RowEnd): ServiceRecord | undefined {
  if (row.intent.kind === 'remove') return undefined;
  return isDone(settled) ? settled?.record : undefined;
}

function isDone(settled: Settled | undefined): boolean {
  const kind = settled?.outcome?.kind;
  return kind === 'applied' || kind === 'unchanged';
}

function notesOf(ends: readonly RowEnd[], { asList }: RecordWriteOptions): Notice[] {
  const withoutRecord = ends.filter(
    ({ row, settled }) =>
      row.intent.kind !== 'remove' && settled?.outcome?.kind === 'applied' && !settled.record,
  );
  const nameless = withoutRecord.filter(({ settled }) => {
    const made = settled?.outcome?.made;
    return made && made.id === undefined;
  }).length;
  const count = withoutRecord.length - nameless;
  const writes = asList ? `${count} of these writes` : 'the write';
  const notices: Notice[] = [];
  if (nameless > 0)
    notices.push(['note', 'the record was created, and its id is unknown: the answer has none']);
  if (count > 0)
    notices.push(['note', `the service answered ${writes} without a record, so there is none to print`]);
  return notices;
}

/**
 * Returns the error of an interrupted command, which says how many records were written, and as warnings the errors of the writes
 * that ended before, because the user must learn what may have been applied.
 */
function interruptedFailure(
  ends: readonly RowEnd[],
  { kind, message }: InterruptedError,
  unit: string,
): Pick<Output, 'notices' | 'error'> {
  const errors = errorsOf(ends);
  const done = ends.filter(({ settled, error }) => settled && !error).length;
  const error = new CliError(kind, `${message}: ${done} of ${ends.length} ${unit} were written`, {
    mayBeApplied: errors.some(({ details }) => details.mayBeApplied),
    hint: errors[0]?.details.hint,
  });
  const doubt = '; it may or may not have been applied';
  const warnings = errors.map(
    ({ message, details }): Notice => ['warning', message + (details.mayBeApplied ? doubt : '')],
  );
  return { error, notices: warnings };
}

/** Returns the requests of a dry run, without the credential. */
function toPreview(
  { client, noun }: Access,
  ends: readonly RowEnd[],
  { asList }: RecordWriteOptions,
): Output {
  const requests = ends.flatMap(({ settled }): HttpRequest | [] =>
    settled?.request ? client.preview(settled.request) : [],
  );
  const error = joinErrors(errorsOf(ends), ends.length, noun.plural);
  const notices: Notice[] =
    requests.length === 0 && !error
      ? [
          [
            'note',
            `nothing would be sent: ${ends.length === 1 ? 'the record is' : 'the records are'} as asked`,
          ],
        ]
      : [];
  return { ...requestsOutput(requests, asList), notices, error };
}

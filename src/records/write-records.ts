import type { HttpRequest } from '../api/http.ts';
import { differencesOf, fieldsOf, fieldText, type ServiceRecord } from '../api/record-values.ts';
import { toRequestDocuments } from '../client/shown-calls.ts';
import type { Output } from '../output/printer.ts';
import { CliError, InterruptedError } from '../process/errors.ts';
import type { Row } from '../writes/decide.ts';
import { createRecordPort } from '../writes/port.ts';
import { type Settled, settleAll } from '../writes/settle.ts';
import { type Access, joinErrors, type PrintAccess, readNames, withNames } from './access.ts';
import { rowError } from './write-errors.ts';

// A command with ids settles its rows like a run, but without a journal: their outcomes are printed. A dry run is the same, but sends
// nothing.

interface RecordWriteOptions {
  /** Print a list, even if there is only one record. */
  readonly asList: boolean;
  /** Returns the line on stderr that reports a write, for a command that prints no record. */
  report?(row: Row): string;
}

/** The outcomes of the rows of a command. */
interface Ending {
  readonly rows: readonly Row[];
  readonly results: ReadonlyMap<Row, Settled>;
  readonly errors: readonly CliError[];
  readonly interruption: InterruptedError | undefined;
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
  const policy = { mayCreate: false, ...client.limits };
  const keeper = {
    outcome: async (row: Row, settled: Settled) => {
      results.set(row, settled);
      await reportWrite(access, row, settled, options);
    },
  };
  const concurrency = settings.get('concurrency');
  await settleAll(
    port,
    rows,
    { policy, isRun: false, stopped: signal, sends: !flags.dryRun, concurrency },
    keeper,
  );
  const interruption = signal.reason instanceof InterruptedError ? signal.reason : undefined;
  const errors = rows.flatMap((row) => {
    const settled = results.get(row);
    const error = settled && rowError(access, row, settled, interruption);
    return error ? (rows.length > 1 ? namedError(access, row, error) : error) : [];
  });
  const ending = { rows, results, errors, interruption };
  return flags.dryRun ? toPreview(access, ending, options) : toOutput(access, ending, options);
}

/** Names the record in an error, so that several records that fail alike can be told apart. */
function namedError({ noun }: Access, { id }: Row, error: CliError): CliError {
  const name = `${noun.singular} ${id}`;
  const isNamed = id === undefined || error.message.includes(name) || error instanceof InterruptedError;
  return isNamed ? error : error.with({}, `${name}: ${error.message}`);
}

/** Reports one write: the change on a terminal, or the line of the command. */
async function reportWrite(
  { context, noun }: Access,
  row: Row,
  settled: Settled,
  { report }: RecordWriteOptions,
): Promise<void> {
  const { state, outcome, record } = settled;
  const { before } = state;
  if (report) {
    if (outcome?.kind === 'applied') await context.printNotice(report(row));
    return;
  }
  const isDone = outcome?.kind === 'applied' || outcome?.kind === 'unchanged';
  if (!isDone || !before || !context.io.stderr.isTerminal || row.intent.kind === 'create') return;
  const names =
    row.intent.kind === 'set' && typeof row.intent.value === 'object'
      ? Object.keys(row.intent.value ?? {})
      : ['quantity'];
  const changes = differencesOf(fieldsOf(record?.fields ?? before, names), before).map(
    ({ name, expected, actual }) => `${name} ${fieldText(name, actual)} -> ${fieldText(name, expected)}`,
  );
  await context.printStatus(
    `${noun.singular} ${row.id}: ${changes.length === 0 ? 'nothing changed' : changes.join(', ')}`,
  );
}

/** Returns the output: the records, in the order of the command line, and the error of the failed writes. */
async function toOutput(access: PrintAccess, ending: Ending, options: RecordWriteOptions): Promise<Output> {
  const { noun } = access;
  const { rows } = ending;
  const records = rows.map((row) => writtenRecord(ending, row)).filter((record) => record !== undefined);
  const notes = notesOf(ending, options);
  const warnings = warningsOf(ending);
  const error = joinInterrupted(ending, noun.plural);
  if (records.length === 0) return { documents: [], text: '', notes, warnings, error };
  const named = withNames(access, records, await readNames(access, records));
  const [first] = named;
  if (!first || options.asList) {
    const whatIsDone = `${records.length} of ${rows.length} ${noun.plural} were written`;
    return { pages: [named], notes, warnings, whatIsDone, error };
  }
  const whatIsDone = 'the write succeeded, but its record could not be printed';
  return { record: first, notes, warnings, whatIsDone, error };
}

function writtenRecord({ results }: Ending, row: Row): ServiceRecord | undefined {
  const { outcome, record } = results.get(row) ?? {};
  if (row.intent.kind === 'remove') return undefined;
  return outcome?.kind === 'applied' || outcome?.kind === 'unchanged' ? record : undefined;
}

function notesOf(ending: Ending, options: RecordWriteOptions): string[] {
  const { rows, results } = ending;
  const settled = rows.flatMap((row) => (row.intent.kind === 'remove' ? [] : (results.get(row) ?? [])));
  const of = (count: number) => (options.asList ? `${count} of these writes` : 'the write');
  const withoutRecord = settled.filter(({ outcome, record }) => outcome?.kind === 'applied' && !record);
  const nameless = withoutRecord.filter(
    ({ outcome }) => outcome?.made && outcome.made.id === undefined,
  ).length;
  return [
    ...(nameless > 0 ? ['note: the record was made, and its id is not known: the answer has none'] : []),
    ...(withoutRecord.length > nameless
      ? [
          `note: the service answered ${of(withoutRecord.length - nameless)} without a record, so there is none to print`,
        ]
      : []),
  ];
}

/** Returns the errors of the writes that ended before an interruption, because the user must learn what may have been applied. */
function warningsOf({ rows, errors, interruption }: Ending): string[] {
  if (!interruption || rows.length === 1) return [];
  return errors.map(
    ({ message, details }) =>
      `${message}${details.mayBeApplied ? '; it may or may not have been applied' : ''}`,
  );
}

/** Joins the errors of a command. If it was interrupted, the error says how many records were written. */
function joinInterrupted(
  { rows, results, errors, interruption }: Ending,
  unit: string,
): CliError | undefined {
  const [first] = errors;
  if (!interruption || rows.length === 1) return joinErrors(errors, rows.length, unit);
  const done = results.size - errors.length;
  const isUncertain = errors.some(({ details }) => details.mayBeApplied);
  return new CliError(
    interruption.kind,
    `${interruption.message}: ${done} of ${rows.length} ${unit} were written`,
    {
      mayBeApplied: isUncertain,
      hint: first?.details.hint,
    },
  );
}

/** Returns the requests of a dry run, without the credential. */
function toPreview(
  { client, noun }: Access,
  { rows, results, errors }: Ending,
  options: RecordWriteOptions,
): Output {
  const requests = rows.flatMap((row): HttpRequest | [] => {
    const request = results.get(row)?.request;
    return request ? client.toRequest(request) : [];
  });
  const error = joinErrors(errors, rows.length, noun.plural);
  const isNothing = requests.length === 0 && !error;
  const notes = isNothing
    ? [`note: nothing would be sent: ${rows.length === 1 ? 'the record is' : 'the records are'} as asked`]
    : [];
  return { ...toRequestDocuments(requests), asList: options.asList || isNothing, notes, error };
}

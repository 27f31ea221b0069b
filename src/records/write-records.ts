import type { StopReason } from '../client/pace.ts';
import type { Context } from '../context.ts';
import { cellText } from '../output/columns.ts';
import type { Output } from '../output/print.ts';
import { withProgress } from '../output/progress.ts';
import { CliError, InterruptedError } from '../process/errors.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import { graceMs, inTwoSteps, Stop } from '../process/signals.ts';
import { decide, type Intent, newState, type Row } from '../writes/decide.ts';
import { createRecordPort, type Reading, type RecordPort } from '../writes/port.ts';
import { readsBeforeWrite, type Settled } from '../writes/settle.ts';
import { createTotals, settleAll } from '../writes/settle-all.ts';
import type { Access } from './access.ts';
import { openView } from './print-records.ts';
import { joinErrors } from './read-each.ts';
import { toRequestDocuments } from './show-requests.ts';
import { failedError, joinWithStop, type RowHint, rowError } from './write-errors.ts';

// A command with ids settles its rows as a run does, with `settleAll`, but without a journal: what becomes of a row is printed.

/** A write of a command. */
interface RecordWrite {
  /** Undefined if the record is created. */
  readonly id?: bigint | undefined;
  readonly intent: Intent;
  /** A reading that need not be made again. */
  readonly known?: Reading | undefined;
}

interface WriteOptions {
  /** Print a list, even if there is only one record. */
  readonly asList: boolean;
  /** Makes the line that reports a write on stderr in place of its record. */
  report?(settled: Settled, row: Row): string;
  /** Adds a hint to the error of a row. */
  readonly hint?: RowHint;
}

/** Sends writes and returns the records to be printed; with --dry-run returns the requests. */
export async function writeRecords(
  access: Access,
  writes: readonly RecordWrite[],
  options: WriteOptions,
): Promise<Output | undefined> {
  const { context, client, noun } = access;
  const port = createRecordPort(client, noun.name, { sendsEtags: context.settings.get('etags') });
  const rows = writes.map(({ id, intent }): Row => ({ line: 0, id, intent, state: newState }));
  const knownReadings = new Map(rows.map((row, index) => [row, writes[index]?.known]));
  const known = (row: Row) => knownReadings.get(row);
  if (context.flags.dryRun) return previewWrites(access, port, rows, known, options);
  const stop = new Stop<StopReason>();
  const totals = createTotals();
  const results = new Map<Row, Settled>();
  const rules = { mayCreate: false, isUndo: false, createsByPut: port.createsByPut };
  const { settings } = context;
  const limits = {
    retries: settings.get('retries'),
    retriesUnreachable: settings.explain('retries').source === 'flag',
    timeoutMs: settings.get('timeout'),
    rules,
    hasGateway: settings.offline === undefined,
    stop,
  };
  const keep = async (row: Row, settled: Settled) => {
    results.set(row, settled);
    await reportWrite(access, row, settled, options);
  };
  // Ctrl-C also ends a wait between two attempts.
  const { signal } = context.interrupts;
  const onAbort = () => stop.stop(stopReason(signal.reason));
  signal.addEventListener('abort', onAbort);
  const work = () =>
    settleAll(port, rows, { limits, atOnce: settings.get('concurrency'), known, totals }, keep);
  await workInSteps(context, rows.length, stop, () => {
    const progress = () => ({ done: totals.settled, total: rows.length, failed: totals.failed });
    const activity = { label: 'writing', unit: noun.plural, delayMs: 1000, read: progress };
    return rows.length > 1 ? withProgress(context, activity, work) : work();
  });
  signal.removeEventListener('abort', onAbort);
  const interruption = signal.reason instanceof InterruptedError ? signal.reason : undefined;
  return toOutput(access, rows, results, { stop: stop.reason, interruption }, options);
}

function stopReason({ kind, message }: InterruptedError): StopReason {
  return { kind, message };
}

/** Why the writes ended before all were done. Both are undefined if none was stopped. */
interface Ending {
  readonly stop: StopReason | undefined;
  /** The signal that ends the command at once. */
  readonly interruption: InterruptedError | undefined;
}

/** Does work on several rows so that the first signal lets no further write begin. A lone write is ended by the first. */
async function workInSteps(
  context: Context,
  count: number,
  stop: Stop<StopReason>,
  work: () => Promise<unknown>,
): Promise<void> {
  if (count < 2) return void (await work());
  const onSignal = (signal: InterruptedError['signal']) => {
    stop.stop(stopReason(new InterruptedError(signal)));
    void context.warn(
      'note: no further write begins; waiting up to 10 s for those under way; a second signal ends at once',
    );
  };
  await inTwoSteps(context, { stop: onSignal, stopMs: graceMs }, work);
}

/** Prints what became of one write: the change on a terminal, or the line of the command. */
async function reportWrite(
  { context, noun }: Access,
  row: Row,
  settled: Settled,
  { report }: WriteOptions,
): Promise<void> {
  const { outcome, before, record, attempted } = settled;
  const isAccepted = attempted?.result === 'accepted';
  if (report) {
    if (outcome?.state === 'applied' || isAccepted) await context.warn(report(settled, row));
    return;
  }
  const isDone = outcome?.state === 'applied' || outcome?.state === 'unchanged';
  if (!isDone || !before || !context.io.stderr.isTerminal || row.intent.kind === 'create') return;
  const names =
    row.intent.kind === 'set' && typeof row.intent.value === 'object'
      ? Object.keys(row.intent.value ?? {})
      : ['quantity'];
  const changes = names
    .map((name) => [name, valueOrNone(before[name]), valueOrNone((record ?? before)[name])])
    .filter(([, from, to]) => from !== to)
    .map(([name, from, to]) => `${name} ${from} -> ${to}`);
  await context.print(
    `${noun.singular} ${row.id}: ${changes.length === 0 ? 'nothing changed' : changes.join(', ')}`,
  );
}

function valueOrNone(value: JsonValue | undefined): string {
  return cellText(value) || 'none';
}

/** Makes the output of the writes: the records, in the order of the command line, and the error of those that failed. */
async function toOutput(
  access: Access,
  rows: readonly Row[],
  results: ReadonlyMap<Row, Settled>,
  { stop, interruption }: Ending,
  options: WriteOptions,
): Promise<Output | undefined> {
  const { noun, context } = access;
  const records: JsonObject[] = [];
  const errors: CliError[] = [];
  let unanswered = 0;
  let accepted = 0;
  for (const row of rows) {
    const settled = results.get(row);
    const error = settled && rowError(access, row, settled, options.hint, interruption);
    if (error) errors.push(error);
    else if (settled?.attempted?.result === 'accepted') accepted += 1;
    else if (settled?.record && row.intent.kind !== 'remove') records.push(settled.record);
    else if (settled?.outcome?.state === 'applied' && row.intent.kind !== 'remove') unanswered += 1;
  }
  const of = (count: number) => (options.asList ? `${count} of these writes` : 'the write');
  const notes = [
    ...(accepted > 0 && !options.report
      ? [`note: the service accepted ${of(accepted)}, and has not done it yet (202)`]
      : []),
    ...(unanswered > 0
      ? [`note: the service answered ${of(unanswered)} without a record, so there is none to print`]
      : []),
  ];
  const error = joinWithStop(errors, results.size, rows.length, noun.plural, stop);
  // What may have been applied is told, also if the command was interrupted.
  if (stop && rows.length > 1)
    for (const { message, details } of errors)
      notes.push(`warning: ${message}${details.applied ? '; it may or may not have been applied' : ''}`);
  if (records.length === 0) {
    for (const note of notes) await context.warn(note);
    if (error) throw error;
    return undefined;
  }
  const { view, readNames } = await openView(access, false);
  const nameNotes = new Set<string | undefined>();
  for (const record of records) nameNotes.add(await readNames(record));
  for (const note of nameNotes) if (note !== undefined) await context.warn(note);
  const [first] = records;
  if (options.asList || !first) {
    const doneNote = `note: ${records.length} of ${rows.length} ${noun.plural} were written`;
    return { pages: [records], view, notes, doneNote, error };
  }
  const doneNote = 'note: the write succeeded, but its record could not be printed';
  return { record: first, view, notes, doneNote, error };
}

/** Makes the requests of writes, without a credential, and sends none. */
async function previewWrites(
  access: Access,
  port: RecordPort,
  rows: readonly Row[],
  known: (row: Row) => Reading | undefined,
  options: WriteOptions,
): Promise<Output | undefined> {
  const { client, noun } = access;
  const rules = { mayCreate: false, isUndo: false, createsByPut: port.createsByPut };
  const requests = [];
  const errors: CliError[] = [];
  for (const row of rows) {
    const { intent, id } = row;
    try {
      const isRead = id !== undefined && readsBeforeWrite(port, row, rules);
      const reading = isRead ? await port.read(id) : known(row);
      const isUnread = !isRead && intent.kind === 'set';
      const now = port.valueOf(row, reading?.record);
      const decision = isUnread
        ? ({ state: 'write', action: 'set', after: intent.value } as const)
        : decide(row, now, rules);
      if (decision.state === 'unchanged') continue;
      if (decision.state !== 'write') {
        errors.push(
          failedError(access, row, {
            outcome: decision,
            error: reading?.missing,
            before: reading?.record,
            retries: 0,
            isExact: false,
          }),
        );
        continue;
      }
      const { action, after } = decision;
      const { operation, input, conditions } = await port.write(row, { action, before: now, after }, reading);
      requests.push(client.toRequest(operation, input, { conditions }));
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      errors.push(error);
    }
  }
  const error = joinErrors(errors, rows.length, noun.plural);
  const { documents, text } = toRequestDocuments(requests);
  const isNothing = requests.length === 0 && !error;
  const notes = isNothing
    ? [`note: nothing would be sent: ${rows.length === 1 ? 'the record is' : 'the records are'} as asked`]
    : [];
  return { documents, text, asList: options.asList || isNothing, notes, error };
}

import { cellText } from '../output/columns.ts';
import { withProgress } from '../output/progress.ts';
import { CliError, OutputClosedError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Access } from './access.ts';
import { Batch, type BatchOptions } from './batch.ts';
import { printAll, printLive } from './print-records.ts';
import type { Body } from './record-nouns.ts';
import { showRequests } from './show-requests.ts';
import { type PrepareWrite, requestOf, type Write, type WriteResult, writeWithRepeats } from './write.ts';

interface WriteOptions<Item> extends Pick<BatchOptions<Item>, 'lineOf' | 'pace'> {
  /** Print a list, even if there is only one record. */
  readonly asList: boolean;
  /** Write and print one record after the other, so that a command that is killed has named every record that it made. */
  readonly isLive?: boolean;
}

/** The result of several writes. */
export interface BatchResult<Item> {
  readonly error: CliError | undefined;
  readonly failures: ReturnType<Batch<Item, unknown>['failures']>;
  readonly succeeded: number;
}

/** Sends one write and prints the record in the answer. @see writeRecords */
export async function writeRecord(access: Access, prepare: PrepareWrite): Promise<void> {
  const call = (item: PrepareWrite, refusal?: CliError) => item(refusal);
  const { error } = await writeRecords(access, [prepare], call, { asList: false });
  if (error) throw error;
}

/**
 * Sends a write for each item, whether others fail or not, and prints the records in the answers; with --dry-run prints
 * the requests instead. After the first signal no further write begins, and the writes under way end; a second signal ends
 * the command.
 */
export async function writeRecords<Item>(
  access: Access,
  items: readonly Item[],
  prepare: (item: Item, refusal?: CliError) => Promise<Write> | Write,
  { asList, isLive = false, lineOf, pace }: WriteOptions<Item>,
): Promise<BatchResult<Item>> {
  const { context, noun } = access;
  if (context.flags.dryRun) return showWrites(access, items, prepare, { asList, lineOf });
  let accepted = 0;
  let unanswered = 0;
  const write = async (item: Item) => {
    const result = await writeWithRepeats(access, (refusal) => prepare(item, refusal), pace);
    if (result.isAccepted) accepted += 1;
    else {
      if (result.record === undefined) unanswered += 1;
      await printChange(access, result);
    }
    return result.record;
  };
  const unit = noun.plural;
  const atOnce = context.settings.get('concurrency');
  const batch = new Batch(items, write, { unit, atOnce, lineOf, pace });
  const writeAndPrint = async () => {
    const results = batch.oneByOne();
    try {
      await (isLive ? printLive(access, results) : printAll(access, batch.inOrder(), asList));
    } catch (error) {
      // The writes go on although the reader of stdout has gone.
      if (!(error instanceof OutputClosedError)) throw error;
      if (isLive) for await (const _ of results);
    }
  };
  const progress = { label: 'writing', unit, delayMs: 1000, read: () => batch.progress() };
  let error: CliError | undefined;
  try {
    await batch.stopAtSignal(context, () =>
      items.length > 1 ? withProgress(context, progress, writeAndPrint) : writeAndPrint(),
    );
  } catch (thrown) {
    const { done, failed, total } = batch.progress();
    const failures = failed === 0 ? '' : `, ${failed} failed`;
    if (total > 1) await context.warn(`note: ${done - failed} of ${total} ${unit} were written${failures}`);
    else if (done > failed)
      await context.warn('note: the write succeeded, but its record could not be printed');
    if (!(thrown instanceof CliError)) throw thrown;
    error = thrown;
  }
  if (accepted > 0) {
    const writes = asList
      ? `${accepted} of these writes, and has not done them`
      : 'the write, and has not done it';
    await context.warn(`note: the service accepted ${writes} yet (202)`);
  }
  if (unanswered > 0) {
    const writes = asList ? ` ${unanswered} of these writes` : '';
    await context.warn(`note: the service answered${writes} without a record, so there is none to print`);
  }
  const { done, failed } = batch.progress();
  return { error: error ?? batch.error(), failures: batch.failures(), succeeded: done - failed };
}

/** Prints the requests of writes on stdout and sends none. */
export async function showWrites<Item>(
  { context, client, noun }: Access,
  items: readonly Item[],
  prepare: (item: Item) => Promise<Write> | Write,
  { asList, lineOf }: Pick<WriteOptions<Item>, 'asList' | 'lineOf'>,
): Promise<BatchResult<Item>> {
  const request = async (item: Item) => requestOf(client, await prepare(item));
  const atOnce = context.settings.get('concurrency');
  const batch = new Batch(items, request, { unit: noun.plural, atOnce, lineOf });
  const requests = await batch.inOrder();
  if (requests.length > 0 || asList) await showRequests(context, requests, asList);
  return { error: batch.error(), failures: [], succeeded: 0 };
}

/** Prints the change of a write for a person on a terminal: `pet 3: status available -> sold`. */
async function printChange({ context, noun }: Access, { write, record }: WriteResult): Promise<void> {
  const { id, before, body } = write.input;
  if (!before || !context.io.stderr.isTerminal) return;
  const [old, now] = [before, record ?? body] as Body[];
  const changes = Object.keys(body as Body)
    .map((name) => [name, valueOrNone(old?.[name]), valueOrNone(now?.[name])])
    .filter(([, from, to]) => from !== to)
    .map(([name, from, to]) => `${name} ${from} -> ${to}`);
  const text = changes.length === 0 ? 'nothing changed' : changes.join(', ');
  await context.print(`${noun.singular} ${id}: ${text}`);
}

function valueOrNone(value: unknown): string {
  return cellText(value as JsonValue | undefined) || 'none';
}

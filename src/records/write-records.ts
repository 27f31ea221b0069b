import { cellText } from '../output/columns.ts';
import { withProgress } from '../output/progress.ts';
import { CliError, OutputClosedError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Access } from './access.ts';
import { Batch, type BatchOptions } from './batch.ts';
import { printAll, printLive } from './print-records.ts';
import type { Body } from './record-nouns.ts';
import { showRequests } from './show-requests.ts';
import { type PrepareWrite, requestOf, type Write, type WriteResult, writeOnce } from './write.ts';

interface WriteOptions<Item> extends Pick<BatchOptions<Item>, 'place' | 'pace'> {
  /** Print a list, even of one. */
  readonly asList: boolean;
  /** Make and print one record after the other: a command that is killed has named what it made. */
  readonly isLive?: boolean;
}

/** What has become of several writes. */
export interface BatchResult<Item> {
  readonly error: CliError | undefined;
  readonly failures: ReturnType<Batch<Item, unknown>['failures']>;
  readonly succeeded: number;
}

/** Sends one write and prints the record in the answer. @see writeRecords */
export async function writeRecord(access: Access, prepare: PrepareWrite): Promise<void> {
  const prepareLone = (_: undefined, refusal?: CliError) => prepare(refusal);
  const { error } = await writeRecords(access, [undefined], prepareLone, { asList: false });
  if (error) throw error;
}

/**
 * Sends a write for each item, whether others fail or not, and prints the records in the answers; with --dry-run prints
 * the requests instead. The first signal begins no further write and waits for those under way; a second one ends the
 * command.
 */
export async function writeRecords<Item>(
  access: Access,
  items: readonly Item[],
  prepare: (item: Item, refusal?: CliError) => Promise<Write> | Write,
  { asList, isLive = false, place, pace }: WriteOptions<Item>,
): Promise<BatchResult<Item>> {
  const { context, noun } = access;
  if (context.flags.dryRun) return showWrites(access, items, prepare, { asList, place });
  let accepted = 0;
  let unanswered = 0;
  const write = async (item: Item) => {
    const result = await writeOnce(access, (refusal) => prepare(item, refusal), pace);
    if (result.isAccepted) accepted += 1;
    else {
      if (result.record === undefined) unanswered += 1;
      await printChange(access, result);
    }
    return result.record;
  };
  const unit = noun.plural;
  const atOnce = context.settings.get('concurrency');
  const batch = new Batch(items, write, { unit, atOnce, place, pace });
  const writeAndPrint = async () => {
    const results = batch.oneByOne();
    try {
      await (isLive ? printLive(access, results) : printAll(access, batch.inOrder(), asList));
    } catch (error) {
      // A reader of stdout that goes away does not stop the writes.
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
  const [these, them] = asList ? [` ${accepted} of these writes`, 'them'] : [' the write', 'it'];
  if (accepted > 0)
    await context.warn(`note: the service accepted${these}, and has not done ${them} yet (202)`);
  const answered = asList ? ` ${unanswered} of these writes` : '';
  if (unanswered > 0)
    await context.warn(`note: the service answered${answered} without a record, so there is none to print`);
  const { done, failed } = batch.progress();
  return { error: error ?? batch.error(), failures: batch.failures(), succeeded: done - failed };
}

/** Prints the requests of writes on stdout and sends none. */
export async function showWrites<Item>(
  { context, client, noun }: Access,
  items: readonly Item[],
  prepare: (item: Item) => Promise<Write> | Write,
  { asList, place }: Pick<WriteOptions<Item>, 'asList' | 'place'>,
): Promise<BatchResult<Item>> {
  const request = async (item: Item) => requestOf(client, await prepare(item));
  const atOnce = context.settings.get('concurrency');
  const batch = new Batch(items, request, { unit: noun.plural, atOnce, place });
  const requests = await batch.inOrder();
  if (requests.length > 0 || asList) await showRequests(context, requests, asList);
  return { error: batch.error(), failures: [], succeeded: 0 };
}

/** Prints for a person on a terminal what a write has changed: `pet 3: status available -> sold`. */
async function printChange({ context, noun }: Access, { write, record }: WriteResult): Promise<void> {
  const { id, before, body } = write.input;
  if (!before || !context.io.stderr.isTerminal) return;
  const [old, now] = [before, record ?? body] as Body[];
  const changes = Object.keys(body as Body)
    .map((name) => [name, valueOrNone(old?.[name]), valueOrNone(now?.[name])])
    .filter(([, from, to]) => from !== to)
    .map(([name, from, to]) => `${name} ${from} -> ${to}`);
  const what = changes.length === 0 ? 'nothing changed' : changes.join(', ');
  await context.print(`${noun.singular} ${id}: ${what}`);
}

function valueOrNone(value: unknown): string {
  return cellText(value as JsonValue | undefined) || 'none';
}

import { canAsk, confirmWrite } from '../asking.ts';
import { readRecord } from '../client/read-record.ts';
import { type Context, followUpCommand } from '../context.ts';
import { CliError } from '../process/errors.ts';
import { counted } from '../process/text.ts';
import { type Access, openAccess } from './access.ts';
import { Batch, type BatchOptions } from './batch.ts';
import { checkIdsOrFile, type IdOrName } from './parse-values.ts';
import { nameAll, namedNoun, type RecordNoun, recordNouns } from './record-nouns.ts';
import { type Write, writeWithRepeats } from './write.ts';
import { type BatchResult, showWrites } from './write-records.ts';

/** Deletes the records with these ids, or with the ids in a file. @see deleteRecords */
export async function deleteByIdsOrFile(
  context: Context,
  noun: RecordNoun,
  { ids, from }: { readonly ids: readonly IdOrName[]; readonly from?: string | undefined },
): Promise<void> {
  checkIdsOrFile(`delete ${noun.singular}`, ids, from);
  if (from === undefined) return deleteRecords(context, noun, ids);
  await deleteFromFile(await openAccess(context, noun, noun.operations.delete, 'bulk'), from);
}

/**
 * Deletes records, after a question that names them. If a deletion fails, the others go on. Reports each deletion on
 * stderr.
 */
export async function deleteRecords(
  context: Context,
  noun: RecordNoun,
  idsOrNames: readonly IdOrName[],
): Promise<void> {
  const access = await openAccess(context, noun, noun.operations.delete);
  const ids = await access.names.idsOf(namedNoun(noun), idsOrNames);
  const items = ids.map((id) => ({ id }));
  if (context.flags.dryRun) {
    await showWrites(access, items, ({ id }) => deletion(noun, id), { asList: ids.length > 1 });
    return;
  }
  const details = await readDetails(access, ids);
  const present = ids.filter((id) => !details.get(id)?.missing);
  const what = `delete ${describeDeletion(noun, present, details)}`;
  if (present.length > 0) await confirmWrite(context, { what, destructive: true });
  const { error } = await deleteAll(access, items, details);
  if (error) throw error;
}

/**
 * Deletes the records of a file, after a question with their number. Reports each deletion on stderr, and writes the rows
 * that were not done to a file of rejects.
 */
async function deleteFromFile(access: Access, path: string): Promise<void> {
  const [{ endFile, createPace, inputLineOf }, { createIdLayout }, { readRows }, { openInputFile }] =
    await Promise.all([
      import('./from-file.ts'),
      import('./record-layout.ts'),
      import('../input/read-rows.ts'),
      import('../input/input-file.ts'),
    ]);
  const { context, noun } = access;
  const layout = createIdLayout(noun);
  const inputFile = await openInputFile(context.io, path);
  try {
    const file = await readRows(inputFile, layout);
    const { rows } = file;
    if (rows.length === 0) return await context.warn(`note: ${inputFile.name} has no ids: nothing to delete`);
    const lineOf = (row: (typeof rows)[number]) => inputLineOf(file, row);
    if (context.flags.dryRun) {
      await showWrites(access, rows, ({ id }) => deletion(noun, id), { asList: true, lineOf });
      return;
    }
    const what = `delete ${counted(rows.length, noun.singular, noun.plural)}`;
    await confirmWrite(context, { what, destructive: true });
    const pace = createPace(context, context.settings.get('concurrency'));
    const result = await deleteAll(access, rows, new Map(), { lineOf, pace });
    await endFile(access, 'delete', file, layout, result);
  } finally {
    await inputFile.close();
  }
}

function deletion({ operations }: RecordNoun, id: bigint): Write {
  return { operation: operations.delete, input: { id } };
}

/** Deletes each record, and reports it on stderr. After the first signal no further deletion begins. */
async function deleteAll<Item extends { readonly id: bigint }>(
  access: Access,
  items: readonly Item[],
  details: DetailsById,
  { lineOf, pace }: Pick<BatchOptions<Item>, 'lineOf' | 'pace'> = {},
): Promise<BatchResult<Item>> {
  const { context, noun } = access;
  const remove = async ({ id }: Item) => {
    const missing = details.get(id)?.missing;
    if (missing) throw missing;
    const write = () => deletion(noun, id);
    const { isAccepted } = await writeWithRepeats(access, write, pace).catch((error: unknown) => {
      throw withHint(context, noun, id, error);
    });
    const what = describeDeletion(noun, [id], details);
    return isAccepted ? `accepted, not yet done (202): delete ${what}` : `deleted ${what}`;
  };
  const atOnce = context.settings.get('concurrency');
  const batch = new Batch(items, remove, { unit: noun.plural, atOnce, lineOf, pace });
  let reported: Promise<void> | undefined;
  await batch.stopAtSignal(context, () =>
    batch.inOrder((line) => {
      reported = context.warn(line);
    }),
  );
  await reported;
  const { done, failed } = batch.progress();
  return { error: batch.error(), failures: batch.failures(), succeeded: done - failed };
}

/** Adds a hint to the refusal to delete a record in use: the command that shows the records that use it. */
function withHint(context: Context, { usedBy }: RecordNoun, id: bigint, error: unknown): unknown {
  if (!usedBy || !(error instanceof CliError) || error.details.status !== 409) return error;
  const hint = `see what uses it: ${followUpCommand(context, usedBy(id))}`;
  return error.with({ hint });
}

/** The details of each record for the question before a deletion. Empty if no question is asked. */
type DetailsById = ReadonlyMap<bigint, RecordDetails>;

interface RecordDetails {
  /** The title of the record. */
  readonly title?: string;
  /** The record that is deleted together with it: `its inventory entry (3 in stock)`. */
  readonly companion?: string | undefined;
  /** The error of the reading if there is no such record. */
  readonly missing?: CliError;
}

/** `pet 3 (Rex) and its inventory entry (2 in stock)`. */
function describeDeletion(noun: RecordNoun, ids: readonly bigint[], details: DetailsById): string {
  const names = nameAll(noun, ids, (id) => details.get(id)?.title);
  const companions = ids.flatMap((id) => details.get(id)?.companion ?? []);
  if (companions.length === 0) return names;
  if (ids.length === 1) return `${names} and ${companions[0]}`;
  return companions.length === ids.length
    ? `${names}, and their inventory entries`
    : `${names}, and the inventory entries of ${companions.length} of them`;
}

async function readDetails(access: Access, ids: readonly bigint[]): Promise<DetailsById> {
  const { context, client, noun } = access;
  const details = new Map<bigint, RecordDetails>();
  if (context.flags.yes || !canAsk(context)) return details;
  const read = async (id: bigint) => {
    try {
      const title = noun.title((await readRecord(client, noun.name, id)).value);
      details.set(id, { title, companion: await companionOf(access, id) });
    } catch (error) {
      // A user who may not read a record may still be allowed to delete it.
      if (!(error instanceof CliError)) throw error;
      details.set(id, error.kind === 'not-found' ? { missing: error } : {});
    }
  };
  const atOnce = context.settings.get('concurrency');
  await new Batch(ids, read, { unit: noun.plural, atOnce }).inOrder();
  return details;
}

/** The inventory entry of a pet; undefined if it has none. */
async function companionOf({ client, noun }: Access, id: bigint): Promise<string | undefined> {
  if (noun.name !== 'pets' || !client.contract.operations.has('getInventory')) return undefined;
  const entry = await readRecord(client, 'inventory', id).catch(() => undefined);
  return entry && `its inventory entry (${recordNouns.inventory.title(entry.value)})`;
}

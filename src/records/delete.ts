import { confirmWrite } from '../asking.ts';
import type { CallOptions } from '../client/call.ts';
import { readRecord } from '../client/read-record.ts';
import { type Context, commandLine } from '../context.ts';
import { CliError } from '../process/errors.ts';
import { counted } from '../process/text.ts';
import { type Access, type EditableNoun, nameAll, openAccess, type RecordNoun } from './noun.ts';
import { checkIdsOrFile, type IdOrName } from './parse-values.ts';
import { sendWrite, type Write } from './send-write.ts';
import { Work, type WorkOptions } from './work.ts';
import { showWrites, stopAtSignal, type WriteResult } from './write.ts';

/** Deletes the records with these ids, or those of a file. @see deleteRecords */
export async function deleteByIdsOrFile<Entity>(
  context: Context,
  noun: EditableNoun<Entity>,
  { ids, from }: { readonly ids: readonly IdOrName[]; readonly from?: string | undefined },
): Promise<void> {
  checkIdsOrFile(`delete ${noun.singular}`, ids, from);
  if (from === undefined) return deleteRecords(context, noun, ids);
  const access = await openAccess(context, noun, noun.operations.delete, 'bulk');
  await deleteFromFile(access, from);
}

/**
 * Deletes the records with these ids, trying all of them, after asking by name; reports on stderr which were deleted.
 */
export async function deleteRecords<Entity>(
  context: Context,
  noun: RecordNoun<Entity>,
  idsOrNames: readonly IdOrName[],
): Promise<void> {
  const access = await openAccess(context, noun, noun.operations.delete);
  const ids = await access.names.idsOf(noun.named, idsOrNames);
  const items = ids.map((id) => ({ id }));
  if (context.flags.dryRun) {
    await showWrites(access, { items, asList: ids.length > 1, prepare: ({ id }) => deletion(noun, id) });
    return;
  }
  const details = await readDetails(access, ids);
  const present = ids.filter((id) => !details.get(id)?.missing);
  if (present.length > 0)
    await confirmWrite(context, {
      what: `delete ${nameWhatGoes(noun, present, details)}`,
      destructive: true,
    });
  const { error } = await removeAll(access, items, { details });
  if (error) throw error;
}

/**
 * Deletes the records whose ids are in a file, after asking with their number; reports each on stderr as it is deleted.
 * What was not done goes to a file of rejects.
 */
async function deleteFromFile<Entity>(
  access: Access<Entity, EditableNoun<Entity>>,
  path: string,
): Promise<void> {
  const [{ endFile, paceOf, placeInFile }, { idLayout }, { readRows }, { openSource }] = await Promise.all([
    import('./from-file.ts'),
    import('./record-layout.ts'),
    import('../input/read-rows.ts'),
    import('../input/source.ts'),
  ]);
  const { context, noun } = access;
  const layout = idLayout(noun);
  const source = await openSource(context.io, path);
  try {
    const file = await readRows(source, layout);
    const { rows } = file;
    if (rows.length === 0) return await context.warn(`note: ${source.name} has no ids: nothing to delete`);
    const place = (row: (typeof rows)[number]) => placeInFile(file, row);
    if (context.flags.dryRun) {
      await showWrites(access, { items: rows, asList: true, prepare: ({ id }) => deletion(noun, id), place });
      return;
    }
    await confirmWrite(context, {
      what: `delete ${counted(rows.length, noun.singular, noun.plural)}`,
      destructive: true,
    });
    const pace = paceOf(context, context.settings.get('concurrency'));
    const result = await removeAll(access, rows, { details: new Map(), place, ...pace });
    await endFile(access, 'delete', { file, layout, result });
  } finally {
    await source.close();
  }
}

function deletion<Entity>({ operations }: RecordNoun<Entity>, id: bigint, options: CallOptions = {}): Write {
  return { operation: operations.delete, input: { id }, options };
}

interface Removal<Item> extends Pick<WorkOptions<Item>, 'place' | 'stop'> {
  readonly details: DetailsById;
  readonly options?: CallOptions;
}

/** Deletes each record, and reports it on stderr. The first signal begins no further one. */
async function removeAll<Entity, Item extends { readonly id: bigint }>(
  access: Access<Entity>,
  items: readonly Item[],
  { details, options, ...workOptions }: Removal<Item>,
): Promise<WriteResult<Item>> {
  const { context, noun } = access;
  const remove = async ({ id }: Item) => {
    const missing = details.get(id)?.missing;
    if (missing) throw missing;
    const { isAccepted } = await sendWrite(access, deletion(noun, id, options)).catch((error: unknown) => {
      throw withHolders(context, noun, id, error);
    });
    const what = nameWhatGoes(noun, [id], details);
    return isAccepted ? `accepted, not yet done (202): delete ${what}` : `deleted ${what}`;
  };
  const atOnce = context.settings.get('concurrency');
  const work = new Work(items, remove, { unit: noun.plural, atOnce, ...workOptions });
  const release = items.length > 1 ? stopAtSignal(context, work) : () => {};
  try {
    for await (const line of work.results) await context.warn(line);
  } finally {
    release();
  }
  return { error: work.error(), failures: work.failures(), standing: work.standing() };
}

/** Adds a hint to the refusal to delete a record in use: the command that shows what uses it. */
function withHolders<Entity>(
  context: Context,
  { holders }: RecordNoun<Entity>,
  id: bigint,
  error: unknown,
): unknown {
  if (!holders || !(error instanceof CliError) || error.details.status !== 409) return error;
  const hint = `see what uses it: ${commandLine(context, holders(id))}`;
  return new CliError(error.kind, error.message, { ...error.details, hint });
}

/** The details of each record for the question before a delete; empty if no question is asked. */
type DetailsById = ReadonlyMap<bigint, RecordDetails>;

interface RecordDetails {
  readonly title?: string;
  readonly companion?: string | undefined;
  readonly missing?: CliError;
}

/** `pet 3 (Rex) and its inventory entry (2 in stock)`. */
function nameWhatGoes<Entity>(
  noun: RecordNoun<Entity>,
  ids: readonly bigint[],
  details: DetailsById,
): string {
  const names = nameAll(noun, ids, (id) => details.get(id)?.title);
  const companions = ids.flatMap((id) => details.get(id)?.companion ?? []);
  if (companions.length === 0) return names;
  if (ids.length === 1) return `${names} and ${companions[0]}`;
  return companions.length === ids.length
    ? `${names}, and their inventory entries`
    : `${names}, and the inventory entries of ${companions.length} of them`;
}

async function readDetails<Entity>(access: Access<Entity>, ids: readonly bigint[]): Promise<DetailsById> {
  const { context, client, noun } = access;
  if (context.flags.yes || !context.prompt()) return new Map();
  const read = async (id: bigint): Promise<[bigint, RecordDetails]> => {
    try {
      const title = noun.title((await readRecord<Entity>(access.client, access.operation.noun, id)).value);
      return [id, { title, companion: await noun.goesWith?.(client, id) }];
    } catch (error) {
      // A user may be allowed to delete a record without being allowed to read this.
      if (!(error instanceof CliError)) throw error;
      return [id, error.kind === 'not-found' ? { missing: error } : {}];
    }
  };
  const atOnce = context.settings.get('concurrency');
  const work = new Work(ids, read, { unit: noun.plural, atOnce });
  const details = new Map<bigint, RecordDetails>();
  for await (const [id, record] of work.results) details.set(id, record);
  return details;
}

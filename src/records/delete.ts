import { confirmWrite } from '../asking.ts';
import { type Context, commandLine } from '../context.ts';
import { ApiError, CliError } from '../process/errors.ts';
import {
  type Access,
  type EditableNoun,
  inputFor,
  type Noun,
  nameAll,
  openAccess,
  readRecord,
} from './noun.ts';
import { checkIdsOrFile, type IdOrName } from './parse-values.ts';
import { sendWrite, type Write } from './send-write.ts';
import { type Place, Work } from './work.ts';
import { showWrites, type WriteResult } from './write.ts';

/** Deletes the records with these ids, or those of a file. @see deleteRecords */
export async function deleteByIdsOrFile<Entity>(
  context: Context,
  noun: EditableNoun<Entity>,
  { ids, from }: { readonly ids: readonly IdOrName[]; readonly from?: string | undefined },
): Promise<void> {
  checkIdsOrFile(`delete ${noun.one}`, ids, from);
  if (from === undefined) return deleteRecords(context, noun, ids);
  const [{ readIds }, { endFile }] = await Promise.all([
    import('./record-file.ts'),
    import('./from-file.ts'),
  ]);
  const access = await openAccess(context, noun, noun.operations.delete, 'bulk');
  const file = await readIds(context, noun, from);
  if (file.records.length === 0) return context.warn(`note: ${file.name} has no ids: nothing to delete`);
  const records = new Map(file.records.map((record) => [record.id, record]));
  const ended = await removeAll(access, [...records.keys()], (id) => records.get(id)?.place);
  const failures = ended.failures.flatMap((failure) => {
    const item = records.get(failure.item);
    return item ? [{ ...failure, item }] : [];
  });
  await endFile(access, 'delete', file, { ...ended, failures });
}

/**
 * Deletes the records with these ids, trying all of them, after asking by name; reports on stderr which were deleted.
 */
export async function deleteRecords<Entity>(
  context: Context,
  noun: Noun<Entity>,
  given: readonly IdOrName[],
): Promise<void> {
  const access = await openAccess(context, noun, noun.operations.delete);
  const { error } = await removeAll(access, await access.names.idsOf(noun.named, given));
  if (error) throw error;
}

async function removeAll<Entity>(
  access: Access<Entity>,
  ids: readonly bigint[],
  place?: (id: bigint) => Place | undefined,
): Promise<WriteResult<bigint>> {
  const { context, noun } = access;
  const operation = noun.operations.delete;
  const prepare = (id: bigint): Write => ({ operation, input: inputFor(operation, id) });
  const isList = place !== undefined || ids.length > 1;
  if (context.flags.dryRun) return showWrites(access, { items: ids, asList: isList, prepare, place });
  const known = await readKnown(access, ids);
  const found = ids.filter((id) => !known.get(id)?.missing);
  if (found.length > 0)
    await confirmWrite(context, { what: `delete ${nameWhatGoes(noun, found, known)}`, destructive: true });
  const remove = async (id: bigint) => {
    const missing = known.get(id)?.missing;
    if (missing) throw missing;
    const { isAccepted } = await sendWrite(access, prepare(id)).catch((error: unknown) => {
      throw withHolders(context, noun, id, error);
    });
    const what = nameWhatGoes(noun, [id], known);
    return isAccepted ? `accepted, not yet done (202): delete ${what}` : `deleted ${what}`;
  };
  const atOnce = context.settings.get('concurrency');
  const work = new Work(ids, remove, { unit: noun.many, atOnce, place });
  for await (const line of work.results) await context.warn(line);
  return { error: work.error(), failures: work.failures(), standing: work.standing() };
}

/** Adds a hint to the refusal to delete a record in use: the command that shows what uses it. */
function withHolders<Entity>(
  context: Context,
  { holders }: Noun<Entity>,
  id: bigint,
  error: unknown,
): unknown {
  if (!holders || !(error instanceof ApiError) || error.status !== 409) return error;
  const hint = `see what uses it: ${commandLine(context, holders(id))}`;
  return new ApiError(error.message, { ...error.details, status: error.status, hint });
}

/** The details of each record for the question before a delete; empty if no question is asked. */
type Known = ReadonlyMap<bigint, KnownRecord>;

interface KnownRecord {
  readonly title?: string;
  readonly companion?: string | undefined;
  readonly missing?: CliError;
}

/** `pet 3 (Rex) and its inventory entry (2 in stock)`. */
function nameWhatGoes<Entity>(noun: Noun<Entity>, ids: readonly bigint[], known: Known): string {
  const names = nameAll(noun, ids, (id) => known.get(id)?.title);
  const companions = ids.flatMap((id) => known.get(id)?.companion ?? []);
  if (companions.length === 0) return names;
  if (ids.length === 1) return `${names} and ${companions[0]}`;
  return companions.length === ids.length
    ? `${names}, and their inventory entries`
    : `${names}, and the inventory entries of ${companions.length} of them`;
}

async function readKnown<Entity>(access: Access<Entity>, ids: readonly bigint[]): Promise<Known> {
  const { context, client, noun } = access;
  if (context.flags.yes || !context.prompt()) return new Map();
  const read = async (id: bigint): Promise<[bigint, KnownRecord]> => {
    try {
      const title = noun.title((await readRecord(access, id)).value);
      return [id, { title, companion: await noun.goesWith?.(client, id) }];
    } catch (error) {
      // A user may be allowed to delete a record without being allowed to read this.
      if (!(error instanceof CliError)) throw error;
      return [id, error.kind === 'not-found' ? { missing: error } : {}];
    }
  };
  const atOnce = context.settings.get('concurrency');
  const work = new Work(ids, read, { unit: noun.many, atOnce });
  const known = new Map<bigint, KnownRecord>();
  for await (const [id, each] of work.results) known.set(id, each);
  return known;
}

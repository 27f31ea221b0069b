import { offeredOperation } from '../api/contract.ts';
import { confirmWrite } from '../asking.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { commandLine } from '../context.ts';
import { ApiError, CliError, UsageError } from '../errors.ts';
import { attemptEach } from './many.ts';
import { resolveIds } from './names.ts';
import { type EditableNoun, type Noun, nameAll } from './noun.ts';
import type { IdOrName } from './values.ts';
import { clientFor, send, showWrites } from './write.ts';

/** Deletes the records with these ids, or those of a file. @see deleteRecords */
export async function deleteGiven<Row>(
  context: Context,
  noun: EditableNoun<Row>,
  { ids, from }: { readonly ids: readonly IdOrName[]; readonly from?: string | undefined },
): Promise<void> {
  if (from === undefined) {
    if (ids.length > 0) return deleteRecords(context, noun, ids);
    throw new UsageError(`delete ${noun.one}: no id is given`, 'give one or more, or --from <file or ->');
  }
  if (ids.length > 0) throw new UsageError(`delete ${noun.one}: give ids or --from, not both`);
  const { readIds } = await import('./file.ts');
  await deleteRecords(context, noun, await readIds(context, noun, from));
}

/**
 * Deletes the records with these ids, trying all of them, after asking by name; reports on stderr which were deleted.
 */
export async function deleteRecords<Row>(
  context: Context,
  noun: Noun<Row>,
  given: readonly IdOrName[],
): Promise<void> {
  await (await context.printer()).check(noun.view);
  offeredOperation(await context.contract(), noun.remove(0n).operationId);
  const client = await clientFor(context, given.length);
  const settings = await context.settings();
  const atOnce = settings.get('concurrency');
  const items = await resolveIds(context, client, noun.named, given);
  const options = { noun: noun.many, total: items.length, atOnce };
  if (context.flags.dryRun) return showWrites(context, client, { ...options, items, prepare: noun.remove });
  const known = await readKnown(context, client, noun, items);
  const found = items.filter((id) => !known.missing.has(id));
  if (found.length > 0)
    await confirmWrite(context, { what: `delete ${nameWhatGoes(noun, found, known)}`, destructive: true });
  const remove = async (id: bigint) => {
    const missing = known.missing.get(id);
    if (missing) throw missing;
    await send(client, noun.remove(id)).catch((error: unknown) => {
      throw withHolders(context, noun, id, error);
    });
    return id;
  };
  const attempts = attemptEach(items, remove, options);
  const tell = (id: bigint) => context.notice(`deleted ${nameWhatGoes(noun, [id], known)}`);
  // A program that reads the error as JSON expects exactly one object on stderr.
  const isJson = ['json', 'jsonl'].includes(settings.get('output'));
  const untold: bigint[] = [];
  for await (const id of attempts.successes())
    if (isJson) untold.push(id);
    else await tell(id);
  attempts.check();
  for (const id of untold) await tell(id);
}

/** A record in use cannot be deleted: the hint names the command that shows what uses it. */
function withHolders<Row>(context: Context, { holders }: Noun<Row>, id: bigint, error: unknown): unknown {
  if (!holders || !(error instanceof ApiError) || error.status !== 409) return error;
  const hint = `see what holds it: ${commandLine(context, holders(id))}`;
  return new ApiError(error.message, { ...error.details, status: error.status, hint });
}

/** The names and companions of records, for the question before a delete. Empty if no question is asked. */
interface Known {
  readonly titles: ReadonlyMap<bigint, string>;
  readonly companions: ReadonlyMap<bigint, string>;
  readonly missing: ReadonlyMap<bigint, CliError>;
}

/** `pet 3 (Rex) and its inventory entry (2 in stock)`. */
function nameWhatGoes<Row>(noun: Noun<Row>, ids: readonly bigint[], { titles, companions }: Known): string {
  const names = nameAll(noun, ids, titles);
  const [only] = ids;
  if (ids.length === 1 && only !== undefined)
    return companions.has(only) ? `${names} and ${companions.get(only)}` : names;
  const withOthers = ids.filter((id) => companions.has(id)).length;
  if (withOthers === 0) return names;
  const whose =
    withOthers === ids.length ? 'their inventory entries' : `the inventory entries of ${withOthers} of them`;
  return `${names}, and ${whose}`;
}

async function readKnown<Row>(
  context: Context,
  client: Client,
  noun: Noun<Row>,
  items: readonly bigint[],
): Promise<Known> {
  const titles = new Map<bigint, string>();
  const companions = new Map<bigint, string>();
  const missing = new Map<bigint, CliError>();
  if (context.flags.yes || !context.prompt()) return { titles, companions, missing };
  const read = async (id: bigint) => {
    try {
      titles.set(id, noun.title((await noun.read(context, client, id)).value));
      const companion = await noun.goesWith?.(client, id);
      if (companion !== undefined) companions.set(id, companion);
    } catch (error) {
      // A user may be allowed to delete a record without being allowed to read this.
      if (!(error instanceof CliError)) throw error;
      if (error.kind === 'not-found') missing.set(id, error);
    }
  };
  const atOnce = (await context.settings()).get('concurrency');
  const reads = attemptEach(items, read, { noun: noun.many, total: items.length, atOnce });
  for await (const _ of reads.successes());
  return { titles, companions, missing };
}

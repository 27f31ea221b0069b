import { offeredOperation } from '../api/contract.ts';
import { confirmWrite } from '../asking/confirmation.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { ApiError, CliError } from '../errors.ts';
import { attemptEach } from './attempts.ts';
import { clientFor } from './client-for.ts';
import { commandLine } from './command-line.ts';
import { type Noun, nameAll } from './noun.ts';
import { showWrites } from './write-records.ts';

/** Deletes the records with these ids, all of them tried, after asking by name; says on stderr what went. */
export async function deleteRecords<Row>(
  context: Context,
  noun: Noun<Row>,
  ids: readonly bigint[],
): Promise<void> {
  const items = [...new Set(ids)];
  await (await context.printer()).check(noun.view);
  offeredOperation(await context.contract(), noun.removal);
  const client = await clientFor(context, items.length);
  const settings = await context.settings();
  const atOnce = settings.get('concurrency');
  const options = { noun: noun.many, total: items.length, atOnce };
  if (context.flags.dryRun) return showWrites(context, { ...options, client, items, prepare: noun.remove });
  const known = await readKnown(context, noun, { client, items, atOnce });
  const found = items.filter((id) => !known.missing.has(id));
  if (found.length > 0)
    await confirmWrite(context, { what: `delete ${nameAll(noun, found, known.titles)}`, destructive: true });
  const remove = async (id: bigint) => {
    const missing = known.missing.get(id);
    if (missing) throw missing;
    await noun
      .remove(id)
      .send(client)
      .catch((error: unknown) => {
        throw withHolders(context, noun, { id, error });
      });
    return id;
  };
  const attempts = attemptEach(items, remove, options);
  const tell = (id: bigint) => context.notice(`deleted ${nameAll(noun, [id], known.titles)}`);
  // A program that reads the error as JSON finds that one object and nothing beside it.
  const isJson = ['json', 'jsonl'].includes(settings.get('output'));
  const untold: bigint[] = [];
  for await (const id of attempts.successes())
    if (isJson) untold.push(id);
    else await tell(id);
  attempts.check();
  for (const id of untold) await tell(id);
}

/** A record that is in use cannot be deleted: the hint names the command that shows by what. */
function withHolders<Row>(
  context: Context,
  { holders }: Noun<Row>,
  { id, error }: { readonly id: bigint; readonly error: unknown },
): unknown {
  if (!holders || !(error instanceof ApiError) || error.status !== 409) return error;
  const hint = `see what holds it: ${commandLine(context, holders(id))}`;
  return new ApiError(error.message, { ...error.details, status: error.status, hint });
}

/** What is known of records before they go; nothing where nobody is asked, for then it is of no use. */
interface Known {
  readonly titles: ReadonlyMap<bigint, string>;
  readonly missing: ReadonlyMap<bigint, CliError>;
}

interface Wanted {
  readonly client: Client;
  readonly items: readonly bigint[];
  readonly atOnce: number;
}

async function readKnown<Row>(
  context: Context,
  noun: Noun<Row>,
  { client, items, atOnce }: Wanted,
): Promise<Known> {
  const titles = new Map<bigint, string>();
  const missing = new Map<bigint, CliError>();
  if (context.flags.yes || !context.prompt()) return { titles, missing };
  const read = async (id: bigint) => {
    try {
      titles.set(id, noun.title((await noun.read(context, client, id)).value));
    } catch (error) {
      // Whoever may not read it may be allowed to delete it all the same.
      if (!(error instanceof CliError)) throw error;
      if (error.kind === 'not-found') missing.set(id, error);
    }
  };
  const reads = attemptEach(items, read, { noun: noun.many, total: items.length, atOnce });
  for await (const _ of reads.successes());
  return { titles, missing };
}

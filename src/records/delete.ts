import { canAsk, confirmWrite } from '../asking.ts';
import { readRecord } from '../client/read-record.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output/print.ts';
import { CliError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { type Access, openAccess } from './access.ts';
import type { IdOrName } from './parse-values.ts';
import { readEach } from './read-each.ts';
import { nameAll, namedNoun, type RecordNoun, recordNouns } from './record-nouns.ts';
import { writeRecords } from './write-records.ts';

/**
 * Deletes records, after a question that names them. A record that has changed since is not deleted. If a deletion fails, the
 * others go on. Reports each deletion on stderr.
 */
export async function deleteRecords(
  context: Context,
  noun: RecordNoun,
  idsOrNames: readonly IdOrName[],
): Promise<Output | undefined> {
  const access = await openAccess(context, noun, noun.operations.delete);
  const ids = await access.names.idsOf(namedNoun(noun), idsOrNames);
  const details = await readDetails(access, ids);
  const present = ids.filter((id) => !details.get(id)?.isMissing);
  const what = `delete ${describeDeletion(noun, present, details)}`;
  if (present.length > 0) await confirmWrite(context, { what, needsYes: true });
  // What was shown in the question is what is deleted.
  const writes = ids.map((id) => ({
    id,
    intent: { kind: 'remove', expected: details.get(id)?.record } as const,
  }));
  return writeRecords(access, writes, {
    asList: ids.length > 1,
    report({ attempted }, { id = 0n }) {
      const deletion = describeDeletion(noun, [id], details);
      return attempted?.verdict === 'accepted'
        ? `accepted, not yet done (202): delete ${deletion}`
        : `deleted ${deletion}`;
    },
  });
}

/** The details of each record for the question before a deletion. Empty if no question is asked. */
type DetailsById = ReadonlyMap<bigint, RecordDetails>;

interface RecordDetails {
  readonly title?: string;
  /** The record that is deleted together with it: `its inventory entry (3 in stock)`. */
  readonly companion?: string | undefined;
  readonly record?: JsonObject;
  readonly isMissing?: boolean;
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
  if (context.flags.yes || context.flags.dryRun || !canAsk(context)) return details;
  const read = async (id: bigint) => {
    try {
      const { value: record } = await readRecord(client, noun.name, id, { isFresh: true });
      details.set(id, { title: noun.title(record), record, companion: await companionOf(access, id) });
    } catch (error) {
      // The deletion reads the record again, and its error says why that is impossible.
      if (!(error instanceof CliError)) throw error;
      details.set(id, error.kind === 'not-found' ? { isMissing: true } : {});
    }
  };
  const atOnce = context.settings.get('concurrency');
  await readEach(ids, read, { unit: noun.plural, atOnce });
  return details;
}

/** The inventory entry of a pet; undefined if it has none. */
async function companionOf({ client, noun }: Access, id: bigint): Promise<string | undefined> {
  if (noun.name !== 'pets' || !client.contract.operations.has('getInventory')) return undefined;
  const entry = await readRecord(client, 'inventory', id).catch(() => undefined);
  return entry && `its inventory entry (${recordNouns.inventory.title(entry.value)})`;
}

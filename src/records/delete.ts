import { type Noun, nouns } from '../api/nouns.ts';
import { canAsk, confirmWrite } from '../asking.ts';
import { readRecord } from '../client/read-record.ts';
import type { Context } from '../context.ts';
import type { Prepared } from '../output/printer.ts';
import { CliError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { type Access, prepareRecords, readEach } from './access.ts';
import type { IdOrName } from './parse-values.ts';
import { nameAll, namedNoun } from './record-fields.ts';
import { writeRecords } from './write-records.ts';

/**
 * Deletes records, after a question that names them. A record that has changed since is not deleted. If a deletion fails, the
 * others go on. Reports each deletion on stderr.
 */
export function deleteRecords(
  context: Context,
  noun: Noun,
  idsOrNames: readonly IdOrName[],
): Promise<Prepared> {
  return prepareRecords(context, noun, noun.operations.delete, async (access) => {
    const ids = await access.names.idsOf(namedNoun(noun), idsOrNames);
    const details = await readDetails(access, ids);
    const present = ids.filter((id) => !details.get(id)?.isMissing);
    const describe = (some: readonly bigint[]) => nameAll(noun, some, (id) => details.get(id)?.title);
    if (present.length > 0)
      await confirmWrite(context, { what: `delete ${describe(present)}`, needsYes: true });
    // What was shown in the question is what is deleted.
    const writes = ids.map((id) => ({
      id,
      intent: { kind: 'remove', expected: details.get(id)?.fields } as const,
    }));
    return writeRecords(access, writes, {
      asList: ids.length > 1,
      report: ({ id = 0n }) => `deleted ${describe([id])}`,
    });
  });
}

/** The details of each record for the question before a deletion. Empty if no question is asked. */
type DetailsById = ReadonlyMap<bigint, RecordDetails>;

interface RecordDetails {
  /** `Rex`, with the record that is deleted together with it: `Rex, with its inventory entry: 3 in stock`. */
  readonly title?: string;
  readonly fields?: JsonObject;
  readonly isMissing?: boolean;
}

async function readDetails(access: Access, ids: readonly bigint[]): Promise<DetailsById> {
  const { context, client, noun } = access;
  const details = new Map<bigint, RecordDetails>();
  if (context.flags.yes || context.flags.dryRun || !canAsk(context)) return details;
  const read = async (id: bigint) => {
    try {
      const { fields } = (await readRecord(client, noun.name, id, { isFresh: true })).record;
      details.set(id, { title: noun.title(fields) + (await companionOf(access, id)), fields });
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

/** The inventory entry of a pet; empty if it has none. */
async function companionOf({ client, noun }: Access, id: bigint): Promise<string> {
  if (noun.name !== 'pets' || !client.contract.operations.has('getInventory')) return '';
  const entry = await readRecord(client, 'inventory', id).catch(() => undefined);
  return entry ? `, with its inventory entry: ${nouns.inventory.title(entry.record.fields)}` : '';
}

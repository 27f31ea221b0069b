import type { OperationId } from '../api/operations.ts';
import { readRecord } from '../client/read-record.ts';
import type { Context } from '../context.ts';
import type { View } from '../output/columns.ts';
import type { Output } from '../output/print.ts';
import { openAccess, openView, readEach } from './access.ts';
import type { IdOrName } from './parse-values.ts';
import { namedNoun, type RecordNoun, recordView } from './record-nouns.ts';

/**
 * Reads records, to be printed in the order of their ids. A lone record is not printed as a list.
 *
 * @throws CliError if no record could be read.
 */
export async function getRecords(
  context: Context,
  noun: RecordNoun,
  idsOrNames: readonly IdOrName[],
): Promise<Output> {
  const access = await openAccess(context, noun, await readOperation(context, noun));
  const { client, names } = access;
  const read = async (idOrName: IdOrName) =>
    (await readRecord(client, noun.name, await names.idOf(namedNoun(noun), idOrName))).value;
  const atOnce = context.settings.get('concurrency');
  const [{ values: found, error }, { view, readNames }] = await Promise.all([
    readEach(idsOrNames, read, { unit: noun.plural, atOnce }),
    openView(access, false),
  ]);
  const [first] = found;
  if (first === undefined) throw error;
  for (const record of found) await readNames(record);
  return idsOrNames.length > 1 ? { pages: [found], view, error } : { record: first, view, error };
}

/** The operation that reads a record. A service that has only a list is asked for that. */
async function readOperation(
  context: Context,
  { operations: { get, list } }: RecordNoun,
): Promise<OperationId> {
  const { operations } = await context.contract();
  return !operations.has(get) && operations.has(list) ? list : get;
}

/** Returns the columns of `get`. */
export async function getView(context: Context, noun: RecordNoun): Promise<View<object>> {
  return recordView(context, noun, await readOperation(context, noun));
}

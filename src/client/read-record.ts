import { type Noun, type NounName, nouns } from '../api/nouns.ts';
import type { ServiceRecord } from '../api/record-values.ts';
import { CliError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import type { CallOptions } from './call.ts';
import type { Client, FetchedRecord } from './client.ts';
import type { ListOptions } from './whole-list.ts';

/**
 * Reads one record. If the service lacks the operation for that, or has withdrawn it, finds the record in the list and prints a note.
 *
 * @throws CliError `not-found` if the record does not exist, and the errors of `client.read`.
 */
export async function readRecord<Members = JsonObject>(
  client: Client,
  noun: NounName,
  id: bigint,
  options: CallOptions = {},
): Promise<FetchedRecord<Members>> {
  const { get, list }: Noun['operations'] = nouns[noun].operations;
  const { operations } = client.contract;
  const operation = operations.get(get);
  let why = 'is not offered';
  if (operation || !operations.has(list)) {
    const reading = client.read(get, { id }, options) as Promise<FetchedRecord<Members>>;
    if (!operation?.isDeprecated || !operations.has(list)) return reading;
    try {
      return await reading;
    } catch (error) {
      if (!isWithdrawn(error)) throw error;
      why = `answered ${error.details.status}`;
    }
  }
  client.notify({ kind: 'note', text: `${get} ${why}: looking through ${list} instead` });
  return readFromList(client, noun, id, { needsWhole: true, ...options });
}

/** Returns true if the operation is gone, and not only the record: 410, or 404 or 405 without an error code of the service. */
function isWithdrawn(error: unknown): error is CliError {
  if (!(error instanceof CliError)) return false;
  const { status, code } = error.details;
  return status === 410 || ((status === 404 || status === 405) && code === undefined);
}

/** Finds a record in the list of its noun. @throws CliError `not-found` if the list does not have it. */
export async function readFromList<Members = JsonObject>(
  client: Client,
  noun: NounName,
  id: bigint,
  options: ListOptions = {},
): Promise<FetchedRecord<Members>> {
  const { singular, idField, operations }: Noun = nouns[noun];
  const { list } = operations;
  for await (const records of client.list(list, {}, options)) {
    const record = records.find(({ fields }) => fields[idField] === id);
    if (record) return { record: record as ServiceRecord<Members> };
  }
  throw new CliError('not-found', `${singular} ${id} does not exist: ${list} has no record with this id`);
}

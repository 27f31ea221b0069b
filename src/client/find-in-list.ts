import { offeredOperation } from '../api/contract.ts';
import type { OperationId, Result } from '../api/operations.ts';
import { type ApiError, CliError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import type { Answer, Client } from './client.ts';
import type { ListOptions } from './whole-list.ts';

/** The list that has the record of each operation that reads one. */
export const listOfGet = {
  getPet: 'listPets',
  getCategory: 'listCategories',
  getOrder: 'listOrders',
  getInventory: 'listInventory',
} as const;

export function isGet(id: OperationId): id is keyof typeof listOfGet {
  return Object.hasOwn(listOfGet, id);
}

/**
 * Whether the operation that reads one record is gone, and not the record: 410, or 404 or 405 without a code of the
 * service's own.
 */
export function isOperationGone({ status, details }: ApiError): boolean {
  return status === 410 || ((status === 404 || status === 405) && details.code === undefined);
}

/**
 * Reads a record through its list, from its id on if the list can begin there.
 *
 * @throws CliError `not-found` if the list does not have it.
 */
export async function readThroughList<K extends keyof typeof listOfGet>(
  client: Client,
  get: K,
  id: bigint,
  options: ListOptions = {},
): Promise<Answer<Result<K>>> {
  const list = listOfGet[get];
  const canSeek = offeredOperation(client.contract, list).ordered && id > 0n;
  const after = canSeek ? id - 1n : undefined;
  const field = get === 'getInventory' ? 'petId' : 'id';
  for await (const page of client.list(list, {}, { whole: true, ...options, after })) {
    const records = page as readonly object[] as readonly JsonObject[];
    const value = records.find((record) => record[field] === id);
    if (value) return { value: value as Result<K>, status: 200, fields: {}, etag: undefined, attempts: [] };
    // The list began at the id, so that its later pages have only larger ones.
    if (canSeek && records.length > 0 && records.every((record) => BigInt(String(record[field] ?? 0)) > id))
      break;
  }
  const noun = get.replace('get', '').toLowerCase();
  throw new CliError('not-found', `${noun} ${id} does not exist: ${list} has no record with this id`);
}

import type { CallOptions, Client } from '../client/client.ts';
import { ApiError } from '../errors.ts';

/** A count as the service has it; null for a pet without an entry. */
export type Count = number | bigint | null;

/** The count as it is now; undefined where it cannot be told. */
export async function readNow(client: Client, petId: bigint, call: CallOptions): Promise<Count | undefined> {
  if (!client.contract.operations.has('getInventory')) return undefined;
  return readEntry(client, petId, call).then(
    ({ count }) => count,
    () => undefined,
  );
}

/** A clause for what was found after all. */
export function describeNow(count: Count | undefined): string {
  if (count === undefined) return '';
  return count === null ? ': it is gone' : `: its quantity is ${count} now`;
}

/** @throws CliError where it cannot be told. */
export async function readEntry(
  client: Client,
  petId: bigint,
  call: CallOptions,
): Promise<{ count: Count; etag: string | undefined }> {
  try {
    const { value, etag } = await client.call('getInventory', { petId }, call);
    return { count: value.quantity, etag };
  } catch (error) {
    if (!isMissing(error)) throw error;
    return { count: null, etag: undefined };
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.kind === 'not-found';
}

import type { InventoryItem } from '../api/schemas.ts';
import { confirmWrite } from '../asking.ts';
import type { Answer } from '../client/client.ts';
import { entryInput, readRecord } from '../client/read-record.ts';
import { type Context, followUpCommand } from '../context.ts';
import { CliError, UsageError } from '../process/errors.ts';
import { type Access, openAccess } from './access.ts';
import type { IdOrName } from './parse-values.ts';
import { recordNouns } from './record-nouns.ts';
import type { Write } from './write.ts';
import { writeRecord } from './write-records.ts';

const { inventory } = recordNouns;

/** Sets the count of a pet. */
export async function setCount(context: Context, pet: IdOrName, quantity: number): Promise<void> {
  const access = await openAccess(context, inventory, 'updateInventory');
  const { client, operation } = access;
  const petId = await access.names.idOf('pets', pet);
  await confirmWrite(context, { what: `set the stock of pet ${petId} to ${quantity}` });
  const read = () => readRecord<InventoryItem>(client, 'inventory', petId);
  // The change is printed for a person on a terminal.
  const isChangePrinted = context.io.stderr.isTerminal && !context.flags.dryRun && !context.quiet;
  await writeRecord(access, async () => {
    // A service that replaces the whole entry must get its other fields back as they were.
    if (!operation.takesChangesOnly) return countWrite(petId, quantity, await read());
    const isRead = isChangePrinted && client.contract.operations.has('getInventory');
    const before = isRead ? await read().catch(() => undefined) : undefined;
    return countWrite(petId, quantity, before && { ...before, etag: undefined });
  });
}

/** Adds to the count of a pet: reads it and writes the sum. */
export async function adjustCount(context: Context, pet: IdOrName, change: bigint): Promise<void> {
  const access = await openAccess(context, inventory, 'updateInventory');
  const petId = await access.names.idOf('pets', pet);
  await confirmWrite(context, { what: `change the stock of pet ${petId} by ${change}` });
  let sum: Sum | undefined;
  try {
    await writeRecord(access, async (refusal) => {
      // If the change may have been added, adding it again would count it twice.
      if (refusal?.details.applied === 'unknown') throw refusal;
      const before = await readRecord<InventoryItem>(access.client, 'inventory', petId);
      // The count is the sum that was sent: a proxy may have sent the request twice and passed on the 412 of the second.
      if (refusal && sum?.quantity === before.value.quantity && !context.settings.offline)
        throw refusal.with({ applied: 'unknown' });
      sum = addTo(before.value, change);
      return countWrite(petId, sum.quantity, before);
    });
  } catch (error) {
    throw sum ? await settleSum(access, error, sum) : error;
  }
}

/** Returns the write of a count. @param before the entry as it was read; with an ETag the write fails if it has changed since. */
function countWrite(petId: bigint, quantity: number, before: Answer<InventoryItem> | undefined): Write {
  const input = { id: petId, body: { quantity }, before: before?.value };
  return { operation: 'updateInventory', input, ifMatch: before?.etag };
}

/** A count as it was read, and the count that an adjustment makes of it. */
interface Sum {
  readonly petId: bigint;
  readonly old: number | bigint;
  readonly quantity: number;
}

/** Adds a change to the count of an entry. @throws UsageError if the sum is not a valid count. */
function addTo({ petId, quantity: old }: InventoryItem, change: bigint): Sum {
  const sum = BigInt(old) + change;
  const limit =
    sum < 0n
      ? 'below 0'
      : sum > BigInt(Number.MAX_SAFE_INTEGER)
        ? `above ${Number.MAX_SAFE_INTEGER}`
        : undefined;
  if (limit === undefined) return { petId, old, quantity: Number(sum) };
  const signed = change < 0n ? change : `+${change}`;
  throw new UsageError(
    `the count of pet ${petId} would go ${limit}: it is ${old} now, and the change is ${signed}`,
  );
}

/** Creates the inventory entry of a pet. */
export async function createEntry(context: Context, pet: IdOrName, quantity: number): Promise<void> {
  const access = await openAccess(context, inventory, 'createInventory');
  const petId = await access.names.idOf('pets', pet);
  await confirmWrite(context, { what: `create the inventory entry of pet ${petId}` });
  const input = await entryInput(access.client, petId, quantity);
  await writeRecord(access, () => ({ operation: 'createInventory', input }));
}

/**
 * Returns the error of an adjustment whose write failed. If the write may have been applied, the error says which count
 * was read back, and advises against adjusting again, because that could count twice.
 */
async function settleSum(access: Access, error: unknown, sum: Sum): Promise<unknown> {
  if (!(error instanceof CliError) || error.details.applied !== 'unknown') return error;
  const { petId } = sum;
  const now = await readRecord<InventoryItem>(access.client, 'inventory', petId).then(
    ({ value }) => value.quantity,
    () => undefined,
  );
  const hint = `do not run it again before you have looked: ${followUpCommand(access.context, ['inventory', 'get', `${petId}`])}`;
  const addition = describeCount(now, sum);
  return error.with({ addition, retryable: false, hint });
}

/**
 * Says whether an adjustment was applied, judged by the count that was read back.
 *
 * @param now undefined if the count could not be read.
 */
function describeCount(now: number | bigint | undefined, { old, quantity }: Sum): string {
  if (now === undefined) return 'the count could not be read back';
  if (now === quantity)
    return `read back, the count is ${now}, which is the result of this adjustment: it was probably applied`;
  if (now === old)
    return `read back, the count is still ${now}: it was not applied when it was read, but still may be`;
  return `read back, the count is ${now}, and ${quantity} was sent: it may or may not have been applied`;
}

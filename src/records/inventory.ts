import type { InventoryItem } from '../api/schemas.ts';
import { confirmWrite } from '../asking.ts';
import type { Answer } from '../client/client.ts';
import { entryInput, readRecord } from '../client/read-record.ts';
import { type Context, commandLine } from '../context.ts';
import { CliError, UsageError } from '../process/errors.ts';
import { type Access, openAccess } from './access.ts';
import type { IdOrName } from './parse-values.ts';
import { recordNouns } from './record-nouns.ts';
import type { Write } from './write.ts';
import { writeRecord } from './write-records.ts';

const { inventory } = recordNouns;

/** Sets a count to a number. */
export async function setCount(context: Context, pet: IdOrName, quantity: number): Promise<void> {
  const access = await openAccess(context, inventory, 'updateInventory');
  const { client, operation } = access;
  const petId = await access.names.idOf('pets', pet);
  await confirmWrite(context, { what: `set the stock of pet ${petId} to ${quantity}` });
  const read = () => readRecord<InventoryItem>(client, 'inventory', petId);
  // A person on a terminal is shown what changed.
  const isShown = context.io.stderr.isTerminal && !context.flags.dryRun && !context.quiet;
  await writeRecord(access, async () => {
    // The further fields of an entry go back as they came.
    if (!operation.takesChangesOnly) return countWrite(petId, quantity, await read());
    const isRead = isShown && client.contract.operations.has('getInventory');
    const before = isRead ? await read().catch(() => undefined) : undefined;
    return countWrite(petId, quantity, before && { ...before, etag: undefined });
  });
}

/** Reads a count, adds to it and writes the sum. */
export async function adjustCount(context: Context, pet: IdOrName, change: bigint): Promise<void> {
  const access = await openAccess(context, inventory, 'updateInventory');
  const petId = await access.names.idOf('pets', pet);
  await confirmWrite(context, { what: `change the stock of pet ${petId} by ${change}` });
  let sum: Sum | undefined;
  try {
    await writeRecord(access, async (refusal) => {
      // Adding again what may have been added would count it twice.
      if (refusal?.details.applied === 'unknown') throw refusal;
      const before = await readRecord<InventoryItem>(access.client, 'inventory', petId);
      // A proxy that sends a request twice passes on the 412 of the second one.
      if (refusal && sum?.quantity === before.value.quantity && !context.settings.offline)
        throw mayBeApplied(refusal);
      sum = addTo(before.value, change);
      return countWrite(petId, sum.quantity, before);
    });
  } catch (error) {
    throw sum ? await settleSum(access, error, sum) : error;
  }
}

/** The error for a write that was refused, although its record now has what was sent. */
function mayBeApplied({ kind, message, details }: CliError): CliError {
  return new CliError(kind, message, { ...details, applied: 'unknown' });
}

/** The write of a count. @param before the entry as it was read: only this state of it is changed. */
function countWrite(petId: bigint, quantity: number, before: Answer<InventoryItem> | undefined): Write {
  const input = { id: petId, body: { quantity }, before: before?.value };
  return { operation: 'updateInventory', input, ifMatch: before?.etag };
}

/** A count and what it is to become. */
interface Sum {
  readonly petId: bigint;
  readonly old: number | bigint;
  readonly quantity: number;
}

/** @throws UsageError if the sum is not a valid count. */
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

/** Creates the entry of a pet. */
export async function createEntry(context: Context, pet: IdOrName, quantity: number): Promise<void> {
  const access = await openAccess(context, inventory, 'createInventory');
  const petId = await access.names.idOf('pets', pet);
  await confirmWrite(context, { what: `create the inventory entry of pet ${petId}` });
  const input = await entryInput(access.client, petId, quantity);
  await writeRecord(access, () => ({ operation: 'createInventory', input }));
}

/**
 * The error for an adjustment whose write failed. If the write may have been applied, it reads the count back and
 * advises against adjusting again, which could count twice.
 */
async function settleSum(access: Access, error: unknown, sum: Sum): Promise<unknown> {
  if (!(error instanceof CliError) || error.details.applied !== 'unknown') return error;
  const { petId } = sum;
  const now = await readRecord<InventoryItem>(access.client, 'inventory', petId).then(
    ({ value }) => value.quantity,
    () => undefined,
  );
  const hint = `do not run it again before you have looked: ${commandLine(access.context, ['inventory', 'get', `${petId}`])}`;
  const addition = describeCount(now, sum);
  return new CliError(error.kind, error.message, { ...error.details, addition, retryable: false, hint });
}

/**
 * What a count that was read back says of an adjustment.
 *
 * @param now undefined if it could not be read.
 */
function describeCount(now: number | bigint | undefined, { old, quantity }: Sum): string {
  if (now === undefined) return 'the count could not be read back';
  if (now === quantity)
    return `read back, the count is ${now}, which is the result of this adjustment: it was probably applied`;
  if (now === old)
    return `read back, the count is still ${now}: it was not applied when it was read, but still may be`;
  return `read back, the count is ${now}, and ${quantity} was sent: it may or may not have been applied`;
}

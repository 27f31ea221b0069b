import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { toWrite } from '../../records/noun.ts';
import { readPet } from '../../records/read-pet.ts';
import { openWrites, writeRecord } from '../../records/write-records.ts';
import { type Count, countWrite } from './count-write.ts';
import { inventory } from './noun.ts';

/** Sets the count of a pet. */
export async function setCount(context: Context, { petId, quantity }: Count): Promise<void> {
  const client = await openWrites(context, inventory, {
    operation: 'updateInventory',
    what: `set the stock of pet ${petId} to ${quantity}`,
  });
  await writeRecord(context, inventory, { client, write: countWrite(context, { petId, quantity }) });
}

/** Reads the count of a pet, adds to it and sets the sum. @throws UsageError if no count can be that. */
export async function adjustCount(
  context: Context,
  { petId, change }: { readonly petId: bigint; readonly change: bigint },
): Promise<void> {
  const client = await openWrites(context, inventory, {
    operation: 'updateInventory',
    what: `change the stock of pet ${petId} by ${change}`,
  });
  const { value, etag } = await inventory.read(context, client, petId);
  const quantity = toQuantity(
    BigInt(value.quantity) + change,
    `adjust the stock of pet ${petId}: ${value.quantity} now, ${signed(change)}`,
  );
  if (etag === undefined) await context.note(notAtomic);
  const write = countWrite(context, { petId, quantity }, { ifMatch: etag });
  await writeRecord(context, inventory, { client, write });
}

/** Creates the inventory entry of a pet, with the status that the pet has. */
export async function createEntry(context: Context, { petId, quantity }: Count): Promise<void> {
  const client = await openWrites(context, inventory, {
    operation: 'createInventory',
    what: `create the inventory entry of pet ${petId}`,
  });
  const pet = (await readPet(context, client, petId)).value;
  const body = { petId, quantity, status: pet.status ?? 'available' } as const;
  await writeRecord(context, inventory, { client, write: toWrite('createInventory', { body }) });
}

const notAtomic =
  'note: adjust is not atomic because the service sends no ETag: a change by somebody else at this moment would be lost';

function toQuantity(sum: bigint, what: string): number {
  if (sum < 0n) throw new UsageError(`${what}: it would go below 0`);
  if (sum > BigInt(Number.MAX_SAFE_INTEGER))
    throw new UsageError(`${what}: it would go above ${Number.MAX_SAFE_INTEGER}`);
  return Number(sum);
}

function signed(change: bigint): string {
  return change < 0n ? `${change}` : `+${change}`;
}

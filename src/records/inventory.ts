import { confirmWrite } from '../asking.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output/print.ts';
import { openAccess } from './access.ts';
import type { IdOrName } from './parse-values.ts';
import { recordNouns } from './record-nouns.ts';
import { writeRecords } from './write-records.ts';

const { inventory } = recordNouns;

/** Sets the count of a pet. */
export async function setCount(
  context: Context,
  pet: IdOrName,
  quantity: number,
): Promise<Output | undefined> {
  const access = await openAccess(context, inventory, 'updateInventory');
  const petId = await access.names.idOf('pets', pet);
  await confirmWrite(context, { what: `set the stock of pet ${petId} to ${quantity}` });
  return writeRecords(access, [{ id: petId, intent: { kind: 'set', value: quantity } }], { asList: false });
}

/** Adds to the count of a pet: reads it and writes the sum. */
export async function adjustCount(
  context: Context,
  pet: IdOrName,
  change: bigint,
): Promise<Output | undefined> {
  const access = await openAccess(context, inventory, 'updateInventory');
  const petId = await access.names.idOf('pets', pet);
  await confirmWrite(context, { what: `change the stock of pet ${petId} by ${change}` });
  return writeRecords(access, [{ id: petId, intent: { kind: 'add', change: Number(change) } }], {
    asList: false,
  });
}

/** Creates the inventory entry of a pet. */
export async function createEntry(
  context: Context,
  pet: IdOrName,
  quantity: number,
): Promise<Output | undefined> {
  const access = await openAccess(context, inventory, 'createInventory');
  const petId = await access.names.idOf('pets', pet);
  await confirmWrite(context, { what: `create the inventory entry of pet ${petId}` });
  const intent = { kind: 'create', fields: { petId, quantity } } as const;
  return writeRecords(access, [{ id: petId, intent }], { asList: false });
}

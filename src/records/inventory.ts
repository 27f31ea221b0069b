import { confirmWrite } from '../asking.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output/print.ts';
import type { Intent } from '../writes/decide.ts';
import { openAccess } from './access.ts';
import type { IdOrName } from './parse-values.ts';
import { recordNouns } from './record-nouns.ts';
import { writeRecords } from './write-records.ts';

/** A write of the count of a pet: a count, a change that is added to what is read, or a new entry with a count. */
type CountWrite =
  | { readonly kind: 'set' | 'create'; readonly quantity: number }
  | { readonly kind: 'add'; readonly change: bigint };

/** Writes the count of a pet. */
export async function writeCount(
  context: Context,
  pet: IdOrName,
  write: CountWrite,
): Promise<Output | undefined> {
  const operation = write.kind === 'create' ? 'createInventory' : 'updateInventory';
  const access = await openAccess(context, recordNouns.inventory, operation);
  const id = await access.names.idOf('pets', pet);
  const { what, intent } = describeWrite(id, write);
  await confirmWrite(context, { what });
  return writeRecords(access, [{ id, intent }], { asList: false });
}

function describeWrite(petId: bigint, write: CountWrite): { readonly what: string; readonly intent: Intent } {
  if (write.kind === 'add')
    return {
      what: `change the stock of pet ${petId} by ${write.change}`,
      intent: { kind: 'add', change: Number(write.change) },
    };
  const { kind, quantity } = write;
  return kind === 'set'
    ? { what: `set the stock of pet ${petId} to ${quantity}`, intent: { kind, value: quantity } }
    : {
        what: `create the inventory entry of pet ${petId}`,
        intent: { kind, fields: { petId, quantity } },
      };
}

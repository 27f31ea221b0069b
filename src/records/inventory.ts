import { confirmWrite } from '../asking.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output/print.ts';
import type { Intent } from '../writes/decide.ts';
import { openAccess } from './access.ts';
import type { IdOrName } from './parse-values.ts';
import { recordNouns } from './record-nouns.ts';
import { writeRecords } from './write-records.ts';

/** Writes the count of a pet: sets it, adds to what is read, or creates the entry. */
export async function writeCount(
  context: Context,
  pet: IdOrName,
  kind: 'set' | 'add' | 'create',
  count: number,
): Promise<Output | undefined> {
  const operation = kind === 'create' ? 'createInventory' : 'updateInventory';
  const access = await openAccess(context, recordNouns.inventory, operation);
  const id = await access.names.idOf('pets', pet);
  const what = {
    set: `set the stock of pet ${id} to ${count}`,
    add: `change the stock of pet ${id} by ${count}`,
    create: `create the inventory entry of pet ${id}`,
  };
  await confirmWrite(context, { what: what[kind] });
  const intents: Readonly<Record<typeof kind, Intent>> = {
    set: { kind: 'set', value: count },
    add: { kind: 'add', change: count },
    create: { kind: 'create', fields: { petId: id, quantity: count } },
  };
  return writeRecords(access, [{ id, intent: intents[kind] }], { asList: false });
}

import type { InventoryItem } from '../../api/schemas.ts';
import { type Noun, toWrite } from '../../records/noun.ts';
import { inventoryView } from './view.ts';

export const inventory: Noun<InventoryItem> = {
  one: 'the inventory entry of pet',
  many: 'inventory entries',
  title: ({ quantity }) => `${quantity} in stock`,
  view: inventoryView,
  fillView: async () => ({ view: inventoryView }),
  reading: ['getInventory'],
  read: (_, client, petId) => client.call('getInventory', { petId }),
  removal: 'deleteInventory',
  remove: (petId) => toWrite('deleteInventory', { petId }),
};

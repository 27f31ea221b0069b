import type { InventoryItem } from '../../api/schemas.ts';
import type { View } from '../../output/columns.ts';

export const inventoryView: View<InventoryItem> = {
  noun: 'inventory entries',
  columns: [
    { name: 'petId', value: (item) => item.petId, align: 'right' },
    { name: 'quantity', value: (item) => item.quantity, align: 'right' },
    { name: 'status', value: (item) => item.status, status: true },
  ],
};

import { inventory } from '../../records/inventory.ts';

export const inventoryView = inventory.view;

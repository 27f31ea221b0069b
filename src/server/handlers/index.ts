import { categoryHandlers } from './categories.ts';
import type { Handlers } from './handler.ts';
import { inventoryHandlers } from './inventory.ts';
import { orderHandlers } from './orders.ts';
import { petHandlers } from './pets.ts';

/** The handler of every operation of the table; one that is missing does not compile. */
export const handlers: Handlers = {
  ...petHandlers,
  ...categoryHandlers,
  ...orderHandlers,
  ...inventoryHandlers,
};

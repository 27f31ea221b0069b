import type { InventoryItem } from '../../api/schemas.ts';
import type { CallOptions } from '../../client/client.ts';
import type { Context } from '../../context.ts';
import { toWrite, type Write } from '../../records/noun.ts';

export interface Count {
  readonly petId: bigint;
  readonly quantity: number;
}

/** Sets a count; where the service answers with another one, a note says so. */
export function countWrite(
  context: Context,
  { petId, quantity }: Count,
  options?: CallOptions,
): Write<InventoryItem> {
  const write = toWrite('updateInventory', { petId, body: { quantity } }, options);
  return {
    ...write,
    async send(client) {
      const item = await write.send(client);
      if (item !== undefined && item.quantity !== quantity)
        await context.note(
          `warning: the service answers with ${item.quantity} for pet ${petId}, and was told ${quantity}`,
        );
      return item;
    },
  };
}

import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { openWrites, writeRecord } from '../../records/write-records.ts';
import { idArgument, parseChange } from '../arguments.ts';
import { Argument, verb } from '../command.ts';
import type { Entry } from '../entry.ts';
import { countWrite } from './count-write.ts';
import { inventory } from './noun.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description:
      'Reads the stock count of a pet, adds to it and sets the sum. Between reading and setting somebody else may change it: only a service that sends an ETag can tell, and then nothing is overwritten.',
    write: true,
    examples: ['petstore inventory adjust 42 +5', 'petstore inventory adjust 42 -5'],
  })
    .addArgument(idArgument('the pet', 'petId'))
    .addArgument(new Argument('<change>', 'what to add, as +5 or -5').argParser(parseChange))
    .action(async (petId, change) => {
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
    });
}

const notAtomic =
  'note: adjust is not atomic, for the service sends no ETag: a change by somebody else at this moment would be lost';

/** @throws UsageError where a count cannot be that. */
function toQuantity(sum: bigint, what: string): number {
  if (sum < 0n) throw new UsageError(`${what}: it would go below 0`);
  if (sum > BigInt(Number.MAX_SAFE_INTEGER))
    throw new UsageError(`${what}: it would go above ${Number.MAX_SAFE_INTEGER}`);
  return Number(sum);
}

function signed(change: bigint): string {
  return change < 0n ? `${change}` : `+${change}`;
}

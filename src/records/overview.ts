import { offeredOperation } from '../api/contract.ts';
import type { ListId, Result } from '../api/operations.ts';
import type { RecordOf } from '../api/schemas.ts';
import { defaultStatus } from '../api/values.ts';
import type { Client } from '../client/client.ts';
import { collectFields } from '../client/whole-list.ts';
import type { Context } from '../context.ts';
import { errorSentence } from '../output/error.ts';
import { CliError } from '../process/errors.ts';
import { caseless } from '../process/text.ts';
import { statusesOf } from './body-fields.ts';

/** The most counts, and the most orders, that the overview lists. */
const maxRows = 10;

/** The state of the store. A part that cannot be read is null. */
export type Overview = Awaited<ReturnType<typeof readOverview>>['overview'];

/**
 * Reads every list once, and sums up the store. A warning names each part that cannot be read.
 *
 * @param below the least count that is not listed.
 * @returns the overview, and the number of all open orders.
 * @throws CliError if no part can be read.
 */
export async function readOverview(context: Context, client: Client, below: number) {
  const errors: CliError[] = [];
  const readPart = async <K extends ListId>(id: K, name: string): Promise<Result<K>[] | undefined> => {
    try {
      offeredOperation(client.contract, id);
      return await collectFields(client.list(id, {}, { needsWhole: true }));
    } catch (error) {
      if (!(error instanceof CliError) || context.interrupts.signal.aborted) throw error;
      errors.push(error);
      await context.printNotice(`warning: ${name} are missing: ${errorSentence(error)}`);
      return undefined;
    }
  };
  const [pets, inventory, orders] = await Promise.all([
    readPart('listPets', 'pets'),
    readPart('listInventory', 'counts'),
    readPart('listOrders', 'orders'),
  ]);
  const [firstError] = errors;
  if (firstError && !pets && !inventory && !orders) throw firstError;
  const petById = new Map(pets?.map((pet) => [pet.id, pet]));
  const nameOf = (id: bigint | null | undefined) => petById.get(id as bigint)?.name ?? null;
  const isSold = ({ petId, status }: RecordOf<'inventory'>) =>
    (status ?? petById.get(petId)?.status)?.toLowerCase() === 'sold';
  const lowest = inventory
    ?.filter((entry) => entry.quantity < below && !isSold(entry))
    .sort((a, b) => Number(a.quantity) - Number(b.quantity));
  const openOrders = orders?.filter(({ complete }) => complete !== true).sort(byShipDate);
  const overview = {
    pets: pets ? countStatuses(pets, statusesOf(client.contract, 'pets')) : null,
    inventory:
      lowest?.slice(0, maxRows).map(({ petId, quantity }) => ({ petId, name: nameOf(petId), quantity })) ??
      null,
    orders:
      openOrders?.slice(0, maxRows).map((order) => ({
        id: order.id,
        petId: order.petId,
        name: nameOf(order.petId),
        quantity: order.quantity,
        shipDate: order.shipDate,
        overdue: isOverdue(order, context.now()),
      })) ?? null,
  };
  return { overview, open: openOrders?.length ?? 0 };
}

/** Counts the pets of each status, those of the service's words first. */
function countStatuses(pets: readonly RecordOf<'pets'>[], words: readonly string[] = []) {
  const totals = new Map(words.map((word) => [word, 0]));
  for (const { status } of pets) {
    const petStatus = status ?? defaultStatus;
    const word = words.find((each) => caseless(each) === caseless(petStatus)) ?? petStatus;
    totals.set(word, (totals.get(word) ?? 0) + 1);
  }
  return Array.from(totals, ([status, total]) => ({ status, total }));
}

type Order = RecordOf<'orders'>;

/** Compares orders by ship date, so that overdue ones come first. Orders without a date come last. */
function byShipDate(a: Order, b: Order): number {
  const time = ({ shipDate }: Order) => Date.parse(shipDate ?? '') || Number.MAX_SAFE_INTEGER;
  return time(a) - time(b);
}

/** Returns true if an order is open and overdue: the day of its ship date, in UTC, is over. */
export function isOverdue(order: Order, now: Date): boolean {
  return isDueBefore(order, new Date(now).setUTCHours(0, 0, 0, 0));
}

/** Returns true if an order is open and ships before a moment. @param momentMs in milliseconds of Unix time */
export function isDueBefore({ complete, shipDate }: Order, momentMs: number): boolean {
  return complete !== true && typeof shipDate === 'string' && Date.parse(shipDate) < momentMs;
}

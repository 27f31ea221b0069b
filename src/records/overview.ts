import { offeredOperation } from '../api/contract.ts';
import type { ListId } from '../api/operations.ts';
import type { InventoryItem, Order, Pet } from '../api/schemas.ts';
import { petStatuses } from '../api/values.ts';
import type { Client } from '../client/client.ts';
import { collectRecords } from '../client/whole-list.ts';
import type { Context } from '../context.ts';
import { errorSentence } from '../output/error.ts';
import { CliError } from '../process/errors.ts';
import { Names } from './names.ts';
import { isOverdue } from './order-dates.ts';

/** The most low counts that are listed, and the most orders. */
const maxRows = 10;

export type Overview = Awaited<ReturnType<typeof readOverview>>['overview'];

/**
 * Reads every list once, and sums up the shop: its pets, its lowest counts, and the open orders that ship first. A part
 * that cannot be read is missing, with a note; if there is none that can be read, the first error is thrown.
 *
 * @param below counts under this one are low. `lowCount` says how many there are, listed or not.
 */
export async function readOverview(context: Context, client: Client, below: number) {
  const now = context.now();
  const read = async <K extends ListId>(id: K) => {
    try {
      offeredOperation(client.contract, id);
      return await collectRecords(client.list(id, {}, { whole: true }));
    } catch (error) {
      if (!(error instanceof CliError) || context.interrupts.signal.aborted) throw error;
      return error;
    }
  };
  const [petsRead, inventoryRead, ordersRead, categories] = await Promise.all([
    read('listPets'),
    read('listInventory'),
    read('listOrders'),
    new Names(context, client).namesOf('categories'),
  ]);
  const failures = { pets: petsRead, counts: inventoryRead, orders: ordersRead };
  for (const warning of missingParts(failures)) await context.warn(warning);
  const [pets, inventory, orders] = [listOr(petsRead), listOr(inventoryRead), listOr(ordersRead)];
  if (pets && categories.note !== undefined) await context.warn(categories.note);
  const byId = new Map(pets?.map((pet) => [pet.id, pet]));
  const isSold = ({ petId, status }: InventoryItem) => (status ?? byId.get(petId)?.status) === 'sold';
  const low = inventory
    ?.filter((entry) => entry.quantity < below && !isSold(entry))
    .sort((a, b) => Number(a.quantity) - Number(b.quantity));
  const open = orders?.filter(({ complete }) => complete !== true).sort(byShipDate);
  const overview = {
    pets: pets
      ? {
          total: pets.length,
          byStatus: countStatuses(pets),
          byCategory: countCategories(pets, categories.nameById),
        }
      : null,
    inventory: low
      ? {
          below,
          lowest: low
            .slice(0, maxRows)
            .map(({ petId, quantity }) => ({ petId, name: byId.get(petId)?.name ?? null, quantity })),
        }
      : null,
    orders: open
      ? {
          open: open.length,
          overdue: open.filter((order) => isOverdue(order, now)).length,
          next: open.slice(0, maxRows).map((order) => ({
            id: order.id,
            petId: order.petId,
            name: (typeof order.petId === 'bigint' && byId.get(order.petId)?.name) || null,
            quantity: order.quantity,
            shipDate: order.shipDate,
            overdue: isOverdue(order, now),
          })),
        }
      : null,
  };
  return { overview, lowCount: low?.length ?? 0 };
}

/**
 * A warning for each cause, which names the parts that are missing: `warning: counts and orders are missing: …`.
 *
 * @param parts each part's list, or the error of its reading.
 * @throws CliError the first of the errors if all parts are missing.
 */
function missingParts(parts: Readonly<Record<string, readonly unknown[] | CliError>>): string[] {
  const byCause = new Map<string, { readonly names: string[]; readonly error: CliError }>();
  for (const [name, part] of Object.entries(parts)) {
    if (!(part instanceof CliError)) continue;
    const cause = byCause.get(part.message) ?? { names: [], error: part };
    cause.names.push(name);
    byCause.set(part.message, cause);
  }
  const causes = [...byCause.values()];
  const missing = causes.flatMap(({ names }) => names);
  if (causes[0] && missing.length === Object.keys(parts).length) throw causes[0].error;
  return causes.map(
    ({ names, error }) => `warning: ${names.join(' and ')} are missing: ${errorSentence(error)}`,
  );
}

function listOr<Entity>(part: readonly Entity[] | CliError): readonly Entity[] | undefined {
  return part instanceof CliError ? undefined : part;
}

/** A bound service may have statuses of its own. */
function countStatuses(pets: readonly Pet[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = Object.fromEntries(petStatuses.map((status) => [status, 0]));
  for (const { status } of pets) counts[status ?? 'available'] = (counts[status ?? 'available'] ?? 0) + 1;
  return counts;
}

/** The largest first. The name is null if the list of categories does not have it. */
function countCategories(pets: readonly Pet[], names: ReadonlyMap<bigint, string>) {
  const totals = new Map<string, { categoryId: bigint | null; name: string | null; total: number }>();
  for (const [categoryId, name] of names) totals.set(`${categoryId}`, { categoryId, name, total: 0 });
  for (const pet of pets) {
    const id = pet.categoryId ?? null;
    const name = typeof pet.category === 'string' ? pet.category : null;
    const key = `${id ?? name}`;
    const category = totals.get(key) ?? { categoryId: id, name, total: 0 };
    category.total += 1;
    totals.set(key, category);
  }
  return [...totals.values()].sort((a, b) => b.total - a.total);
}

/** Orders without a date come last. */
function byShipDate(a: Order, b: Order): number {
  const time = ({ shipDate }: Order) => Date.parse(shipDate ?? '') || Number.MAX_SAFE_INTEGER;
  return time(a) - time(b);
}

import { offeredOperation } from '../api/contract.ts';
import type { ListId } from '../api/operations.ts';
import type { InventoryItem, Order, Pet } from '../api/schemas.ts';
import type { Client } from '../client/client.ts';
import { collectRecords } from '../client/whole-list.ts';
import type { Context } from '../context.ts';
import { errorSentence } from '../output/error.ts';
import { CliError } from '../process/errors.ts';
import { statusWords } from './field-words.ts';
import { Names } from './names.ts';
import { isOverdue } from './order-dates.ts';
import { wordOf } from './parse-values.ts';

/** The status of pets whose counts do not matter. */
const soldStatus = 'sold';
/** The most counts, and the most orders, that the overview lists. */
const maxRows = 10;

export type Overview = Awaited<ReturnType<typeof readOverview>>['overview'];

/**
 * Reads every list once, and sums up the store: its pets, its lowest counts, and the open orders that ship first. A part
 * that cannot be read is null, and a warning names it.
 *
 * @param below counts under this number are low.
 * @returns the overview, and the number of low counts, of which the overview has at most ten.
 * @throws CliError if no part can be read.
 */
export async function readOverview(context: Context, client: Client, below: number) {
  const now = context.now();
  const readPart = async <K extends ListId>(id: K) => {
    try {
      offeredOperation(client.contract, id);
      return await collectRecords(client.list(id, {}, { whole: true }));
    } catch (error) {
      if (!(error instanceof CliError) || context.interrupts.signal.aborted) throw error;
      return error;
    }
  };
  const [petsPart, inventoryPart, ordersPart, categories] = await Promise.all([
    readPart('listPets'),
    readPart('listInventory'),
    readPart('listOrders'),
    new Names(context, client).namesOf('categories'),
  ]);
  const parts = { pets: petsPart, counts: inventoryPart, orders: ordersPart };
  for (const warning of missingPartWarnings(parts)) await context.warn(warning);
  const pets = toList(petsPart);
  const inventory = toList(inventoryPart);
  const orders = toList(ordersPart);
  if (pets && categories.note !== undefined) await context.warn(categories.note);
  const petById = new Map(pets?.map((pet) => [pet.id, pet]));
  const words = statusWords(client.contract, 'pets');
  if (inventory && words?.every((word) => word.toLowerCase() !== soldStatus))
    await context.warn(
      `note: pets have no status ${soldStatus} here, so the lowest counts are those of all pets`,
    );
  const isSold = ({ petId, status }: InventoryItem) =>
    (status ?? petById.get(petId)?.status)?.toLowerCase() === soldStatus;
  const lowEntries = inventory
    ?.filter((entry) => entry.quantity < below && !isSold(entry))
    .sort((a, b) => Number(a.quantity) - Number(b.quantity));
  const openOrders = orders?.filter(({ complete }) => complete !== true).sort(byShipDate);
  const overview = {
    pets: pets
      ? {
          total: pets.length,
          byStatus: countStatuses(pets, words),
          byCategory: countCategories(pets, categories.nameById),
        }
      : null,
    inventory: lowEntries
      ? {
          below,
          lowest: lowEntries
            .slice(0, maxRows)
            .map(({ petId, quantity }) => ({ petId, name: petById.get(petId)?.name ?? null, quantity })),
        }
      : null,
    orders: openOrders
      ? {
          open: openOrders.length,
          overdue: openOrders.filter((order) => isOverdue(order, now)).length,
          next: openOrders.slice(0, maxRows).map((order) => ({
            id: order.id,
            petId: order.petId,
            name: (typeof order.petId === 'bigint' && petById.get(order.petId)?.name) || null,
            quantity: order.quantity,
            shipDate: order.shipDate,
            overdue: isOverdue(order, now),
          })),
        }
      : null,
  };
  return { overview, lowCount: lowEntries?.length ?? 0 };
}

/**
 * Returns a warning for each cause: `warning: counts and orders are missing: …`.
 *
 * @param parts the list of each part, or the error of its reading.
 * @throws CliError the first error, if all parts are missing.
 */
function missingPartWarnings(parts: Readonly<Record<string, readonly unknown[] | CliError>>): string[] {
  const byCause = new Map<string, { readonly names: string[]; readonly error: CliError }>();
  for (const [name, part] of Object.entries(parts)) {
    if (!(part instanceof CliError)) continue;
    const cause = byCause.get(part.message) ?? { names: [], error: part };
    cause.names.push(name);
    byCause.set(part.message, cause);
  }
  const causes = [...byCause.values()];
  const missingNames = causes.flatMap(({ names }) => names);
  if (causes[0] && missingNames.length === Object.keys(parts).length) throw causes[0].error;
  return causes.map(
    ({ names, error }) => `warning: ${names.join(' and ')} are missing: ${errorSentence(error)}`,
  );
}

function toList<Entity>(part: readonly Entity[] | CliError): readonly Entity[] | undefined {
  return part instanceof CliError ? undefined : part;
}

/** Counts the pets of each status, those of the service's words first. */
function countStatuses(
  pets: readonly Pet[],
  words: readonly string[] = [],
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = Object.fromEntries(words.map((word) => [word, 0]));
  for (const { status } of pets) {
    const { value: name = status ?? 'available' } = wordOf(status ?? 'available', words);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Counts the pets of each category, the largest first. A name is null if the list of categories does not have it. */
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

/** Compares orders by ship date. Orders without a date come last. */
function byShipDate(a: Order, b: Order): number {
  const time = ({ shipDate }: Order) => Date.parse(shipDate ?? '') || Number.MAX_SAFE_INTEGER;
  return time(a) - time(b);
}

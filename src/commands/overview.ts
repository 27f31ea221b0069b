import { defaultOf, requireOperation } from '../api/contract.ts';
import type { ListId, Operation, Result } from '../api/operations.ts';
import type { RecordOf } from '../api/schemas.ts';
import { value } from '../cli/flag.ts';
import { action } from '../cli/verb.ts';
import type { Client } from '../client/client.ts';
import { collectFields } from '../client/lists/read-list.ts';
import { parseQuantity } from '../input/numbers.ts';
import type { Column } from '../output/columns.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { groupDigits } from '../process/text.ts';
import { isOpenOrder, isOverdue, shipMoment } from '../records/record-fields.ts';

/** The most counts, and the most orders, that the overview lists. */
const maxRows = 10;

export const overview = action({
  description: `Shows the state of the store: pets by status, the ${maxRows} lowest counts of pets that are not sold, and the open orders that ship first. Reads every list once. A list that the service does not offer is missing, or null as data; one that cannot be read is an error.`,
  examples: ['petstore overview', 'petstore overview --below 10', 'petstore overview -o json'],
  formats: ['table', 'json', 'jsonl', 'yaml'],
  flags: {
    below: value('--below <n>', 'only counts under n', { parse: parseQuantity }),
  },
  async run(context, { below = Number.POSITIVE_INFINITY }) {
    const printer = context.printer;
    const { overview, open } = await readOverview(await context.client(), below);
    const { bold } = await context.style('stdout');
    const section = async (title: string, columns: readonly Column<Row>[], rows: readonly Row[] | null) =>
      `${bold(title)}\n${rows ? await printer.tableText(columns, rows) : 'not shown by the service\n'}`;
    const { pets, inventory, orders } = overview;
    const sections = [
      await section('Pets', petColumns, pets),
      await section('Lowest counts, without sold pets', countColumns, inventory),
      await section(`Open orders${orders ? `: ${groupDigits(open)}` : ''}`, orderColumns, orders),
    ];
    return { kind: 'text', text: sections.join('\n'), data: overview };
  },
});

/** A row of one of the three tables. */
type Row = Readonly<Record<string, JsonValue | undefined>>;

const petColumns: readonly Column<Row>[] = [
  { name: 'status', value: ({ status }) => status ?? 'none', isState: true },
  { name: 'total', value: ({ total }) => total, align: 'right' },
];

const countColumns: readonly Column<Row>[] = [
  { name: 'petId', value: ({ petId }) => petId, align: 'right' },
  { name: 'name', value: ({ name }) => name },
  { name: 'quantity', value: ({ quantity }) => quantity, align: 'right' },
];

const orderColumns: readonly Column<Row>[] = [
  { name: 'id', value: ({ id }) => id, align: 'right' },
  { name: 'pet', value: ({ petId }) => petId, align: 'right' },
  { name: 'name', value: ({ name }) => name },
  { name: 'quantity', value: ({ quantity }) => quantity, align: 'right' },
  { name: 'shipDate', value: ({ shipDate }) => shipDate, isTime: true },
  { name: 'overdue', value: ({ overdue }) => (overdue ? 'overdue' : undefined), isState: true },
];

/**
 * Reads every list once, and sums up the store.
 *
 * @param below only counts below this are listed.
 * @returns the overview, in which a part is null if the service does not offer its list or the field that it needs; and the
 * number of all open orders.
 * @throws CliError if a list cannot be read, and UnboundError if the service offers none.
 */
async function readOverview(client: Client, below: number) {
  const { contract } = client;
  const readPart = async <K extends ListId>(id: K, field: string): Promise<Result<K>[] | undefined> => {
    const { names } = contract.operations.get(id)?.recordForm ?? { names: {} };
    return Object.hasOwn(names, field) ? collectFields(client.list(id, {}, { needsWhole: true })) : undefined;
  };
  const [pets, inventory, orders] = await Promise.all([
    readPart('listPets', 'id'),
    readPart('listInventory', 'quantity'),
    // Without `complete` every order would count as open.
    readPart('listOrders', 'complete'),
  ]);
  if (!pets && !inventory && !orders) requireOperation(contract, 'listPets');
  const petById = new Map(pets?.map((pet) => [pet.id, pet]));
  const nameOf = (id: bigint | null | undefined) => petById.get(id as bigint)?.name ?? null;
  const isSold = ({ petId, status }: RecordOf<'inventory'>) =>
    (status ?? petById.get(petId)?.status)?.toLowerCase() === 'sold';
  const lowest = inventory
    ?.filter((entry) => entry.quantity < below && !isSold(entry))
    .sort((a, b) => Number(a.quantity) - Number(b.quantity));
  const openOrders = orders?.filter(isOpenOrder).sort(byShipDate);
  const overview = {
    pets: pets ? countStatuses(pets, requireOperation(contract, 'listPets')) : null,
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
        overdue: isOverdue(order),
      })) ?? null,
  };
  return { overview, open: openOrders?.length ?? 0 };
}

/** Counts the pets of each status. A pet without one has the default of the description, or null. */
function countStatuses(pets: readonly RecordOf<'pets'>[], listPets: Operation) {
  const totals = new Map<JsonValue, number>();
  const defaultStatus = defaultOf(listPets, 'status') ?? null;
  for (const pet of pets) {
    const status = pet.status ?? defaultStatus;
    totals.set(status, (totals.get(status) ?? 0) + 1);
  }
  return Array.from(totals, ([status, total]) => ({ status, total }));
}

type Order = RecordOf<'orders'>;

/** Compares orders by ship date, so that overdue ones come first. Orders without a date, or with another text, come last. */
function byShipDate(a: Order, b: Order): number {
  const [first, second] = [a, b].map((order) => {
    const ms = shipMoment(order);
    return Number.isNaN(ms) ? Number.MAX_SAFE_INTEGER : ms;
  }) as [number, number];
  return first - second;
}

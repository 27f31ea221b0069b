import { offeredOperation } from '../api/contract.ts';
import type { ListId } from '../api/operations.ts';
import type { InventoryItem, Order, Pet } from '../api/schemas.ts';
import { petStatuses } from '../api/values.ts';
import type { Client } from '../client/client.ts';
import { collectRecords } from '../client/whole-list.ts';
import { type Context, commandLine } from '../context.ts';
import type { Column } from '../output/columns.ts';
import { errorSentence } from '../output/error.ts';
import type { Printer } from '../output/print.ts';
import { CliError, UsageError } from '../process/errors.ts';
import { groupDigits } from '../process/text.ts';
import { Names } from './names.ts';
import { isOverdue } from './order-dates.ts';

/** The most low counts that are printed, and the most orders. */
const maxRows = 10;
const maxCategories = 7;
/** The width of the longest bar, in columns. */
const barWidth = 30;
/** The rows of each section that stay if the terminal is too short for all. */
const leastRows = 2;

/**
 * Reads every list once, and prints the state of the shop on one screen or as data. A part that cannot be read is
 * missing, with a note; if there is none that can be read, the first error is thrown.
 */
export async function showOverview(context: Context, below: number): Promise<void> {
  const printer = await context.printer();
  if (!['table', 'json', 'jsonl', 'yaml'].includes(printer.format))
    throw new UsageError(`output ${printer.format}: overview is printed as table, json, jsonl or yaml`);
  const { fields, sort } = context.flags;
  if (fields !== undefined || sort !== undefined)
    throw new UsageError(
      `overview: ${fields === undefined ? '--sort' : '--fields'} does not apply: it has no columns`,
      '-o json has all of it as data',
    );
  const client = await context.client();
  const { lowCount, ...overview } = await readOverview(context, client, below);
  await printer.documents([overview], await overviewText(context, printer, overview, lowCount));
}

type Overview = Omit<Awaited<ReturnType<typeof readOverview>>, 'lowCount'>;

/** Reads every list, and sums up the shop: its pets, its lowest counts, and the open orders that ship first. */
async function readOverview(context: Context, client: Client, below: number) {
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
  return {
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
    /** How many counts are low, shown or not. */
    lowCount: low?.length ?? 0,
  };
}

/**
 * A warning for each cause that parts are missing for, which names them: `warning: counts and orders are missing: …`.
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

/** A part of the overview on a terminal or in a pipe. */
interface Section {
  readonly title: string;
  /** Lines that it always has: title, headers, statuses. */
  readonly fixedLines: number;
  /** The rows that it has at most, and how many there would be. */
  readonly rows: number;
  readonly total: number;
  /** Draws the first rows. */
  draw(rows: number): Promise<string>;
  /** The words of the command that shows all. */
  readonly command?: readonly string[];
}

/** The overview as tables. On a terminal it has as many rows as fit its height. */
async function overviewText(
  context: Context,
  printer: Printer,
  { pets, inventory, orders }: Overview,
  lowCount: number,
): Promise<string> {
  const { stdout } = context.io;
  const sections = [
    pets ? petsSection(printer, pets, stdout.isTerminal ? '█' : '#') : missing('Pets'),
    inventory ? countsSection(printer, inventory, lowCount) : missing('Lowest counts'),
    orders ? ordersSection(printer, orders) : missing('Open orders'),
  ];
  const limits = rowsThatFit(sections, stdout.isTerminal ? (stdout.height ?? 24) - 1 : undefined);
  const { bold, dim } = await context.style('stdout');
  const texts = sections.map(async ({ title, total, draw, command }, at) => {
    const rows = limits[at] ?? 0;
    const all = command === undefined ? '' : `: ${commandLine(context, command)}`;
    const more = total > rows ? `${dim(`and ${groupDigits(total - rows)} more${all}`)}\n` : '';
    return `${bold(title)}\n${await draw(rows)}${more}`;
  });
  return (await Promise.all(texts)).join('\n');
}

function missing(name: string): Section {
  return { title: `${name}: missing`, fixedLines: 1, rows: 0, total: 0, draw: async () => '' };
}

/** Rows of the sections so that all fit a height in lines; the longest section gives up rows first. */
function rowsThatFit(sections: readonly Section[], height = Number.POSITIVE_INFINITY): number[] {
  const limits = sections.map(({ rows }) => rows);
  const lines = () =>
    sections.reduce(
      (sum, { fixedLines, total }, at) =>
        sum + fixedLines + (limits[at] ?? 0) + (total > (limits[at] ?? 0) ? 1 : 0),
      sections.length - 1,
    );
  while (lines() > height && Math.max(...limits) > leastRows)
    limits[limits.indexOf(Math.max(...limits))] = Math.max(...limits) - 1;
  return limits;
}

/** How many pets have a status, or are of a category. */
interface Share {
  readonly name: string;
  readonly total: number;
}

/** Pets by status, and below them by category, with bars made of a character. */
function petsSection(printer: Printer, pets: NonNullable<Overview['pets']>, block: string): Section {
  const statuses = Object.entries(pets.byStatus).map(([name, total]) => ({ name, total }));
  const categories = pets.byCategory.map(({ categoryId, name, total }) => ({
    name: name ?? `category ${categoryId}`,
    total,
  }));
  const most = Math.max(1, ...[...statuses, ...categories].map(({ total }) => total));
  const columns: readonly Column<Share>[] = [
    { name: 'name', value: ({ name }) => name, status: true },
    { name: 'total', value: ({ total }) => groupDigits(total), align: 'right' },
    { name: 'bar', value: ({ total }) => block.repeat(Math.ceil((total / most) * barWidth)) },
  ];
  return {
    title: `Pets: ${groupDigits(pets.total)}`,
    fixedLines: 1 + statuses.length,
    rows: Math.min(categories.length, maxCategories),
    total: categories.length,
    draw: (rows) => printer.alignedText(columns, [...statuses, ...categories.slice(0, rows)], false),
  };
}

function countsSection(
  printer: Printer,
  { below, lowest }: NonNullable<Overview['inventory']>,
  total: number,
): Section {
  return {
    title: `Lowest counts, under ${groupDigits(below)}: ${groupDigits(total)}`,
    fixedLines: 2,
    rows: lowest.length,
    total,
    draw: (rows) => printer.alignedText(countColumns, lowest.slice(0, rows)),
    command: ['inventory', 'list', '--below', `${below}`, '--sort', 'quantity'],
  };
}

const countColumns: readonly Column<NonNullable<Overview['inventory']>['lowest'][number]>[] = [
  { name: 'petId', value: ({ petId }) => petId, align: 'right' },
  { name: 'name', value: ({ name }) => name },
  { name: 'quantity', value: ({ quantity }) => quantity, align: 'right' },
];

function ordersSection(printer: Printer, { open, overdue, next }: NonNullable<Overview['orders']>): Section {
  return {
    title: `Open orders: ${groupDigits(open)}${overdue > 0 ? `, ${groupDigits(overdue)} overdue` : ''}`,
    fixedLines: 2,
    rows: next.length,
    total: open,
    draw: (rows) => printer.alignedText(orderColumns, next.slice(0, rows)),
    command: ['orders', 'list', '--open', '--sort', 'shipDate'],
  };
}

const orderColumns: readonly Column<NonNullable<Overview['orders']>['next'][number]>[] = [
  { name: 'id', value: ({ id }) => id, align: 'right' },
  { name: 'pet', value: ({ petId }) => petId, align: 'right' },
  { name: 'name', value: ({ name }) => name },
  { name: 'quantity', value: ({ quantity }) => quantity, align: 'right' },
  { name: 'shipDate', value: ({ shipDate }) => shipDate, time: 'near' },
  { name: '', value: ({ overdue }) => (overdue ? 'overdue' : undefined), status: true },
];

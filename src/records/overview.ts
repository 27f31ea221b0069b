import { offeredOperation } from '../api/contract.ts';
import type { ListId } from '../api/operations.ts';
import type { InventoryItem, Order, Pet } from '../api/schemas.ts';
import { petStatuses } from '../api/values.ts';
import type { CallOptions } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import { collect } from '../client/whole-list.ts';
import { type Context, commandLine } from '../context.ts';
import { paintStatus, type Style, withoutColor } from '../output/style.ts';
import { charactersOf, createMeasure, type Measure } from '../output/width.ts';
import { CliError, UsageError } from '../process/errors.ts';
import { counted, groupDigits, sanitize } from '../process/text.ts';
import { Names } from './names.ts';
import { isOverdue } from './orders.ts';

/** The most low counts, and the most orders. */
const maxShown = 10;
const maxCategories = 7;
/** More requests than this are noted. */
const quietRequests = 20;

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
  let requests = 0;
  const afterAttempt = () => {
    requests += 1;
  };
  const { lowCount, ...overview } = await readOverview(context, client, below, { afterAttempt });
  if (requests > quietRequests) await context.warn(`note: ${groupDigits(requests)} requests were sent`);
  const lines = overviewLines(overview, lowCount, await canvasFor(context, overview));
  await printer.documents([overview], `${lines.join('\n')}\n`);
}

type Overview = Omit<Awaited<ReturnType<typeof readOverview>>, 'lowCount'>;

/** Reads every list, and sums up the shop: its pets, its lowest counts, and the open orders that ship first. */
async function readOverview(context: Context, client: Client, below: number, options: CallOptions) {
  const now = context.now();
  const failures: CliError[] = [];
  const read = async <K extends ListId>(id: K, what: string) => {
    try {
      offeredOperation(client.contract, id);
      return await collect(client.list(id, {}, { ...options, whole: true }));
    } catch (error) {
      if (!(error instanceof CliError) || context.interrupts.signal.aborted) throw error;
      failures.push(error);
      await context.warn(`warning: ${what} missing: ${error.message}`);
      return undefined;
    }
  };
  const categories = new Map<bigint, string>();
  const [pets, inventory, orders] = await Promise.all([
    read('listPets', 'pets are'),
    read('listInventory', 'the counts are'),
    read('listOrders', 'orders are'),
    new Names(context, client).addAll('categories', categories, options),
  ]);
  const [failure] = failures;
  if (failure && !pets && !inventory && !orders) throw failure;
  const byId = new Map(pets?.map((pet) => [pet.id, pet]));
  const isSold = ({ petId, status }: InventoryItem) => (status ?? byId.get(petId)?.status) === 'sold';
  const low = inventory
    ?.filter((entry) => entry.quantity < below && !isSold(entry))
    .sort((one, other) => Number(one.quantity) - Number(other.quantity));
  const open = orders?.filter(({ complete }) => complete !== true).sort(byShipDate);
  return {
    pets: pets
      ? { total: pets.length, byStatus: countStatuses(pets), byCategory: countCategories(pets, categories) }
      : null,
    inventory: low
      ? {
          below,
          lowest: low
            .slice(0, maxShown)
            .map(({ petId, quantity }) => ({ petId, name: byId.get(petId)?.name ?? null, quantity })),
        }
      : null,
    orders: open
      ? {
          open: open.length,
          overdue: open.filter((order) => isOverdue(order, now)).length,
          next: open.slice(0, maxShown).map((order) => ({
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
  return [...totals.values()].sort((one, other) => other.total - one.total);
}

/** Orders without a date come last. */
function byShipDate(one: Order, other: Order): number {
  const time = ({ shipDate }: Order) => Date.parse(shipDate ?? '') || Number.MAX_SAFE_INTEGER;
  return time(one) - time(other);
}

/** The area that the overview is drawn on. */
interface Canvas {
  readonly width: number;
  /** The number of lines available. */
  readonly height: number;
  readonly style: Style;
  /** The character of the bars. */
  readonly block: string;
  readonly measure: Measure;
  /** The command line that lists the open orders. */
  readonly ordersCommand: string;
}

async function canvasFor(context: Context, { pets, inventory, orders }: Overview): Promise<Canvas> {
  const { stdout } = context.io;
  const named = [...(pets?.byCategory ?? []), ...(inventory?.lowest ?? []), ...(orders?.next ?? [])];
  return {
    width: stdout.width ?? 80,
    height: stdout.isTerminal ? (stdout.height ?? 24) - 1 : Number.POSITIVE_INFINITY,
    style: await context.style('stdout'),
    block: stdout.isTerminal ? '█' : '#',
    measure: await createMeasure(named.map(({ name }) => sanitize(name ?? ''))),
    ordersCommand: commandLine(context, ['orders', 'list', '--open', '--sort', 'shipDate']),
  };
}

/** The overview as lines: pets next to low counts, and orders below them. */
function overviewLines({ pets, inventory, orders }: Overview, lowCount: number, canvas: Canvas): string[] {
  const { style, measure } = canvas;
  const gap = 4;
  const isWide = canvas.width >= 72;
  const half = isWide ? Math.floor((canvas.width - gap) / 2) : canvas.width;
  const missing = (title: string) => [`${style.bold(title)}  missing`];
  const left = pets ? petLines(pets, half, canvas) : missing('Pets');
  const right = inventory ? countLines(inventory, lowCount, half, canvas) : missing('Lowest counts');
  const top = isWide
    ? Array.from({ length: Math.max(left.length, right.length) }, (_, at) =>
        `${pad(left[at] ?? '', half, measure)}${' '.repeat(gap)}${right[at] ?? ''}`.trimEnd(),
      )
    : [...left, '', ...right];
  if (!orders) return [...top, '', ...missing('Open orders')];
  const room = Math.max(3, canvas.height - top.length - 2);
  const overdue = orders.overdue > 0 ? style.red(`, ${groupDigits(orders.overdue)} overdue`) : '';
  const lines = orderLines(orders, canvas);
  const shown = lines.length > room ? room - 1 : lines.length;
  const unseen = orders.open - shown;
  return [
    ...top,
    '',
    `${style.bold(`Open orders  ${groupDigits(orders.open)}`)}${overdue}`,
    ...lines.slice(0, shown),
    ...(unseen > 0 ? [style.dim(moreOrders(unseen, canvas))] : []),
  ];
}

/** Without the command if there is no room for it: half of it would be of no use. */
function moreOrders(count: number, { width, measure, ordersCommand }: Canvas): string {
  const more = `  and ${groupDigits(count)} more`;
  const line = `${more}: ${ordersCommand}`;
  return measure(line) <= width ? line : more;
}

function petLines(
  { total, byStatus, byCategory }: NonNullable<Overview['pets']>,
  width: number,
  { style, block, measure }: Canvas,
): string[] {
  const most = Math.max(byCategory[0]?.total ?? 0, ...Object.values(byStatus), 1);
  const shown = byCategory.slice(0, maxCategories);
  const labels = shown.map(({ name, categoryId }) => sanitize(name ?? `category ${categoryId}`));
  const label = Math.min(Math.max(9, ...labels.map(measure)), Math.floor(width * 0.4));
  const digits = groupDigits(most).length;
  const bar = (text: string, count: number, paint: (text: string) => string) => {
    const room = Math.max(1, width - label - digits - 4);
    const length = count === 0 ? 0 : Math.max(1, Math.round((count / most) * room));
    const name = pad(cut(text, label, measure), label, measure);
    return `  ${name} ${groupDigits(count).padStart(digits)} ${paint(block.repeat(length))}`;
  };
  const more = byCategory.length - shown.length;
  return [
    style.bold(`Pets  ${groupDigits(total)}`),
    ...petStatuses.map((status) => bar(status, byStatus[status] ?? 0, paintStatus(style, status))),
    '',
    ...shown.map((category, at) => bar(labels[at] ?? '', category.total, style.cyan)),
    ...(more > 0 ? [style.dim(`  and ${counted(more, 'category', 'categories')} more`)] : []),
  ];
}

function countLines(
  { below, lowest }: NonNullable<Overview['inventory']>,
  lowCount: number,
  width: number,
  { style, measure }: Canvas,
): string[] {
  const title = style.bold(`Lowest counts  under ${groupDigits(below)}`);
  if (lowest.length === 0) return [title, style.dim('  none')];
  const digits = Math.max(...lowest.map(({ quantity }) => groupDigits(quantity).length));
  const ids = Math.max(...lowest.map(({ petId }) => `${petId}`.length));
  const room = Math.max(4, width - digits - ids - 6);
  return [
    title,
    ...lowest.map(({ petId, name, quantity }) => {
      const count = groupDigits(quantity).padStart(digits);
      const painted = quantity <= 0 ? style.red(count) : style.yellow(count);
      return `  ${painted}  ${cut(sanitize(name ?? ''), room, measure)} ${style.dim(`(${petId})`)}`;
    }),
    ...(lowCount > lowest.length ? [style.dim(`  and ${groupDigits(lowCount - lowest.length)} more`)] : []),
  ];
}

function orderLines({ next }: NonNullable<Overview['orders']>, { width, style, measure }: Canvas): string[] {
  const dates = next.map(({ shipDate }) =>
    sanitize(shipDate?.replace(/T00:00:00(\.0+)?Z$/, '') ?? 'no date'),
  );
  const dateWidth = Math.max(0, ...dates.map(measure));
  const idWidth = Math.max(0, ...next.map(({ id }) => `${id ?? ''}`.length));
  return next.map(({ id, petId, name, quantity, overdue }, at) => {
    const date = pad(dates[at] ?? '', dateWidth, measure);
    const pet = name === null ? `pet ${petId ?? 'unknown'}` : `${sanitize(name)} (${petId})`;
    const text = `order ${`${id ?? ''}`.padStart(idWidth)}  ${quantity ?? '?'} of ${pet}`;
    const mark = overdue ? 'overdue' : '';
    const room = Math.max(8, width - dateWidth - 4 - mark.length - 2);
    const shownDate = overdue ? style.red(date) : date;
    return `  ${shownDate}  ${cut(text, room, measure)}${mark === '' ? '' : `  ${style.red(mark)}`}`;
  });
}

/** Pads to a width in columns; colour sequences count as zero. */
function pad(text: string, width: number, measure: Measure): string {
  return text + ' '.repeat(Math.max(0, width - measure(withoutColor(text))));
}

function cut(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  let shown = '';
  for (const character of charactersOf(text)) {
    if (measure(`${shown}${character}…`) > width) break;
    shown += character;
  }
  return `${shown}…`;
}

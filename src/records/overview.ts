import { offeredOperation } from '../api/contract.ts';
import type { ListId, Result } from '../api/operations.ts';
import type { Order, Pet, PetStatus } from '../api/schemas.ts';
import { categoryOf } from '../api/shapes.ts';
import { petStatuses } from '../api/values.ts';
import type { Attempt, CallOptions } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import { canRedraw } from '../output/screen.ts';
import { paintStatus, type Style } from '../output/style.ts';
import { charactersOf, createMeasure, type Measure } from '../output/width.ts';
import { counted, groupDigits, sanitize } from '../text.ts';
import { addNames, forgetNames, largestPages, wholeList } from './names.ts';
import { isOverdue } from './orders.ts';
import { openRedrawn, pollForever } from './watch.ts';

/** The state of a shop. */
interface Overview {
  readonly pets: {
    readonly total: number;
    readonly byStatus: Readonly<Record<PetStatus, number>>;
    /** The largest first; a category without a name is not in the list of categories. */
    readonly byCategory: readonly {
      readonly categoryId: bigint | null;
      readonly name: string | null;
      readonly total: number;
    }[];
  };
  readonly inventory: {
    /** Smaller counts are low. */
    readonly below: number;
    /** The lowest counts below it. */
    readonly lowest: readonly {
      readonly petId: bigint;
      readonly name: string | null;
      readonly quantity: number | bigint;
    }[];
  };
  readonly orders: {
    readonly open: number;
    readonly overdue: number;
    /** The open orders that ship first: overdue ones at the top, those without a date at the end. */
    readonly next: readonly (Pick<Order, 'id' | 'petId' | 'quantity' | 'shipDate'> & {
      readonly name: string | null;
      readonly overdue: boolean;
    })[];
  };
}

const mostShown = 10;
const mostCategories = 7;
const quietRequests = 20;

/** Reads every list once, and prints the state of the shop on one screen or as data. */
export async function showOverview(
  context: Context,
  { below, watch }: { readonly below: number; readonly watch: number | undefined },
): Promise<void> {
  const printer = await context.printer();
  if (!['table', 'json', 'jsonl', 'yaml'].includes(printer.format))
    throw new UsageError(`output ${printer.format}: overview is printed as table, json, jsonl or yaml`);
  const contract = await context.contract();
  for (const id of ['listPets', 'listInventory', 'listOrders'] as const) offeredOperation(contract, id);
  const client = await context.client();
  if (watch !== undefined) return watchOverview(context, client, { below, intervalMs: watch });
  const { overview, requests } = await readOverview(client, below, context.now());
  if (requests > quietRequests) await context.note(`note: ${groupDigits(requests)} requests were sent`);
  const text = await overviewLines(overview, await screenOf(context));
  await printer.documents([overview], `${text.join('\n')}\n`);
}

/** Redraws the overview in place until it is interrupted. @throws UsageError if there is nowhere to draw. */
async function watchOverview(
  context: Context,
  client: Client,
  { below, intervalMs }: { readonly below: number; readonly intervalMs: number },
): Promise<never> {
  if (!canRedraw(context.io) || (await context.printer()).format !== 'table')
    throw new UsageError('--watch: the overview is redrawn on a terminal only', 'lists print their changes');
  const screen = await openRedrawn(context);
  return pollForever(context, intervalMs, screen, async (options) => {
    forgetNames(client);
    const { overview } = await readOverview(client, below, context.now(), options);
    const size = await screenOf(context);
    const head = size.style.dim(`at ${screen.clock()}, every ${intervalMs / 1000} s`);
    await screen.draw(head, await overviewLines(overview, { ...size, height: size.height - 1 }));
  });
}

async function screenOf(context: Context): Promise<Screen> {
  const { stdout } = context.io;
  return {
    width: stdout.width ?? 80,
    height: stdout.isTerminal ? (stdout.height ?? 24) - 1 : Number.POSITIVE_INFINITY,
    style: await context.style('stdout'),
    block: stdout.isTerminal ? '█' : '#',
  };
}

async function readOverview(
  client: Client,
  below: number,
  now: Date,
  options: CallOptions = {},
): Promise<{ readonly overview: Overview; readonly requests: number }> {
  let requests = 0;
  const afterAttempt = (attempt: Attempt) => {
    requests += 1;
    options.afterAttempt?.(attempt);
  };
  async function collect<K extends ListId>(id: K): Promise<Result<K>[]> {
    const records: Result<K>[] = [];
    for (const pages of wholeList(client, id, largestPages(client, id), { afterAttempt }))
      for await (const page of pages) for (const record of page) records.push(record);
    return records;
  }
  const categories = new Map<bigint, string>();
  const [pets, inventory, orders] = await Promise.all([
    collect('listPets'),
    collect('listInventory'),
    collect('listOrders'),
    addNames(client, 'categories', categories, { afterAttempt }),
  ]);
  const names = new Map(pets.map(({ id, name }) => [id, name]));
  const low = inventory.filter(({ quantity }) => quantity < below);
  const open = orders.filter(({ complete }) => complete !== true).sort(byShipDate);
  const overview: Overview = {
    pets: {
      total: pets.length,
      byStatus: countStatuses(pets),
      byCategory: countCategories(pets, categories),
    },
    inventory: {
      below,
      lowest: low
        .sort((one, other) => Number(one.quantity) - Number(other.quantity))
        .slice(0, mostShown)
        .map(({ petId, quantity }) => ({ petId, name: names.get(petId) ?? null, quantity })),
    },
    orders: {
      open: open.length,
      overdue: open.filter((order) => isOverdue(order, now)).length,
      next: open.slice(0, mostShown).map((order) => ({
        id: order.id,
        petId: order.petId,
        name: (typeof order.petId === 'bigint' && names.get(order.petId)) || null,
        quantity: order.quantity,
        shipDate: order.shipDate,
        overdue: isOverdue(order, now),
      })),
    },
  };
  return { overview, requests };
}

function countStatuses(pets: readonly Pet[]): Record<PetStatus, number> {
  const counts = { available: 0, pending: 0, sold: 0 };
  for (const { status } of pets) counts[status ?? 'available'] += 1;
  return counts;
}

function countCategories(
  pets: readonly Pet[],
  names: ReadonlyMap<bigint, string>,
): Overview['pets']['byCategory'] {
  const totals = new Map<string, { categoryId: bigint | null; name: string | null; total: number }>();
  for (const [categoryId, name] of names) totals.set(`${categoryId}`, { categoryId, name, total: 0 });
  for (const pet of pets) {
    const { id, name } = categoryOf(pet);
    const key = `${id ?? name}`;
    const entry = totals.get(key) ?? { categoryId: id ?? null, name: name ?? null, total: 0 };
    entry.total += 1;
    totals.set(key, entry);
  }
  return [...totals.values()].sort((one, other) => other.total - one.total);
}

/** Orders without a date come last. */
function byShipDate(one: Order, other: Order): number {
  const time = ({ shipDate }: Order) => Date.parse(shipDate ?? '') || Number.MAX_SAFE_INTEGER;
  return time(one) - time(other);
}

interface Screen {
  readonly width: number;
  /** The number of lines available. */
  readonly height: number;
  readonly style: Style;
  /** The character of the bars. */
  readonly block: string;
}

/** The overview as lines: pets next to low counts, and orders below them. */
async function overviewLines(overview: Overview, screen: Screen): Promise<string[]> {
  const { pets, inventory, orders } = overview;
  const measure = await createMeasure([
    ...pets.byCategory.map(({ name }) => sanitize(name ?? '')),
    ...[...inventory.lowest, ...orders.next].map(({ name }) => sanitize(name ?? '')),
  ]);
  const { style } = screen;
  const gap = 4;
  const isWide = screen.width >= 72;
  const half = isWide ? Math.floor((screen.width - gap) / 2) : screen.width;
  const left = petLines(overview, half, screen, measure);
  const right = countLines(overview, half, screen, measure);
  const top = isWide
    ? Array.from({ length: Math.max(left.length, right.length) }, (_, at) =>
        `${pad(left[at] ?? '', half, measure)}${' '.repeat(gap)}${right[at] ?? ''}`.trimEnd(),
      )
    : [...left, '', ...right];
  const room = Math.max(3, screen.height - top.length - 2);
  const overdue = orders.overdue > 0 ? style.red(`, ${groupDigits(orders.overdue)} overdue`) : '';
  const lines = orderLines(overview, screen, measure);
  const shown = lines.length > room ? room - 1 : lines.length;
  const unseen = orders.open - shown;
  return [
    ...top,
    '',
    `${style.bold(`Open orders  ${groupDigits(orders.open)}`)}${overdue}`,
    ...lines.slice(0, shown),
    ...(unseen > 0
      ? [style.dim(`  and ${groupDigits(unseen)} more: petstore orders list --open --sort shipDate`)]
      : []),
  ];
}

function petLines({ pets }: Overview, width: number, screen: Screen, measure: Measure): string[] {
  const { style } = screen;
  const most = Math.max(pets.byCategory[0]?.total ?? 0, ...Object.values(pets.byStatus), 1);
  const shown = pets.byCategory.slice(0, mostCategories);
  const labels = shown.map(({ name, categoryId }) => sanitize(name ?? `category ${categoryId}`));
  const label = Math.min(Math.max(9, ...labels.map(measure)), Math.floor(width * 0.4));
  const digits = groupDigits(most).length;
  const bar = (text: string, total: number, paint: (text: string) => string) => {
    const room = Math.max(1, width - label - digits - 4);
    const length = total === 0 ? 0 : Math.max(1, Math.round((total / most) * room));
    const count = groupDigits(total).padStart(digits);
    return `  ${pad(cut(text, label, measure), label, measure)} ${count} ${paint(screen.block.repeat(length))}`;
  };
  const more = pets.byCategory.length - shown.length;
  return [
    style.bold(`Pets  ${groupDigits(pets.total)}`),
    ...petStatuses.map((status) => bar(status, pets.byStatus[status], paintStatus(style, status))),
    '',
    ...shown.map(({ total }, at) => bar(labels[at] ?? '', total, style.cyan)),
    ...(more > 0 ? [style.dim(`  and ${counted(more, 'category', 'categories')} more`)] : []),
  ];
}

function countLines({ inventory }: Overview, width: number, { style }: Screen, measure: Measure): string[] {
  const { below, lowest } = inventory;
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
  ];
}

function orderLines({ orders }: Overview, { width, style }: Screen, measure: Measure): string[] {
  const dates = orders.next.map(({ shipDate }) =>
    sanitize(shipDate?.replace(/T00:00:00(\.0+)?Z$/, '') ?? 'no date'),
  );
  const dateWidth = Math.max(0, ...dates.map(measure));
  const idWidth = Math.max(0, ...orders.next.map(({ id }) => `${id ?? ''}`.length));
  return orders.next.map(({ id, petId, name, quantity, overdue }, at) => {
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
  const plain = text.replace(/\x1b\[[\d;]*m/g, '');
  return text + ' '.repeat(Math.max(0, width - measure(plain)));
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

import { largestPage, offeredOperation, takesParameter } from '../api/contract.ts';
import type { Operation } from '../api/operations.ts';
import type { Pet } from '../api/schemas.ts';
import { categoryOf, hasField, wholeQueries } from '../api/shapes.ts';
import type { CallOptions } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { resolveReferences } from './names.ts';
import { type Noun, viewOf } from './noun.ts';
import { fillView } from './view.ts';

export interface Listing<Entity> {
  /**
   * Conditions by parameter; each parameter is also the name of a field. Undefined means not given. Any value of an
   * array matches. A name stands for the id of its record.
   */
  readonly where: Readonly<Record<string, unknown>>;
  /** A condition that services cannot check. */
  matches?: ((row: Entity) => boolean) | undefined;
  readonly limit?: number | undefined;
  /** Exit with 8 if there are any records, or if there are none. */
  readonly failIf?: 'any' | 'none' | undefined;
  /** Poll the list at this interval in milliseconds and show changes. */
  readonly watch?: number | undefined;
}

type Pages<Entity> = AsyncIterable<readonly Entity[]>;

/**
 * Prints the records of a list. The service filters as much as it can, and only the pages that are shown are requested.
 */
export async function listRecords<Entity>(
  context: Context,
  noun: Noun<Entity>,
  listing: Listing<Entity>,
): Promise<void> {
  const printer = await context.printer();
  await printer.check(viewOf(noun));
  offeredOperation(await context.contract(), noun.operations.list);
  const client = await context.client();
  if (listing.watch !== undefined) {
    const { watchRecords } = await import('./watch.ts');
    return watchRecords(context, client, noun, {
      intervalMs: listing.watch,
      limit: listing.limit,
      read: (options) => readList(context, client, noun, listing, options),
    });
  }
  const pages = startNow(await readList(context, client, noun, listing));
  const [{ view, note }] = await Promise.all([fillView(context, client, noun, 'list'), pages.first]);
  if (note) await context.note(note);
  let found: 'any' | 'none' = 'none';
  async function* counted() {
    for await (const page of pages.all) {
      if (page.length > 0) found = 'any';
      yield page;
    }
  }
  await printer.records(counted(), view, { limit: listing.limit });
  if (listing.failIf === found) context.exitCode = exitCodes.differs;
}

/** The records of a list that meet all conditions, page by page. */
async function readList<Entity>(
  context: Context,
  client: Client,
  noun: Noun<Entity>,
  { where, matches, limit }: Listing<Entity>,
  options?: CallOptions,
): Promise<Pages<Entity>> {
  const offered = offeredOperation(client.contract, noun.operations.list);
  const isUnlisted =
    !client.contract.operations.has('listCategories') && offered.fields?.includes('category');
  const given = Object.entries(await resolveReferences(context, client, where, isUnlisted))
    .map(([name, value]) => [name, Array.isArray(value) && value.length === 1 ? value[0] : value] as const)
    .filter(([, value]) => value !== undefined);
  for (const [name] of given) refuseUnknowable(offered, name);
  const asked = given.filter(
    ([name, value]) => takesParameter(offered, name) && !Array.isArray(value) && !isCategoryName(name, value),
  );
  const isWhole = asked.length === given.length && !matches && context.flags.sort === undefined;
  const paging =
    limit !== undefined && isWhole && takesParameter(offered, 'limit')
      ? { limit: pageSize(limit, offered) }
      : {};
  const query = { ...Object.fromEntries(asked), ...paging };
  const lists = wholeQueries(offered, Object.fromEntries(given)).map((part) => {
    const open = () =>
      client.list(noun.operations.list, { ...query, ...part }, options) as unknown as Pages<Entity>;
    const wanted = Object.entries(part);
    return () => (wanted.length === 0 ? open() : sift(open(), (row) => holds(row as object, wanted)));
  });
  const pages = lists.length === 1 && lists[0] ? lists[0]() : inTurn(lists);
  // Check conditions that the service should have checked too: it may ignore a parameter, or not know it and not say
  // so.
  return sift(pages, (row) => holds(row as object, given) && (matches?.(row) ?? true));
}

async function* inTurn<Entity>(lists: readonly (() => Pages<Entity>)[]): Pages<Entity> {
  for (const list of lists) yield* list();
}

function isCategoryName(field: string, value: unknown): value is string {
  return field === 'categoryId' && typeof value === 'string';
}

/**
 * @throws UsageError for a condition that can be checked neither by the service nor here, because the records lack the
 *   field.
 */
function refuseUnknowable(operation: Operation, name: string): void {
  if (takesParameter(operation, name) || hasField(operation, name)) return;
  throw new UsageError(
    `${operation.id}: the service cannot filter by ${name}, and its records have no field ${name}`,
    'see `petstore api operations`',
  );
}

/** A page size so that a whole number of pages gives the limit or little more. */
function pageSize(limit: number, operation: Operation): number {
  const most = largestPage(operation);
  return Math.ceil(limit / Math.ceil(limit / most));
}

/** Requests the first page at once, so that other requests run in parallel. */
function startNow<Entity>(pages: Pages<Entity>): {
  readonly first: Promise<unknown>;
  readonly all: Pages<Entity>;
} {
  const iterator = pages[Symbol.asyncIterator]();
  const first = iterator.next();
  // The reader of the pages handles the error.
  first.catch(() => {});
  async function* all() {
    for (let page = await first; !page.done; page = await iterator.next()) yield page.value;
  }
  return { first, all: all() };
}

function holds(row: object, conditions: readonly (readonly [string, unknown])[]): boolean {
  const fields: Readonly<Record<string, unknown>> = { ...row };
  return conditions.every(([name, wanted]) => {
    const category = categoryOf(row as Pet);
    if (isCategoryName(name, wanted)) return category.name?.toLowerCase() === wanted.toLowerCase();
    const value = (name === 'categoryId' ? category.id : fields[name]) ?? absent[name];
    return Array.isArray(wanted) ? wanted.includes(value) : value === wanted;
  });
}

/** The value of a field that a record leaves out. */
const absent: Readonly<Record<string, unknown>> = { status: 'available', complete: false };

async function* sift<Entity>(pages: Pages<Entity>, keep: (row: Entity) => boolean): Pages<Entity> {
  for await (const page of pages) yield page.filter(keep);
}

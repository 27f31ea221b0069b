import { largestPage, takesParameter } from '../api/contract.ts';
import type { Operation } from '../api/operations.ts';
import type { Pet } from '../api/schemas.ts';
import { categoryOf, hasField, wholeQueries } from '../api/shapes.ts';
import type { CallOptions } from '../client/call.ts';
import type { Context } from '../context.ts';
import { exitCodes, UsageError } from '../process/errors.ts';
import { caseless } from '../process/text.ts';
import { isName } from './names.ts';
import { type Access, type Body, type Noun, openAccess } from './noun.ts';
import { fillView } from './print.ts';

interface Listing<Entity> {
  /**
   * Conditions by parameter; each parameter is also the name of a field. Undefined means not given. Any value of an
   * array matches. A name stands for the id of its record.
   */
  readonly where: Body;
  /** A condition that no service can check. */
  readonly matches?: ((record: Entity) => boolean) | undefined;
  readonly limit?: number | undefined;
  /** Exit with 8 if there are any records, or if there are none. */
  readonly failIf?: 'any' | 'none' | undefined;
  /** Poll the list at this interval in milliseconds and show changes. */
  readonly watch?: number | undefined;
}

/**
 * Prints the records of a list. The service filters as much as it can, and only the pages that are shown are requested.
 */
export async function listRecords<Entity>(
  context: Context,
  noun: Noun<Entity>,
  listing: Listing<Entity>,
): Promise<void> {
  const access = await openAccess(context, noun, noun.operations.list);
  if (listing.watch !== undefined) {
    const { watchRecords } = await import('./watch.ts');
    return watchRecords(access, {
      intervalMs: listing.watch,
      limit: listing.limit,
      read: (options) => readList(access, listing, options),
    });
  }
  const pages = await readList(access, listing);
  // The first page is read at the same time as the names.
  const [first, { view, note }] = await Promise.all([pages.next(), fillView(access, 'list')]);
  if (note) await context.note(note);
  let found: 'any' | 'none' = 'none';
  async function* all() {
    for (let page = first; !page.done; page = await pages.next()) {
      if (page.value.length > 0) found = 'any';
      yield page.value;
    }
  }
  await (await context.printer()).records(all(), view, { limit: listing.limit });
  if (listing.failIf === found) context.exitCode = exitCodes.differs;
}

/** A condition on a field: its name, and the wanted value, or several of which any matches. */
type Filter = readonly [name: string, wanted: unknown];

/** The records of a list that meet all conditions, page by page. */
async function readList<Entity>(
  access: Access<Entity>,
  { where, matches, limit }: Listing<Entity>,
  options?: CallOptions,
): Promise<AsyncGenerator<Entity[]>> {
  const { context, client, noun, operation } = access;
  const filters = await filtersOf(access, where);
  const asked = filters.filter((filter) => canAsk(operation, filter));
  const isWhole = asked.length === filters.length && !matches && context.flags.sort === undefined;
  const query = { ...Object.fromEntries(asked), ...(isWhole && pageSize(limit, operation)) };
  async function* pages() {
    for (const part of wholeQueries(operation, Object.fromEntries(filters))) {
      const read = client.list(noun.operations.list, { ...query, ...part }, options);
      // Check the conditions again, if the records show it: a service may ignore a parameter without an error.
      const all = [...filters, ...Object.entries(part)].filter(([name]) => hasField(operation, name));
      for await (const page of read as AsyncIterable<unknown> as AsyncIterable<Entity[]>)
        yield page.filter((record) => holds(record, all) && (matches?.(record) ?? true));
    }
  }
  return pages();
}

/** The conditions that are given, names resolved to ids. @throws UsageError as `refuseUnknowable` does */
async function filtersOf<Entity>(access: Access<Entity>, where: Body): Promise<Filter[]> {
  const { names, operation } = access;
  const keepsCategory = !names.isListed('categories') && operation.fields?.includes('category') === true;
  const resolved = Object.entries(await names.resolve(where, { keepsCategory }));
  const filters = resolved
    .map(([name, value]): Filter => [name, Array.isArray(value) && value.length === 1 ? value[0] : value])
    .filter(([, value]) => value !== undefined);
  for (const [name] of filters) refuseUnknowable(operation, name);
  return filters;
}

/** Whether the service can be asked for just the records that meet a condition. */
function canAsk(operation: Operation, [name, wanted]: Filter): boolean {
  return takesParameter(operation, name) && !Array.isArray(wanted) && !isName(name, wanted);
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

/** The size of pages of which a whole number gives the limit or little more. */
function pageSize(limit: number | undefined, operation: Operation): { readonly limit?: number } {
  if (limit === undefined || !takesParameter(operation, 'limit')) return {};
  return { limit: Math.ceil(limit / Math.ceil(limit / largestPage(operation))) };
}

function holds(record: unknown, filters: readonly Filter[]): boolean {
  return filters.every(([name, wanted]) => {
    const category = name === 'categoryId' ? categoryOf(record as Pet) : undefined;
    if (category && typeof wanted === 'string') return caseless(category.name ?? '') === caseless(wanted);
    const found = (category ? category.id : (record as Body)[name]) ?? absent[name];
    return Array.isArray(wanted) ? wanted.includes(found) : found === wanted;
  });
}

/** The value of a field that a record leaves out. */
const absent: Body = { status: 'available', complete: false };

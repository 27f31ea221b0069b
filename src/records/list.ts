import { checkFilters } from '../client/whole-list.ts';
import type { Context } from '../context.ts';
import { exitCodes } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { type Access, openAccess } from './access.ts';
import { openView } from './print-records.ts';
import type { Body, RecordNoun } from './record-nouns.ts';

interface Listing {
  /**
   * Conditions by parameter; each parameter is also the name of a field. Undefined means not given. Any value of an
   * array matches. A name stands for the id of its record.
   */
  readonly where: Body;
  /** A condition that no service can check. */
  readonly matches?: ((record: JsonObject) => boolean) | undefined;
  /** The fields that `matches` reads and that a service may lack. */
  readonly needs?: readonly string[];
  readonly limit?: number | undefined;
  /** Exit with 8 if there are any records, or if there are none. */
  readonly failIf?: 'any' | 'none' | undefined;
  /** Poll the list at this interval in milliseconds and show changes. */
  readonly watch?: number | undefined;
}

/**
 * Prints the records of a list. The service filters as much as it can, and only the pages that are shown are requested.
 */
export async function listRecords(context: Context, noun: RecordNoun, listing: Listing): Promise<void> {
  const { where, needs, limit, failIf, watch } = listing;
  const access = await openAccess(context, noun, noun.operations.list);
  checkFilters(access.operation, where, needs);
  if (watch !== undefined) {
    const { watchRecords } = await import('./watch.ts');
    return watchRecords(access, { intervalMs: watch, limit, read: () => readPages(access, listing) });
  }
  const pages = await readPages(access, listing);
  const { view, readNames } = await openView(access, true);
  // The first page is read at the same time as the names.
  const [first, note] = await Promise.all([pages.next(), readNames()]);
  if (note) await context.warn(note);
  let isEmpty = true;
  async function* all() {
    for (let page = first; !page.done; page = await pages.next()) {
      isEmpty &&= page.value.length === 0;
      // Before the records are printed: a reader that leaves early ends the list.
      if (!isEmpty && failIf === 'any') context.setExitCode(exitCodes.differs);
      yield page.value;
    }
  }
  await (await context.printer()).records(all(), view, { limit });
  if (isEmpty && failIf === 'none') context.setExitCode(exitCodes.differs);
}

/** The records of a list that meet all conditions, page by page. */
async function readPages(
  { context, client, noun, names }: Access,
  { where, matches, limit }: Listing,
): Promise<AsyncGenerator<JsonObject[]>> {
  const filters = await names.resolve(where);
  const isWhole = !matches && context.flags.sort === undefined;
  const list = client.list(noun.operations.list, filters, { limit: isWhole ? limit : undefined });
  async function* pages() {
    for await (const page of list as AsyncIterable<unknown> as AsyncIterable<JsonObject[]>)
      yield matches ? page.filter(matches) : page;
  }
  return pages();
}

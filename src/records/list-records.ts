import { largestPage, type Operation, offeredOperation, takesParameter } from '../api/contract.ts';
import type { ListId, Query, Result } from '../api/operations.ts';
import type { Context } from '../context.ts';
import type { Noun } from './noun.ts';

interface Listing<K extends ListId> {
  readonly operation: K;
  /** Conditions by parameter, each of which is the name of a field too; one that is undefined was not given. */
  readonly where: Query<K>;
  /** A condition that no service checks. */
  matches?(row: Result<K>): boolean;
  readonly limit: number | undefined;
}

type Pages<Row> = AsyncIterable<readonly Row[]>;

/** Prints the records of a list; asks the service for as much of the work as it can do, and for no more than is shown. */
export async function listRecords<K extends ListId>(
  context: Context,
  noun: Noun<Result<K>>,
  { operation, where, matches, limit }: Listing<K>,
): Promise<void> {
  const printer = await context.printer();
  await printer.check(noun.view);
  const client = await context.client();
  const offered = offeredOperation(client.contract, operation);
  const given = Object.entries(where).filter(([, value]) => value !== undefined);
  const asked = given.filter(([name]) => takesParameter(offered, name));
  const isWhole = asked.length === given.length && !matches && context.flags.sort === undefined;
  const paging =
    limit !== undefined && isWhole && takesParameter(offered, 'limit')
      ? { limit: pageSize(limit, offered) }
      : {};
  const pages = startNow(client.list(operation, { ...Object.fromEntries(asked), ...paging } as Query<K>));
  const [{ view, note }] = await Promise.all([noun.fillView(context, client), pages.first]);
  if (note) await context.note(note);
  // Those that were asked for too: a service may know the parameter and take no notice, or not know it and say nothing.
  const keep = (row: Result<K>) => holds(row, given) && (matches?.(row) ?? true);
  await printer.records(sift(pages.all, keep), view, { limit });
}

/** A page size of which a whole number of pages is the limit, or little more. */
function pageSize(limit: number, operation: Operation): number {
  const most = largestPage(operation);
  return Math.ceil(limit / Math.ceil(limit / most));
}

/** Asks for the first page at once: what else is needed is fetched beside it. */
function startNow<Row>(pages: Pages<Row>): { readonly first: Promise<unknown>; readonly all: Pages<Row> } {
  const iterator = pages[Symbol.asyncIterator]();
  const first = iterator.next();
  async function* all() {
    for (let page = await first; !page.done; page = await iterator.next()) yield page.value;
  }
  return { first, all: all() };
}

function holds(row: unknown, conditions: readonly (readonly [string, unknown])[]): boolean {
  const fields = row as Readonly<Record<string, unknown>>;
  return conditions.every(([name, value]) => (fields[name] ?? absent[name]) === value);
}

/** What a record means that leaves a field out. */
const absent: Readonly<Record<string, unknown>> = { status: 'available', complete: false };

async function* sift<Row>(pages: Pages<Row>, keep: (row: Row) => boolean): Pages<Row> {
  for await (const page of pages) yield page.filter(keep);
}

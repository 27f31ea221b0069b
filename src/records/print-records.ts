import type { View } from '../output/columns.ts';
import { caseless } from '../process/text.ts';
import { type Access, viewOf } from './noun.ts';
import { isIdText } from './parse-values.ts';

interface FilledView<Entity> {
  readonly view: View<Entity>;
  /** A note for the user if names could not be read. */
  readonly note?: string | undefined;
  /** Looks up the name that a record needs before it is shown; returns a note as above. Never rejects. */
  prepare?(record: Entity): Promise<string | undefined>;
}

/**
 * The view of a noun with the names of other records, if a column shows them.
 *
 * @param extent for a list all names are read at once; for a few records each when it is needed.
 */
export async function fillView<Entity>(
  { context, names, noun, operation }: Access<Entity>,
  extent: 'list' | 'few',
): Promise<FilledView<Entity>> {
  const { lookup } = noun;
  if (!lookup) return { view: viewOf(noun, operation) };
  const printer = await context.printer();
  const isOnTerminal = printer.format === 'table' && context.io.stdout.isTerminal;
  const titles = new Map<bigint, string>();
  const { columns: all } = viewOf(noun, operation, titles);
  const columns = all.map((column) => {
    const { extra: _, ...usual } = column;
    return isOnTerminal && column.name === lookup.column ? usual : column;
  });
  const view = { noun: noun.plural, columns };
  if (!printer.shows(view, lookup.column)) return { view };
  // There are few categories, and a service cannot be asked for some of them.
  if (extent === 'list' || lookup.noun === 'categories') {
    const note = await names.addAll(lookup.noun, titles);
    const isFedBack = lookup.noun === 'categories' && (printer.format === 'csv' || printer.format === 'tsv');
    if (isFedBack) dropAmbiguous(titles);
    return { view, note };
  }
  return {
    view,
    async prepare(record) {
      const id = lookup.idOf(record);
      return typeof id === 'bigint' && !titles.has(id) ? names.addPet(id, titles) : undefined;
    },
  };
}

/** Drops the names that `--from` could not read as one record: those of several records, and those that look like an id. */
function dropAmbiguous(names: Map<bigint, string>): void {
  const counts = new Map<string, number>();
  for (const name of names.values()) counts.set(caseless(name), (counts.get(caseless(name)) ?? 0) + 1);
  for (const [id, name] of names)
    if (isIdText(name) || (counts.get(caseless(name)) ?? 0) > 1) names.delete(id);
}

interface ResultOptions {
  /** Print a list, even of one. */
  readonly asList: boolean;
  /** Print each record as it comes, also in a table. */
  readonly isLive?: boolean;
}

/** Prints the results of some work, if there are any. Leaves the rest of them unread if the printer stops. */
export async function printResults<Entity>(
  access: Access<Entity>,
  results: AsyncGenerator<Entity>,
  { asList, isLive }: ResultOptions,
): Promise<void> {
  const { context } = access;
  const filled = fillView(access, 'few');
  const printer = await context.printer();
  const first = await results.next();
  if (first.done) return;
  const { view, note, prepare } = await filled;
  if (note !== undefined) await context.warn(note);
  // The columns of a table are as wide as their widest cell, which is known at the end; elsewhere a page has one record.
  const isOnePage = printer.format === 'table' && !isLive;
  async function* pages() {
    const page: Entity[] = [];
    for (let next: IteratorResult<Entity> = first; !next.done; next = await results.next()) {
      const unread = await prepare?.(next.value);
      if (unread !== undefined && next === first) await context.warn(unread);
      page.push(next.value);
      if (!isOnePage) yield page.splice(0);
    }
    if (isOnePage) yield page;
  }
  if (asList) return printer.records(pages(), view, { isLive });
  for await (const [record] of pages()) if (record !== undefined) await printer.record(record, view);
}

import type { Context } from '../../context.ts';
import type { Column } from '../../output/columns.ts';
import type { JsonObject } from '../../process/exact-json.ts';
import { Names } from '../../records/names.ts';
import { recordNouns, viewOf } from '../../records/record-nouns.ts';

const expected: Column<JsonObject> = {
  name: 'expected',
  value: ({ quantity }) => quantity,
  align: 'right',
};

/**
 * Prints the whole inventory, page by page; as CSV by default, because it is meant to be edited and applied.
 *
 * @param withExpected adds the exported count as `expected`: the row then applies only if the count is still the same.
 */
export async function exportInventory(context: Context, withExpected: boolean): Promise<void> {
  const printer = await (context.flags.output === undefined ? context.printer('csv') : context.printer());
  const names = new Map<bigint, string>();
  const { plural, columns } = viewOf(recordNouns.inventory, undefined, names);
  const at = columns.findIndex(({ name }) => name === 'quantity') + 1;
  const view = { plural, columns: withExpected ? columns.toSpliced(at, 0, expected) : columns };
  await printer.requireColumns(view);
  const client = await context.client();
  if (printer.shows(view, 'name')) {
    const { nameById, note } = await new Names(context, client).namesOf('pets');
    for (const [id, name] of nameById) names.set(id, name);
    if (note) await context.warn(note);
  }
  const list = client.list('listInventory', {}, { whole: true }) as AsyncIterable<unknown>;
  async function* pages(): AsyncGenerator<JsonObject[]> {
    for await (const page of list as AsyncIterable<JsonObject[]>)
      yield withExpected ? page.map((item) => ({ ...item, expected: item.quantity ?? null })) : page;
  }
  await printer.records(pages(), view);
}

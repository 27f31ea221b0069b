import type { Context } from '../../context.ts';
import type { Column } from '../../output/columns.ts';
import type { JsonObject } from '../../process/exact-json.ts';
import { Names } from '../../records/names.ts';
import { recordNouns, viewOf } from '../../records/record-nouns.ts';

const expectedColumn: Column<JsonObject> = {
  name: 'expected',
  value: ({ quantity }) => quantity,
  align: 'right',
};

/**
 * Prints the whole inventory, page by page. The default format is CSV, because the output is meant to be edited and applied.
 *
 * @param withExpected adds the count as `expected`, so that `apply` writes a row only if the count has not changed since.
 */
export async function exportInventory(context: Context, withExpected: boolean): Promise<void> {
  const printer = await (context.flags.output === undefined ? context.printer('csv') : context.printer());
  const names = new Map<bigint, string>();
  const { plural, columns } = viewOf(recordNouns.inventory, undefined, names);
  const index = columns.findIndex(({ name }) => name === 'quantity') + 1;
  const view = { plural, columns: withExpected ? columns.toSpliced(index, 0, expectedColumn) : columns };
  await printer.requireColumns(view);
  const client = await context.client();
  if (printer.shows(view, 'name')) {
    const { nameById, note } = await new Names(context, client).namesOf('pets');
    for (const [id, name] of nameById) names.set(id, name);
    if (note) await context.warn(note);
  }
  const list: AsyncIterable<JsonObject[]> = client.list('listInventory', {}, { whole: true });
  async function* pages(): AsyncGenerator<JsonObject[]> {
    for await (const page of list)
      yield withExpected ? page.map((item) => ({ ...item, expected: item.quantity ?? null })) : page;
  }
  await printer.records(pages(), view);
}

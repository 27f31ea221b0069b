import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import type { View } from '../output/columns.ts';
import { readNames, readNamesOf } from './names.ts';
import type { FilledView } from './noun.ts';

/** The names of pets for a column, by id. */
export interface PetNames {
  readonly names: ReadonlyMap<bigint, string>;
  /** True if the column is shown even if `--fields` does not name it. */
  readonly isShown: boolean;
}

interface NamedRows<Row> {
  /** A whole list, or records that refer to only a few pets. */
  readonly extent: 'list' | 'few';
  petId(row: Row): bigint | null | undefined;
  view(pets: PetNames): View<Row>;
}

/**
 * A view whose `name` column holds the names of pets: in tables on a terminal, and if `--fields` or `--sort` name it.
 */
export async function fillPetNames<Row>(
  context: Context,
  client: Client,
  { extent, petId, view }: NamedRows<Row>,
): Promise<FilledView<Row>> {
  const { format } = await context.printer();
  const { fields, sort } = context.flags;
  const isTable = fields === undefined && format === 'table' && context.io.stdout.isTerminal;
  const isNamed = [...(fields?.split(',') ?? []), sort?.replace(/^-/, '')].some(
    (name) => name?.trim() === 'name',
  );
  const names = new Map<bigint, string>();
  const filled = view({ names, isShown: isTable });
  if (!isTable && !isNamed) return { view: filled };
  const add = (more: ReadonlyMap<bigint, string>) => {
    for (const [id, name] of more) names.set(id, name);
  };
  if (extent === 'list') {
    const all = await readNames(client, 'pets');
    add(all.names);
    return { view: filled, note: all.note };
  }
  return {
    view: filled,
    async prepare(rows) {
      const ids = rows.map(petId).filter((id) => typeof id === 'bigint');
      const some = await readNamesOf(
        client,
        [...new Set(ids)].filter((id) => !names.has(id)),
      );
      add(some.names);
      return some.note;
    },
  };
}

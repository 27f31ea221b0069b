import { type Field, fields, normaliseName, type RunFlags } from './run-flags.ts';

/** The column names for each field. */
const aliases: Readonly<Record<Field, readonly string[]>> = {
  petId: ['petid', 'id', 'pet'],
  quantity: ['quantity', 'qty', 'stock', 'count'],
  expected: ['expected'],
};
/** The column names for the quantity in a relative run. */
const changeAliases = ['change', 'delta', ...aliases.quantity];

/** The index of each field among the columns of a row; with `--key`, petId is the index of the key. */
export interface Columns {
  readonly petId: number;
  readonly quantity: number;
  readonly expected: number | undefined;
}

/**
 * Finds the columns by their names.
 *
 * @returns a string if that fails: a clause about the missing or ambiguous column.
 */
export function findColumns(names: readonly string[], { map, key, relative }: RunFlags): Columns | string {
  const normalised = names.map(normaliseName);
  const found: Partial<Record<Field, number>> = {};
  for (const field of fields) {
    const named = (field === 'petId' ? key?.column : undefined) ?? map[field];
    const known = field === 'quantity' && relative ? changeAliases : aliases[field];
    const wanted = named === undefined ? known : [normaliseName(named)];
    const matches = normalised.flatMap((name, index) => (wanted.includes(name) ? [index] : []));
    const [match, another] = matches;
    if (another !== undefined)
      return `${matches.map((index) => names[index]).join(' and ')} may both be ${field}`;
    if (match !== undefined) found[field] = match;
    else if (named !== undefined)
      return `no column ${named}, which ${named === key?.column ? '--key' : '--map'} names`;
  }
  const { petId, quantity, expected } = found;
  if (petId === undefined) return 'no column petId (or id, pet)';
  if (quantity === undefined)
    return relative ? 'no column change (or delta, quantity)' : 'no column quantity (or qty, stock, count)';
  return { petId, quantity, expected };
}

import { UsageError } from '../errors.ts';

/** What a row may hold, and the names that an input may have for it, without case, spaces and underscores. */
const aliases = {
  petId: ['petid', 'id', 'pet'],
  quantity: ['quantity', 'stock', 'count'],
  expected: ['expected'],
} as const;
export type Field = keyof typeof aliases;
const fields = Object.keys(aliases) as Field[];

/** The user's own names for columns: `--map petId=SKU`. */
export type ColumnMap = Readonly<Partial<Record<Field, string>>>;

/** The position of each field among the columns of a row. */
export interface Columns {
  readonly petId: number;
  readonly quantity: number;
  readonly expected: number | undefined;
}

/** @throws UsageError for anything but `petId=<column>`, `quantity=<column>` or `expected=<column>`. */
export function parseColumnMap(texts: readonly string[]): ColumnMap {
  const map: Partial<Record<Field, string>> = {};
  for (const text of texts) {
    const [, name = '', column = ''] = /^(\w+)=(.+)$/s.exec(text) ?? [];
    const field = fields.find((candidate) => normalise(candidate) === normalise(name));
    if (!field || normalise(column) === '')
      throw new UsageError(`--map '${text}': must be petId=<column>, quantity=<column> or expected=<column>`);
    if (map[field] !== undefined) throw new UsageError(`--map: ${field} is given twice`);
    map[field] = column;
  }
  return map;
}

/**
 * Finds the columns by their names.
 *
 * @returns a string, a clause on what is missing or ambiguous, where they cannot be told.
 */
export function findColumns(names: readonly string[], map: ColumnMap): Columns | string {
  const normalised = names.map(normalise);
  const found: Partial<Record<Field, number>> = {};
  for (const field of fields) {
    const wanted: readonly string[] = map[field] === undefined ? aliases[field] : [normalise(map[field])];
    const matches = normalised.flatMap((name, index) => (wanted.includes(name) ? [index] : []));
    const [match, another] = matches;
    if (another !== undefined)
      return `${matches.map((index) => names[index]).join(' and ')} may both be ${field}`;
    if (match !== undefined) found[field] = match;
    else if (map[field] !== undefined) return `no column ${map[field]}, which --map names`;
  }
  const { petId, quantity, expected } = found;
  if (petId === undefined) return 'no column petId (or id, pet)';
  if (quantity === undefined) return 'no column quantity (or stock, count)';
  return { petId, quantity, expected };
}

function normalise(name: string): string {
  return name.toLowerCase().replace(/[\s_]/g, '');
}

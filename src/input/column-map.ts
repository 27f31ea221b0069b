import { UsageError } from '../process/errors.ts';

/** The fields of a row of counts. */
export const countFields = ['petId', 'quantity', 'expected'] as const;
export type CountField = (typeof countFields)[number];

/** The user's own columns for fields, by name, or by number from 1 if the file has no header: `petId=SKU`, `petId=1`. */
export type ColumnMap = Readonly<Partial<Record<CountField, string>>>;

/**
 * Parses `petId=<column>`, `quantity=<column>` (or `change=`) and `expected=<column>`, several with commas between.
 *
 * @throws UsageError that says why a text is no map, or which field has two columns.
 */
export function parseColumnMap(texts: readonly string[]): ColumnMap {
  const map: Partial<Record<CountField, string>> = {};
  for (const text of texts.flatMap((pairs) => pairs.split(/,(?=\s*\w+\s*=)/))) {
    const [, name = '', column = ''] = /^\s*(\w+)\s*=\s*(.+?)\s*$/s.exec(text) ?? [];
    const wanted = normaliseName(name) === 'change' ? 'quantity' : normaliseName(name);
    const field = countFields.find((candidate) => normaliseName(candidate) === wanted);
    if (!field || normaliseName(column) === '')
      throw new UsageError(`'${text.trim()}' must be petId=<column>, quantity=<column> or expected=<column>`);
    if (map[field] !== undefined) throw new UsageError(`${field} has two columns`);
    map[field] = column;
  }
  const columns = Object.values(map);
  const numbered = columns.filter(isColumnNumber);
  if (numbered.length > 0 && (numbered.length < columns.length || !map.petId || !map.quantity))
    throw new UsageError(
      'a file without a header needs a number for petId and for quantity, such as petId=1,quantity=2',
    );
  return map;
}

/** Whether a column of a map is the number of a column in a file without a header. */
export function isColumnNumber(column: string): boolean {
  return /^[1-9]\d{0,4}$/.test(column);
}

/** A column name without the differences that do not count: case, spaces and underscores. */
export function normaliseName(name: string): string {
  return name.toLowerCase().replace(/[\s_]/g, '');
}

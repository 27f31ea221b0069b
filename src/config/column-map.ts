import { messageOf, UsageError } from '../process/errors.ts';

/** The fields of a row of counts. */
export const countFields = ['petId', 'quantity', 'expected'] as const;
export type CountField = (typeof countFields)[number];

/** The user's columns by field: names, as in `petId=SKU`, or numbers from 1 if the file has no header, as in `petId=1`. */
type ColumnMap = Readonly<Partial<Record<CountField, string>>>;

/** Parses all texts of `--map` into one map. @throws UsageError. */
export function parseColumnMap(texts: readonly string[]): ColumnMap {
  try {
    return readColumnMap(texts);
  } catch (error) {
    throw new UsageError(`--map '${texts.join(',')}': ${messageOf(error)}`);
  }
}

/**
 * Reads `petId=<column>`, `quantity=<column>` (or `change=`) and `expected=<column>`, several with commas between.
 *
 * @throws Error with a clause as its message if a text is not a map.
 */
export function readColumnMap(texts: readonly string[]): ColumnMap {
  const map: Partial<Record<CountField, string>> = {};
  for (const text of texts.flatMap((pairs) => pairs.split(/,(?=\s*\w+\s*=)/))) {
    const [, name = '', column = ''] = /^\s*(\w+)\s*=\s*(.+?)\s*$/s.exec(text) ?? [];
    const plainName = normaliseName(name) === 'change' ? 'quantity' : normaliseName(name);
    const field = countFields.find((candidate) => normaliseName(candidate) === plainName);
    if (!field || normaliseName(column) === '')
      throw new Error('must be petId=<column>, quantity=<column> or expected=<column>');
    if (map[field] !== undefined) throw new Error(`gives ${field} two columns`);
    map[field] = column;
  }
  const columns = Object.values(map);
  const numbers = columns.filter(isColumnNumber);
  if (numbers.length > 0 && (numbers.length < columns.length || !map.petId || !map.quantity))
    throw new Error(
      'must give petId and quantity their numbers in a file without a header: petId=1,quantity=2',
    );
  return map;
}

/** Whether a column of a map is the number of a column in a file without a header. */
export function isColumnNumber(column: string): boolean {
  return /^[1-9]\d{0,4}$/.test(column);
}

/** Removes the differences between column names that do not count: case, spaces and underscores. */
export function normaliseName(name: string): string {
  return name.toLowerCase().replace(/[\s_]/g, '');
}

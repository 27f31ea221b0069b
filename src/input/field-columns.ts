import { ValueError } from '../process/errors.ts';

/** A field that a command reads from the records of an input. */
export interface InputField {
  readonly name: string;
  readonly columns: readonly string[];
  /** True if every record must have its column. */
  readonly isRequired?: boolean;
}

/** The columns of a table, or keys of JSON objects, that a command reads. */
export interface ColumnRules {
  readonly fields: readonly InputField[];
  /** Returns true for a field whose values the command does not use. */
  readonly isIgnored?: (field: string) => boolean;
  /** The further columns that `export` prints. They are ignored without a note. */
  readonly exported?: readonly string[];
  /** The error for any other column, as a clause: `pets have no such field`. Without it other columns are ignored. */
  readonly refusal?: string;
  /** A key that only a printed record has. Further keys beside it are accepted, because the service may have added them. */
  readonly printedKey?: string | undefined;
  /** The hint for a field without a column. */
  readonly missingHint?: string;
}

/** The columns that a file of rejects adds to a row. All commands ignore them. */
export const rejectColumns = ['_line', '_state', '_status', '_code', '_message'] as const;
/** The count of a deleted pet in the output of `runs show`. It is not the column `quantity` of a count. */
export const stockColumn = '_quantity';

/** The column for a rejected JSON record that is not an object. */
export const textColumn = '_text';

export function isRejectColumn(name: string): boolean {
  const column = name.trim();
  return column === textColumn || rejectColumns.some((candidate) => candidate === column);
}

/** Removes from a column name what does not matter: case, spaces and underscores. */
function normaliseName(name: string): string {
  return name.toLowerCase().replace(/[\s_]/g, '');
}

/** Finds the field of a column by its exact name, or else by its normalised name. */
function matchField(column: string, { fields }: ColumnRules): InputField | undefined {
  const exact = fields.find(({ columns }) => columns.includes(column.trim()));
  if (exact || column.trim() === stockColumn) return exact;
  const normalised = normaliseName(column);
  return fields.find(({ columns }) => columns.some((name) => normaliseName(name) === normalised));
}

export function isColumn(name: string, rules: ColumnRules): boolean {
  return isRejectColumn(name) || matchField(name, rules) !== undefined;
}

/** The name of the field of each column. A column that is ignored has none. */
export type FieldNames = readonly (string | undefined)[];

/**
 * Finds the field of each column.
 *
 * @param isPrinted true for the keys of a record that a command has printed. A further key is a field of that name.
 * @throws ValueError for a missing column, a duplicate, and one that is refused.
 */
export function requireFields(columns: readonly string[], rules: ColumnRules, isPrinted = false): FieldNames {
  const names: (string | undefined)[] = [];
  for (const column of columns) {
    const field = isRejectColumn(column) ? undefined : matchField(column, rules);
    const isFurther = !field && rules.refusal !== undefined && !isRejectColumn(column);
    if (isFurther && !isPrinted) throw new ValueError(`column '${column}': ${rules.refusal}`);
    const first = field ? columns[names.indexOf(field.name)] : undefined;
    if (field && first !== undefined)
      throw new ValueError(`the columns ${first} and ${column} both mean ${field.name}`);
    names.push(field?.name ?? (isFurther ? column : undefined));
  }
  const missing = rules.fields.find(({ name, isRequired }) => isRequired && !names.includes(name));
  if (!missing) return names;
  const [name, ...synonyms] = missing.columns;
  const others = synonyms.length > 0 ? ` (or ${synonyms.join(', ')})` : '';
  const existing = columns.length === 0 ? 'it has none' : `it has: ${columns.slice(0, 20).join(', ')}`;
  throw new ValueError(`no column ${name}${others}; ${existing}`, { hint: rules.missingHint });
}

/** Returns the columns that a command ignores, without those of a file of rejects. */
export function ignoredColumns(
  columns: readonly string[],
  fields: FieldNames,
  { isIgnored, exported = [] }: ColumnRules,
): string[] {
  const others = columns.filter((_, index) => {
    const field = fields[index];
    return field === undefined || isIgnored?.(field);
  });
  const isKnown = (name: string) => name === '' || isRejectColumn(name) || exported.includes(name);
  return others.map((column) => column.trim()).filter((name) => !isKnown(name));
}

const countFields = ['petId', 'quantity', 'expected'] as const;

/**
 * Parses `petId=<column>`, `quantity=<column>` (or `change=`) and `expected=<column>`, several with commas between.
 *
 * @returns the names of columns in a file of counts, by field.
 * @throws ValueError for any other text, and for a field with two columns.
 */
export function parseColumnMap(texts: readonly string[]): Readonly<Record<string, string>> {
  const map: Record<string, string> = {};
  for (const text of texts.flatMap((pairs) => pairs.split(/,(?=\s*\w+\s*=)/))) {
    const [, name = '', column = ''] = /^\s*(\w+)\s*=\s*(.+?)\s*$/s.exec(text) ?? [];
    const plainName = name.toLowerCase().replaceAll('_', '').replace('change', 'quantity');
    const field = countFields.find((candidate) => candidate.toLowerCase() === plainName);
    if (!field || column === '')
      throw new ValueError('must be petId=<column>, quantity=<column>, change=<column> or expected=<column>');
    if (map[field] !== undefined) throw new ValueError(`gives ${field} two columns`);
    map[field] = column;
  }
  return map;
}

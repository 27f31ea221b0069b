import { UsageError } from '../errors.ts';

/** The fields of a row, and the column names for each; case, spaces and underscores are ignored. */
const aliases = {
  petId: ['petid', 'id', 'pet'],
  quantity: ['quantity', 'qty', 'stock', 'count'],
  expected: ['expected'],
} as const;
/** The column names for the quantity in a relative run. */
const changeAliases = ['change', 'delta', ...aliases.quantity] as const;
export type Field = keyof typeof aliases;
const fields = Object.keys(aliases) as Field[];

/** Options for finding the columns of an input. */
export interface ColumnOptions {
  /** The user's own names for columns: `--map petId=SKU`. */
  readonly map: ColumnMap;
  /** The column with the key that `--key` looks up, instead of an id. */
  readonly key?: string | undefined;
  /** True if the rows hold changes instead of counts. */
  readonly relative: boolean;
}

export type ColumnMap = Readonly<Partial<Record<Field, string>>>;

/** The index of each field among the columns of a row; with `--key`, petId is the index of the key. */
export interface Columns {
  readonly petId: number;
  readonly quantity: number;
  readonly expected: number | undefined;
}

/** @throws UsageError for anything but `petId=<column>`, `quantity=<column>` (or `change=`) or `expected=<column>`. */
export function parseColumnMap(texts: readonly string[]): ColumnMap {
  const map: Partial<Record<Field, string>> = {};
  for (const text of texts) {
    const [, name = '', column = ''] = /^(\w+)=(.+)$/s.exec(text) ?? [];
    const wanted = normalise(name) === 'change' ? 'quantity' : normalise(name);
    const field = fields.find((candidate) => normalise(candidate) === wanted);
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
 * @returns a string if that fails: a clause about the missing or ambiguous column.
 */
export function findColumns(names: readonly string[], options: ColumnOptions): Columns | string {
  const normalised = names.map(normalise);
  const found: Partial<Record<Field, number>> = {};
  for (const field of fields) {
    const named = (field === 'petId' ? options.key : undefined) ?? options.map[field];
    const known = field === 'quantity' && options.relative ? changeAliases : aliases[field];
    const wanted: readonly string[] = named === undefined ? known : [normalise(named)];
    const matches = normalised.flatMap((name, index) => (wanted.includes(name) ? [index] : []));
    const [match, another] = matches;
    if (another !== undefined)
      return `${matches.map((index) => names[index]).join(' and ')} may both be ${field}`;
    if (match !== undefined) found[field] = match;
    else if (named !== undefined)
      return `no column ${named}, which ${named === options.key ? '--key' : '--map'} names`;
  }
  const { petId, quantity, expected } = found;
  if (petId === undefined) return 'no column petId (or id, pet)';
  if (quantity === undefined)
    return options.relative
      ? 'no column change (or delta, quantity)'
      : 'no column quantity (or qty, stock, count)';
  return { petId, quantity, expected };
}

function normalise(name: string): string {
  return name.toLowerCase().replace(/[\s_]/g, '');
}

/** The names that `--columns petId,quantity` gives to the columns of a file without a header. @throws UsageError */
export function parseColumnNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.length < 2) throw new UsageError(`--columns '${text}': must name the columns, as petId,quantity`);
  return names;
}

/** One of `count` parts of a file; no pet is in two parts. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/**
 * Parses `i/n`, counted from 0 (JOB_COMPLETION_INDEX) or from 1 (GNU parallel, most CI matrices): part n is the same as
 * 0.
 *
 * @throws UsageError
 */
export function parseShard(text: string): Shard {
  const [, index, count] = /^(\d{1,6})\/([1-9]\d{0,5})$/.exec(text) ?? [];
  if (index === undefined || Number(index) > Number(count))
    throw new UsageError(`--shard '${text}': must be <i>/<n>, i from 0 or from 1 and at most n, as 2/8`);
  return { index: Number(index) % Number(count), count: Number(count) };
}

/** The part that an id belongs to: FNV-1a (32 bits) over its decimal digits, modulo n; the same on every machine. */
export function shardOf(id: bigint, count: number): number {
  let hash = 0x811c9dc5;
  for (const digit of String(id)) hash = Math.imul(hash ^ digit.charCodeAt(0), 0x01000193);
  return (hash >>> 0) % count;
}

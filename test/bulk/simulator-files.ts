import { numberIn } from './simulator-service.ts';

export type FileKind = 'delivery' | 'count' | 'records' | 'creates' | 'removes';

/** A file that can be applied, often more than once. */
export interface InputFile {
  /** A delivery has changes, a count has counts, records and creates have names of pets, removes have ids. */
  readonly kind: FileKind;
  /** Of a delivery; the same number is the same delivery. */
  readonly number: string | undefined;
  readonly lines: readonly Line[];
  /** The lines after somebody has mended and completed the file. */
  readonly mended: readonly Line[];
  readonly createMissing: boolean;
  /** It has a row that is invalid, and --skip-invalid leaves it out. */
  readonly isInvalid: boolean;
}

/** The id is empty for a record that is made. */
export type Line = readonly [id: string, value: number | typeof invalidValue, expected?: number];

/** A row as it was typed, by its key: the id of its record; `line:2` of a record that is made. */
export type TypedRows = ReadonlyMap<
  string,
  { readonly value: number; readonly expected: number | undefined }
>;

/** What a person types for a value that is mended later. */
export const invalidValue = 'many';
export const mendedValue = 3;

const columns = {
  delivery: ['petId', 'change'],
  count: ['petId', 'quantity', 'expected'],
  records: ['id', 'name'],
  creates: ['categoryId', 'name'],
  removes: ['id'],
} as const;

export function fileText({ kind, lines, mended }: InputFile, isMended: boolean): string {
  const rows = (isMended ? mended : lines).map(([id, value, expected]) => {
    if (kind === 'removes') return id;
    if (kind === 'creates') return `1,Pet ${value}`;
    if (kind === 'records') return `${id},Pet ${value}`;
    return kind === 'count' ? `${id},${value},${expected ?? ''}` : `${id},${value}`;
  });
  const hasExpected = lines.some(([, , expected]) => expected !== undefined);
  const header = columns[kind].join().replace(hasExpected ? '' : ',expected', '');
  return [header, ...(hasExpected ? rows : rows.map((row) => row.replace(/,$/, ''))), ''].join('\n');
}

/** A file of rejects after a person has put a number where none was. */
export function mend(text: string): string {
  return text.replaceAll(invalidValue, String(mendedValue));
}

/** The rows of a text that `fileText` made, or of its rejects; cells with commas come last. */
export function typedRows({ kind }: InputFile, text: string): TypedRows {
  const rows = new Map<string, { value: number; expected: number | undefined }>();
  for (const { line, cell } of readCells(text)) {
    const key = kind === 'creates' ? `line:${line}` : (cell('id') ?? cell('petId') ?? '');
    const value = kind === 'removes' ? 0 : numberIn(cell(columns[kind][1]));
    const expected = cell('expected') ? Number(cell('expected')) : undefined;
    if (!Number.isNaN(value)) rows.set(key, { value, expected });
  }
  return rows;
}

/** The keys of the rows of a file of rejects, as of `TypedRows`. */
export function rejectedKeys({ kind }: InputFile, text: string): string[] {
  return readCells(text).map(({ cell }) =>
    kind === 'creates' ? `line:${cell('_line')}` : (cell('id') ?? cell('petId') ?? ''),
  );
}

function readCells(text: string): { line: number; cell: (name: string) => string | undefined }[] {
  const [header = [], ...rows] = text.split(/\r?\n/).map((line) => line.split(','));
  return rows.flatMap((cells, at) =>
    cells.length < 2 && cells[0] === '' ? [] : { line: at + 2, cell: (name) => cells[header.indexOf(name)] },
  );
}

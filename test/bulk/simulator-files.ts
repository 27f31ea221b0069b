import { numberIn } from './simulator-healthy.ts';
import type { Step } from './simulator-history.ts';

export type FileKind = 'delivery' | 'count' | 'records' | 'creates' | 'removes';
export type FileForm = 'lf' | 'crlf' | 'bare end' | 'empty lines' | 'jsonl' | 'reversed';

/** A file that can be applied, often more than once. */
export interface InputFile {
  /** A delivery has changes, a count has counts, records and creates have names of pets, removes have ids. */
  readonly kind: FileKind;
  /** Of a delivery; the same number is the same delivery. */
  readonly number: string | undefined;
  readonly lines: readonly Line[];
  /** A line that somebody adds later, only to a delivery. */
  readonly addition: Line | undefined;
  /** A line that somebody corrects later, only of a delivery: at first it takes more than there is. */
  readonly correction: Line | undefined;
  readonly createMissing: boolean;
  /** It has a row that is invalid, and --skip-invalid leaves it out; somebody may mend it later. */
  readonly invalidId: string | undefined;
}

/** The id is empty for a record that is made. */
export type Line = readonly [id: string, value: number, expected?: number];

/** A row as it was typed, by its key: the id of its record; `line:2` of a record that is made. */
export type TypedRows = ReadonlyMap<
  string,
  { readonly value: number; readonly expected: number | undefined }
>;

const columns = {
  delivery: ['petId', 'change'],
  count: ['petId', 'quantity'],
  records: ['id', 'name'],
  creates: ['name', 'categoryId'],
  removes: ['id', undefined],
} as const;

/** What a person types for a value that is mended later. */
const invalid = { delivery: 'many', count: 'many', records: '', creates: '', removes: '' } as const;
const mendedValue = 3;

/** A file as text. */
export function fileText(
  { kind, lines, addition, correction, invalidId }: InputFile,
  { form, isMended }: Pick<Step, 'form' | 'isMended'>,
): { text: string; extension: string } {
  const [idColumn, valueColumn] = columns[kind];
  const ordered = form === 'reversed' ? [...lines].reverse() : lines;
  const isCorrected = (line: Line) => isMended && correction !== undefined && line[0] === correction[0];
  const all = [
    ...ordered.map((line) => (isCorrected(line) ? (correction as Line) : line)),
    ...(addition && isMended ? [addition] : []),
    ...(invalidId !== undefined && isMended ? ([[invalidId, mendedValue]] as const) : []),
  ];
  const hasExpected = all.some(([, , expected]) => expected !== undefined);
  const rows = all.map(([id, value, expected]): Record<string, string | number | undefined> => {
    if (kind === 'creates') return { name: `Pet ${value}`, categoryId: 1 };
    const text = kind === 'records' ? `Pet ${value}` : value;
    return { [idColumn]: id, ...(valueColumn && { [valueColumn]: text }), ...(hasExpected && { expected }) };
  });
  if (invalidId !== undefined && !isMended)
    rows.push(
      kind === 'records'
        ? { id: 'x', name: 'Rex' }
        : { [idColumn]: invalidId, [valueColumn ?? '']: invalid[kind] },
    );
  if (form === 'jsonl') {
    const toObject = (row: Record<string, string | number | undefined>) => {
      const id = row[idColumn];
      return kind === 'creates' ? row : { ...row, [idColumn]: /^\d+$/.test(String(id)) ? Number(id) : id };
    };
    return { text: rows.map((row) => `${JSON.stringify(toObject(row))}\n`).join(''), extension: 'jsonl' };
  }
  const header = [idColumn, ...(valueColumn ? [valueColumn] : []), ...(hasExpected ? ['expected'] : [])];
  const cells = rows.map((row) => header.map((name) => row[name] ?? '').join());
  const text = `${[header.join(), ...cells].join('\n')}\n`;
  if (form === 'crlf') return { text: text.replaceAll('\n', '\r\n'), extension: 'csv' };
  if (form === 'bare end') return { text: text.trimEnd(), extension: 'csv' };
  return { text: form === 'empty lines' ? `${text}\n\n` : text, extension: 'csv' };
}

/** A file of rejects after a person has put a number where none was. */
export function mend(text: string): string {
  return text.replaceAll(/\bmany\b(?=[,"])/g, String(mendedValue));
}

/** The rows of a text that `fileText` made, or of its rejects; cells with commas come last. */
export function typedRows({ kind }: InputFile, text: string): TypedRows {
  const rows = new Map<string, { value: number; expected: number | undefined }>();
  const [idColumn, valueColumn] = columns[kind];
  const lines = text.split(/\r?\n/);
  const isJson = text.startsWith('{');
  const header = isJson ? [] : (lines[0] ?? '').split(',');
  for (const [at, line] of lines.entries()) {
    if (line === '' || (at === 0 && !isJson)) continue;
    const cells = line.split(',');
    const record: Record<string, unknown> | undefined = isJson
      ? parseRecord(line)
      : Object.fromEntries(header.map((name, index) => [name, cells[index]]));
    if (!record) continue;
    const key = kind === 'creates' ? `line:${at + 1}` : String(record[idColumn]);
    const value = valueColumn === undefined ? 0 : numberIn(record[kind === 'creates' ? 'name' : valueColumn]);
    const expected =
      record.expected === undefined || record.expected === '' ? undefined : Number(record.expected);
    if (Number.isNaN(value)) continue;
    rows.set(key, { value: value + (kind === 'delivery' ? (rows.get(key)?.value ?? 0) : 0), expected });
  }
  return rows;
}

function parseRecord(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    // A message with a newline continues on the next line.
    return undefined;
  }
}

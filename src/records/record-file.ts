import type { Operation } from '../api/operations.ts';
import type { Context } from '../context.ts';
import { readRecords } from '../input/read-records.ts';
import { openSource } from '../input/source.ts';
import { toCsvCell, withoutGuard } from '../output/formats.ts';
import { CliError, InputError, messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonValue, parseJson } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import { checkFields, missingFields } from './body-fields.ts';
import { isName } from './names.ts';
import { type Body, columnOf, type EditAccess, type EditableNoun, type Field, findField } from './noun.ts';
import { jsonOrText, parseId } from './parse-values.ts';
import type { Place } from './work.ts';

/** A record as the file has it, unchecked. Empty cells of a table are left out. */
interface FileItem {
  readonly place: Place;
  readonly values: Readonly<Record<string, JsonValue>>;
}

/** A valid record of a file. */
interface FileRecord extends FileItem {
  /** Of an update; 0 for a create, which leaves ids out. */
  readonly id: bigint;
  /** In the form of a request. */
  readonly fields: Body;
}

interface FileContent<Item> {
  /** As the user named it; `stdin` for a pipe. */
  readonly name: string;
  readonly format: FileFormat;
  /** Of CSV and TSV. */
  readonly columns: readonly string[];
  readonly records: readonly Item[];
  /** True for a list, even of one record; false for a lone JSON object. */
  readonly isList: boolean;
}

export interface RecordFile extends FileContent<FileRecord> {
  /** True if it has ids, which a create leaves out. */
  readonly hasIds: boolean;
}

/** CSV, TSV as `-o tsv` writes it, or JSON: an array, an object or lines. */
type FileFormat = 'csv' | 'tsv' | 'json';

/** What a rejected record says of itself, as columns of its own; reading the file leaves them out. */
export const noteColumns = ['_line', '_state', '_status', '_code', '_message'] as const;

/** Whether a column of a file is one that rejects have, and no field. */
export function isNoteColumn(name: string): boolean {
  return noteColumns.some((column) => column === name.trim());
}

/**
 * Reads the file of `--from`: CSV, TSV, a JSON array or object, or JSON lines. Checks all of it before the first request;
 * then looks up the names of pets and categories.
 *
 * @param extra fields for every record that does not have them itself.
 * @throws UsageError that names file, line and field.
 */
export async function readRecordFile<Entity>(
  access: EditAccess<Entity>,
  path: string,
  extra: Body,
): Promise<RecordFile> {
  const { context, noun, operation } = access;
  const content = await readItems(context, noun, path, operation);
  if (content.records.length === 0) throw new InputError(`${content.name}: has no records`);
  const seen = new Set<bigint>();
  const checked = content.records.map((item) => {
    const fields = at(item.place, () => toFields(access, item, content.format !== 'json', extra));
    return { ...item, fields, id: operation.id === noun.operations.update ? newId(item, seen) : 0n };
  });
  const hasIds = checked.some(({ values, fields }) => values.id !== undefined && fields.id === undefined);
  const records: FileRecord[] = [];
  for (const record of checked)
    records.push({ ...record, fields: await resolveAt(access, record.fields, record.place) });
  return { ...content, records, hasIds };
}

async function resolveAt<Entity>(access: EditAccess<Entity>, fields: Body, place: Place): Promise<Body> {
  try {
    return await access.names.resolve(fields);
  } catch (error) {
    if (!(error instanceof CliError) || (error.kind !== 'not-found' && error.kind !== 'usage')) throw error;
    throw new CliError(error.kind, `${place.text}: ${error.message}`, { ...error.details, line: place.line });
  }
}

/**
 * The ids in a file: the output of `-o ids`, a JSON array of ids, or the `id` of each record. It may have none.
 *
 * @throws UsageError that names file and line.
 */
export async function readIds<Entity>(
  context: Context,
  noun: EditableNoun<Entity>,
  path: string,
): Promise<RecordFile> {
  const seen = new Set<bigint>();
  const content = await readItems(context, noun, path);
  const records = content.records.map((item) => {
    const { place, values } = item;
    if (values.id === undefined) throw new InputError(`${place.text}: id is required`, undefined, place.line);
    return { ...item, id: newId(item, seen), fields: {} };
  });
  return { ...content, records, isList: true, hasIds: true };
}

/** The id of an item. @throws UsageError if it is not an id, or is among those seen before. */
function newId({ place, values }: FileItem, seen: Set<bigint>): bigint {
  const id = at(place, () => parseId(String(values.id), 'id'));
  if (seen.has(id))
    throw new InputError(`${place.text}: id ${id} appears twice in the file`, undefined, place.line);
  seen.add(id);
  return id;
}

/** @param operation undefined if a record needs only its id, and may be a bare id. */
async function readItems<Entity>(
  { io }: Context,
  noun: EditableNoun<Entity>,
  path: string,
  operation?: Operation,
): Promise<FileContent<FileItem>> {
  const source = await openSource(io, path);
  const { name } = source;
  const records: FileItem[] = [];
  let columns: readonly string[] | undefined;
  try {
    const options = { name, escapesTabs: true };
    const { batches, layout, isArray } = await readRecords(source.bytes(), options);
    const isJson = layout !== undefined && layout.format !== 'csv';
    for await (const batch of batches)
      for (const { line, problem, text = '', cells = [] } of batch) {
        const count = records.length + 1;
        const place = {
          text: `${name}:${line}${isJson && count !== line ? ` (record ${count})` : ''}`,
          line,
        };
        if (problem !== undefined) throw new InputError(`${place.text}: ${problem}`, undefined, line);
        const isBareId =
          !operation && cells.length === 1 && !columnsOf(noun).includes((cells[0] ?? '').trim());
        if (isJson) records.push({ place, values: at(place, () => toMembers(text, operation)) });
        else if (!columns && !isBareId) columns = at(place, () => toColumns(noun, cells, operation));
        else {
          columns ??= ['id'];
          const known = columns;
          records.push({ place, values: at(place, () => toCells(cells, known)) });
        }
      }
    const format = isJson ? 'json' : layout?.delimiter === '\t' ? 'tsv' : 'csv';
    return {
      name,
      format,
      columns: columns ?? [],
      records,
      isList: !isJson || records.length > 1 || isArray,
    };
  } finally {
    await source.close();
  }
}

/** The fields of a JSON object. @param operation as above. */
function toMembers(text: string, operation: Operation | undefined): FileItem['values'] {
  const value = toJson(text);
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).filter(([name]) => !isNoteColumn(name)));
  const isBareId = !operation && (typeof value === 'number' || typeof value === 'bigint');
  if (isBareId) return { id: value };
  throw new InputError('not a JSON object');
}

function toJson(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new InputError(`not valid JSON: ${messageOf(error)}`);
  }
}

/** The columns of a header. @throws UsageError for one that is not a field, because its cells would be lost. */
function toColumns<Entity>(
  noun: EditableNoun<Entity>,
  cells: readonly string[],
  operation: Operation | undefined,
): readonly string[] {
  const columns = cells.map((cell) => cell.trim());
  const twice = columns.find((column, index) => columns.indexOf(column) !== index);
  if (twice !== undefined) throw new InputError(`duplicate column '${twice}'`);
  const own = columnsOf(noun);
  const known = [
    ...own,
    ...noun.fields.map(({ name }) => name),
    ...Object.keys(operation?.body?.fields ?? {}),
  ];
  const unknown = columns.find((column) => !known.includes(column) && !isNoteColumn(column));
  if (unknown === undefined) return columns;
  const isHeader = columns.some((column) => known.includes(column));
  throw new InputError(
    `column '${unknown}': ${noun.many} have no such field; they have ${own.join(', ')}`,
    isHeader ? undefined : 'the file must be CSV with a header, JSON or JSON lines',
  );
}

/** The columns that `list -o csv` prints. */
function columnsOf<Entity>({ fields }: EditableNoun<Entity>): readonly string[] {
  return ['id', ...fields.map(columnOf)];
}

function toCells(cells: readonly string[], columns: readonly string[]): Record<string, string> {
  if (cells.length !== columns.length)
    throw new InputError(
      `it has ${counted(cells.length, 'cell', 'cells')}, and the header has ${columns.length} columns`,
    );
  const named = columns.map((column, index) => [column, withoutGuard(cells[index] ?? '')] as const);
  return Object.fromEntries(named.filter(([column, cell]) => cell !== '' && !isNoteColumn(column)));
}

/**
 * The fields of a record of CSV without those whose cell is still as `list -o csv` prints it. A cell shows controls as
 * escapes, so sending it would change a text that nobody edited.
 */
export function withoutPrinted(record: object, fields: Body): Body {
  const isPrinted = (text: unknown, cell: unknown) =>
    typeof text === 'string' && text !== cell && withoutGuard(toCsvCell(text)) === cell;
  return Object.fromEntries(
    Object.entries(fields).filter(([name, cell]) => !isPrinted((record as Body)[name], cell)),
  );
}

/** The same result, or a UsageError that names the place. */
function at<Value>(place: Place, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    const hint = error instanceof CliError ? error.details.hint : undefined;
    throw new InputError(`${place.text}: ${messageOf(error)}`, hint, place.line);
  }
}

/**
 * The checked fields of a record; a name may still stand for an id.
 *
 * @param isTable true for CSV and TSV, whose cells are text.
 * @throws UsageError without the place.
 */
function toFields<Entity>(
  access: EditAccess<Entity>,
  { values }: FileItem,
  isTable: boolean,
  extra: Body,
): Body {
  const { client, noun, operation } = access;
  const isNew = operation.id === noun.operations.create;
  // The id of an order is part of its body. In CSV output of `list`, however, the id only distinguishes the rows.
  const keepsId = isNew && !isTable && Object.hasOwn(noun.schema.entries, 'id');
  // Without a prototype, because a field of the service may be called `constructor`.
  const fields: Record<string, unknown> = Object.create(null);
  for (const [column, value] of Object.entries(values)) {
    if (column === 'id' && !keepsId) continue;
    const field = findField(noun, column);
    // A category may be an object, as a bound service prints it.
    const isReference = field?.column === column;
    const isText = isTable || (isReference && !isJsonObject(value));
    const name = (isText || isReference) && field ? field.name : column;
    if (name in fields) throw new InputError(`${field?.column} and ${name} mean the same: give one of them`);
    fields[name] = isText ? fromText(field, String(value), column) : value;
    if (!isText && !isReference && isName(name, value)) throw new InputError(`${name} must be an integer`);
  }
  for (const [name, value] of Object.entries(extra)) fields[name] ??= value;
  const names = Object.entries(fields).filter(
    ([name, value]) => isName(name, value) || (name === 'categoryId' && isJsonObject(value as JsonValue)),
  );
  const missing = isNew ? missingFields(operation, fields) : values.id === undefined ? ['id'] : [];
  // An id stands for each name until the names are looked up.
  const checked = checkFields(
    noun,
    { ...fields, ...Object.fromEntries(names.map(([name]) => [name, 0n])) },
    missing,
  );
  const named = { ...checked, ...Object.fromEntries(names) };
  const standIns = names.map(([name, value]) => [name, name === 'categoryId' ? { id: 0n, name: value } : 0n]);
  if (isNew) client.toRequest(operation.id, { body: { ...checked, ...Object.fromEntries(standIns) } });
  return named;
}

function fromText(field: Field | undefined, text: string, column: string): unknown {
  if (!field) return jsonOrText(text);
  return field.parse ? field.parse(text, column) : text;
}

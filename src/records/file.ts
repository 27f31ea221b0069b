import type { Operation } from '../api/operations.ts';
import { needsId } from '../api/shapes.ts';
import type { Context } from '../context.ts';
import type { InputRecord } from '../input/record.ts';
import { readRecords } from '../input/records.ts';
import { openSource, type Source } from '../input/source.ts';
import { toCsvCell } from '../output/formats.ts';
import { CliError, InputError, messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonValue, parseJson } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import { checkFields, inForm, missingFields, sendsCategoryName, toBody } from './fields.ts';
import { isName } from './names.ts';
import { type Body, columnOf, type EditAccess, type EditableNoun, type Field, findField } from './noun.ts';
import { jsonOrText, parseId } from './values.ts';

/** A valid record of a file. */
interface FileRecord {
  /** Of an update; 0 for a create, which leaves ids out. */
  readonly id: bigint;
  /** In the form of a request. */
  readonly fields: Body;
  /** In errors: `pets.jsonl:3`. */
  readonly place: string;
}

interface RecordFile {
  /** At least one. */
  readonly records: readonly FileRecord[];
  /** True for a list, even of one record; false for a lone JSON object. */
  readonly isList: boolean;
  /** True if it has ids, which a create leaves out. */
  readonly hasIds: boolean;
  /** True for CSV. */
  readonly isTable: boolean;
}

/**
 * Reads the file of `--from`: CSV, a JSON array or object, or JSON lines. Checks all of it before the first request;
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
  const records: FileRecord[] = [];
  const seen = new Set<bigint>();
  let isList = false;
  let hasIds = false;
  let isTable = false;
  for await (const item of readItems(context, noun, path, operation)) {
    const { place, values, isListed } = item;
    const fields = at(place, () => toFields(access, item, extra));
    const id = operation.id === noun.operations.update ? newId(item, seen) : 0n;
    isList = isListed;
    isTable = item.isTable;
    hasIds ||= values.id !== undefined && fields.id === undefined;
    records.push({ id, fields, place });
  }
  for (const [index, { id, fields, place }] of records.entries())
    records[index] = { id, fields: await resolveAt(access, fields, place), place };
  return { records, isList, hasIds, isTable };
}

async function resolveAt<Entity>(access: EditAccess<Entity>, fields: Body, place: string): Promise<Body> {
  try {
    return await toBody(access, fields);
  } catch (error) {
    if (!(error instanceof CliError) || (error.kind !== 'not-found' && error.kind !== 'usage')) throw error;
    throw new CliError(error.kind, `${place}: ${error.message}`, error.details);
  }
}

/**
 * The ids in a file: the output of `-o ids`, a JSON array of ids, or the `id` of each record.
 *
 * @throws UsageError that names file and line.
 */
export async function readIds<Entity>(
  context: Context,
  noun: EditableNoun<Entity>,
  path: string,
): Promise<bigint[]> {
  const ids = new Set<bigint>();
  for await (const item of readItems(context, noun, path)) {
    if (item.values.id === undefined) throw new InputError(`${item.place}: id is required`);
    newId(item, ids);
  }
  return [...ids];
}

/** The id of an item. @throws UsageError if it is not an id, or is among those seen before. */
function newId({ place, values }: FileItem, seen: Set<bigint>): bigint {
  const id = at(place, () => parseId(String(values.id), 'id'));
  if (seen.has(id)) throw new InputError(`${place}: id ${id} appears twice in the file`);
  seen.add(id);
  return id;
}

/** A record of the file, unchecked. */
interface FileItem {
  readonly place: string;
  /** True for CSV, whose cells are text; empty cells are left out. */
  readonly isTable: boolean;
  readonly isListed: boolean;
  readonly values: Readonly<Record<string, JsonValue>>;
}

/**
 * @param operation undefined if a record needs only its id, and may be a bare id.
 * @throws UsageError also if there are no records.
 */
async function* readItems<Entity>(
  context: Context,
  noun: EditableNoun<Entity>,
  path: string,
  operation?: Operation,
): AsyncGenerator<FileItem> {
  const source = await openSource(context.io, path);
  try {
    let isEmpty = true;
    for await (const item of itemsOf(source, noun, operation)) {
      isEmpty = false;
      yield item;
    }
    if (isEmpty) throw new InputError(`${source.name}: ${operation ? 'has no records' : 'no ids in it'}`);
  } finally {
    await source.close();
  }
}

async function* itemsOf<Entity>(
  source: Source,
  noun: EditableNoun<Entity>,
  operation: Operation | undefined,
): AsyncGenerator<FileItem> {
  const { name } = source;
  const head = await firstCharacter(source);
  const isNamedJson = /\.(json|jsonl|ndjson)$/i.test(name);
  const isJson = isNamedJson || (!/\.[ct]sv$/i.test(name) && (head === '{' || head === '['));
  const { batches } = await readRecords(source.bytes(), { name, format: isJson ? 'json' : 'csv' });
  const valuesOf = isJson ? createMemberReader(operation) : createCellReader(noun, operation);
  let count = 0;
  for await (const batch of batches)
    for (const record of batch) {
      const { line, problem } = record;
      const place = `${name}:${line}${isJson && count + 1 !== line ? ` (record ${count + 1})` : ''}`;
      if (problem !== undefined) throw new InputError(`${place}: ${problem}`);
      const values = at(place, () => valuesOf(record));
      if (!values) continue;
      count += 1;
      yield { place, isTable: !isJson, isListed: !isJson || count > 1 || head === '[', values };
    }
}

/** The values of a record of the file; undefined for the header of a table. */
type ReadValues = (record: InputRecord) => FileItem['values'] | undefined;

function createCellReader<Entity>(noun: EditableNoun<Entity>, operation: Operation | undefined): ReadValues {
  let columns: readonly string[] | undefined;
  return ({ cells = [] }) => {
    if (columns) return toCells(cells, columns);
    const [first = ''] = cells;
    const isBareId = !operation && cells.length === 1 && !columnsOf(noun).includes(first.trim());
    columns = isBareId ? ['id'] : toColumns(noun, cells, operation);
    return isBareId ? toCells(cells, columns) : undefined;
  };
}

function createMemberReader(operation: Operation | undefined): ReadValues {
  return ({ text = '' }) => {
    const value = toJson(text);
    if (isJsonObject(value)) return value;
    const isBareId = !operation && (typeof value === 'number' || typeof value === 'bigint');
    if (isBareId) return { id: value };
    throw new InputError('not a JSON object');
  };
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
  if (twice !== undefined) throw new InputError(`the column '${twice}' stands there twice`);
  const own = columnsOf(noun);
  const known = [
    ...own,
    ...noun.fields.map(({ name }) => name),
    ...Object.keys(operation?.body?.fields ?? {}),
  ];
  const unknown = columns.find((column) => !known.includes(column));
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
  return Object.fromEntries(named.filter(([, cell]) => cell !== ''));
}

/** Removes the `'` that `list -o csv` puts before a text that looks like a formula. */
function withoutGuard(cell: string): string {
  return /^'[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell;
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
function at<Value>(place: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    const hint = error instanceof CliError ? error.details.hint : undefined;
    throw new InputError(`${place}: ${messageOf(error)}`, hint);
  }
}

async function firstCharacter(source: Source): Promise<string> {
  for await (const piece of source.bytes()) {
    // trimStart removes a BOM too.
    const text = Buffer.from(piece).toString('utf8').trimStart();
    if (text !== '') return text.charAt(0);
  }
  return '';
}

/** The checked fields of a record; a name may still stand for an id. @throws UsageError without the place. */
function toFields<Entity>(access: EditAccess<Entity>, { isTable, values }: FileItem, extra: Body): Body {
  const { client, noun, operation } = access;
  const isNew = operation.id === noun.operations.create;
  // The id of an order is part of its body. In CSV output of `list`, however, the id only tells the rows apart.
  const keepsId = isNew && (needsId(operation) || (!isTable && Object.hasOwn(noun.schema.entries, 'id')));
  // Without a prototype, because a field of the service may be called `constructor`.
  const fields: Record<string, unknown> = Object.create(null);
  for (const [column, value] of Object.entries(values)) {
    if (column === 'id' && !keepsId) continue;
    const field = findField(noun, column);
    const isText = isTable || (field?.column === column && !isJsonObject(value));
    const name = isText && field ? field.name : column;
    if (name in fields) throw new InputError(`${field?.column} and ${name} mean the same: give one of them`);
    fields[name] = isText ? fromText(field, String(value), column) : value;
    if (!isText && isName(name, value)) throw new InputError(`${name} must be an integer`);
  }
  for (const [name, value] of Object.entries(extra)) fields[name] ??= value;
  const names = Object.entries(fields).filter(([name, value]) => isName(name, value));
  const missing = isNew ? missingFields(operation, fields) : values.id === undefined ? ['id'] : [];
  // An id stands for each name until the names are looked up.
  const checked = checkFields(
    noun,
    { ...fields, ...Object.fromEntries(names.map(([name]) => [name, 0n])) },
    missing,
  );
  const named = { ...checked, ...Object.fromEntries(names) };
  const body = inForm(operation, sendsCategoryName(access) ? named : checked);
  if (isNew) client.toRequest(operation.id, { body } as never);
  return named;
}

function fromText(field: Field | undefined, text: string, column: string): unknown {
  if (!field) return jsonOrText(text);
  return field.parse ? field.parse(text, column) : text;
}

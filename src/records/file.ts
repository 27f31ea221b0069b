import type { Operation } from '../api/operations.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { CliError, messageOf, UsageError } from '../errors.ts';
import type { InputRecord } from '../input/record.ts';
import { readRecords } from '../input/records.ts';
import { openSource, type Source } from '../input/source.ts';
import { isJsonObject, type JsonValue, parseJson } from '../json.ts';
import { counted } from '../text.ts';
import { checkFields, inForm, missingFields, toBody } from './fields.ts';
import { isName } from './names.ts';
import { type Body, columnOf, type EditableNoun, type Field } from './noun.ts';
import { jsonOrText, parseId } from './values.ts';

/** A valid record of a file. */
export interface FileRecord {
  /** Of an update; 0 for a create, which leaves ids out. */
  readonly id: bigint;
  /** In the form of a request. */
  readonly fields: Body;
  /** `pets.jsonl:3`, for errors. */
  readonly place: string;
}

interface RecordFile {
  /** At least one. */
  readonly records: readonly FileRecord[];
  /** True for a list, even of one record; false for a lone JSON object. */
  readonly isList: boolean;
  /** True if it has ids, which a create leaves out. */
  readonly hasIds: boolean;
}

/** The requirements for each record. */
interface Wanted {
  /** The operation for which the records are meant; its body defines the fields, and which are required. */
  readonly operation: Operation;
  readonly use: 'create' | 'update';
  /** Fields for every record that does not have them itself. */
  readonly extra: Body;
}

/**
 * Reads the file of `--from`: CSV, a JSON array or object, or JSON lines. Checks all of it before the first request;
 * then looks up the names of pets and categories.
 *
 * @throws UsageError that names file, line and field.
 */
export async function readRecordFile<Entity>(
  context: Context,
  client: Client,
  noun: EditableNoun<Entity>,
  path: string,
  wanted: Wanted,
): Promise<RecordFile> {
  const { operation, use } = wanted;
  const records: FileRecord[] = [];
  const seen = new Set<bigint>();
  let isList = false;
  let hasIds = false;
  for await (const item of readItems(context, path)) {
    const { place, values, isListed } = item;
    checkColumns(noun, item, operation);
    const fields = at(place, () => toFields(client, noun, item, wanted));
    const id = use === 'update' ? newId(item, seen) : 0n;
    isList = isListed;
    hasIds ||= values.id !== undefined && fields.id === undefined;
    records.push({ id, fields, place });
  }
  for (const [index, { id, fields, place }] of records.entries())
    records[index] = { id, fields: await resolveAt(context, client, operation, fields, place), place };
  return { records, isList, hasIds };
}

async function resolveAt(
  context: Context,
  client: Client,
  operation: Operation,
  fields: Body,
  place: string,
): Promise<Body> {
  try {
    return await toBody(context, client, operation, fields);
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
  for await (const item of readItems(context, path, true)) {
    checkColumns(noun, item, undefined);
    if (item.values.id === undefined) throw new UsageError(`${item.place}: id is required`);
    newId(item, ids);
  }
  return [...ids];
}

/** The id of an item. @throws UsageError if it is not an id, or is among those seen before. */
function newId({ place, values }: FileItem, seen: Set<bigint>): bigint {
  const id = at(place, () => parseId(String(values.id), 'id'));
  if (seen.has(id)) throw new UsageError(`${place}: id ${id} appears twice in the file`);
  seen.add(id);
  return id;
}

/** A record of the file, unchecked. */
interface FileItem {
  readonly place: string;
  /** True for CSV, whose cells are text; empty cells are left out. */
  readonly isTable: boolean;
  readonly isListed: boolean;
  readonly columns: readonly string[];
  readonly values: Readonly<Record<string, JsonValue>>;
}

/**
 * @param areIds whether a record may be a bare id.
 * @throws UsageError also if there are none.
 */
async function* readItems(context: Context, path: string, areIds = false): AsyncGenerator<FileItem> {
  const source = await openSource(context.io, path);
  const { name } = source;
  try {
    const head = await firstCharacter(source);
    const isNamedJson = /\.(json|jsonl|ndjson)$/i.test(name);
    const isJson = isNamedJson || (!/\.[ct]sv$/i.test(name) && (head === '{' || head === '['));
    const { batches } = await readRecords(source.bytes(), { name, format: isJson ? 'json' : 'csv' });
    let header: readonly string[] | undefined;
    let count = 0;
    for await (const batch of batches)
      for (const record of batch) {
        if (!isJson && header === undefined) {
          header = headerOf(record, name, areIds);
          if (header !== idsHeader) continue;
        }
        count += 1;
        const number = !isJson || count === record.line ? '' : ` (record ${count})`;
        const place = `${name}:${record.line}${number}`;
        if (record.problem !== undefined) throw new UsageError(`${place}: ${record.problem}`);
        yield header
          ? toTableItem(record, header, place)
          : toJsonItem(record.text, { place, isListed: count > 1 || head === '[', areIds });
      }
    if (count === 0) throw new UsageError(`${name}: ${areIds ? 'no ids in it' : 'has no records'}`);
  } finally {
    await source.close();
  }
}

/** The columns of a file that holds one id a line and nothing else, such as the output of `-o ids`. */
const idsHeader: readonly string[] = ['id'];

function headerOf(
  { cells = [], line, problem }: InputRecord,
  name: string,
  areIds: boolean,
): readonly string[] {
  if (problem !== undefined) throw new UsageError(`${name}:${line}: ${problem}`);
  if (areIds && cells.length === 1 && /^\d+$/.test(cells[0]?.trim() ?? '')) return idsHeader;
  const columns = cells.map((cell) => cell.trim());
  const twice = columns.find((column, index) => columns.indexOf(column) !== index);
  if (twice !== undefined) throw new UsageError(`${name}:${line}: the column '${twice}' stands there twice`);
  return columns;
}

function toTableItem({ cells = [] }: InputRecord, columns: readonly string[], place: string): FileItem {
  if (cells.length !== columns.length)
    throw new UsageError(
      `${place}: it has ${counted(cells.length, 'cell', 'cells')}, and the header has ${columns.length} columns`,
    );
  const given = columns.map((column, index) => [column, withoutGuard(cells[index] ?? '')] as const);
  return {
    place,
    isTable: true,
    isListed: true,
    columns,
    values: Object.fromEntries(given.filter(([, cell]) => cell !== '')),
  };
}

/** Removes the `'` that `list -o csv` puts before a text that looks like a formula. */
function withoutGuard(cell: string): string {
  return /^'[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell;
}

function toJsonItem(
  text: string | undefined,
  { place, isListed, areIds }: { place: string; isListed: boolean; areIds: boolean },
): FileItem {
  const value = at(place, () => parseJson(text ?? ''), 'not valid JSON');
  const item = { place, isTable: false, isListed };
  if (isJsonObject(value)) return { ...item, columns: Object.keys(value), values: value };
  const isId = areIds && (typeof value === 'number' || typeof value === 'bigint');
  if (isId) return { ...item, columns: ['id'], values: { id: value } };
  throw new UsageError(`${place}: not a JSON object`);
}

function at<Value>(place: string, read: () => Value, what?: string): Value {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${place}: ${what === undefined ? '' : `${what}: `}${messageOf(error)}`);
  }
}

async function firstCharacter(source: Source): Promise<string> {
  for await (const piece of source.bytes()) {
    const text = Buffer.from(piece)
      .toString('utf8')
      .replace(/^[\ufeff\s]+/, '');
    if (text !== '') return text.slice(0, 1);
  }
  return '';
}

/** @throws UsageError for a column that is not a field, because its cells would be lost. */
function checkColumns<Entity>(
  { fields, many }: EditableNoun<Entity>,
  { columns, isTable, place }: FileItem,
  operation: Operation | undefined,
): void {
  if (!isTable) return;
  const own = ['id', ...fields.map(columnOf)];
  const known = [...own, ...fields.map(({ name }) => name), ...Object.keys(operation?.body?.fields ?? {})];
  const unknown = columns.find((column) => !known.includes(column));
  if (unknown === undefined) return;
  const name = place.replace(/:\d+$/, '');
  throw new UsageError(
    `${name}:1: column '${unknown}': ${many} have no such field; they have ${own.join(', ')}`,
  );
}

/** The checked fields of a record; a name may still stand for an id. @throws UsageError without the place. */
function toFields<Entity>(
  client: Client,
  noun: EditableNoun<Entity>,
  item: FileItem,
  { operation, use, extra }: Wanted,
): Body {
  const { isTable, values } = item;
  // The id of an order is part of its body. In CSV output of `list`, however, the id only tells the rows apart.
  const keepsId = use === 'create' && !isTable && Object.hasOwn(noun.schema.entries, 'id');
  const fields: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(values)) {
    if (column === 'id' && !keepsId) continue;
    const field = noun.fields.find((each) => each.name === column || each.column === column);
    const isText = isTable || (field?.column === column && !isJsonObject(value));
    const name = isText && field ? field.name : column;
    if (name in fields) throw new UsageError(`${field?.column} and ${name} mean the same: give one of them`);
    fields[name] = isText ? fromText(field, String(value), column) : value;
    if (!isText && isName(name, value)) throw new UsageError(`${name} must be an integer`);
  }
  for (const [name, value] of Object.entries(extra)) fields[name] ??= value;
  const names = Object.entries(fields).filter(([name, value]) => isName(name, value));
  const missing = use === 'create' ? missingFields(operation, fields) : values.id === undefined ? ['id'] : [];
  // An id stands for each name until the names are looked up.
  const checked = checkFields(
    noun,
    { ...fields, ...Object.fromEntries(names.map(([name]) => [name, 0n])) },
    missing,
  );
  if (use === 'create') client.toRequest(operation.id, { body: inForm(operation, checked) } as never);
  return { ...checked, ...Object.fromEntries(names) };
}

function fromText(field: Field | undefined, text: string, column: string): unknown {
  if (!field) return jsonOrText(text);
  return field.parse ? field.parse(text, column) : text;
}

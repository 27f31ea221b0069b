import * as v from 'valibot';
import type { Operation } from '../api/operations.ts';
import type { Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { CliError, messageOf, UsageError } from '../errors.ts';
import type { InputRecord } from '../input/record.ts';
import { readRecords } from '../input/records.ts';
import { openSource, type Source } from '../input/source.ts';
import { isJsonObject, type JsonValue, parseJson } from '../json.ts';
import { counted } from '../text.ts';
import { referenceFields, resolveId } from './names.ts';
import type { Body, EditableNoun, Field } from './noun.ts';
import { jsonOrText, parseId } from './values.ts';

/** A valid record of a file. */
export interface FileRecord {
  readonly id: bigint | undefined;
  /** By their names in a body; a reference may still be a name. */
  readonly fields: Body;
  /** `pets.jsonl:3`, for errors. */
  readonly place: string;
}

/** A record file that has been read and checked completely. */
export interface RecordFile {
  readonly name: string;
  readonly total: number;
  /** True for a list, even of one record; false for a lone JSON object. */
  readonly isList: boolean;
  /** The names of all fields. */
  readonly fieldNames: ReadonlySet<string>;
  /** True if it has ids, which a create leaves out. */
  readonly hasIds: boolean;
  /** Reads the records again, with names replaced by ids. */
  records(): AsyncGenerator<FileRecord>;
  close(): Promise<void>;
}

/** The requirements for each record. */
interface Wanted {
  /** The operation for which the records are meant; its body defines the fields, and which are required. */
  readonly operation: Operation;
  readonly use: 'create' | 'update';
  /** Fields for every record that does not have them itself. */
  readonly extra?: Body;
}

/**
 * Opens the file of `--from`: CSV, a JSON array or object, or JSON lines. Reads and checks all of it before the first
 * request; then looks up the names of pets and categories.
 *
 * @throws UsageError that names file, line and field.
 */
export async function openRecordFile<Row>(
  context: Context,
  client: Client,
  noun: EditableNoun<Row>,
  path: string,
  wanted: Wanted,
): Promise<RecordFile> {
  const source = await openSource(context.io, path);
  try {
    const ids = new Set<bigint>();
    const fieldNames = new Set<string>();
    const nameAt = new Map<
      string,
      { readonly field: string; readonly name: string; readonly place: string }
    >();
    let total = 0;
    let isList = false;
    let hasIds = false;
    for await (const item of readItems(source)) {
      const { id, fields, place } = toRecord(noun, item, wanted);
      total += 1;
      isList = item.isListed;
      hasIds ||= item.values.id !== undefined && fields.id === undefined;
      if (id !== undefined && ids.has(id) && wanted.use === 'update')
        throw new UsageError(`${place}: id ${id} appears twice in the file`);
      if (id !== undefined) ids.add(id);
      for (const [field, value] of Object.entries(fields)) {
        fieldNames.add(field);
        const key = JSON.stringify([field, typeof value === 'string' ? value : '']);
        if (isName(field, value) && !nameAt.has(key)) nameAt.set(key, { field, name: value, place });
      }
      checkBounds(client, noun, { id: id ?? 0n, fields, place }, wanted);
    }
    if (total === 0) throw new UsageError(`${source.name}: has no records`);
    const resolved = new Map<string, bigint>();
    for (const [key, { field, name, place }] of nameAt)
      resolved.set(key, await resolveAt(context, client, { field, name, place }));
    const withIds = (fields: Body) =>
      Object.fromEntries(
        Object.entries(fields).map(([field, value]) => [
          field,
          isName(field, value) ? resolved.get(JSON.stringify([field, value])) : value,
        ]),
      );
    return {
      name: source.name,
      total,
      isList,
      fieldNames,
      hasIds,
      async *records() {
        for await (const item of readItems(source)) {
          const record = toRecord(noun, item, wanted);
          yield { ...record, fields: withIds(record.fields) };
        }
      },
      close: () => source.close(),
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}

function isName(field: string, value: unknown): value is string {
  return typeof value === 'string' && referenceFields[field] !== undefined;
}

async function resolveAt(
  context: Context,
  client: Client,
  { field, name, place }: { readonly field: string; readonly name: string; readonly place: string },
): Promise<bigint> {
  const noun = referenceFields[field];
  if (noun === undefined) throw new UsageError(`${place}: ${field} must be an id`);
  try {
    return await resolveId(context, client, noun, name);
  } catch (error) {
    if (!(error instanceof CliError) || (error.kind !== 'not-found' && error.kind !== 'usage')) throw error;
    throw new CliError(error.kind, `${place}: ${error.message}`, error.details);
  }
}

/**
 * The ids in a file, each once: the output of `-o ids`, a JSON array of ids, or the `id` of each record.
 *
 * @throws UsageError that names file and line.
 */
export async function readIds<Row>(
  context: Context,
  noun: EditableNoun<Row>,
  path: string,
): Promise<bigint[]> {
  const source = await openSource(context.io, path);
  try {
    const ids = new Set<bigint>();
    for await (const item of readItems(source, true)) {
      const { place, values } = item;
      checkColumns(noun, item, undefined);
      if (values.id === undefined) throw new UsageError(`${place}: id is required`);
      const id = at(place, () => parseId(String(values.id), 'id'));
      if (ids.has(id)) throw new UsageError(`${place}: id ${id} appears twice in the file`);
      ids.add(id);
    }
    if (ids.size === 0) throw new UsageError(`${source.name}: no ids in it`);
    return [...ids];
  } finally {
    await source.close();
  }
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

/** @param areIds whether a record may be a bare id. */
async function* readItems(source: Source, areIds = false): AsyncGenerator<FileItem> {
  const head = await firstCharacter(source);
  const isNamedTable = /\.[ct]sv$/i.test(source.name);
  const isNamedJson = /\.(json|jsonl|ndjson)$/i.test(source.name);
  const isJson = isNamedJson || (!isNamedTable && (head === '{' || head === '['));
  const { batches } = await readRecords(source.bytes(), {
    name: source.name,
    format: isJson ? 'json' : 'csv',
  });
  let header: readonly string[] | undefined;
  let count = 0;
  for await (const batch of batches)
    for (const record of batch) {
      if (!isJson && header === undefined) {
        header = headerOf(record, source.name, areIds);
        if (header !== idsHeader) continue;
      }
      count += 1;
      const number = !isJson || count === record.line ? '' : ` (record ${count})`;
      const place = `${source.name}:${record.line}${number}`;
      if (record.problem !== undefined) throw new UsageError(`${place}: ${record.problem}`);
      yield header
        ? toTableItem(record, header, place)
        : toJsonItem(record.text, { place, isListed: count > 1 || head === '[', areIds });
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
function checkColumns<Row>(
  { fields, many }: EditableNoun<Row>,
  { columns, isTable, place }: FileItem,
  operation: Operation | undefined,
): void {
  if (!isTable) return;
  const known = fields.flatMap(({ name, column }) => (column === undefined ? [name] : [column, name]));
  const others = Object.keys(operation?.body?.fields ?? {});
  const unknown = columns.find(
    (column) => column !== 'id' && !known.includes(column) && !others.includes(column),
  );
  if (unknown === undefined) return;
  const name = place.replace(/:\d+$/, '');
  const shown = ['id', ...fields.map((field) => field.column ?? field.name)];
  throw new UsageError(
    `${name}:1: column '${unknown}': ${many} have no such field; they have ${shown.join(', ')}`,
  );
}

function toRecord<Row>(
  noun: EditableNoun<Row>,
  item: FileItem,
  { operation, use, extra = {} }: Wanted,
): FileRecord {
  const { place, isTable, values } = item;
  checkColumns(noun, item, operation);
  // The id of an order is part of its body. In CSV output of `list`, however, the id only tells the rows apart.
  const keepsId = use === 'create' && !isTable && Object.hasOwn(noun.schema.entries, 'id');
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (name === 'id' && !keepsId) continue;
    const field = noun.fields.find((each) => each.name === name || each.column === name);
    const isColumn = field?.column === name && !isJsonObject(value);
    const key = field && (isTable || isColumn) ? field.name : name;
    if (key in fields)
      throw new UsageError(`${place}: ${field?.column} and ${key} mean the same: give one of them`);
    fields[key] = isTable || isColumn ? at(place, () => fromText(field, value, name)) : value;
    if (isName(key, fields[key]) && !isTable && !isColumn)
      throw new UsageError(`${place}: ${key} must be an integer`);
  }
  for (const [name, value] of Object.entries(extra)) fields[name] ??= value;
  const checked = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isName(name, value) ? 0n : value]),
  );
  const { output, issues } = v.safeParse(v.partial(noun.schema as AnySchema), checked);
  const problems = new Map<string, string>();
  const required = use === 'create' ? (operation.body?.required ?? []) : ['id'];
  for (const name of required)
    if (values[name] === undefined && fields[name] === undefined && (name !== 'id' || use === 'update'))
      problems.set(name, `${name} is required`);
  for (const issue of issues ?? [])
    problems.set(v.getDotPath(issue) ?? 'record', `${v.getDotPath(issue) ?? 'record'} ${issue.message}`);
  // An answer may hold any int64 as an id, but a request may not.
  for (const [name, value] of issues ? [] : Object.entries(output))
    if (typeof value === 'bigint' && value < 0n)
      problems.set(name, `${name} must be an integer from 0 to 9223372036854775807`);
  if (problems.size > 0) {
    const order = ['id', ...Object.keys(noun.schema.entries), ...problems.keys()];
    const told = [...new Set(order)].flatMap((name) => problems.get(name) ?? []);
    throw new UsageError(`${place}: ${told.join('; ')}`);
  }
  const id = use === 'create' ? undefined : at(place, () => parseId(String(values.id), 'id'));
  // The schema turns ids into bigints and drops unknown fields; names are looked up later.
  const known = Object.entries(output as Body).filter(([name]) => !isName(name, fields[name]));
  return { id, fields: { ...fields, ...Object.fromEntries(known) }, place };
}

type AnySchema = v.ObjectSchema<v.ObjectEntries, undefined>;

function fromText(field: Field | undefined, value: JsonValue | undefined, name: string): unknown {
  const text = String(value);
  return field ? field.parse(text, name) : jsonOrText(text);
}

/** Checks the body against the bounds of the contract. */
function checkBounds<Row>(
  client: Client,
  noun: EditableNoun<Row>,
  { fields, place }: FileRecord,
  { use }: Wanted,
): void {
  if (use !== 'create') return;
  const sent = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isName(name, value) ? 0n : value]),
  );
  const { operationId, input } = noun.create(sent);
  at(place, () => client.toRequest(operationId, input as never));
}

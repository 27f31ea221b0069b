import { lackingFields, takesField } from '../api/contract.ts';
import type { Bounds } from '../api/schemas.ts';
import { ValueError } from '../config/setting-values.ts';
import type { ColumnRules } from '../input/field-columns.ts';
import { type NumberFault, readCount, readId } from '../input/numbers.ts';
import type { InputRecord, InputRow, RecordValues, RowLayout } from '../input/read-records.ts';
import type { Problem } from '../input/record.ts';
import { CliError, FieldError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import type { Access } from './access.ts';
import { checkFields, typeOfField } from './body-fields.ts';
import { isName } from './names.ts';
import { isIdText, parseTyped } from './parse-values.ts';
import { type Body, columnOf, type Field, fieldKinds } from './record-nouns.ts';

/** A record of a file. */
export interface RecordRow extends InputRow {
  /** The values in the form of a request. A name may stand for an id. */
  readonly fields: Body;
  /** Whether the file has an id. */
  readonly hasId: boolean;
  /** The fields that have a value in the file and are not used. */
  readonly unused: readonly string[];
  /** A text that may mean that there is no value: `name NULL`. */
  readonly nullText?: string | undefined;
}

/**
 * Returns the layout of files of records. A deletion also reads the output of `-o ids`.
 *
 * @param extra fields of `--field`, for every record that does not have them.
 */
export function createRecordLayout(
  access: Access,
  kind: 'create' | 'update' | 'delete',
  extra: Body,
): RowLayout<RecordRow> {
  const { noun, operation } = access;
  const hasFields = kind !== 'delete';
  const isUsed = (name: string) =>
    name === 'id' ||
    (hasFields && (noun.fields.some((field) => field.name === name) || takesField(operation, name)));
  return {
    ...columnRules(access),
    ...(!hasFields && { bareField: 'id', mayBeEmpty: true }),
    noun: noun.singular,
    mayRepeat: true,
    toRow: ({ line, values: all, columns, isOfTable, text }) =>
      toRowOrProblem(() => {
        const values = valuesOf(all, isOfTable);
        const used = Object.fromEntries(Object.entries(values).filter(([name]) => isUsed(name)));
        return {
          line,
          id: kind === 'create' ? undefined : idFrom(values),
          fields: hasFields ? toFields(access, { values: used, columns, isOfTable }, extra) : {},
          hasId: values.id !== undefined,
          unused: Object.keys(values).filter((name) => !isUsed(name)),
          nullText: hasFields && isOfTable ? findNullText(values, text) : undefined,
        };
      }),
  };
}

/** Returns the columns of files of records. A column that is no field is refused, because its values would be lost. */
function columnRules({ noun, operation, client }: Access): ColumnRules {
  const columns = ['id', ...noun.fields.map(columnOf)];
  const { list, get } = noun.operations;
  const known = [operation, ...[list, get].flatMap((id) => client.contract.operations.get(id) ?? [])];
  const names = new Map(noun.fields.map((field) => [field.name, [field.name, columnOf(field)]]));
  names.set('id', ['id']);
  for (const { body, records } of known) {
    for (const [name, { wireName }] of Object.entries(body?.fields ?? {})) add(name, wireName);
    for (const [name, wireName] of Object.entries(records.names)) add(name, wireName);
    for (const name of [...(body?.readOnlyNames ?? []), ...records.furtherFields]) add(name, name);
  }
  function add(name: string, wireName: string): void {
    const others = [...names.values()].flat();
    if (!others.includes(wireName)) names.set(name, [...(names.get(name) ?? [name]), wireName]);
  }
  return {
    fields: [...names].map(([name, ownColumns]) => ({ name, columns: ownColumns })),
    refusal: `${noun.plural} have no such field; they have ${columns.join(', ')}`,
  };
}

/** Makes a row. Its CliError becomes the problem of the record. */
function toRowOrProblem<Row>(toRow: () => Row): Row | Problem {
  try {
    return toRow();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { message, details } = error;
    return { message, kind: error instanceof FieldError ? error.rule : undefined, hint: details.hint };
  }
}

/** Returns the values of a record. An empty cell of a table is no value. */
function valuesOf(values: RecordValues, isOfTable: boolean): JsonObject {
  return Object.fromEntries(
    Object.entries(values).filter(
      (entry): entry is [string, JsonValue] => entry[1] !== undefined && !(isOfTable && entry[1] === ''),
    ),
  );
}

/** Finds a word that databases and R write without quotes for a cell without a value. */
function findNullText(values: RecordValues, text: string): string | undefined {
  const [name, value] =
    Object.entries(values).find(([, cell]) => cell === 'NULL' || cell === 'NA' || cell === '\\N') ?? [];
  return name === undefined || text.includes(`"${value}"`) ? undefined : `${name} ${value}`;
}

/** Returns the id of a record. @throws FieldError if it is missing or not valid. */
function idFrom({ id = null }: RecordValues): bigint {
  if (id === null) throw new FieldError('id is required', 'id');
  return validNumber('id', String(id), readId(id));
}

/** Returns a number that was read. @throws FieldError that names the column and the text if it is none. */
function validNumber<Value extends bigint | number>(
  column: string,
  text: string,
  value: Value | NumberFault,
): Value {
  if (typeof value !== 'object') return value;
  const { rule, hint } = value;
  throw new FieldError(`${column} '${text}': ${rule}`, column, `${column} ${rule}`, hint);
}

/**
 * Returns the fields of a record in the form of a request, checked. A name may still stand for an id.
 *
 * @throws UsageError if a field is missing or not valid.
 */
function toFields(
  access: Access,
  {
    values,
    columns,
    isOfTable,
  }: Pick<InputRecord, 'columns' | 'isOfTable'> & { readonly values: JsonObject },
  extra: Body,
): Body {
  const { client, noun, operation } = access;
  const isNew = operation.id === noun.operations.create;
  // Without a prototype, because a field of the service may be called `constructor`.
  const fields: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(values)) {
    if (name === 'id') continue;
    const field = noun.fields.find((candidate) => candidate.name === name);
    // A list shows null for a value that a record does not have.
    if (value === null && field && isNew) continue;
    const isText = typeof value === 'string' && (isOfTable || field !== undefined);
    fields[name] = isText
      ? fromText(field, typeOfField(operation, name), value, columns[name] ?? name)
      : value;
  }
  for (const [name, value] of Object.entries(extra)) fields[name] ??= value;
  const names = Object.entries(fields).filter(
    ([name, value]) => isName(name, value) || (name === 'categoryId' && isJsonObject(value as JsonValue)),
  );
  const missing = isNew ? lackingFields(operation, fields) : [];
  const unset = Object.entries(fields).filter(([, value]) => value === null);
  // The schema wants ids, so 0 stands for each name.
  const withIds = { ...fields, ...Object.fromEntries(names.map(([name]) => [name, 0n])) };
  const withValues = Object.entries(withIds).filter(([, value]) => value !== null);
  const checked = {
    ...checkFields(access, Object.fromEntries(withValues), missing),
    ...Object.fromEntries(unset),
  };
  // To make the request checks the input by the contract.
  if (isNew) client.toRequest(operation.id, { body: checked });
  return { ...checked, ...Object.fromEntries(names) };
}

/** Reads a cell of a table, or a JSON string as the value of a field of ours. */
function fromText(field: Field | undefined, type: Bounds['type'], text: string, column: string): unknown {
  if (!field) return parseNamed(column, text, (cell) => parseTyped(cell, type));
  if (field.kind === 'quantity') return validNumber(column, text, readCount(text));
  // A name stands for a category alone.
  if (field.kind === 'reference' && (field.name !== 'categoryId' || isIdText(text)))
    return validNumber(column, text, readId(text));
  const { parse, parseCell = parse } = fieldKinds[field.kind];
  return parseNamed(column, text, parseCell);
}

/** Parses the text of a column. @throws FieldError that names the column and the text. */
function parseNamed<Value>(column: string, text: string, parse: (text: string) => Value): Value {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    const why = error.message;
    throw new FieldError(`${column} '${text}': ${why}`, column, `${column} ${why}`);
  }
}

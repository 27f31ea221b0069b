import { lackingFields, takesField } from '../api/contract.ts';
import type { WriteVerb } from '../api/nouns.ts';
import type { Fields } from '../api/record-values.ts';
import { type ColumnRules, stockColumn } from '../input/field-columns.ts';
import { parseFileId } from '../input/numbers.ts';
import type { InputRecord, InputRow, RowLayout } from '../input/read-records.ts';
import { type CheckedInput, type InvalidRecord, toInvalid, withoutInvalid } from '../input/read-rows.ts';
import { parseAt, ValueError } from '../process/errors.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import type { Intent } from '../writes/row.ts';
import type { RecordAccess } from './access.ts';
import { parseFields, parseTyped, typeOfField } from './body-fields.ts';
import { isName, NameError } from './names.ts';
import { columnOf } from './record-fields.ts';

interface RecordRow extends InputRow {
  /** The fields in the form of a request. A value may be a name in place of an id. */
  readonly fields: Fields;
  /** A text that may stand for a missing value: `name NULL`. */
  readonly nullText: string | undefined;
}

/** Returns the layout of files of records. A deletion also reads the output of `-o ids`. */
export function createRecordLayout(access: RecordAccess, verb: WriteVerb): RowLayout<RecordRow> {
  const { noun, operation } = access;
  const hasFields = verb !== 'delete';
  // The service gives each new record its own id.
  const isIgnored = (name: string) =>
    name === 'id'
      ? verb === 'create'
      : !hasFields || !(noun.fields.some((field) => field.name === name) || takesField(operation, name));
  return {
    ...columnRules(access),
    ...(!hasFields && { loneField: 'id' }),
    ...(verb === 'create' && { printedKey: 'id' }),
    isIgnored,
    noun: noun.singular,
    mayRepeat: true,
    toRow(record) {
      const { line, text } = record;
      const values = valuesOf(record);
      const usedValues = Object.fromEntries(Object.entries(values).filter(([name]) => !isIgnored(name)));
      return {
        line,
        text,
        id: verb === 'create' ? undefined : idFrom(values),
        fields: hasFields ? toFields(access, { ...record, values: usedValues }) : {},
        nullText: record.isOfTable ? findNullText(usedValues, text) : undefined,
      };
    },
  };
}

/** What databases, R, pandas, Python and Excel write for a missing value. They put quotes around a text. */
const nullTexts: ReadonlySet<unknown> = new Set(['NULL', '\\N', 'NA', 'NaN', 'nan', 'None', '#N/A']);

function findNullText(values: JsonObject, text: string): string | undefined {
  const [name, value] = Object.entries(values).find(([, cell]) => nullTexts.has(cell)) ?? [];
  return name === undefined || text.includes(`"${value}"`) ? undefined : `${name} ${value}`;
}

/** Returns the columns of a file of records. Other columns are refused, because their values would be lost. */
function columnRules({ noun, operation, client }: RecordAccess): ColumnRules {
  const columns = ['id', ...noun.fields.map(columnOf)];
  const { list, get } = noun.operations;
  const operations = [operation, ...[list, get].flatMap((id) => client.contract.operations.get(id) ?? [])];
  const names = new Map(noun.fields.map((field) => [field.name, [field.name, columnOf(field)]]));
  names.set('id', ['id']);
  if (noun.name === 'pets') names.set(stockColumn, [stockColumn]);
  for (const { body, recordForm } of operations) {
    for (const [name, { wireName }] of Object.entries(body?.fields ?? {})) add(name, wireName);
    for (const [name, wireName] of Object.entries(recordForm.names)) add(name, wireName);
    for (const name of [...(body?.readOnlyNames ?? []), ...recordForm.furtherFields]) add(name, name);
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

/** Returns the values of a record. An empty cell of a table is not a value. */
function valuesOf({ values, isOfTable }: InputRecord): JsonObject {
  return Object.fromEntries(
    Object.entries(values).filter(
      (entry): entry is [string, JsonValue] => entry[1] !== undefined && !(isOfTable && entry[1] === ''),
    ),
  );
}

/** Returns the id of a record. @throws ValueError if it is missing or not valid. */
function idFrom({ id = null }: Fields): bigint {
  if (id === null) throw new ValueError('id is required');
  return parseAt('id', String(id), () => parseFileId(id));
}

/**
 * Returns the fields of a record in the form of a request, checked. A value may still be a name in place of an id.
 *
 * @throws UsageError if a field is missing or not valid.
 */
function toFields(access: RecordAccess, { values, columns, isOfTable }: InputRecord): Fields {
  const { client, noun, operation } = access;
  const isNew = operation.id === noun.operations.create;
  // Without a prototype, because a field of the service may be called `constructor`.
  const fields: Record<string, JsonValue | undefined> = Object.create(null);
  for (const [name, value] of Object.entries(values)) {
    if (name === 'id') continue;
    const isOurs = noun.fields.some((candidate) => candidate.name === name);
    // A list shows null for a value that a record does not have.
    if (value === null && isOurs && isNew) continue;
    const isCell = typeof value === 'string' && isOfTable && !isOurs;
    fields[name] = isCell
      ? parseAt(name, value, () => parseTyped(value, typeOfField(operation, name)))
      : value;
  }
  const missing = isNew ? lackingFields(operation, fields) : [];
  const checkedFields = parseFields(access, fields, missing, columns);
  // The contract wants ids, so each name is replaced by 0.
  const withIds = Object.entries(checkedFields).map(([name, value]) => [
    name,
    isName(name, value) ? 0n : value,
  ]);
  if (isNew) client.preview({ operation: operation.id, input: { body: Object.fromEntries(withIds) } });
  return checkedFields;
}

/**
 * Replaces the names of categories in the rows of a file by their ids. A row with a name that no category has, or several have, is
 * invalid.
 */
export async function resolveNames(
  { names, operation }: RecordAccess,
  input: CheckedInput<RecordRow>,
  skipInvalid: boolean,
): Promise<CheckedInput<RecordRow>> {
  const rows: RecordRow[] = [];
  const invalid: InvalidRecord[] = [];
  for (const row of input.rows) {
    try {
      rows.push({ ...row, fields: await names.resolve(row.fields, operation) });
    } catch (error) {
      if (!(error instanceof NameError)) throw error;
      rows.push(row);
      invalid.push(toInvalid(error, row.line, String(row.text)));
    }
  }
  return withoutInvalid({ ...input, rows }, invalid, skipInvalid);
}

/** Returns the intent of the row for a record of a file. */
export function toIntent(verb: WriteVerb, fields: Fields): Intent {
  if (verb === 'delete') return { kind: 'remove' };
  return verb === 'create' ? { kind: 'create', fields } : { kind: 'set', value: fields };
}

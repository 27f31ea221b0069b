import { lackingFields } from '../api/contract.ts';
import { referenceFields } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { ValueError } from '../config/setting-values.ts';
import { type NumberFault, noMarks, readCount, readId } from '../input/numbers.ts';
import type { InputRecord, InputRow, RowFields, RowLayout } from '../input/read-records.ts';
import type { Problem } from '../input/record.ts';
import { isRejectColumn } from '../input/rejects.ts';
import { type InputFormat, isTable } from '../input/split-input.ts';
import { withoutGuard } from '../output/formats.ts';
import { CliError, FieldError, UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonValue } from '../process/exact-json.ts';
import type { Access } from './access.ts';
import { checkFields, fieldSchemas, typeOfField } from './body-fields.ts';
import { fieldKinds } from './field-kinds.ts';
import { isName } from './names.ts';
import { isIdText, parseTyped } from './parse-values.ts';
import { type Body, columnOf, type Field, findField, type RecordNoun } from './record-nouns.ts';

/** A record of a file. */
export interface RecordRow extends InputRow {
  /** The values as they are in the file, without the empty cells of a table. */
  readonly values: RowFields;
  /** The values in the form of a request. A name may stand for an id. */
  readonly fields: Body;
}

/** A row of a file of ids. */
interface IdRow extends RecordRow {
  readonly id: bigint;
}

/**
 * Returns the layout of files of records for a create or an update.
 *
 * @param extra fields of `--field`, for every record that does not have them.
 */
export function createRecordLayout(access: Access, extra: Body): RowLayout<RecordRow> {
  const { noun, operation } = access;
  const isNew = operation.id === noun.operations.create;
  const fieldNames = [...fieldNamesOf(noun), ...Object.keys(operation.body?.fields ?? {})];
  return {
    isHeader: (cells) => cells.every((cell) => fieldNames.includes(cell.trim()) || isRejectColumn(cell)),
    parserOf: createParserOf(noun, fieldNames, (values, isOfTable) => {
      const fields = toFields(access, values, isOfTable, extra);
      return { id: isNew ? undefined : idFrom(values, noun), values, fields };
    }),
    noun: noun.singular,
    mayRepeat: true,
    fieldsOf: ({ values }) => values,
  };
}

/** Returns the layout of files of ids: the output of `-o ids`, a JSON array of ids, or records with an `id`. */
export function createIdLayout(noun: RecordNoun): RowLayout<IdRow> {
  const columns = columnsOf(noun);
  return {
    mayBeEmpty: true,
    isHeader: (cells) => cells.some((cell) => columns.includes(cell.trim())),
    columnsWithoutHeader: ([cell = '', ...others]) =>
      others.length > 0 || columns.includes(cell.trim()) || cell.startsWith('{') ? undefined : ['id'],
    parserOf: createParserOf(noun, fieldNamesOf(noun), (values) => ({
      id: idFrom(values, noun),
      values,
      fields: {},
    })),
    noun: noun.singular,
    mayRepeat: true,
    fieldsOf: ({ values }) => values,
  };
}

/** Returns the columns that `list -o csv` prints. */
function columnsOf({ fields }: RecordNoun): readonly string[] {
  return ['id', ...fields.map(columnOf)];
}

function fieldNamesOf(noun: RecordNoun): readonly string[] {
  return [...columnsOf(noun), ...noun.fields.map(({ name }) => name)];
}

/**
 * Creates the function that makes the parsers of a layout.
 *
 * @param fieldNames the columns that a table may have.
 * @param toRow makes a row of the values of a record. Its CliError becomes the problem of the record.
 */
function createParserOf<Row>(
  noun: RecordNoun,
  fieldNames: readonly string[],
  toRow: (values: RowFields, isOfTable: boolean) => Row,
) {
  return (names: readonly string[], format: InputFormat) => {
    const isOfTable = isTable(format);
    const problem = isOfTable ? headerProblem(names, noun, fieldNames) : undefined;
    if (problem) return problem;
    return (record: InputRecord) => {
      const { line } = record;
      try {
        return { line, ...toRow(isOfTable ? cellFields(record, format) : objectFields(record), isOfTable) };
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        const { message, details } = error;
        const kind = error instanceof FieldError ? error.rule : undefined;
        return { message, kind, hint: details.hint };
      }
    };
  };
}

/** Returns the problem of a header. A column that is not a field is a problem, because its cells would be lost. */
function headerProblem(
  names: readonly string[],
  noun: RecordNoun,
  fieldNames: readonly string[],
): Problem | undefined {
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) return { message: `duplicate column '${duplicate}'` };
  const unknownName = names.find((name) => !fieldNames.includes(name) && !isRejectColumn(name));
  if (unknownName === undefined) return undefined;
  const isHeader = names.some((name) => fieldNames.includes(name));
  return {
    message: `column '${unknownName}': ${noun.plural} have no such field; they have ${columnsOf(noun).join(', ')}`,
    hint: isHeader ? undefined : 'the file must be CSV with a header, JSON or JSON lines',
  };
}

function cellFields({ names, values }: InputRecord, { kind }: InputFormat): RowFields {
  const toText = kind === 'csv' ? withoutGuard : String;
  const cells = names.map((name, index) => [name, toText(values[index] ?? '')] as const);
  return Object.fromEntries(cells.filter(([name, cell]) => cell !== '' && !isRejectColumn(name)));
}

function objectFields({ names, value = null }: InputRecord): RowFields {
  // The value is an id, not an object.
  if (!isJsonObject(value)) return { [names[0] ?? 'id']: value };
  return Object.fromEntries(Object.entries(value).filter(([name]) => !isRejectColumn(name)));
}

/** Returns the id of a record. @throws FieldError if it is missing or not valid. */
function idFrom({ id = null }: RowFields, { name }: RecordNoun): bigint {
  if (id === null) throw new FieldError('id is required', 'id');
  return validNumber('id', String(id), readId(String(id), name === 'inventory' ? 'pets' : name));
}

/** Returns a number that was read. @throws FieldError that names the column and the text if it is none. */
function validNumber<Value extends bigint | number>(
  column: string,
  text: string,
  value: Value | NumberFault,
): Value {
  if (typeof value !== 'object') return value;
  const { rule, hint, command } = value;
  const remedy = [hint, command].filter((part) => part !== undefined).join(': ');
  throw new FieldError(`${column} '${text}': ${rule}`, column, `${column} ${rule}`, remedy || undefined);
}

/**
 * Returns the fields of a record in the form of a request, checked. A name may still stand for an id.
 *
 * @param isOfTable whether the record is a row of CSV or TSV, whose cells are text.
 * @throws UsageError if a field is missing, not valid, or given twice.
 */
function toFields(access: Access, values: RowFields, isOfTable: boolean, extra: Body): Body {
  const { client, noun, operation } = access;
  const isNew = operation.id === noun.operations.create;
  // In JSON the id of a new order is part of its body. In a table, as `list -o csv` prints it, the id only tells rows apart.
  const keepsId = isNew && !isOfTable && Object.hasOwn(fieldSchemas(noun), 'id');
  // Without a prototype, because a field of the service may be called `constructor`.
  const fields: Record<string, unknown> = Object.create(null);
  for (const [column, value] of Object.entries(values)) {
    if (column === 'id' && !keepsId) continue;
    const field = findField(noun, column);
    // A list shows null for a value that a record does not have.
    if (value === null && field && isNew) continue;
    // A category may be an object, as a bound service prints it.
    const isReference = field?.column === column;
    const isText = isOfTable || (isReference && value !== null && !isJsonObject(value));
    const name = (isText || isReference) && field ? field.name : column;
    if (name in fields) throw new UsageError(`${field?.column} and ${name} mean the same: give one of them`);
    fields[name] = isText ? fromText(operation, field, String(value), column) : value;
    if (!isText && !isReference && isName(name, value))
      throw new FieldError(`${name} must be an integer`, name);
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

function fromText(operation: Operation, field: Field | undefined, text: string, column: string): unknown {
  if (!field) return parseNamed(column, text, (cell) => parseTyped(cell, typeOfField(operation, column)));
  if (field.kind === 'quantity') return validNumber(column, text, readCount(text, noMarks));
  // A name stands for a category alone.
  if (field.kind === 'reference' && (field.name !== 'categoryId' || isIdText(text)))
    return validNumber(column, text, readId(text, referenceFields[field.name] ?? 'pets'));
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

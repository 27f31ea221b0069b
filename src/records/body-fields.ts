import { takesField, unknownFieldError } from '../api/contract.ts';
import type { Operation } from '../api/operations.ts';
import { categoryName, type Fields, isDateTime } from '../api/record-values.ts';
import type { Bounds } from '../api/schemas.ts';
import { messageOf, parseAt, ValueError } from '../process/errors.ts';
import { isJsonObject, type JsonValue, jsonIn, parseJson } from '../process/exact-json.ts';
import { withArticle } from '../process/text.ts';
import type { RecordAccess } from './access.ts';
import { columnOf, findField, flagOf, parseBoolean, toServiceValue } from './record-fields.ts';

/** The values of the flags of a create or an update. A field has the name of its column. A value may be a name in place of an id. */
export interface RecordFlags {
  /** The texts of `--field`: `name=value`. */
  readonly field?: readonly string[] | undefined;
  readonly [column: string]: unknown;
}

/**
 * Returns the fields that flags set, in the form of the service. A value may still be a name in place of an id.
 *
 * @throws UsageError for a status, a date or an id that the service does not accept, and for a field that its body does not have.
 */
export function toBody(access: RecordAccess, flags: RecordFlags): Fields {
  const { noun, client } = access;
  const body: Record<string, JsonValue | undefined> = {};
  for (const field of noun.fields) {
    const value = flags[columnOf(field)] as JsonValue | undefined;
    if (value === undefined) continue;
    requireOffered(access, field.name, flagOf(field));
    const convert = () => toServiceValue(field, value, client.contract, noun.name);
    body[field.name] = field.kind === 'reference' ? value : parseAt(flagOf(field), value, convert);
  }
  return { ...body, ...extraFields(access, flags.field) };
}

/**
 * Returns the fields of `--field name=value`, with the types of the description, and of `--field name:=value`, which is JSON.
 *
 * @throws UsageError for a field that has a flag or that the body cannot have, and for a value of another type.
 */
function extraFields(access: RecordAccess, texts: RecordFlags['field'] = []): Fields {
  const { noun, operation } = access;
  const fields: Record<string, JsonValue | undefined> = {};
  const addField = (text: string) => {
    const { name, value, isJson } = parseAssignment(text);
    const field = findField(noun, name);
    // A service may have a field of its own with the name of our column, such as a category in words.
    if (field && (field.name === name || takesField(operation, field.name)))
      throw new ValueError(`${name} has its own flag`, { hint: `give ${flagOf(field)}` });
    if (name === 'id' && operation.method !== 'POST')
      throw new ValueError('the id of a record cannot be given');
    const isFurther =
      !field && operation.body?.takesOtherFields && !operation.body.readOnlyNames.includes(name);
    if (!isFurther) requireOffered(access, name, `--field ${name}`);
    fields[name] = isJson ? parseJsonText(value) : parseTyped(value, typeOfField(operation, name));
  };
  for (const text of texts) parseAt('--field', text, () => addField(text));
  return fields;
}

/** Splits `name=value`, or `name:=value`, whose value is JSON. @throws ValueError for any other text. */
export function parseAssignment(text: string): {
  readonly name: string;
  readonly value: string;
  readonly isJson: boolean;
} {
  const at = text.indexOf('=');
  const isJson = text[at - 1] === ':';
  const name = text.slice(0, isJson ? at - 1 : at).trim();
  if (at < 1 || name === '') throw new ValueError('must be name=value, or name:=<JSON>');
  return { name, value: text.slice(at + 1), isJson };
}

/** Parses JSON of the command line. @throws ValueError for any other text. */
export function parseJsonText(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new ValueError(`must be JSON (${messageOf(error)})`);
  }
}

/** @throws UnboundError if the body does not have the field of a flag. */
function requireOffered({ operation }: RecordAccess, name: string, flag: string): void {
  if (takesField(operation, name)) return;
  throw unknownFieldError(operation, name, `${flag}: `);
}

export function typeOfField({ body }: Operation, name: string): Bounds['type'] {
  return body && Object.hasOwn(body.fields, name) ? body.fields[name]?.bounds?.type : undefined;
}

/**
 * Checks the fields of a record of a file or an editor, and returns ours in the form of the service: ids as bigints, dates and
 * statuses in its spelling. A value may still be a name in place of an id. A category that was printed as `{id, name}` becomes two
 * fields. Null and further fields stay unchanged.
 *
 * @param missingNames the names of the required fields that are missing.
 * @param columns the names of the columns or keys for errors, if they differ from the names of the fields.
 * @throws ValueError that names a field that is missing or wrong.
 */
export function parseFields(
  { noun, client }: RecordAccess,
  given: Fields,
  missingNames: readonly string[],
  columns: Readonly<Record<string, string>> = {},
): Fields {
  const [missingName] = missingNames;
  if (missingName !== undefined) throw new ValueError(`${missingName} is required`);
  const { categoryId: category = null } = given;
  const values: Record<string, JsonValue | undefined> = { ...given };
  if (isJsonObject(category)) {
    values.categoryId = category.id ?? category.name ?? category;
    values[categoryName] = category.name;
  }
  for (const field of noun.fields) {
    const { name } = field;
    const value = values[name];
    if (value === undefined || value === null) continue;
    // Some services show dates without an offset, and a record that was printed goes back unchanged.
    if (field.kind === 'date' && isDateTime(`${value}Z`)) continue;
    const convert = () => toServiceValue(field, value, client.contract, noun.name);
    values[name] = parseAt(columns[name] ?? name, value, convert);
  }
  return values;
}

/** Parses a text as a value of the type in a description. The service checks the value. @throws ValueError if it is not JSON. */
export function parseTyped(text: string, type: Bounds['type']): JsonValue {
  if (type === undefined || type === 'string') return text;
  if (type === 'boolean') return parseBoolean(text);
  const value = jsonIn(text);
  if (value === undefined || typeof value === 'string')
    throw new ValueError(`must be ${withArticle(type)} in JSON`);
  return value;
}

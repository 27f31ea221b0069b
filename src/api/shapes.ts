import { isJsonObject, type JsonObject } from '../process/exact-json.ts';
import type { Operation, RequestBody } from './operations.ts';
import { bodySchemas, type Pet } from './schemas.ts';

// The differences between the records of a bound service and those of the table: missing fields, unknown fields, a
// category that is not an id.

interface CategoryReference {
  readonly id?: bigint | undefined;
  readonly name?: string | undefined;
}

/** The category of a pet, whether it is an id, a name or an object with one of them or both. */
export function categoryOf({ categoryId, category }: Pet): CategoryReference {
  if (categoryId !== undefined && categoryId !== null) return { id: categoryId };
  if (typeof category === 'string') return { name: category };
  if (typeof category === 'bigint' || Number.isSafeInteger(category))
    return { id: BigInt(category as bigint | number) };
  if (!isJsonObject(category)) return {};
  const { id, name } = category;
  return {
    ...(typeof id === 'bigint' && { id }),
    ...(typeof name === 'string' && { name }),
  };
}

/** How the body of an operation has the category: `categoryId`, or `category` as an object, a name or an id. */
function categoryForm({ body }: Operation): 'categoryId' | 'object' | 'name' | 'id' {
  const { category, categoryId } = body?.fields ?? {};
  if (categoryId !== undefined) return 'categoryId';
  if (isJsonObject(category)) return 'object';
  if (typeof category === 'string') return 'name';
  return typeof category === 'number' || typeof category === 'bigint' ? 'id' : 'categoryId';
}

/** Whether the body of an operation has the category in a field `category`. */
export function takesCategory(operation: Operation): boolean {
  return categoryForm(operation) !== 'categoryId';
}

/** Whether the body of an operation takes the name of a category that has no id here. */
export function takesCategoryName(operation: Operation, isListed: boolean): boolean {
  const form = categoryForm(operation);
  return form === 'name' || (form === 'object' && !isListed);
}

/** The fields of a body for a category, in the form that the operation expects. */
export function categoryFields(operation: Operation, { id, name }: CategoryReference): JsonObject {
  const form = categoryForm(operation);
  if (form === 'categoryId') return { categoryId: id ?? null };
  if (form === 'name') return { category: name ?? String(id) };
  if (form === 'id') return { category: id ?? null };
  return { category: { ...(id !== undefined && { id }), ...(name !== undefined && { name }) } };
}

/** Whether the records of an operation have a field; true if the description does not say. */
export function hasField({ fields }: Operation, name: string): boolean {
  if (!fields) return true;
  return fields.includes(name) || (name === 'categoryId' && fields.includes('category'));
}

/**
 * The queries whose lists together hold all records. A service that has a default for a filter must be asked for each
 * value of that filter, and so must one whose records do not show the value; otherwise one empty query suffices.
 *
 * @param given values by filter; the lists hold records with any of them.
 */
export function wholeQueries(
  operation: Operation,
  given: Readonly<Record<string, unknown>> = {},
): readonly Readonly<Record<string, unknown>>[] {
  const narrowed = operation.parameters.find(
    ({ name, fallback, required, in: place }) =>
      fallback !== undefined ||
      (place === 'query' && Array.isArray(given[name]) && (required || !hasField(operation, name))),
  );
  if (!narrowed) return [{}];
  const values = given[narrowed.name] ?? narrowed.bounds?.enum ?? [];
  return Array.isArray(values) && values.length > 0
    ? values.map((value) => ({ [narrowed.name]: value }))
    : [{}];
}

/** All values of each filter that a list requires, if the description names them. */
export function requiredValues({ parameters }: Operation): Readonly<Record<string, readonly string[]>> {
  const filters = parameters.filter((each) => each.required && each.in === 'query' && !each.value);
  return Object.fromEntries(
    filters.flatMap(({ name, bounds }) => (bounds?.enum ? [[name, bounds.enum]] : [])),
  );
}

/** A valid value for each filter that a list requires. */
export function requiredQuery(operation: Operation): Readonly<Record<string, string | undefined>> {
  const values = Object.entries(requiredValues(operation));
  return Object.fromEntries(values.map(([name, [first]]) => [name, first]));
}

/** Whether the body of an operation offers a field; true if the description does not say. */
export function offersField(operation: Operation, name: string): boolean {
  const { fields } = operation.body ?? {};
  if (!fields) return true;
  return Object.hasOwn(fields, name) || (name === 'categoryId' && takesCategory(operation));
}

/** Whether the caller of a create must choose the id of the new record. */
export function needsId({ method, body }: Operation): boolean {
  return method === 'POST' && body?.idField === undefined && body?.required.includes('id') === true;
}

/** The fields that the body of an operation requires in addition to the given one and the id. */
export function otherRequired({ body }: Operation, given: string): readonly string[] {
  return body?.required.filter((name) => name !== given && name !== body.idField) ?? [];
}

/**
 * Adapts a body to an operation: removes fields that it does not offer, and adds examples for other required ones.
 */
export function fitBody({ body }: Operation, given: JsonObject): JsonObject {
  const offered = body?.fields;
  if (!offered) return given;
  const kept = Object.entries(given).filter(([name]) => Object.hasOwn(offered, name));
  const lacking = body.required.filter((name) => given[name] === undefined && name !== body.idField);
  return Object.fromEntries([...kept, ...lacking.map((name) => [name, offered[name] ?? null] as const)]);
}

/**
 * The body that changes a record: for a PUT the whole record, unknown fields unchanged; for a PATCH the changes, and
 * other fields that the operation requires.
 */
export function toUpdateBody(
  { method, body }: Operation,
  record: object,
  changes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (!body) return {};
  const { entries } = bodySchemas[body.name];
  const keeps = ([name, value]: [string, unknown]): boolean => {
    if (Object.hasOwn(changes, name)) return true;
    if (value === undefined) return false;
    if (method === 'PATCH') return body.required.includes(name);
    if (Object.hasOwn(entries, name) ? value === null : name === 'id') return false;
    return maySend(body, name);
  };
  // In the order of the record, so that a PUT changes nothing else.
  return Object.fromEntries(Object.entries({ ...record, ...changes }).filter(keeps));
}

function maySend({ fields, readOnly, isClosed }: RequestBody, name: string): boolean {
  if (readOnly?.includes(name)) return false;
  return isClosed !== true || fields === undefined || Object.hasOwn(fields, name);
}

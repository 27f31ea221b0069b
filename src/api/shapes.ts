import { isJsonObject, type JsonObject } from '../json.ts';
import type { Operation, RequestBody } from './operations.ts';
import { bodySchemas, type Pet } from './schemas.ts';

// The differences between the records of a bound service and those of the table: missing fields, unknown fields, a
// category that is an object.

interface CategoryReference {
  readonly id?: bigint | undefined;
  readonly name?: string | undefined;
}

/** The category of a pet, whether it is an id or an object with an id, a name or both. */
export function categoryOf({ categoryId, category }: Pet): CategoryReference {
  if (categoryId !== undefined && categoryId !== null) return { id: categoryId };
  if (!isJsonObject(category)) return {};
  const { id, name } = category;
  return {
    ...(typeof id === 'bigint' && { id }),
    ...(typeof name === 'string' && { name }),
  };
}

/** Whether the body of an operation has the category as an object. */
export function takesCategoryObject({ body }: Operation): boolean {
  const { category, categoryId } = body?.fields ?? {};
  return isJsonObject(category) && categoryId === undefined;
}

/** The fields of a body for a category, in the form that the operation expects. */
export function categoryFields(operation: Operation, category: CategoryReference): JsonObject {
  if (!takesCategoryObject(operation)) return { categoryId: category.id ?? null };
  const { id, name } = category;
  return { category: { ...(id !== undefined && { id }), ...(name !== undefined && { name }) } };
}

/** Whether the records of an operation have a field; true if the description does not say. */
export function hasField({ fields }: Operation, name: string): boolean {
  if (!fields) return true;
  return fields.includes(name) || (name === 'categoryId' && fields.includes('category'));
}

/**
 * The queries whose lists together hold all records. A service that has a default for a filter must be asked for each
 * value of that filter; otherwise one empty query suffices.
 *
 * @param given values by filter; the lists hold records with any of them.
 */
export function wholeQueries(
  { parameters }: Operation,
  given: Readonly<Record<string, unknown>> = {},
): readonly Readonly<Record<string, unknown>>[] {
  const narrowed = parameters.find(
    ({ name, fallback, required, in: place }) =>
      fallback !== undefined || (required && place === 'query' && Array.isArray(given[name])),
  );
  if (!narrowed) return [{}];
  const values = given[narrowed.name] ?? narrowed.bounds?.enum ?? [];
  return Array.isArray(values) && values.length > 0
    ? values.map((value) => ({ [narrowed.name]: value }))
    : [{}];
}

/** Whether the body of an operation offers a field; true if the description does not say. */
export function offersField(operation: Operation, name: string): boolean {
  const { fields } = operation.body ?? {};
  if (!fields) return true;
  return Object.hasOwn(fields, name) || (name === 'categoryId' && takesCategoryObject(operation));
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

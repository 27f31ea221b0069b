import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import { caseless } from '../process/text.ts';

// A service may send the category of a pet with its name, and no other reference. Our records have the id in `categoryId` and the name in
// `category`. A command or a row names a category by its id, by its name, or by `{id, name}`.

type RecordFields = Readonly<Record<string, JsonValue | undefined>>;

/** Returns true if a field holds the category of a pet. */
export function isCategoryField(name: string): boolean {
  return name === 'categoryId';
}

/** Returns the category of a record: its id, or `{id, name}` if the record has its name. */
export function categoryIn({ categoryId: id, category: name = null }: RecordFields): JsonValue | undefined {
  if (name === null) return id;
  return id === undefined ? { name } : { id, name };
}

/** Turns a category, an object that has its id, its name or both, into the fields of a record. */
export function categoryFields({ id, name }: JsonObject): JsonObject {
  return {
    ...(id !== undefined && { categoryId: id }),
    ...(typeof name === 'string' && { category: name }),
  };
}

/** Returns the ids of two categories if both have one, or else their names, to compare them. */
export function comparedCategories(
  category: JsonValue | undefined,
  record: RecordFields,
): { readonly expected: JsonValue | undefined; readonly actual: JsonValue | undefined } {
  const expected = toCategoryParts(category ?? null);
  const { id = null, name = id } = toCategoryParts(categoryIn(record) ?? null);
  return expected.id != null && id !== null
    ? { expected: expected.id, actual: id }
    : { expected: expected.name ?? expected.id ?? undefined, actual: name ?? id ?? undefined };
}

/** Returns true if a record has a category. The case of its name does not matter. */
export function hasCategory(record: RecordFields, category: JsonValue): boolean {
  const { expected, actual } = comparedCategories(category, record);
  return caseless(String(expected)) === caseless(String(actual));
}

/** Returns the name of a category, or without one its id. */
export function categoryText({ id, name }: JsonObject): string {
  return String(name ?? id);
}

/** Returns the parts of a category that a value has: its id, its name or both. */
export function toCategoryParts(category: JsonValue): JsonObject {
  if (isJsonObject(category)) return category;
  return typeof category === 'string' ? { name: category } : { id: category };
}

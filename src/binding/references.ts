import { InputError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, valueAt } from '../process/exact-json.ts';
import { percentDecoded } from '../process/text.ts';

/** A document whose references are followed where they are met. */
export interface RootDocument {
  /** The name of the document in messages, as the user wrote it. */
  readonly label: string;
  readonly document: JsonObject;
}

/** Returns the reference that stands in place of a value; undefined if the value stands there itself. */
export function referenceOf(value: JsonValue | undefined): string | undefined {
  return isJsonObject(value) && typeof value.$ref === 'string' ? value.$ref : undefined;
}

/**
 * Returns the value at a reference, which may be a reference again. Undefined if it leads nowhere.
 *
 * @throws InputError for a reference to another document.
 */
export function lookUp(reference: string, { label, document }: RootDocument): JsonValue | undefined {
  if (reference.startsWith('#')) return valueAt(document, percentDecoded(reference.slice(1)));
  throw new InputError(
    `description ${label}: refers to ${reference}, which is in another document`,
    'bundle it into one document first',
  );
}

/** Follows the references in place of a value. Undefined if they lead nowhere, or in a circle. */
export function follow(
  value: JsonValue | undefined,
  root: RootDocument,
  chain: readonly string[] = [],
): JsonValue | undefined {
  const reference = referenceOf(value);
  if (reference === undefined) return value;
  return chain.includes(reference) ? undefined : follow(lookUp(reference, root), root, [...chain, reference]);
}

/** The members whose names are chosen by the author, so that none of them is an extension or an example. */
const maps =
  /^(properties|patternProperties|headers|schemas|parameters|responses|requestBodies|paths|content|\$defs)$/;

/** The keywords of a schema, and the extensions of a description, whose value is data: no keyword or `$ref` in it counts. */
const dataKeywords = /^(enum|const|default|examples?|x-.*)$/;

/** Lists the references in a part of a document and in their targets. Each occurs once. */
export function referencesIn(
  value: JsonValue | undefined,
  root: RootDocument,
  visited = new Set<string>(),
  isMap = false,
): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return visited;
  const reference = isMap ? undefined : referenceOf(value);
  if (reference !== undefined && !visited.has(reference)) {
    visited.add(reference);
    referencesIn(lookUp(reference, root), root, visited);
  }
  for (const [key, member] of Object.entries(value))
    if (isMap || Array.isArray(value) || !dataKeywords.test(key))
      referencesIn(member, root, visited, !isMap && maps.test(key));
  return visited;
}

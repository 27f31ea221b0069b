import { InputError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import { valueAt } from '../process/pointer.ts';
import { listOf, SchemaNames } from './schema.ts';

/** What is left of the references of a document after they were replaced. */
interface References {
  /** The names by which the references call their targets. */
  readonly schemaNames: SchemaNames;
  /** The values in place of references that lead nowhere, with these references. */
  readonly dangling: ReadonlyMap<object, string>;
}

/** The members whose names are chosen by the author, so that none of them is an extension or an example. */
const maps =
  /^(properties|patternProperties|headers|schemas|parameters|responses|requestBodies|paths|content|\$defs)$/;

/** The keywords of a schema, and the extensions of a description, whose value is data: no keyword or `$ref` in it counts. */
const dataKeywords = /^(enum|const|default|examples?|x-.*)$/;

/** The keywords that say which values a schema takes. Beside a reference they count as well: JSON Schema 2020-12, 8.2.3.1. */
const assertions =
  /^(type|properties|required|additionalProperties|items|enum|const|allOf|anyOf|oneOf|not|minimum|maximum|pattern|format|nullable)$/;

/**
 * Replaces the references of a document with the values that they refer to. The document may then contain cycles.
 *
 * @throws InputError for a reference to another document.
 */
export function resolveReferences(document: JsonObject): References {
  const schemaNames = new SchemaNames();
  const dangling = new Map<object, string>();
  const visited = new Set<object>();
  const targetOf = (reference: string, chain: readonly string[]): JsonValue => {
    if (!reference.startsWith('#'))
      throw new InputError(
        `refers to ${reference}, which is in another document`,
        'bundle it into one document first',
      );
    const target = chain.includes(reference) ? undefined : valueAt(document, pointerOf(reference));
    if (target !== undefined) return resolve(target, [...chain, reference]);
    const placeholder = {};
    dangling.set(placeholder, reference);
    return placeholder;
  };
  const resolve = (value: JsonValue, chain: readonly string[] = []): JsonValue => {
    if (!isJsonObject(value) || typeof value.$ref !== 'string') return value;
    const { $ref: reference, ...rest } = value;
    const target = targetOf(reference, chain);
    schemaNames.add(target, reference.split('/').at(-1) ?? '');
    const asserts = ([key, member]: [string, JsonValue]) => assertions.test(key) && member !== undefined;
    return Object.entries(rest).some(asserts) ? { ...rest, allOf: [target, ...listOf(rest.allOf)] } : target;
  };
  const visit = (value: JsonValue, isMap: boolean): void => {
    if (typeof value !== 'object' || value === null || visited.has(value)) return;
    visited.add(value);
    const members = value as Record<string, JsonValue>;
    for (const [key, member] of Object.entries(members)) {
      if (!isMap && !Array.isArray(value) && dataKeywords.test(key)) continue;
      const resolved = resolve(member);
      if (resolved !== member) members[key] = resolved;
      visit(resolved, !isMap && maps.test(key));
    }
  };
  visit(document, false);
  return { schemaNames, dangling };
}

/** Returns the JSON pointer of a reference within a document. */
function pointerOf(reference: string): string {
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    return reference.slice(1);
  }
}

import { isUtf8 } from 'node:buffer';
import { InputError, messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, valueAt } from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import { withDefaultSignals } from '../process/io.ts';
import { decodePercent } from '../process/text.ts';

/** An OpenAPI document. Its references are followed where they are met. */
export interface Description {
  /** The name of the document in messages, as the user wrote it. */
  readonly label: string;
  /** Its absolute URL. A file has none. */
  readonly url?: string | undefined;
  readonly document: JsonObject;
}

/** Converts a document to OpenAPI 3.1. @throws InputError if the document is not OpenAPI 3 or Swagger 2.0. */
export async function readDescription({ url, label, document: original }: Description): Promise<Description> {
  requireVersion(original, label);
  const { upgradeFromTwoToThree } = await import('@scalar/openapi-upgrader/2.0-to-3.0');
  const { upgradeFromThreeToThreeOne } = await import('@scalar/openapi-upgrader/3.0-to-3.1');
  const document = runParser(
    label,
    () => upgradeFromThreeToThreeOne(upgradeFromTwoToThree(original)) as JsonObject,
  );
  if (!isJsonObject(document.paths)) throw new InputError(`description ${label}: has no paths`);
  return { url, label, document };
}

/** @throws InputError for an unsupported version. */
function requireVersion({ openapi, swagger }: JsonObject, label: string): void {
  const isSupported = /^2(\.|$)/.test(String(swagger)) || /^3\.[0-2](\.|$)/.test(String(openapi));
  if (!isSupported) throw new InputError(`description ${label}: is not OpenAPI 3.0 to 3.2 or Swagger 2.0`);
}

/**
 * Returns the address of the first server of a document at an origin, or else of its first server, with the defaults of its variables.
 *
 * @param url the address of the document, which resolves relative servers. By default it is the origin.
 */
export function serverOf({ servers }: JsonObject, origin: string, url = origin): URL | undefined {
  const addresses = listOf(servers).flatMap((server) => {
    const { url: template = '', variables } = objectOf(server);
    const address = String(template).replace(/\{([^}]*)\}/g, (variable, name: string) =>
      String(objectOf(objectOf(variables)[name]).default ?? variable),
    );
    return URL.canParse(address, url) ? [new URL(address, url)] : [];
  });
  return addresses.find((address) => address.origin === origin) ?? addresses[0];
}

/** Parses JSON or YAML that holds an object. @throws InputError for other bytes. */
export async function parseDocument(bytes: Uint8Array, label: string): Promise<JsonObject> {
  if (!isUtf8(bytes)) throw new InputError(`description ${label}: is not UTF-8 text`);
  const text = new TextDecoder().decode(bytes);
  const isJson = /^\s*[{[]/.test(text);
  const parse = isJson ? parseJson : (await loadYaml()).parse;
  const value = runParser(label, () => parse(text));
  if (!isJsonObject(value)) throw new InputError(`description ${label}: is not an OpenAPI document`);
  return value;
}

/** Runs a parser so that a signal can end it. @throws InputError if the parser rejects the document. */
function runParser<Value>(label: string, work: () => Value): Value {
  try {
    return withDefaultSignals(work);
  } catch (thrown) {
    throw new InputError(`description ${label}: ${messageOf(thrown).split('\n')[0]}`);
  }
}

/** Returns the value if it is an object, or else an empty object. A description may have any value anywhere. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns the value if it is an array, or else an empty array. @see objectOf */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the reference that stands in place of a value. */
export function referenceOf(value: JsonValue | undefined): string | undefined {
  return isJsonObject(value) && typeof value.$ref === 'string' ? value.$ref : undefined;
}

/**
 * Returns the value at a reference, which may be another reference. A broken reference has no value.
 *
 * @throws InputError for a reference to another document.
 */
export function referentOf(reference: string, { label, document }: Description): JsonValue | undefined {
  if (reference.startsWith('#')) return valueAt(document, decodePercent(reference.slice(1)));
  throw new InputError(
    `description ${label}: refers to ${reference}, which is in another document`,
    'bundle it into one document first',
  );
}

/** Follows the references in place of a value. Broken and circular references have no value. */
export function followReference(
  value: JsonValue | undefined,
  root: Description,
  chain: readonly string[] = [],
): JsonValue | undefined {
  const reference = referenceOf(value);
  if (reference === undefined) return value;
  return chain.includes(reference)
    ? undefined
    : followReference(referentOf(reference, root), root, [...chain, reference]);
}

/** Lists the references within the document in a part of it and in their targets. Each occurs once. */
export function referencesIn(
  value: JsonValue | undefined,
  root: Description,
  visited = new Set<string>(),
): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return visited;
  const reference = referenceOf(value);
  if (reference?.startsWith('#') && !visited.has(reference)) {
    visited.add(reference);
    referencesIn(referentOf(reference, root), root, visited);
  }
  for (const member of Object.values(value)) referencesIn(member, root, visited);
  return visited;
}

import { InputError, messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import { whileKillable } from '../process/io.ts';
import type { RootDocument } from './references.ts';
import { listOf, objectOf } from './schema.ts';

/** An OpenAPI document. */
export interface Description extends RootDocument {
  /** The absolute URL of the document. Undefined for a file. */
  readonly url?: string | undefined;
}

/**
 * Converts a document to OpenAPI 3.1.
 *
 * @throws InputError if the document is not OpenAPI 3 or Swagger 2.0.
 */
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
  if (/^2(\.|$)/.test(String(swagger))) return;
  if (typeof openapi === 'string' && /^3\.[0-2](\.|$)/.test(openapi)) return;
  const version = openapi ?? swagger;
  const isText = typeof version === 'string' || typeof version === 'number';
  throw new InputError(
    `description ${label}: OpenAPI 3 or Swagger 2.0 is needed, and it states ${isText ? `version ${version}` : 'no version'}`,
    'give the OpenAPI document itself, not a page about it',
  );
}

/**
 * Lists the base URLs of a document. They are absolute, have no trailing
 * slash, and have the default values of their variables.
 *
 * @param url the URL against which relative servers are resolved. They are left out without it.
 */
export function serversOf({ servers = [{ url: '/' }] }: JsonObject, url: string | undefined): string[] {
  const addresses = listOf(servers).flatMap((server) => {
    const { url: template = '', variables } = objectOf(server);
    const address = String(template).replace(/\{([^}]*)\}/g, (variable, name: string) =>
      String(objectOf(objectOf(variables)[name]).default ?? variable),
    );
    if (!URL.canParse(address, url)) return [];
    const { protocol, href } = new URL(address, url);
    return /^https?:$/.test(protocol) ? [href.replace(/\/+$/, '')] : [];
  });
  return [...new Set(addresses)];
}

/** The limit for the size of one document, which may be hostile. The largest public descriptions have a fraction of it. */
export const maxBytes = 32 * 1024 * 1024;

/** Decodes the bytes of a document. @throws InputError if the bytes are too many, or are not UTF-8. */
export function decodeText(bytes: Uint8Array, label: string): string {
  if (bytes.length > maxBytes)
    throw new InputError(`description ${label}: is larger than ${maxBytes / 1024 / 1024} MiB`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InputError(`description ${label}: is not UTF-8 text`);
  }
}

/**
 * Parses a JSON or YAML text that holds an object.
 *
 * @throws InputError for any other text.
 */
export async function parseDocument(text: string, label: string): Promise<JsonObject> {
  const isJson = /^\ufeff?\s*[{[]/.test(text);
  const parse = isJson ? parseJson : (await loadYaml()).parse;
  const value = runParser(label, () => parse(text));
  if (!isJsonObject(value)) throw new InputError(`description ${label}: is not an OpenAPI document`);
  return value;
}

/** Runs a parser, which a signal can end, and returns its value. @throws InputError if the parser rejects the document. */
function runParser<Value>(label: string, work: () => Value): Value {
  try {
    return whileKillable(work);
  } catch (thrown) {
    const hint = thrown instanceof InputError ? thrown.details.hint : undefined;
    const isTooDeep = thrown instanceof RangeError || /call stack/.test(messageOf(thrown));
    const why = isTooDeep
      ? 'is nested too deeply, or refers to itself without end'
      : messageOf(thrown).split('\n')[0];
    throw new InputError(`description ${label}: ${why}`, hint);
  }
}

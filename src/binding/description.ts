import { InputError } from '../process/errors.ts';
import { isJsonObject, type JsonObject } from '../process/exact-json.ts';
import { readWithin, runParser } from './parse-document.ts';
import { dereference, type UnresolvedDescription } from './references.ts';
import { objectOf, SchemaNames } from './schema.ts';
import { toCurrentForms } from './schema-forms.ts';

/**
 * An OpenAPI 3.1 document with all references resolved. It may contain cycles. Older versions are converted.
 */
export interface Description {
  /** Absolute URL of the document, `file:` for a file. */
  readonly url: string;
  /** The name of the document in messages, as the user wrote it. */
  readonly label: string;
  readonly document: JsonObject;
  /** A note for the user: the document was converted, or is read as another version. */
  readonly note?: string | undefined;
  /** The values in place of references to documents that are neither JSON nor YAML, with the addresses of these. */
  readonly unreadable: ReadonlyMap<object, string>;
  readonly schemaNames: SchemaNames;
}

/**
 * Converts a document to OpenAPI 3.1, and resolves its references.
 *
 * @throws InputError if the document is not OpenAPI 3 or Swagger 2.0, if reading takes too
 *   long, or if a reference leads nowhere or must not be followed.
 */
export async function readDescription(source: UnresolvedDescription): Promise<Description> {
  const { url, label } = source;
  const note = versionNote(source.document, label);
  const document = await convert(source.document, label);
  if (!isJsonObject(document.paths)) throw new InputError(`description ${label}: has no paths`);
  const schemaNames = new SchemaNames();
  const unreadable = await dereference(document, source, schemaNames);
  const schemas = objectOf(objectOf(document.components).schemas);
  for (const [name, schema] of Object.entries(schemas)) schemaNames.add(schema, name);
  return { url, label, document, note, unreadable, schemaNames };
}

/** Converts Swagger 2.0 and OpenAPI 3.0 to OpenAPI 3.1. */
async function convert(document: JsonObject, label: string): Promise<JsonObject> {
  const { upgradeFromTwoToThree } = await import('@scalar/openapi-upgrader/2.0-to-3.0');
  const upgrade = () => toCurrentForms(upgradeFromTwoToThree(document) as JsonObject, document);
  return readWithin(label, () => runParser(label, upgrade));
}

/**
 * Returns a note about the version of a document. Undefined for OpenAPI 3.0 and 3.1.
 *
 * @throws InputError for an unsupported version.
 */
function versionNote({ openapi, swagger }: JsonObject, label: string): string | undefined {
  if (/^2(\.|$)/.test(String(swagger)))
    return `note: the description is Swagger ${swagger}: converted to OpenAPI 3.1`;
  if (typeof openapi === 'string' && /^3\.[01](\.|$)/.test(openapi)) return undefined;
  if (typeof openapi === 'string' && /^3\.2(\.|$)/.test(openapi))
    return `note: the description is OpenAPI ${openapi}: read as 3.1`;
  const version = openapi ?? swagger;
  const isText = typeof version === 'string' || typeof version === 'number';
  throw new InputError(
    `description ${label}: OpenAPI 3.0, 3.1 or Swagger 2.0 is needed, and it states ${isText ? `version ${version}` : 'no version'}`,
    'give the OpenAPI document itself, not a page about it',
  );
}

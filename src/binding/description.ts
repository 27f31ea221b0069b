import { $RefParser } from '@apidevtools/json-schema-ref-parser';
import { InputError, messageOf } from '../process/errors.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  printJson,
} from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import { whileKillable } from '../process/io.ts';
import { secondsText } from '../process/text.ts';
import { runWithinTime } from '../process/within-time.ts';
import { addName, objectOf } from './schema.ts';
import { convertSchemas, separateReferences } from './schema-forms.ts';

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
}

/** A parsed document with unresolved references, and access to the documents that it refers to. */
interface UnresolvedDescription extends Pick<Description, 'url' | 'label' | 'document'> {
  /**
   * Reads the text of another document.
   *
   * @throws UsageError if the program must not read the document.
   */
  read(url: string): Promise<string>;
}

// Limits, because the documents may be hostile.

/** The limit for parsing one document, and for resolving all references. */
const readingLimitMs = 10_000;
const maxDocuments = 200;
/** The limit for the size of one document. The largest public descriptions have a fraction of this size. */
export const maxBytes = 64 * 1024 * 1024;

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
  const unreadable = await dereference(document, source);
  const schemas = objectOf(objectOf(document.components).schemas);
  for (const [name, schema] of Object.entries(schemas)) addName(schema, name);
  return { url, label, document, note, unreadable };
}

/**
 * Replaces all references with the values that they refer to.
 *
 * @returns the values of references to documents that are neither JSON nor YAML.
 */
async function dereference(
  document: JsonObject,
  { url, label, read, document: root }: UnresolvedDescription,
): Promise<ReadonlyMap<object, string>> {
  const unreadable = new Map<object, string>();
  dropExtensions(document);
  requireUrls(document, url, label);
  let readError: unknown;
  let count = 1;
  const readDocument = async (file: { url: string }) => {
    try {
      count += 1;
      if (count > maxDocuments)
        throw new InputError(`description ${label}: refers to more than ${maxDocuments} documents`);
      return await read(file.url);
    } catch (thrown) {
      readError ??= thrown;
      throw thrown;
    }
  };
  const parse = async (file: { data: unknown; url: string }) => {
    try {
      const other = toCurrentForms(await parseDocument(String(file.data), file.url), root);
      dropExtensions(other);
      requireUrls(other, file.url, label);
      return other;
    } catch (error) {
      if (!(error instanceof InputError) || error instanceof ReferenceFault) throw error;
      // The library refuses an empty value.
      const placeholder = { 'x-unreadable': file.url };
      unreadable.set(placeholder, file.url);
      return placeholder;
    }
  };
  const onDereference = (reference: string, schema: unknown) => {
    requireTarget(reference, schema, label);
    addName(schema, lastPart(reference));
  };
  try {
    await new $RefParser().dereference(url, document, {
      resolve: { file: false, http: false, other: { order: 1, canRead: true, read: readDocument } },
      parse: {
        json: false,
        yaml: false,
        text: false,
        binary: false,
        document: { order: 1, canParse: true, parse },
      },
      dereference: { circular: true, onDereference, excludedPathMatcher: isExample },
      timeoutMs: readingLimitMs,
    });
  } catch (thrown) {
    throw readError ?? new InputError(`description ${label}: ${parserReason(thrown)}`);
  }
  return unreadable;
}

/** A reference that leads nowhere. */
class ReferenceFault extends InputError {}

/** @throws InputError for a reference that is not a URL, because the library does not name it. */
function requireUrls(value: JsonValue | undefined, url: string, label: string): void {
  if (Array.isArray(value)) for (const item of value) requireUrls(item, url, label);
  if (!isJsonObject(value)) return;
  const { $ref: reference } = value;
  if (typeof reference === 'string' && !URL.canParse(reference, url))
    throw new ReferenceFault(`description ${label}: the reference ${reference} is not a URL`);
  for (const member of Object.values(value)) requireUrls(member, url, label);
}

/** Objects whose members have names of their own, which may begin with `x-`. */
const namedMembers =
  /^(properties|patternProperties|headers|schemas|parameters|responses|requestBodies|\$defs)$/;

/** Removes the extensions that have references, because these may lead to anything, such as a sample in C#. */
function dropExtensions(value: JsonValue | undefined, name = ''): void {
  if (Array.isArray(value)) for (const item of value) dropExtensions(item);
  if (!isJsonObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    const isExtension = key.startsWith('x-') && !namedMembers.test(name);
    if (isExtension && typeof member === 'object' && /"\$ref"/.test(printJson(member))) delete value[key];
    else dropExtensions(member, key);
  }
}

/** An example may have a field `$ref` that is not a reference; a property may have the name `example`. */
function isExample(path: string): boolean {
  return /(?<!\/properties)\/examples?(\/|$)/.test(path);
}

/** Makes the error for a reference that must not be followed. */
export function forbiddenReference(url: string, why: string): InputError {
  return new InputError(`description refers to ${url}: ${why}`, 'bundle it into one document first');
}

/** Converts Swagger 2.0 and OpenAPI 3.0 to OpenAPI 3.1. */
async function convert(document: JsonObject, label: string): Promise<JsonObject> {
  const { upgradeFromTwoToThree } = await import('@scalar/openapi-upgrader/2.0-to-3.0');
  const upgrade = () => toCurrentForms(upgradeFromTwoToThree(document) as JsonObject, document);
  return readWithin(label, () => runParser(label, upgrade));
}

/** @param root the document whose version counts: a document that it refers to has none. */
function toCurrentForms(document: JsonObject, { openapi, swagger }: JsonObject): JsonObject {
  const isOld = swagger !== undefined || String(openapi).startsWith('3.0');
  return separateReferences(isOld ? convertSchemas(document) : document);
}

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
 * @throws InputError for any other text, or if parsing takes too long.
 */
export async function parseDocument(text: string, label: string): Promise<JsonObject> {
  const isJson = /^\ufeff?\s*[{[]/.test(text);
  const parse = isJson ? parseJson : (await loadYaml()).parse;
  const value = readWithin(label, () => runParser(label, () => parse(text)));
  if (!isJsonObject(value)) throw new InputError(`description ${label}: is not an OpenAPI document`);
  return value;
}

/** Runs a parser and returns its value. @throws InputError if the parser rejects the document. */
function runParser<Value>(label: string, work: () => Value): Value {
  try {
    return work();
  } catch (thrown) {
    throw new InputError(`description ${label}: ${parserReason(thrown)}`);
  }
}

function parserReason(thrown: unknown): string {
  if (thrown instanceof RangeError || /call stack/.test(messageOf(thrown)))
    return 'is nested too deeply, or refers to itself without end';
  return messageOf(thrown).split('\n')[0] ?? '';
}

/**
 * Runs synchronous work on a description, which may be hostile, and returns its value.
 *
 * @throws InputError if the work takes more than 10 s.
 * @throws InterruptedError on Ctrl-C.
 */
export function readWithin<Value>(label: string, work: () => Value): Value {
  const fail = () => {
    throw new InputError(
      `description ${label}: takes longer than ${secondsText(readingLimitMs)} to read`,
      'remove unrelated paths, or convert it to JSON',
    );
  };
  return whileKillable(() => runWithinTime(readingLimitMs, work, fail, { endsOnCtrlC: true }));
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

/**
 * @throws InputError for a reference that leads to itself or to a property of every object. The specification
 *   does not define its meaning.
 */
function requireTarget(reference: string, value: unknown, label: string): void {
  const isInherited = /[#/](__proto__|prototype|constructor)(\/|$)/.test(reference);
  const isCircular = typeof value === 'object' && value !== null && '$ref' in value;
  if (isInherited || isCircular)
    throw new InputError(`description ${label}: the reference ${reference} leads nowhere`);
}

/**
 * Returns the last part of a reference: `Pet` for `#/components/schemas/Pet`, `schemas.yaml#/Pet` and
 * `Pet.yaml`.
 */
function lastPart(reference: string): string {
  const [file = '', pointer = ''] = reference.split('#');
  return (pointer || file.replace(/\.\w+$/, '')).split('/').at(-1) ?? '';
}

import { $RefParser } from '@apidevtools/json-schema-ref-parser';
import { InputError, messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import { whileKillable } from '../process/io.ts';
import { runWithinTime } from '../process/within-time.ts';
import { addName, objectOf } from './schema.ts';

/** An OpenAPI 3.1 document with every reference resolved; it may contain cycles. Older ones are converted. */
export interface Description {
  /** Absolute URL of the document, `file:` for a file. */
  readonly url: string;
  /** The name in messages, as the user wrote it. */
  readonly label: string;
  readonly document: JsonObject;
  /** The version of Swagger that the document was converted from. */
  readonly convertedFrom?: string | undefined;
}

/** A parsed document, and access to the documents that it refers to. */
interface DescriptionSource extends Pick<Description, 'url' | 'label' | 'document'> {
  /**
   * The text of another document.
   *
   * @throws UsageError if the document may not be read.
   */
  read(url: string): Promise<string>;
}

// Limits, because the documents may be hostile.

/** The limit for parsing one document, and that for resolving all references. */
const readingLimitMs = 10_000;
const maxDocuments = 200;
/** The limit of one document; the largest public descriptions have a fraction of it. */
export const maxBytes = 64 * 1024 * 1024;

/**
 * Converts a document to OpenAPI 3.1, and resolves its references.
 *
 * @throws UsageError for a document that is not OpenAPI 3.0, 3.1 or Swagger 2.0, that takes too long to read,
 *   or has a reference that leads nowhere or must not be followed.
 */
export async function readDescription(source: DescriptionSource): Promise<Description> {
  const { url, label } = source;
  const convertedFrom = checkVersion(source.document, label);
  const document = await convert(source.document, label);
  if (!isJsonObject(document.paths)) throw new InputError(`description ${label}: has no paths`);
  await dereference(document, source);
  const schemas = objectOf(objectOf(document.components).schemas);
  for (const [name, schema] of Object.entries(schemas)) addName(schema, name);
  return { url, label, document, convertedFrom };
}

/** Puts what they refer to in place of all references. */
async function dereference(document: JsonObject, { url, label, read }: DescriptionSource): Promise<void> {
  let readError: unknown;
  let count = 1;
  const readOther = async (other: { url: string }) => {
    try {
      count += 1;
      if (count > maxDocuments)
        throw new InputError(`description ${label}: refers to more than ${maxDocuments} documents`);
      return await read(other.url);
    } catch (thrown) {
      readError ??= thrown;
      throw thrown;
    }
  };
  const parse = (other: { data: unknown; url: string }) => parseDocument(String(other.data), other.url);
  const onDereference = (reference: string, schema: unknown) => {
    checkEnds(reference, schema, label);
    addName(schema, lastPart(reference));
  };
  try {
    await new $RefParser().dereference(url, document, {
      resolve: { file: false, http: false, other: { order: 1, canRead: true, read: readOther } },
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
}

/** An example may have a field `$ref` that is not a reference; a property may have the name `example`. */
function isExample(path: string): boolean {
  return /(?<!\/properties)\/examples?(\/|$)/.test(path);
}

/** The error for a reference that must not be followed. */
export function forbiddenReference(url: string, why: string): InputError {
  return new InputError(`description refers to ${url}: ${why}`, 'bundle it into one document first');
}

/** Swagger 2.0 and OpenAPI 3.0 as OpenAPI 3.1. */
async function convert(document: JsonObject, label: string): Promise<JsonObject> {
  const { upgradeFromTwoToThree } = await import('@scalar/openapi-upgrader/2.0-to-3.0');
  const { upgradeFromThreeToThreeOne } = await import('@scalar/openapi-upgrader/3.0-to-3.1');
  const upgrade = () => upgradeFromThreeToThreeOne(upgradeFromTwoToThree(document)) as JsonObject;
  return readWithin(label, () => orDescriptionError(label, upgrade));
}

/** @throws UsageError for bytes that are too many, or not UTF-8. */
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
 * @throws UsageError for any other text, and one that takes too long to read.
 */
export async function parseDocument(text: string, label: string): Promise<JsonObject> {
  const isJson = /^\ufeff?\s*[{[]/.test(text);
  const parse = isJson ? parseJson : (await loadYaml()).parse;
  const value = readWithin(label, () => orDescriptionError(label, () => parse(text)));
  if (!isJsonObject(value)) throw new InputError(`description ${label}: is not an OpenAPI document`);
  return value;
}

/** The value of the work of a parser. @throws UsageError if the document is not what the parser expects. */
function orDescriptionError<Value>(label: string, work: () => Value): Value {
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
 * The value of synchronous work on a description, which may be hostile.
 *
 * @throws UsageError if it takes more than 10 s, InterruptedError on Ctrl-C.
 */
export function readWithin<Value>(label: string, work: () => Value): Value {
  const late = () => {
    throw new InputError(
      `description ${label}: takes longer than ${readingLimitMs / 1000} s to read`,
      'remove unrelated paths, or convert it to JSON',
    );
  };
  return whileKillable(() => runWithinTime(readingLimitMs, work, late, { endsOnCtrlC: true }));
}

/**
 * Returns the version of Swagger; undefined for OpenAPI.
 *
 * @throws InputError for a version that cannot be read.
 */
function checkVersion({ openapi, swagger }: JsonObject, label: string): string | undefined {
  if (/^2(\.|$)/.test(String(swagger))) return String(swagger);
  if (typeof openapi === 'string' && /^3\.[01](\.|$)/.test(openapi)) return undefined;
  const stated = openapi ?? swagger;
  const version =
    typeof stated === 'string' || typeof stated === 'number' ? `version ${stated}` : 'no version';
  throw new InputError(
    `description ${label}: OpenAPI 3.0, 3.1 or Swagger 2.0 is needed, and it states ${version}`,
    'give the OpenAPI document itself, not a page about it',
  );
}

/**
 * @throws InputError for a reference that leads to itself, or out of the document's own fields: what it means
 *   is not defined.
 */
function checkEnds(reference: string, target: unknown, label: string): void {
  const isOfObject = /[#/](__proto__|prototype|constructor)(\/|$)/.test(reference);
  const isItself = typeof target === 'object' && target !== null && '$ref' in target;
  if (isOfObject || isItself)
    throw new InputError(`description ${label}: the reference ${reference} leads nowhere`);
}

/** `Pet` of `#/components/schemas/Pet`, of `schemas.yaml#/Pet` and of `Pet.yaml`. */
function lastPart(reference: string): string {
  const [file = '', pointer = ''] = reference.split('#');
  return (pointer || file.replace(/\.\w+$/, '')).split('/').at(-1) ?? '';
}

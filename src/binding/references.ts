import { $RefParser } from '@apidevtools/json-schema-ref-parser';
import { InputError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { parseDocument, parserReason, readingLimitMs } from './parse-document.ts';
import type { SchemaNames } from './schema.ts';
import { toCurrentForms } from './schema-forms.ts';

/** A parsed document with unresolved references, and access to the documents that it refers to. */
export interface UnresolvedDescription {
  /** Absolute URL of the document, `file:` for a file. */
  readonly url: string;
  /** The name of the document in messages, as the user wrote it. */
  readonly label: string;
  readonly document: JsonObject;
  /**
   * Reads the text of another document.
   *
   * @throws UsageError if the program must not read the document.
   */
  read(url: string): Promise<string>;
}

/** A limit, because the documents may be hostile. */
const maxDocuments = 200;

/**
 * Replaces all references with the values that they refer to.
 *
 * @param schemaNames gets the names in the references.
 * @returns the values of references to documents that are neither JSON nor YAML.
 */
export async function dereference(
  document: JsonObject,
  { url, label, read, document: root }: UnresolvedDescription,
  schemaNames: SchemaNames,
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
    schemaNames.add(schema, lastPart(reference));
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

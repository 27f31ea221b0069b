import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import type { Method } from '../operations.ts';

/** A parameter of an operation, those of its path included. */
export interface DocumentParameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: JsonValue | undefined;
}

/** What an operation takes or answers in JSON; no schema where the document gives none. */
export interface Content {
  readonly mediaType: string;
  readonly schema: JsonValue | undefined;
}

/** One operation of an OpenAPI document, what its path says taken in. */
export interface DocumentOperation {
  readonly method: Method;
  readonly path: string;
  readonly operationId: string | undefined;
  readonly parameters: readonly DocumentParameter[];
  /** `none` where it takes no body, `other` where it takes none in JSON. */
  readonly body: Content | 'none' | 'other';
  /** Of its usual success: `none` where it is documented to have no body, `other` where it has none in JSON. */
  readonly answer: Content | 'none' | 'other' | 'unknown';
  readonly responses: JsonObject;
  /** The operation object itself. */
  readonly source: JsonObject;
  /** The object of its path. */
  readonly pathItem: JsonObject;
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Every operation of a document whose references are replaced, in the document's order. */
export function operationsOf(document: JsonObject): DocumentOperation[] {
  const paths = Object.entries(document.paths as JsonObject);
  return paths.flatMap(([path, pathItem]) => {
    if (!isPath(path) || !isJsonObject(pathItem)) return [];
    return methods.flatMap((method) => {
      const source = pathItem[method.toLowerCase()];
      return isJsonObject(source) ? [toDocumentOperation({ method, path, source, pathItem })] : [];
    });
  });
}

/** A path as a URL may hold it, below its base: no query, no fragment, no way up. */
function isPath(path: string): boolean {
  return /^\/[\w\-.~!$&'()*+,;=:@%/{}]*$/.test(path) && !/\/\.\.?(\/|$)/.test(path);
}

/** A path with the names of its parameters left out: two that are equal are one place. */
export function placeOf(path: string): string {
  return path.replace(/\{[^}]*\}/g, '{}').replace(/(?<=.)\/$/, '');
}

/** Statuses of success that an operation documents, in order; the answer of none of them may be known. */
export function successStatuses(responses: JsonObject): number[] {
  const stated = Object.keys(responses).filter((status) => /^2\d\d$/.test(status));
  return stated.map(Number).sort((a, b) => a - b);
}

/** The JSON of a `content` object: application/json first, then any type that ends with +json. */
export function jsonContent(content: JsonValue | undefined): Content | undefined {
  if (!isJsonObject(content)) return undefined;
  const types = Object.keys(content);
  const type = types.find((each) => /^application\/json\b/i.test(each)) ?? types.find(isJsonType);
  if (type === undefined) return undefined;
  const media = content[type];
  const mediaType = /^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=[\w.-]+)*$/.test(type) ? type : 'application/json';
  return { mediaType, schema: isJsonObject(media) ? media.schema : undefined };
}

function toDocumentOperation(
  stated: Pick<DocumentOperation, 'method' | 'path' | 'source' | 'pathItem'>,
): DocumentOperation {
  const { path, source, pathItem } = stated;
  const responses = isJsonObject(source.responses) ? source.responses : {};
  return {
    ...stated,
    operationId: typeof source.operationId === 'string' ? source.operationId : undefined,
    parameters: parametersOf(path, pathItem.parameters, source.parameters),
    body: bodyOf(source.requestBody),
    answer: answerOf(responses),
    responses,
  };
}

/** Those of the path's template first; a parameter of the operation beats one of its path. */
function parametersOf(
  path: string,
  ofPath: JsonValue | undefined,
  own: JsonValue | undefined,
): DocumentParameter[] {
  const merged = new Map<string, DocumentParameter>();
  for (const [, name = ''] of path.matchAll(/\{([^}]*)\}/g))
    merged.set(`path ${name}`, { name, in: 'path', required: true, schema: undefined });
  for (const value of [ofPath, own].flatMap((list) => (Array.isArray(list) ? list : []))) {
    if (!isJsonObject(value) || typeof value.name !== 'string' || typeof value.in !== 'string') continue;
    const { name, in: place } = value;
    const key = `${place} ${name}`;
    if (place === 'path' && !merged.has(key)) continue;
    // OpenAPI 3.0.3, "Parameter Object": these three are described elsewhere, and ignored here.
    if (place === 'header' && /^(accept|content-type|authorization)$/i.test(name)) continue;
    const schema = value.schema ?? jsonContent(value.content)?.schema;
    merged.set(key, { name, in: place, required: place === 'path' || value.required === true, schema });
  }
  return [...merged.values()];
}

function bodyOf(body: JsonValue | undefined): Content | 'none' | 'other' {
  if (!isJsonObject(body)) return 'none';
  return jsonContent(body.content) ?? 'other';
}

function answerOf(responses: JsonObject): DocumentOperation['answer'] {
  const statuses = successStatuses(responses).map(String);
  const stated = [...statuses, '2XX'].map((status) => responses[status]).filter(isJsonObject);
  const withJson = stated.map(({ content }) => jsonContent(content)).find((content) => content !== undefined);
  if (withJson) return withJson;
  if (statuses.length > 0 && statuses.every((status) => status === '204' || status === '205')) return 'none';
  const hasOther = stated.some(({ content }) => isJsonObject(content) && Object.keys(content).length > 0);
  return hasOther ? 'other' : 'unknown';
}

function isJsonType(type: string): boolean {
  return /^[\w.*-]+\/([\w.-]+\+)?(json|\*)$/i.test(type);
}

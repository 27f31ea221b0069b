import { hidesTryIt } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { BodyField, Operation, RequestBody, Stability } from '../api/operations.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import { isSecured } from './credential-places.ts';
import { type DocumentOperation, successStatuses } from './document.ts';
import { pagingOf, toParameters } from './parameters.ts';
import { fieldNamesOf, isCategoryObject, isRecord, recordsIn, type TableOperation } from './record-format.ts';
import type { ResponseReader } from './responses.ts';
import { boundsOf, exampleOf, listOf, objectOf, shapeOf, takesNull } from './schema.ts';

/** An operation of the table as a document describes it. */
export function toOperation(
  tableOperation: TableOperation,
  from: DocumentOperation,
  why: string,
  document: JsonObject,
  responseReader: ResponseReader,
): Operation {
  const { id, noun, isList, fieldMap } = tableOperation;
  const { operationObject, pathItem, responses } = from;
  const success = successStatuses(responses);
  const [tag] = listOf(operationObject.tags);
  const answer = readAnswer(tableOperation, from);
  const body = readBody(tableOperation, from);
  const isMapped = ([name, written]: readonly [string, string]) =>
    [answer.records.names[name], body?.fields[name]?.wireName].includes(written);
  const mapped = [...fieldMap]
    .filter(isMapped)
    .map(([name, written]) => `${name} is called ${written} (--map)`);
  return {
    id,
    noun,
    tag: nonBlankText(tag) ?? tableOperation.tag,
    summary: tableOperation.summary,
    method: from.method,
    path: from.path,
    parameters: toParameters(from, id).parameters,
    body,
    ...answer,
    isList,
    paging: isList ? pagingOf(from, id) : undefined,
    takesChangesOnly: takesChangesOnly(tableOperation, from, body),
    hasFullSchema: false,
    success: success.length > 0 ? usualFirst(success, tableOperation.success) : tableOperation.success,
    errors: Object.keys(responses)
      .filter((status) => /^[45]\d\d$/.test(status))
      .map(Number),
    responses: responseReader.read(responses),
    needsCredential: isSecured(operationObject, document),
    stability: stabilityOf(operationObject) ?? stabilityOf(pathItem) ?? 'stable',
    isDeprecated: operationObject.deprecated === true,
    sunset: sunsetOf(operationObject) ?? sunsetOf(pathItem),
    hidesTryIt: hidesTryIt(document, pathItem, operationObject),
    provenance: 'bound',
    why: [why, ...mapped].join('; '),
  };
}

/** The records in the answer of an operation; no `result` if the answer has none. */
function readAnswer(
  tableOperation: TableOperation,
  { answer, answersNoJson }: DocumentOperation,
): Pick<Operation, 'result' | 'records'> {
  const { result, records } = tableOperation;
  if (!result || !answer) return { result: answersNoJson ? undefined : result, records };
  const { envelope, shape } = recordsIn(tableOperation, answer.shape) ?? { envelope: [], shape: undefined };
  if (!shape || shape.kind === 'unknown') return { result, records };
  // A write may be answered with something else, such as a message; then there is no record to print.
  if (!isRecord(tableOperation, shape)) return { result: undefined, records };
  const names = fieldNamesOf(tableOperation, shape);
  const written = new Set(names.values());
  const furtherFields = [...shape.fields.keys()].filter((name) => !written.has(name));
  return { result, records: { envelope, names: Object.fromEntries(names), furtherFields } };
}

/** Whether an update takes a body with nothing but what changes. */
function takesChangesOnly(
  { noun, method }: TableOperation,
  from: DocumentOperation,
  body: RequestBody | undefined,
): boolean {
  if (method !== 'PUT' || !body) return false;
  const isPatch = from.method === 'PATCH';
  const needed = Object.entries(body.fields).filter(([, { required }]) => required || !isPatch);
  return (isPatch || noun === 'inventory') && needed.every(([name]) => /^(quantity|petId)$/.test(name));
}

/** The body of a bound operation; that of the table if the document describes none. */
function readBody(tableOperation: TableOperation, from: DocumentOperation): RequestBody | undefined {
  const { noun, method, body } = tableOperation;
  if (!body || !from.body) return body;
  const { mediaType, shape } = from.body;
  const isMerged = /merge-patch\+json/i.test(mediaType);
  const names = fieldNamesOf(tableOperation, shape);
  const ours = new Map([...names].map(([name, written]) => [written, name]));
  const toField = (written: string): [string, BodyField] => {
    const name = ours.get(written) ?? written;
    const schema = shape.fields.get(written);
    // A schema that a create shares with its answer requires the id that the service gives.
    const required = shape.required.has(written) && !(method === 'POST' && name === 'id');
    const isCategory = name === 'categoryId' && isCategoryObject(schema);
    return [
      name,
      {
        wireName: written,
        required,
        bounds: isCategory ? undefined : boundsOf(schema),
        example: isCategory ? categoryExample(schema) : exampleOf(schema),
        isRemovable: from.method === 'PATCH' && !required && (isMerged || takesNull(schema)),
      },
    ];
  };
  const written = [...new Set([...shape.fields.keys(), ...shape.required])];
  // OpenAPI 3.0.3, "readOnly": the field occurs only in answers.
  const readOnlyNames = written.filter((name) => objectOf(shape.fields.get(name)).readOnly === true);
  // A field that is called like one of ours, and means something else, cannot be set: the name is that of
  // ours.
  const isOther = (name: string) => names.has(name) && !ours.has(name);
  const fields = written.filter((name) => !readOnlyNames.includes(name) && !isOther(name)).map(toField);
  const unlisted = Object.entries(body.fields).map(([name, field]) => [name, { ...field, required: false }]);
  const isInPath = from.parameters.some(({ in: place }) => place === 'path');
  const described: RequestBody['fields'] = Object.fromEntries(written.length > 0 ? fields : unlisted);
  return {
    name: body.name,
    mediaType,
    fields: described,
    readOnlyNames,
    isClosed: shape.isClosed,
    hasId: method === 'PUT' && (!isInPath || described[nouns[noun].idField]?.required === true),
  };
}

/** A category that is an object, with only an id and a name. */
function categoryExample(schema: JsonValue | undefined): JsonValue {
  const { fields } = shapeOf(schema);
  const names = ['id', 'name'].filter((name) => fields.has(name));
  return Object.fromEntries(names.map((name) => [name, exampleOf(fields.get(name))]));
}

function usualFirst(stated: readonly number[], usual: readonly number[]): number[] {
  return [...stated].sort((a, b) => Number(usual.includes(b)) - Number(usual.includes(a)) || a - b);
}

/** The stability in the extension; `alpha`, which other publishers use, is `experimental` here. */
function stabilityOf(source: JsonObject): Stability | undefined {
  const value = source['x-stability'];
  if (value === 'alpha') return 'experimental';
  return value === 'beta' || value === 'experimental' || value === 'stable' ? value : undefined;
}

/** The date of the extension, with or without a time. */
function sunsetOf(source: JsonObject): string | undefined {
  const value = nonBlankText(source['x-deprecated-sunset'] ?? source['x-sunset']);
  const [date] = /^\d{4}-\d\d-\d\d(?=$|[Tt ])/.exec(value ?? '') ?? [];
  return date !== undefined && !Number.isNaN(Date.parse(date)) ? date : undefined;
}

function nonBlankText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

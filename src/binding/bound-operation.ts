import { hidesTryIt } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { BodyField, Operation, RequestBody, Stability } from '../api/operations.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import { type DocumentOperation, successStatuses } from './document.ts';
import { pagingOf, toParameters } from './parameters.ts';
import { fieldNamesOf, isCategoryObject, isRecord, recordsIn, type TableOperation } from './record-format.ts';
import type { ResponseReader } from './responses.ts';
import { boundsOf, exampleOf, listOf, objectOf, shapeOf, takesNull } from './schema.ts';

/** Makes the bound form of an operation of the table from the operation of a document. */
export function toOperation(
  tableOperation: TableOperation,
  from: DocumentOperation,
  why: string,
  document: JsonObject,
  responseReader: ResponseReader,
): Operation {
  const { id, noun, isList } = tableOperation;
  const { operationObject, pathItem, responses } = from;
  const success = successStatuses(responses);
  const [tag] = listOf(operationObject.tags);
  const answer = readAnswer(tableOperation, from);
  const body = readBody(tableOperation, from);
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
    paging: isList ? pagingOf(from) : undefined,
    takesChangesOnly: takesChangesOnly(tableOperation, from, body),
    hasFullSchema: false,
    // Frameworks leave out the responses of a DELETE.
    success: sortStatuses(success.length > 0 ? success : anySuccess, tableOperation.success),
    errors: Object.keys(responses)
      .filter((status) => /^[45]\d\d$/.test(status))
      .map(Number),
    responses: responseReader.read(responses),
    credential: from.credential,
    stability: stabilityOf(operationObject) ?? stabilityOf(pathItem) ?? 'stable',
    isDeprecated: operationObject.deprecated === true,
    sunset: sunsetOf(operationObject) ?? sunsetOf(pathItem),
    hidesTryIt: hidesTryIt(document, pathItem, operationObject),
    source: 'bound',
    why,
  };
}

/** Reads the format of the records in the answer. `result` is undefined if the answer has no record. */
function readAnswer(
  tableOperation: TableOperation,
  { answer, answersNoJson }: DocumentOperation,
): Pick<Operation, 'result' | 'records'> {
  const { result, records } = tableOperation;
  // The description says nothing of the words of our table.
  const unstated = { ...records, bounds: {} };
  if (!result || !answer) return { result: answersNoJson ? undefined : result, records: unstated };
  const { envelope, shape } = recordsIn(tableOperation, answer.shape) ?? { envelope: [], shape: undefined };
  if (!shape || shape.kind === 'unknown') return { result, records: unstated };
  // The answer of a write may be something else, such as a message. Then there is no record to print.
  if (!isRecord(tableOperation, shape)) return { result: undefined, records: unstated };
  const names = fieldNamesOf(tableOperation, shape);
  const wireNames = new Set(names.values());
  const furtherFields = [...shape.fields].flatMap(([name, schema]) =>
    wireNames.has(name) || objectOf(schema).writeOnly === true ? [] : [name],
  );
  const bounds = Object.fromEntries(
    [...names].flatMap(([name, wireName]) => {
      const { enum: words, format } = boundsOf(shape.fields.get(wireName)) ?? {};
      return words || format ? [[name, { enum: words, format }]] : [];
    }),
  );
  return { result, records: { envelope, names: Object.fromEntries(names), furtherFields, bounds } };
}

/** Returns true if the body of an update has only the fields that change. */
function takesChangesOnly(
  { noun, method }: TableOperation,
  from: DocumentOperation,
  body: RequestBody | undefined,
): boolean {
  if (method !== 'PUT' || !body) return false;
  const isPatch = from.method === 'PATCH';
  const fields = Object.entries(body.fields).filter(([, { required }]) => required || !isPatch);
  return (isPatch || noun === 'inventory') && fields.every(([name]) => /^(quantity|petId)$/.test(name));
}

/** Reads the format of the body. Returns the format of the table if the document describes no body. */
function readBody(tableOperation: TableOperation, from: DocumentOperation): RequestBody | undefined {
  const { noun, method, body } = tableOperation;
  if (!body || !from.body) return body;
  const { mediaType, shape } = from.body;
  const isMerged = /merge-patch\+json/i.test(mediaType);
  const names = fieldNamesOf(tableOperation, shape);
  const namesByWireName = new Map([...names].map(([name, wireName]) => [wireName, name]));
  const toField = (wireName: string): [string, BodyField] => {
    const name = namesByWireName.get(wireName) ?? wireName;
    const schema = shape.fields.get(wireName);
    // A schema that a create shares with its answer requires the id that the service gives.
    const required = shape.required.has(wireName) && !(method === 'POST' && name === 'id');
    const isCategory = name === 'categoryId' && isCategoryObject(schema);
    return [
      name,
      {
        wireName,
        required,
        bounds: isCategory ? undefined : boundsOf(schema),
        example: isCategory ? categoryExample(schema) : exampleOf(schema),
        isWriteOnly: objectOf(schema).writeOnly === true || undefined,
        isRemovable: from.method === 'PATCH' && !required && (isMerged || takesNull(schema)),
      },
    ];
  };
  const wireNames = [...new Set([...shape.fields.keys(), ...shape.required])];
  // OpenAPI 3.0.3, "readOnly": the field occurs only in answers.
  const readOnlyNames = wireNames.filter((name) => objectOf(shape.fields.get(name)).readOnly === true);
  // A field with one of our names but another meaning cannot be set, because `--field` reads the name as
  // ours.
  const isHomonym = (name: string) => names.has(name) && !namesByWireName.has(name);
  const fields = wireNames.filter((name) => !readOnlyNames.includes(name) && !isHomonym(name)).map(toField);
  const tableFields = Object.entries(body.fields).map(([name, field]) => [
    name,
    { ...field, required: false },
  ]);
  const isInPath = from.parameters.some(({ in: place }) => place === 'path');
  const fieldsByName: RequestBody['fields'] = Object.fromEntries(wireNames.length > 0 ? fields : tableFields);
  return {
    name: body.name,
    mediaType,
    fields: fieldsByName,
    readOnlyNames,
    isClosed: shape.isClosed,
    hasId: method === 'PUT' && (!isInPath || fieldsByName[nouns[noun].idField]?.required === true),
  };
}

/** Makes an example of a category that is an object. The example has only an id and a name. */
function categoryExample(schema: JsonValue | undefined): JsonValue {
  const { fields } = shapeOf(schema);
  return { ...(fields.has('id') && { id: 1 }), ...(fields.has('name') && { name: 'text' }) };
}

const anySuccess = [200, 201, 202, 203, 204, 205];

/** Sorts statuses. The statuses of the table come first. */
function sortStatuses(statuses: readonly number[], usual: readonly number[]): number[] {
  return [...statuses].sort((a, b) => Number(usual.includes(b)) - Number(usual.includes(a)) || a - b);
}

function stabilityOf(object: JsonObject): Stability | undefined {
  const value = object['x-stability'];
  return value === 'beta' || value === 'experimental' || value === 'stable' ? value : undefined;
}

/** Reads the date of the extension `x-deprecated-sunset`, which may have a time. */
function sunsetOf(object: JsonObject): string | undefined {
  const value = nonBlankText(object['x-deprecated-sunset']);
  const [date] = /^\d{4}-\d\d-\d\d(?=$|[Tt ])/.exec(value ?? '') ?? [];
  return date !== undefined && !Number.isNaN(Date.parse(date)) ? date : undefined;
}

function nonBlankText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

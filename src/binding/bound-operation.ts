import { hidesTryIt } from '../api/contract.ts';
import { withoutParameters } from '../api/http.ts';
import { type Noun, type NounName, nouns } from '../api/nouns.ts';
import type { BodyField, Operation, RequestBody, Stability, StatedResponse } from '../api/operations.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import { type Description, listOf, objectOf, referencesIn, referentOf } from './description.ts';
import { type DocumentOperation, jsonContent, successStatuses } from './document.ts';
import { pagingFrom, toParameters } from './parameters.ts';
import {
  fieldNamesOf,
  isCategoryObject,
  isRecord,
  keyFieldsOf,
  recordsIn,
  type TableOperation,
} from './record-form.ts';
import type { Shape } from './schema.ts';

/**
 * Makes an operation of the contract from one of the table and one of the document.
 *
 * @param record the records of the bound get or list, if the description has their fields.
 */
export function toOperation(
  tableOperation: TableOperation,
  from: DocumentOperation,
  why: string,
  root: Description,
  record: Shape | undefined,
): Operation {
  const { id, noun, isList } = tableOperation;
  const { operationObject, pathItem, responses } = from;
  const success = successStatuses(responses);
  const answer = readAnswer(tableOperation, from);
  const body = requestBodyOf(tableOperation, from, record);
  return {
    id,
    noun,
    tag: tableOperation.tag,
    summary: tableOperation.summary,
    method: from.method,
    path: from.path,
    parameters: toParameters(from, tableOperation).parameters,
    body,
    ...answer,
    isList,
    paging: isList ? pagingFrom(from, tableOperation) : undefined,
    needsOnlyCount: needsOnlyCount(noun, from.method, body),
    // Frameworks leave out the responses of a DELETE.
    success: success.length > 0 ? success : [200, 201, 202, 203, 204, 205],
    errors: [],
    responses: readResponses(responses, root),
    credential: from.credential,
    stability: stabilityOf(operationObject) ?? stabilityOf(pathItem) ?? 'stable',
    isDeprecated: operationObject.deprecated === true,
    sunset: sunsetIn(operationObject) ?? sunsetIn(pathItem),
    hidesTryIt: hidesTryIt(root.document, pathItem, operationObject),
    source: 'bound',
    why,
  };
}

/** Reads the form of the records in the answer. `result` is undefined if the answer has no record. */
function readAnswer(
  tableOperation: TableOperation,
  { path, answer }: DocumentOperation,
): Pick<Operation, 'result' | 'recordForm'> {
  const { result, recordForm } = tableOperation;
  // If the description states no bounds, the bounds of our table do not apply.
  const unstated = { ...recordForm, isOurs: false, bounds: {} };
  if (!result || !answer) return { result: answer && result, recordForm: unstated };
  const { envelope, shape } = recordsIn(tableOperation, answer.shape) ?? { envelope: [], shape: undefined };
  if (!shape || shape.kind === 'unknown') return { result, recordForm: unstated };
  // A write may answer something else, such as a message. Then there is no record to print.
  if (!isRecord(tableOperation, shape, keyFieldsOf(tableOperation, path)))
    return { result: undefined, recordForm: unstated };
  const names = fieldNamesOf(tableOperation, shape);
  const wireNames = new Set(names.values());
  const furtherFields = [...shape.fields.keys()].filter(
    (name) => !wireNames.has(name) && shape.field(name).keyword('writeOnly') !== true,
  );
  const bounds = Object.fromEntries(
    [...names].map(([name, wireName]) => [name, shape.field(wireName).bounds]),
  );
  const form = { isOurs: false, envelope, names: Object.fromEntries(names), furtherFields, bounds };
  return { result, recordForm: form };
}

/** Returns true if the body of an update has only the count and its pet, so that no other field of the entry is needed. */
function needsOnlyCount(name: NounName, method: string, body: RequestBody | undefined): boolean {
  const { idField, update }: Noun = nouns[name];
  if (!update || !body) return false;
  const sent = Object.entries(body.fields).filter(([, { required }]) => required || method !== 'PATCH');
  return sent.every(([field]) => field === idField || update.fields.includes(field));
}

/** Reads the form of the body. By default it is the form in the table. @param record as in `toOperation`. */
function requestBodyOf(
  tableOperation: TableOperation,
  from: DocumentOperation,
  record: Shape | undefined,
): RequestBody | undefined {
  const { noun, method, body } = tableOperation;
  if (!body || !from.body) return body;
  const { mediaType, shape } = from.body;
  const names = fieldNamesOf(tableOperation, shape);
  const recordNames = record ? fieldNamesOf(tableOperation, record) : new Map<string, string>();
  const answered = from.answer && recordsIn(tableOperation, from.answer.shape)?.shape;
  const shown = [record, answered].flatMap((each) =>
    each ? [...fieldNamesOf(tableOperation, each).keys(), ...each.fields.keys()] : [],
  );
  const namesByWireName = new Map([...names].map(([name, wireName]) => [wireName, name]));
  const toField = (wireName: string): [string, BodyField] => {
    const name = namesByWireName.get(wireName) ?? wireName;
    const field = shape.field(wireName);
    // A create may share a schema with its answer, which requires the id.
    const required = shape.required.has(wireName) && !(method === 'POST' && name === 'id');
    const categoryParts = categoryPartsOf(name, field);
    return [
      name,
      {
        wireName,
        required,
        bounds: categoryParts ? undefined : field.bounds,
        example: categoryParts ? undefined : exampleOf(field),
        categoryParts,
        isNullable: field.isNullable,
        isWriteOnly: field.keyword('writeOnly') === true || (record !== undefined && !shown.includes(name)),
      },
    ];
  };
  const wireNames = [...new Set([...shape.fields.keys(), ...shape.required])];
  const isWhole = wireNames.length > 0 && !shape.takesOtherFields;
  const furtherFields = isWhole
    ? []
    : tableFieldsAsShown(body, record, recordNames).filter(([name]) => !names.has(name));
  const furtherNames = furtherFields.map(([, { wireName }]) => wireName);
  // OpenAPI 3.0.3, "readOnly": the field occurs only in answers. So does a field that only the schema of the record has.
  const answerNames = isWhole ? [...(record?.fields.keys() ?? [])] : [...recordNames.values()];
  const readOnlyNames = [
    ...wireNames.filter((name) => shape.field(name).keyword('readOnly') === true),
    ...answerNames.filter((name) => !wireNames.includes(name) && !furtherNames.includes(name)),
  ];
  // A field with one of our names but another meaning cannot be set, because `--field` takes the name for ours.
  const isHomonym = (name: string) => names.has(name) && !namesByWireName.has(name);
  const fields = wireNames.filter((name) => !readOnlyNames.includes(name) && !isHomonym(name)).map(toField);
  const isInPath = from.parameters.some(({ in: place }) => place === 'path');
  const fieldsByName: RequestBody['fields'] = Object.fromEntries([...fields, ...furtherFields]);
  return {
    name: body.name,
    mediaType,
    fields: fieldsByName,
    readOnlyNames,
    isClosed: shape.isClosed,
    takesOtherFields: !isWhole && !shape.isClosed,
    hasId: method === 'PUT' && (!isInPath || fieldsByName[nouns[noun].idField]?.required === true),
  };
}

/** Returns the fields of the table as a record shows them, for a body that does not name its fields. */
function tableFieldsAsShown(
  body: RequestBody,
  record: Shape | undefined,
  recordNames: ReadonlyMap<string, string>,
): [string, BodyField][] {
  return Object.entries(body.fields).flatMap(([name, field]): [string, BodyField][] => {
    if (!record) return [[name, { ...field, required: false }]];
    const wireName = recordNames.get(name);
    if (wireName === undefined) return [];
    const categoryParts = categoryPartsOf(name, record.field(wireName));
    return [[name, { ...field, wireName, required: false, categoryParts }]];
  });
}

/** Returns the parts of the object that a service has in place of the id of a category. */
function categoryPartsOf(name: string, field: Shape): BodyField['categoryParts'] {
  if (name !== 'categoryId' || !isCategoryObject(field)) return undefined;
  return (['id', 'name'] as const).filter((part) => field.fields.has(part));
}

/**
 * Returns a value that a schema states: its only value, an example, the default or a choice. For a list an empty one will do. Without
 * one the program invents none, because an invented value could mean something.
 */
function exampleOf(shape: Shape): JsonValue | undefined {
  const { kind } = shape;
  const [constant, own, initial] = ['const', 'example', 'default'].map((name) => shape.keyword(name));
  const [[example], [choice]] = [listOf(shape.keyword('examples')), listOf(shape.keyword('enum'))];
  const value = constant ?? own ?? example ?? initial ?? choice;
  // YAML reads `example: 2024` as a number.
  if (value !== undefined) return kind === 'string' && typeof value === 'number' ? String(value) : value;
  return kind === 'array' && Number(shape.keyword('minItems') ?? 0) === 0 ? [] : undefined;
}

/** Reads the documented answers of an operation by status, `4XX` or `default`. */
function readResponses(responses: JsonObject, root: Description): Record<string, StatedResponse> {
  const documentedResponses: Record<string, StatedResponse> = {};
  for (const [status, response] of Object.entries(responses)) {
    if (!/^([1-5](\d\d|XX)|default)$/.test(status)) continue;
    const { content } = objectOf(response);
    const schema = jsonContent(content, root)?.schema;
    documentedResponses[status] = {
      mediaTypes: Object.keys(objectOf(content)).map((type) => withoutParameters(type).toLowerCase()),
      schema: schema === undefined ? undefined : objectOf(schema),
    };
  }
  return documentedResponses;
}

/** Collects the schemas to which the schemas of answers refer, by their references. */
export function definitionsOf(operations: readonly Operation[], root: Description): JsonObject {
  const references = operations
    .flatMap(({ responses = {} }) => Object.values(responses))
    .flatMap(({ schema }) => [...referencesIn(schema, root)]);
  return Object.fromEntries(references.map((reference) => [reference, referentOf(reference, root) ?? true]));
}

function stabilityOf(object: JsonObject): Stability | undefined {
  const value = object['x-stability'];
  return value === 'beta' || value === 'experimental' || value === 'stable' ? value : undefined;
}

/** Reads the date of the extension `x-deprecated-sunset`, which may have a time. */
function sunsetIn(object: JsonObject): string | undefined {
  const [date] = /^\d{4}-\d\d-\d\d(?=$|[Tt ])/.exec(String(object['x-deprecated-sunset'])) ?? [];
  return date !== undefined && !Number.isNaN(Date.parse(date)) ? date : undefined;
}

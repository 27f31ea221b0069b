import { hidesTryIt } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { Method, Operation, RequestBody, Stability, WireFormat } from '../api/operations.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import type { AnswerReader } from './answers.ts';
import { type DocumentOperation, isSecured, successStatuses } from './document.ts';
import type { Match } from './match.ts';
import { pagingOf, toParameters } from './parameters.ts';
import { fieldNamesOf, isRecord, recordsIn, type TableOperation } from './record-format.ts';
import { boundsOf, exampleOf, listOf, objectOf, shapeOf, takesNull } from './schema.ts';

/** An operation of the table as a document describes it. */
export function toOperation(
  tableOperation: TableOperation,
  { operation: from, why }: Extract<Match, { state: 'bound' }>,
  document: JsonObject,
  answers: AnswerReader,
): Operation {
  const { id, noun, many } = tableOperation;
  const { source, pathItem, responses, method } = from;
  const success = successStatuses(responses);
  const [tag] = listOf(source.tags);
  const {
    hasCategoryObject: isObjectInAnswer,
    envelope,
    names,
    ...records
  } = toRecordFormat(tableOperation, from);
  const { body, bodyNames, hasCategoryObject = isObjectInAnswer } = toBoundBody(tableOperation, from);
  const mapped = [...tableOperation.fieldMap].filter(([field, name]) =>
    [names[field], bodyNames[field]].includes(name),
  );
  return {
    id,
    noun,
    tag: nonBlankText(tag) ?? tableOperation.tag,
    summary: tableOperation.summary,
    method,
    path: from.path,
    parameters: toParameters(from, id).parameters,
    body,
    ...records,
    many,
    wire: { envelope, names, bodyNames, hasCategoryObject },
    paging: many ? pagingOf(from, id) : undefined,
    ordered: false,
    partial: isPartial(tableOperation, method, body),
    strict: false,
    success: success.length > 0 ? usualFirst(success, tableOperation.success) : tableOperation.success,
    errors: Object.keys(responses)
      .filter((status) => /^[45]\d\d$/.test(status))
      .map(Number),
    answers: answers.read(responses),
    secured: isSecured(source, document),
    stability: stabilityOf(source) ?? stabilityOf(pathItem) ?? 'stable',
    deprecated: source.deprecated === true,
    sunset: sunsetOf(source) ?? sunsetOf(pathItem),
    hideTryIt: hidesTryIt(document, pathItem, source),
    source: 'bound',
    why: [why, ...mapped.map(([field, name]) => `${field} is called ${name} (--map)`)].join('; '),
  };
}

type RecordFormat = Pick<Operation, 'result' | 'fields' | 'furtherFields'> &
  Pick<WireFormat, 'envelope' | 'names' | 'hasCategoryObject'>;

/** The records in the answer of an operation; no `result` if the answer has none. */
function toRecordFormat(tableOperation: TableOperation, { answer }: DocumentOperation): RecordFormat {
  const { result } = tableOperation;
  const open = {
    result,
    fields: undefined,
    furtherFields: undefined,
    envelope: [],
    names: {},
    hasCategoryObject: false,
  };
  if (!result || answer === 'unknown') return open;
  if (typeof answer === 'string') return { ...open, result: undefined };
  const content = recordsIn(tableOperation, answer.shape);
  if (!content || content.shape.kind === 'unknown') return open;
  const { envelope, shape } = content;
  // A write may be answered with something else, such as a message; then there is no record to print.
  if (!isRecord(tableOperation, shape)) return { ...open, result: undefined };
  const { names, hasCategoryObject } = fieldNamesOf(tableOperation, shape);
  const written = new Set(names.values());
  return {
    result,
    fields: [...names.keys()],
    furtherFields: [...shape.fields.keys()].filter((name) => !written.has(name)),
    envelope,
    names: differing(names),
    hasCategoryObject,
  };
}

/** Whether a body for an update needs no field but those that change. */
function isPartial({ noun, method }: TableOperation, used: Method, body: RequestBody | undefined): boolean {
  if (method !== 'PUT' || !body) return false;
  if (used !== 'PATCH' && noun !== 'inventory') return false;
  const names = used === 'PATCH' ? body.required : Object.keys(body.fields ?? {});
  return names.every((name) => name === 'quantity' || name === 'petId' || body.readOnly?.includes(name));
}

interface BoundBody {
  readonly body: RequestBody | undefined;
  readonly bodyNames: WireFormat['bodyNames'];
  readonly hasCategoryObject?: boolean;
}

/** The body of a bound operation; that of the table if the document describes none. */
function toBoundBody(tableOperation: TableOperation, from: DocumentOperation): BoundBody {
  if (!tableOperation.body || typeof from.body === 'string')
    return { body: tableOperation.body, bodyNames: {} };
  const { mediaType, shape } = from.body;
  const { names, hasCategoryObject } = fieldNamesOf(tableOperation, shape);
  const ours = new Map([...names].map(([name, written]) => [written, name]));
  const fields = [...shape.fields].map(
    ([written, schema]) => [ours.get(written) ?? written, schema] as const,
  );
  // OpenAPI 3.0.3, "readOnly": the field occurs only in answers.
  const readOnly = fields.flatMap(([name, schema]) => (objectOf(schema).readOnly === true ? [name] : []));
  const offered = fields.filter(([name]) => !readOnly.includes(name));
  const idField = nouns[tableOperation.noun].idField;
  // A schema that a create shares with its answer requires the id that the service gives.
  const isServiceId = (name: string) => tableOperation.method === 'POST' && name === 'id';
  const required = [...shape.required]
    .map((written) => ours.get(written) ?? written)
    .filter((name) => !readOnly.includes(name) && !isServiceId(name));
  const isInPath = from.parameters.some((each) => each.in === 'path');
  const isIdInBody = tableOperation.method === 'PUT' && (required.includes(idField) || !isInPath);
  const isObject = (name: string) => name === 'categoryId' && hasCategoryObject;
  const bounds = offered.flatMap(([name, schema]) => {
    const stated = isObject(name) ? undefined : boundsOf(schema);
    return stated ? [[name, stated] as const] : [];
  });
  const examples = offered.map(([name, schema]) => [
    name,
    isObject(name) ? categoryExample(schema) : exampleOf(schema),
  ]);
  const isMerged = /merge-patch\+json/i.test(mediaType);
  const removable = offered.filter(
    ([name, schema]) => !required.includes(name) && (isMerged || takesNull(schema)),
  );
  const body: RequestBody = {
    name: tableOperation.body.name,
    mediaType,
    required,
    bounds: Object.fromEntries(bounds),
    fields: fields.length > 0 ? Object.fromEntries(examples) : undefined,
    readOnly: readOnly.length > 0 ? readOnly : undefined,
    removable: from.method === 'PATCH' ? removable.map(([name]) => name) : undefined,
    isClosed: shape.isClosed ? true : undefined,
    idField: isIdInBody ? idField : undefined,
  };
  return { body, bodyNames: differing(names), hasCategoryObject };
}

function differing(names: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  return Object.fromEntries([...names].filter(([name, written]) => name !== written));
}

/** A category that is an object, with only an id and a name. */
function categoryExample(schema: JsonValue): JsonValue {
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

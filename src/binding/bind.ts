import { type Contract, hidesTryIt } from '../api/contract.ts';
import {
  type Operation,
  type OperationId,
  operations,
  type RequestBody,
  type Stability,
} from '../api/operations.ts';
import { UsageError } from '../process/errors.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import { type ConvertSchema, createSchemaConverter, toAnswers } from './answers.ts';
import { type Description, readWithin } from './description.ts';
import {
  credentialPlaces,
  type DocumentOperation,
  isSecured,
  operationsOf,
  placeOf,
  successStatuses,
} from './document.ts';
import { type Matches, matchOperations, obstacleTo, show } from './match.ts';
import { hasCategory, idFieldOf, isRecord } from './nouns.ts';
import { identify, toParameters, unlinkedPageOf } from './parameters.ts';
import { boundsOf, exampleOf, isReadOnly, listOf, type Shape, shapeOf } from './schema.ts';

/** The operation of the document that the user chose for one of the table. */
export interface Target {
  readonly method: string;
  readonly path: string;
}

export interface Binding {
  readonly contract: Contract;
  readonly matches: Matches;
}

/**
 * Binds the operations of the table to those of a description.
 *
 * @throws UsageError if a target is not in the description, or cannot be called as that operation; also if the binding
 *   takes too long.
 */
export function bindContract(description: Description, targets: ReadonlyMap<OperationId, Target>): Binding {
  return readWithin(description.url, () => {
    const all = operationsOf(description);
    const settled = new Map([...targets].map(([id, target]) => [id, find(all, id, target)]));
    const matches = matchOperations(all, settled);
    const toSchema = createSchemaConverter(description.names);
    const bound = new Map<OperationId, Operation>();
    const missing = new Map<OperationId, string>();
    for (const [id, match] of matches) {
      if (match.state === 'bound')
        bound.set(id, toOperation(id, match.operation, description.document, toSchema));
      else if (match.state === 'unbindable')
        missing.set(id, `${show(match.operation)} does not fit: ${match.why}`);
      else missing.set(id, match.why);
    }
    const places = credentialPlaces(description.document, all);
    return { contract: { operations: bound, missing, credentialPlaces: places }, matches };
  });
}

/** The operation that the user chose. It may have any method, but it must be one that can be called. */
function find(all: readonly DocumentOperation[], id: OperationId, target: Target): DocumentOperation {
  const ofMethod = all.filter(({ method }) => method === target.method);
  const operation =
    ofMethod.find(({ path }) => path === target.path) ??
    ofMethod.find(({ path }) => placeOf(path) === placeOf(target.path));
  if (!operation) {
    const near = all.filter(({ path }) => placeOf(path) === placeOf(target.path));
    const offered = (near.length > 0 ? near : all).slice(0, 8).map(show);
    throw new UsageError(
      `--map ${id}: the description has no ${show(target)}`,
      `it has ${offered.join(', ')}`,
    );
  }
  const obstacle = obstacleTo(operation, id);
  if (obstacle !== undefined)
    throw new UsageError(`--map ${id}: ${show(operation)} does not fit: ${obstacle}`);
  return operation;
}

/** An operation of the table as a document describes it. */
function toOperation(
  id: OperationId,
  from: DocumentOperation,
  document: JsonObject,
  toSchema: ConvertSchema,
): Operation {
  const own = operations[id];
  const { source, pathItem, responses } = from;
  const success = successStatuses(responses);
  const [tag] = listOf(source.tags);
  const record = recordOf(id, from);
  return {
    id,
    noun: own.noun,
    tag: textOf(tag) ?? own.tag,
    summary: textOf(source.summary) ?? own.summary,
    method: from.method,
    path: from.path,
    parameters: toParameters(from, id),
    body: toRequestBody(id, from),
    result: record === 'none' ? undefined : own.result,
    many: own.many,
    fields: typeof record === 'object' ? [...record.fields.keys()] : undefined,
    unlinkedPage: unlinkedPageOf(from, id),
    success: success.length > 0 ? usualFirst(success, own.success) : own.success,
    errors: Object.keys(responses).filter(isErrorStatus).map(Number),
    answers: toAnswers(responses, toSchema),
    secured: isSecured(source, document),
    stability: stabilityOf(source) ?? stabilityOf(pathItem) ?? 'stable',
    deprecated: source.deprecated === true,
    sunset: sunsetOf(source) ?? sunsetOf(pathItem),
    hideTryIt: hidesTryIt(document, pathItem, source),
    source: 'bound',
  };
}

/** The records in the answer of an operation: their shape, or `none` if the answer has no record. */
function recordOf(id: OperationId, { answer, names }: DocumentOperation): Shape | 'none' | 'unknown' {
  if (answer === 'none' || answer === 'other') return 'none';
  if (answer === 'unknown') return 'unknown';
  const record = operations[id].many ? shapeOf(answer.shape.items, names) : answer.shape;
  if (record.kind === 'unknown') return 'unknown';
  // A write may be answered with something else, such as a message; then there is no record to print.
  return record.kind === 'object' && isRecord(operations[id].noun, record) ? record : 'none';
}

/** The body of a bound operation; that of the table if the document describes none. */
function toRequestBody(id: OperationId, from: DocumentOperation): RequestBody | undefined {
  const own = operations[id].body;
  if (!own || typeof from.body === 'string') return own;
  const { mediaType, shape } = from.body;
  const offered = [...shape.fields].filter(([, schema]) => !isReadOnly(schema));
  const readOnly = [...shape.fields.keys()].filter((field) => isReadOnly(shape.fields.get(field)));
  const required = [...shape.required].filter((field) => !readOnly.includes(field));
  const idField = idFieldOf(id);
  const isIdInBody =
    operations[id].method === 'PUT' && (required.includes(idField) || identify(from, id).length === 0);
  const bounds = offered.flatMap(([field, schema]) => {
    const found = boundsOf(schema);
    return found ? [[field, found] as const] : [];
  });
  const examples = offered.map(([field, schema]) => [field, fieldExample(field, schema, shape)]);
  return {
    name: own.name,
    mediaType,
    required,
    bounds: Object.fromEntries(bounds),
    fields: shape.fields.size > 0 ? Object.fromEntries(examples) : undefined,
    readOnly: readOnly.length > 0 ? readOnly : undefined,
    isClosed: shape.isClosed ? true : undefined,
    idField: isIdInBody ? idField : undefined,
  };
}

/** A valid value for a field. For a category that is an object, it has only an id and a name. */
function fieldExample(field: string, schema: JsonValue, shape: Shape): JsonValue {
  const inner = shapeOf(schema);
  if (field !== 'category' || !hasCategory(shape) || inner.kind !== 'object') return exampleOf(schema);
  const fields = ['id', 'name'].filter((each) => inner.fields.has(each));
  return Object.fromEntries(fields.map((each) => [each, exampleOf(inner.fields.get(each))]));
}

function usualFirst(stated: readonly number[], usual: readonly number[]): number[] {
  return [...stated].sort((a, b) => Number(usual.includes(b)) - Number(usual.includes(a)) || a - b);
}

function isErrorStatus(status: string): boolean {
  return /^[45]\d\d$/.test(status);
}

/** The stability in the extension; `alpha`, which other publishers use, is `experimental` here. */
function stabilityOf(source: JsonObject): Stability | undefined {
  const value = source['x-stability'];
  if (value === 'alpha') return 'experimental';
  return value === 'beta' || value === 'experimental' || value === 'stable' ? value : undefined;
}

/** The date of the extension, with or without a time. */
function sunsetOf(source: JsonObject): string | undefined {
  const value = textOf(source['x-deprecated-sunset'] ?? source['x-sunset']);
  const [date] = /^\d{4}-\d\d-\d\d(?=$|[Tt ])/.exec(value ?? '') ?? [];
  return date !== undefined && !Number.isNaN(Date.parse(date)) ? date : undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

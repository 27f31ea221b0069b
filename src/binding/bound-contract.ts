import { type Contract, hidesTryIt } from '../api/contract.ts';
import {
  idName,
  type Operation,
  type OperationId,
  operations,
  type RequestBody,
  type Stability,
  type WireFormat,
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
import { obstacleTo } from './fit.ts';
import { type Match, type Matches, matchOperations, show } from './match.ts';
import { pagingOf, toParameters } from './parameters.ts';
import { type FieldNames, fieldNamesOf, isRecord, recordsIn } from './record-format.ts';
import { boundsOf, exampleOf, listOf, objectOf, shapeOf } from './schema.ts';

// From the description of a service to a contract: description.ts reads it, document.ts lists its operations, match.ts finds
// ours among them (fit.ts says which of them cannot be called), and this file writes each down as an operation with the
// service's own parameters, names and pages (parameters.ts, record-format.ts) and answers (answers.ts). All of
// that happens once, in `api bind`. adapt.ts translates at every call.

/** The operation of the document that the user chose for one of the table; its path may have values in place of parameters. */
export interface Target {
  readonly method: string;
  readonly path: string;
}

/**
 * Finds the operations of the table in a description.
 *
 * @throws UsageError if a target is not in the description, or cannot be called as that operation; also if it takes too
 *   long.
 */
export function matchContract(description: Description, targets: ReadonlyMap<OperationId, Target>): Matches {
  return readWithin(description.url, () => {
    const all = operationsOf(description);
    const settled = new Map([...targets].map(([id, target]) => [id, find(all, id, target)]));
    return matchOperations(all, settled);
  });
}

/** The contract that the matches make. @throws UsageError as above, or for a credential in a place that cannot have it. */
export function toContract(description: Description, matches: Matches): Contract {
  return readWithin(description.url, () => {
    const { document } = description;
    const toSchema = createSchemaConverter();
    const bound = new Map<OperationId, Operation>();
    const missing = new Map<OperationId, string>();
    for (const [id, match] of matches)
      if (match.state === 'bound') bound.set(id, toOperation(id, match.operation, document, toSchema));
      else missing.set(id, whyMissing(id, match));
    const places = credentialPlaces(document, [...bound.values()], operationsOf(description));
    return { operations: bound, missing, credentialPlaces: places, basePath: '' };
  });
}

/** Why an operation is not bound, a clause that says what to do if something can be done. */
function whyMissing(id: OperationId, match: Exclude<Match, { state: 'bound' }>): string {
  if (match.state === 'unbindable') return `${show(match.operation)} does not fit: ${match.why}`;
  const [first] = match.state === 'ambiguous' ? match.among : [];
  return first ? `${match.why}; choose with --map ${id}='${show(first)}'` : match.why;
}

/** The operation that the user chose, with the given values in its path. It may have any method. */
function find(all: readonly DocumentOperation[], id: OperationId, target: Target): DocumentOperation {
  const operation = all
    .filter(({ method }) => method === target.method)
    .flatMap((each) => withFixedPath(each, target.path) ?? [])
    .sort((one, other) => Number(other.path === target.path) - Number(one.path === target.path))[0];
  if (!operation) {
    const near = all.filter(({ path }) => placeOf(path) === placeOf(target.path));
    const offered = (near.length > 0 ? near : all).slice(0, 8).map(show);
    throw new UsageError(
      `--map ${id}: the description has no ${show(target)}`,
      `it has ${offered.join(', ')}`,
    );
  }
  const ids = operation.parameters.filter((each) => each.in === 'path').length;
  const isInBody = operations[id].method === 'PUT' && ids === 0;
  const wanted = idName(id) === undefined || isInBody ? 0 : 1;
  const obstacle =
    ids === wanted
      ? obstacleTo(operations[id], operation)
      : `${id} takes ${wanted === 0 ? 'no id' : 'one id'}, and its path has ${['none', 'one'][ids] ?? ids}`;
  if (obstacle !== undefined)
    throw new UsageError(`--map ${id}: ${show(operation)} does not fit: ${obstacle}`);
  return operation;
}

/** The operation with the values of a path in place of its own parameters; undefined if it has another path. */
function withFixedPath(operation: DocumentOperation, path: string): DocumentOperation | undefined {
  const given = path.replace(/(?<=.)\/$/, '').split('/');
  const own = operation.path.replace(/(?<=.)\/$/, '').split('/');
  if (given.length !== own.length) return undefined;
  const isParameter = (segment: string) => /^\{[^}]*\}$/.test(segment);
  const segments: string[] = [];
  for (const [at, segment] of own.entries()) {
    const wanted = given[at] ?? '';
    if (segment !== wanted && !isParameter(segment)) return undefined;
    segments.push(isParameter(wanted) ? segment : wanted);
  }
  const isLeft = (name: string) => segments.includes(`{${name}}`);
  const parameters = operation.parameters.filter((each) => each.in !== 'path' || isLeft(each.name));
  return { ...operation, path: segments.join('/'), parameters };
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
  const { result, fields, furtherFields, envelope, names, category: answered } = recordsOf(own, from);
  const { body, bodyNames, category = answered } = bodyOf(own, from);
  return {
    id,
    noun: own.noun,
    tag: textOf(tag) ?? own.tag,
    summary: own.summary,
    method: from.method,
    path: from.path,
    parameters: toParameters(from, id),
    body,
    result,
    many: own.many,
    fields,
    furtherFields,
    wire: { envelope, names, bodyNames, category },
    paging: own.many ? pagingOf(from) : undefined,
    ordered: false,
    partial: isPartial(own, from.method, body),
    strict: false,
    success: success.length > 0 ? usualFirst(success, own.success) : own.success,
    errors: Object.keys(responses)
      .filter((status) => /^[45]\d\d$/.test(status))
      .map(Number),
    answers: toAnswers(responses, toSchema),
    secured: isSecured(source, document),
    stability: stabilityOf(source) ?? stabilityOf(pathItem) ?? 'stable',
    deprecated: source.deprecated === true,
    sunset: sunsetOf(source) ?? sunsetOf(pathItem),
    hideTryIt: hidesTryIt(document, pathItem, source),
    source: 'bound',
  };
}

type Records = Pick<Operation, 'result' | 'fields' | 'furtherFields'> &
  Pick<WireFormat, 'envelope' | 'names' | 'category'>;

/** The records in the answer of an operation; no `result` if the answer has none. */
function recordsOf(own: Operation, { answer }: DocumentOperation): Records {
  const open = { result: own.result, fields: undefined, furtherFields: undefined, envelope: [], names: {} };
  if (!own.result || answer === 'unknown') return open;
  if (typeof answer === 'string') return { ...open, result: undefined };
  const content = recordsIn(own, answer.shape);
  if (!content || content.shape.kind === 'unknown') return open;
  const { envelope, shape } = content;
  // A write may be answered with something else, such as a message; then there is no record to print.
  if (!isRecord(own.noun, shape)) return { ...open, result: undefined };
  const { names: found, category } = fieldNamesOf(own.noun, shape);
  const written = new Set(found.values());
  return {
    result: own.result,
    fields: [...found.keys()],
    furtherFields: [...shape.fields.keys()].filter((name) => !written.has(name)),
    envelope,
    names: differing(found),
    category,
  };
}

/** Whether a body for an update needs no field but those that change. */
function isPartial({ noun, method }: Operation, given: string, body: RequestBody | undefined): boolean {
  if (method !== 'PUT' || !body) return false;
  if (given !== 'PATCH' && noun !== 'inventory') return false;
  const names = given === 'PATCH' ? body.required : Object.keys(body.fields ?? {});
  return names.every((name) => name === 'quantity' || name === 'petId' || body.readOnly?.includes(name));
}

interface BoundBody {
  readonly body: RequestBody | undefined;
  readonly bodyNames: Readonly<Record<string, string>>;
  readonly category?: FieldNames['category'];
}

/** The body of a bound operation; that of the table if the document describes none. */
function bodyOf(own: Operation, from: DocumentOperation): BoundBody {
  if (!own.body || typeof from.body === 'string') return { body: own.body, bodyNames: {} };
  const { mediaType, shape } = from.body;
  const { names, category } = fieldNamesOf(own.noun, shape);
  const ours = new Map([...names].map(([name, written]) => [written, name]));
  const fields = [...shape.fields].map(
    ([written, schema]) => [ours.get(written) ?? written, schema] as const,
  );
  // OpenAPI 3.0.3, "readOnly": the field occurs only in answers.
  const readOnly = fields.flatMap(([name, schema]) => (objectOf(schema).readOnly === true ? [name] : []));
  const offered = fields.filter(([name]) => !readOnly.includes(name));
  const required = [...shape.required]
    .map((written) => ours.get(written) ?? written)
    .filter((name) => !readOnly.includes(name));
  const idField = own.noun === 'inventory' ? 'petId' : 'id';
  const isInPath = from.parameters.some((each) => each.in === 'path');
  const isIdInBody = own.method === 'PUT' && (required.includes(idField) || !isInPath);
  const bounds = offered.flatMap(([name, schema]) => {
    const found = name === 'categoryId' && category ? undefined : boundsOf(schema);
    return found ? [[name, found] as const] : [];
  });
  const examples = offered.map(([name, schema]) => [
    name,
    name === 'categoryId' && category === 'object' ? categoryExample(schema) : exampleOf(schema),
  ]);
  const body: RequestBody = {
    name: own.body.name,
    mediaType,
    required,
    bounds: Object.fromEntries(bounds),
    fields: fields.length > 0 ? Object.fromEntries(examples) : undefined,
    readOnly: readOnly.length > 0 ? readOnly : undefined,
    choosesId: own.method === 'POST' && required.includes('id') ? true : undefined,
    isClosed: shape.isClosed ? true : undefined,
    idField: isIdInBody ? idField : undefined,
  };
  return { body, bodyNames: differing(names), category };
}

function differing(names: FieldNames['names']): Readonly<Record<string, string>> {
  return Object.fromEntries([...names].filter(([name, written]) => name !== written));
}

/** A category that is an object, with only an id and a name. */
function categoryExample(schema: JsonValue): JsonValue {
  const { fields } = shapeOf(schema);
  const known = ['id', 'name'].filter((each) => fields.has(each));
  return Object.fromEntries(known.map((each) => [each, exampleOf(fields.get(each))]));
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
  const value = textOf(source['x-deprecated-sunset'] ?? source['x-sunset']);
  const [date] = /^\d{4}-\d\d-\d\d(?=$|[Tt ])/.exec(value ?? '') ?? [];
  return date !== undefined && !Number.isNaN(Date.parse(date)) ? date : undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

import { type Contract, hidesTryIt } from '../api/contract.ts';
import {
  idName,
  type Method,
  type NounName,
  type Operation,
  type OperationId,
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
import { type Choices, type Match, type Matches, matchOperations, show, wantedOf } from './match.ts';
import { pagingOf, toParameters } from './parameters.ts';
import { fieldNamesOf, isRecord, recordsIn, type Wanted } from './record-format.ts';
import { boundsOf, exampleOf, listOf, objectOf, shapeOf, takesNull } from './schema.ts';

// From the description of a service to a contract: description.ts reads it, document.ts lists its operations, match.ts finds
// ours among them (fit.ts says which of them cannot be called), and this file writes each down as an operation with the
// service's own parameters and pages (parameters.ts), names (record-format.ts) and answers (answers.ts). All of
// that happens once, in `api bind`. adapt.ts translates at every call.

/** The operation of the document that the user chose for one of the table; its path may have values in place of parameters. */
export interface Target {
  readonly method: string;
  readonly path: string;
}

/** What the user says with --map. */
export interface Maps {
  readonly operations: ReadonlyMap<OperationId, Target>;
  /** The service's names of fields, by noun and our name. */
  readonly fields: ReadonlyMap<NounName, ReadonlyMap<string, string>>;
}

/** What `api bind` finds in a description. */
export interface Binding {
  readonly matches: Matches;
  readonly contract: Contract;
}

/**
 * Finds the operations of the table in a description, and writes down the contract that they make.
 *
 * @throws UsageError if a target is not in the description, or cannot be called as that operation; for a field that no
 *   operation has, or a credential in a place that cannot have it; also if it takes too long.
 */
export function bind(description: Description, maps: Maps): Binding {
  return readWithin(description.url, () => {
    const all = operationsOf(description);
    const targets = [...maps.operations].map(
      ([id, target]) => [id, find(all, wantedOf(id, maps), target)] as const,
    );
    const choices = { fields: maps.fields, operations: new Map(targets) };
    const matches = matchOperations(all, choices);
    return { matches, contract: toContract(description, all, matches, choices) };
  });
}

function toContract(
  { document }: Description,
  all: readonly DocumentOperation[],
  matches: Matches,
  choices: Choices,
): Contract {
  const toSchema = createSchemaConverter();
  const bound = new Map<OperationId, Operation>();
  const missing = new Map<OperationId, string>();
  for (const [id, match] of matches)
    if (match.state === 'bound') bound.set(id, toOperation(wantedOf(id, choices), match, document, toSchema));
    else missing.set(id, whyMissing(id, match));
  for (const [noun, fields] of choices.fields)
    for (const [field, name] of fields) checkMapped([...bound.values()], noun, field, name);
  const places = credentialPlaces(document, [...bound.values()], all);
  return { operations: bound, missing, credentialPlaces: places, basePath: '' };
}

/** @throws UsageError if no operation has a field of the user's name. */
function checkMapped(bound: readonly Operation[], noun: NounName, field: string, name: string): void {
  const isUsed = ({ noun: other, wire }: Operation) =>
    other === noun && [wire?.names[field], wire?.bodyNames[field]].includes(name);
  if (field === name || bound.some(isUsed)) return;
  throw new UsageError(`--map ${noun}.${field}=${name}: no bound operation of ${noun} has a field ${name}`);
}

/** Why an operation is not bound, a clause that says what to do if something can be done. */
function whyMissing(id: OperationId, match: Exclude<Match, { state: 'bound' }>): string {
  if (match.state === 'unbindable') return `${show(match.operation)} does not fit: ${match.why}`;
  const [first] = match.state === 'ambiguous' ? match.among : [];
  return first ? `${match.why}; choose with --map ${id}='${show(first)}'` : match.why;
}

/** The operation that the user chose, with the given values in its path. It may have any method. */
function find(all: readonly DocumentOperation[], wanted: Wanted, target: Target): DocumentOperation {
  const { id } = wanted;
  const operation = all
    .filter(({ method }) => method === target.method)
    .flatMap((each) => withFixedPath(each, target.path) ?? [])
    .sort((a, b) => Number(b.path === target.path) - Number(a.path === target.path))[0];
  if (!operation) {
    const near = all.filter(({ path }) => placeOf(path) === placeOf(target.path));
    const offered = (near.length > 0 ? near : all).slice(0, 8).map(show);
    throw new UsageError(
      `--map ${id}: the description has no ${show(target)}`,
      `it has ${offered.join(', ')}`,
    );
  }
  const ids = operation.parameters.filter((each) => each.in === 'path').length;
  const isInBody = wanted.method === 'PUT' && ids === 0;
  const expected = idName(id) === undefined || isInBody ? 0 : 1;
  const obstacle =
    ids === expected
      ? obstacleTo(wanted, operation)
      : `${id} takes ${expected === 0 ? 'no id' : 'one id'}, and its path has ${['none', 'one'][ids] ?? ids}`;
  if (obstacle !== undefined)
    throw new UsageError(`--map ${id}: ${show(operation)} does not fit: ${obstacle}`);
  return operation;
}

/** The operation with the values of a path in place of its own parameters; undefined if it has another path. */
function withFixedPath(operation: DocumentOperation, path: string): DocumentOperation | undefined {
  const parts = (text: string) => text.replace(/(?<=.)\/$/, '').split('/');
  const isParameter = (part: string) => /^\{[^}]*\}$/.test(part);
  const values = parts(path);
  const template = parts(operation.path);
  const isSame = template.every((part, at) => isParameter(part) || part === values[at]);
  if (values.length !== template.length || !isSame) return undefined;
  const segments = template.map((part, at) => (isParameter(values[at] ?? '') ? part : (values[at] ?? '')));
  const isLeft = (name: string) => segments.includes(`{${name}}`);
  const parameters = operation.parameters.filter((each) => each.in !== 'path' || isLeft(each.name));
  return { ...operation, path: segments.join('/'), parameters };
}

/** An operation of the table as a document describes it. */
function toOperation(
  wanted: Wanted,
  { operation: from, why }: Extract<Match, { state: 'bound' }>,
  document: JsonObject,
  toSchema: ConvertSchema,
): Operation {
  const { id, noun, many } = wanted;
  const { source, pathItem, responses, method } = from;
  const success = successStatuses(responses);
  const [tag] = listOf(source.tags);
  const { hasCategoryObject: isAnswered, envelope, names, ...records } = recordsOf(wanted, from);
  const { body, bodyNames, hasCategoryObject = isAnswered } = bodyOf(wanted, from);
  const mapped = [...wanted.fieldMap].filter(([field, name]) =>
    [names[field], bodyNames[field]].includes(name),
  );
  return {
    id,
    noun,
    tag: textOf(tag) ?? wanted.tag,
    summary: wanted.summary,
    method,
    path: from.path,
    parameters: toParameters(from, id).parameters,
    body,
    ...records,
    many,
    wire: { envelope, names, bodyNames, hasCategoryObject },
    paging: many ? pagingOf(from, id) : undefined,
    ordered: false,
    partial: isPartial(wanted, method, body),
    strict: false,
    success: success.length > 0 ? usualFirst(success, wanted.success) : wanted.success,
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
    why: [why, ...mapped.map(([field, name]) => `${field} is called ${name} (--map)`)].join('; '),
  };
}

type Records = Pick<Operation, 'result' | 'fields' | 'furtherFields'> &
  Pick<WireFormat, 'envelope' | 'names' | 'hasCategoryObject'>;

/** The records in the answer of an operation; no `result` if the answer has none. */
function recordsOf(wanted: Wanted, { answer }: DocumentOperation): Records {
  const { result } = wanted;
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
  const content = recordsIn(wanted, answer.shape);
  if (!content || content.shape.kind === 'unknown') return open;
  const { envelope, shape } = content;
  // A write may be answered with something else, such as a message; then there is no record to print.
  if (!isRecord(wanted, shape)) return { ...open, result: undefined };
  const { names, hasCategoryObject } = fieldNamesOf(wanted, shape);
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
function isPartial({ noun, method }: Wanted, used: Method, body: RequestBody | undefined): boolean {
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
function bodyOf(wanted: Wanted, from: DocumentOperation): BoundBody {
  if (!wanted.body || typeof from.body === 'string') return { body: wanted.body, bodyNames: {} };
  const { mediaType, shape } = from.body;
  const { names, hasCategoryObject } = fieldNamesOf(wanted, shape);
  const ours = new Map([...names].map(([name, written]) => [written, name]));
  const fields = [...shape.fields].map(
    ([written, schema]) => [ours.get(written) ?? written, schema] as const,
  );
  // OpenAPI 3.0.3, "readOnly": the field occurs only in answers.
  const readOnly = fields.flatMap(([name, schema]) => (objectOf(schema).readOnly === true ? [name] : []));
  const offered = fields.filter(([name]) => !readOnly.includes(name));
  const idField = wanted.noun === 'inventory' ? 'petId' : 'id';
  // A schema that a create shares with its answer requires the id that the service gives.
  const isGiven = (name: string) => wanted.method === 'POST' && name === 'id';
  const required = [...shape.required]
    .map((written) => ours.get(written) ?? written)
    .filter((name) => !readOnly.includes(name) && !isGiven(name));
  const isInPath = from.parameters.some((each) => each.in === 'path');
  const isIdInBody = wanted.method === 'PUT' && (required.includes(idField) || !isInPath);
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
    name: wanted.body.name,
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
  const value = textOf(source['x-deprecated-sunset'] ?? source['x-sunset']);
  const [date] = /^\d{4}-\d\d-\d\d(?=$|[Tt ])/.exec(value ?? '') ?? [];
  return date !== undefined && !Number.isNaN(Date.parse(date)) ? date : undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

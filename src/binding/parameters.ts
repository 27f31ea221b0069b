import { idName, type OperationId, operations, type Paging, type Parameter } from '../api/operations.ts';
import type { Bounds } from '../api/schemas.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { type DocumentOperation, type DocumentParameter, isFieldName } from './document.ts';
import { plain, wordsOf } from './nouns.ts';
import { boundsOf, listOf, objectOf, type Shape, shapeOf } from './schema.ts';

// What the parameters of an operation are for, and how its list is divided into pages.

/** A part that a query parameter of a list can play. */
type Part = 'limit' | 'page' | 'offset' | 'cursor' | 'status' | 'categoryId' | 'petId' | 'complete';

interface Role {
  readonly part: Part;
  /** In lower case and without punctuation; the first that a parameter has plays the part. */
  readonly names: readonly string[];
  /** Whether values of a type can play it. */
  fits(schema: JsonValue | undefined): boolean;
}

const roles: readonly Role[] = [
  {
    part: 'limit',
    names: ['limit', 'size', 'perpage', 'pagesize', 'count', 'take', 'top'],
    fits: isCount,
  },
  { part: 'page', names: ['page', 'pagenumber', 'pageindex'], fits: (schema) => isCountFrom(schema, 1) },
  { part: 'offset', names: ['offset', 'skip', 'start'], fits: (schema) => isCountFrom(schema, 0) },
  { part: 'cursor', names: ['cursor', 'after', 'pagetoken', 'startingafter'], fits: isToken },
  { part: 'status', names: ['status', 'petstatus'], fits: (schema) => isOf(schema, 'string') },
  { part: 'categoryId', names: ['categoryid', 'category'], fits: (schema) => isOf(schema, 'integer') },
  { part: 'petId', names: ['petid', 'pet'], fits: (schema) => isOf(schema, 'integer') },
  {
    part: 'complete',
    names: ['complete', 'completed', 'iscomplete'],
    fits: (schema) => isOf(schema, 'boolean'),
  },
];

/** The types that are no date or the like, and of which the description does not list the values. */
function isPlain(schema: JsonValue | undefined): boolean {
  const { format, enum: choices, const: constant } = objectOf(schema);
  return !/date|time/.test(String(format)) && choices === undefined && constant === undefined;
}

function isCount(schema: JsonValue | undefined): boolean {
  const { kind } = shapeOf(schema);
  const { multipleOf = 1 } = objectOf(schema);
  return (kind === 'integer' || kind === 'number') && isPlain(schema) && Number(multipleOf) === 1;
}

/** Whether values count from 0, or from any number up to `last`. */
function isCountFrom(schema: JsonValue | undefined, last: number): boolean {
  const first = firstValue(schema) ?? 0;
  return isCount(schema) && first >= 0 && first <= last;
}

/** The default or the minimum of a number. */
function firstValue(schema: JsonValue | undefined): number | undefined {
  const first = objectOf(schema).default ?? boundsOf(schema)?.minimum;
  return first === undefined ? undefined : Number(first);
}

function isToken(schema: JsonValue | undefined): boolean {
  return shapeOf(schema).kind === 'string' && objectOf(schema).format === undefined && isPlain(schema);
}

/** Whether a filter has a type; the type of one that states none is open. */
function isOf(schema: JsonValue | undefined, type: 'string' | 'integer' | 'boolean'): boolean {
  const { kind } = shapeOf(schema);
  const isDate = /date|time/.test(String(objectOf(schema).format));
  return !isDate && (kind === type || kind === 'unknown' || (kind === 'number' && type === 'integer'));
}

/** The parameter that plays each part: at most one for each, and each in at most one. */
function partsOf({ parameters }: DocumentOperation, id: OperationId): ReadonlyMap<Part, DocumentParameter> {
  const parts = new Map<Part, DocumentParameter>();
  const { many, parameters: ours } = operations[id];
  if (!many) return parts;
  const query = parameters.filter((parameter) => parameter.in === 'query');
  for (const { part, names, fits } of roles) {
    // Pages are counted in one way.
    if (part === 'offset' && parts.has('page')) continue;
    if (isFilter(part) && ours.every(({ name }) => name !== part)) continue;
    const players = names.flatMap((name) =>
      query.filter((parameter) => plain(parameter.name) === name && fits(parameter.schema)),
    );
    if (players[0]) parts.set(part, players[0]);
  }
  return parts;
}

function isPosition(part: Part): boolean {
  return part === 'page' || part === 'offset' || part === 'cursor';
}

function isFilter(part: Part): boolean {
  return part === 'status' || part === 'categoryId' || part === 'petId' || part === 'complete';
}

/** Whether a name is that of a filter of an operation of the table. */
export function isFilterName(name: string, id: OperationId): boolean {
  const role = roles.find(({ part, names }) => isFilter(part) && names.includes(plain(name)));
  return operations[id].parameters.some((parameter) => parameter.name === role?.part);
}

/** A required parameter that the program has no value for. Most headers can be given with `--header`. */
export function unmetParameter(operation: DocumentOperation, id: OperationId): DocumentParameter | undefined {
  const parts = partsOf(operation, id);
  const isMet = (parameter: DocumentParameter) =>
    isInput(parts, parameter) || constantOf(parts, parameter) !== undefined;
  return operation.parameters.find(
    (parameter) =>
      parameter.required &&
      parameter.in !== 'path' &&
      (parameter.in === 'header' ? !isFieldName(parameter.name) : !isMet(parameter)),
  );
}

/** Whether the program gives a parameter its value by a part: a filter or the page size. */
function isInput(parts: ReadonlyMap<Part, DocumentParameter>, parameter: DocumentParameter): boolean {
  return [...parts].some(([part, player]) => player === parameter && (isFilter(part) || part === 'limit'));
}

/** The value of a required parameter that is not an input. */
function constantOf(
  parts: ReadonlyMap<Part, DocumentParameter>,
  parameter: DocumentParameter,
): string | undefined {
  if (parts.get('page') === parameter) return String(firstValue(parameter.schema) ?? 1);
  return parts.get('offset') === parameter ? '0' : fixedValue(parameter);
}

/**
 * The parameters of an operation by the table's names. Other required parameters are called `query name` or
 * `header name`, so that none is taken for one of ours.
 */
export function toParameters(operation: DocumentOperation, id: OperationId): Parameter[] {
  const parts = partsOf(operation, id);
  return operation.parameters.flatMap((parameter): Parameter[] => {
    const { name: wireName, required, schema, in: place } = parameter;
    if (place !== 'path' && place !== 'query' && place !== 'header') return [];
    if (place === 'header' && !isFieldName(wireName)) return [];
    const isOurs = isInput(parts, parameter);
    const [part] = [...parts].find(([, player]) => player === parameter) ?? [];
    const name = place === 'path' ? idName(id) : isOurs ? part : undefined;
    if (name === undefined && !required) return [];
    const value = name === undefined ? constantOf(parts, parameter) : undefined;
    return [
      {
        name: name ?? `${place} ${wireName}`,
        wireName,
        in: place,
        required,
        bounds: value === undefined ? textBounds(schema) : undefined,
        fallback: isOurs && !required ? fixedValue(parameter) : undefined,
        value,
      },
    ];
  });
}

/** Bounds of a parameter. Every value is sent as text, so the type string is left out. */
function textBounds(schema: JsonValue | undefined): Bounds | undefined {
  const { type, ...bounds } = boundsOf(schema) ?? {};
  const kept = type === undefined || type === 'string' ? bounds : { type, ...bounds };
  return Object.keys(kept).length > 0 ? kept : undefined;
}

/** The only value that a description allows, or its default. */
function fixedValue({ schema }: DocumentParameter): string | undefined {
  const { const: constant, enum: choices, default: fallback } = objectOf(schema);
  const [only, ...others] = listOf(choices);
  const value = constant ?? (others.length === 0 ? only : undefined) ?? fallback;
  const isText = ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
  return isText && /^[\x20-\x7e]*$/.test(String(value)) ? String(value) : undefined;
}

/** How the pages of a list follow each other, by its parameters and by the fields and headers of its answer. */
export function pagingOf(operation: DocumentOperation, id: OperationId): Paging {
  const parts = partsOf(operation, id);
  const [page, offset, cursor] = [parts.get('page'), parts.get('offset'), parts.get('cursor')];
  const next = nextIn(operation);
  if (next) return { kind: 'cursor', parameter: (cursor ?? page)?.name, next };
  const headers = answerHeaders(operation);
  if (headers.includes('link')) return { kind: 'link' };
  if (page) {
    const first = firstValue(page.schema) ?? (page.required ? 1 : undefined);
    return { kind: 'number', parameter: page.name, first, maximum: maximumOf(page) };
  }
  if (offset) return { kind: 'offset', parameter: offset.name, maximum: maximumOf(offset) };
  return unknownPaging(operation, headers);
}

function maximumOf({ schema }: DocumentParameter): number | undefined {
  const maximum = boundsOf(schema)?.maximum;
  return maximum === undefined ? undefined : Number(maximum);
}

/** Words in the names of parameters and headers that lead through a list. */
const pagingWords = new Set([
  'page',
  'cursor',
  'offset',
  'skip',
  'continuation',
  'marker',
  'bookmark',
  'next',
]);
const sizeWords = new Set(['size', 'count', 'per', 'limit', 'total']);

function isPagingName(name: string): boolean {
  const words = wordsOf(name);
  return words.some((word) => pagingWords.has(word)) && !words.some((word) => sizeWords.has(word));
}

/** Whether a parameter that leads through a list in no way that is known still looks as if it did. */
function isOtherPaging({ name, in: place, schema }: DocumentParameter): boolean {
  if ((place !== 'query' && place !== 'header') || !isPlain(schema)) return false;
  const { kind } = shapeOf(schema);
  const role = roles.find(({ part, names }) => isPosition(part) && names.includes(plain(name)));
  if (kind === 'boolean' || (kind === 'string' && role?.part === 'offset')) return false;
  return role !== undefined || isPagingName(name);
}

function unknownPaging({ parameters }: DocumentOperation, headers: readonly string[]): Paging {
  const parameter = parameters.find(isOtherPaging);
  const header = headers.find(isPagingName);
  if (!parameter) return { kind: 'unknown', by: header && `the header ${header}` };
  const after = /^(starting)?after$/.test(plain(parameter.name)) ? parameter.name : undefined;
  return { kind: 'unknown', by: `the ${parameter.in} parameter ${parameter.name}`, after };
}

/** The names of the headers that the answers have, in lower case. */
function answerHeaders({ responses }: DocumentOperation): string[] {
  return Object.values(responses).flatMap((response) =>
    Object.keys(objectOf(objectOf(response).headers)).map((name) => name.toLowerCase()),
  );
}

const nextNames = /^(next|nextcursor|nextpagetoken|nexttoken|nextpage|nexturl|nextlink|nextpageurl|cursor)$/;
/** Fields of an answer that may hold the next one a level deeper. */
const outerNames = /^(paging|pagination|page|meta|metadata|links?|cursors?|next|pageinfo)$/;

/** The fields that lead from an answer to its link or cursor to the next page. */
function nextIn({ answer }: DocumentOperation): readonly string[] | undefined {
  if (typeof answer === 'string' || answer.shape.kind !== 'object') return undefined;
  const nextField = ({ fields }: Shape) =>
    [...fields].find(
      ([name, schema]) => nextNames.test(plain(name)) && shapeOf(schema).kind !== 'boolean',
    )?.[0];
  const outermost = nextField(answer.shape);
  for (const [field, schema] of answer.shape.fields) {
    if (!outerNames.test(plain(field))) continue;
    const shape = shapeOf(schema);
    const inner = nextField(shape);
    if (inner === undefined) continue;
    // HAL and others: `_links: { next: { href } }`.
    const isLink = shapeOf(shape.fields.get(inner)).fields.has('href');
    return isLink ? [field, inner, 'href'] : [field, inner];
  }
  return outermost === undefined ? undefined : [outermost];
}

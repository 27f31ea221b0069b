import { isNextName, isOuterName } from '../api/list-signs.ts';
import { type OperationId, operations, type Paging, type Parameter, takesId } from '../api/operations.ts';
import type { Bounds } from '../api/schemas.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { isFieldName } from './credential-places.ts';
import type { DocumentOperation, DocumentParameter } from './document.ts';
import { boundsOf, listOf, objectOf, type Shape, shapeOf } from './schema.ts';
import { compactName, singularWords } from './words.ts';

// The name and the type of a query parameter decide its role: a filter of ours, or a part in the division of
// a list into pages. A parameter has at most one role, and a role has at most one parameter.

/** A role of a query parameter: a filter of ours, or a part in the division into pages. */
interface Role {
  /** Compact names, in order of preference. */
  readonly names: readonly string[];
  readonly kinds: readonly Shape['kind'][];
  /** Whether the parameter must be neither a choice nor a text with a format. */
  readonly isPlain?: true;
  /** The first values that the role allows, if the description states a first value. */
  readonly firsts?: readonly number[];
}

const numbers = ['integer', 'number'] as const;

const roles = {
  limit: {
    names: ['limit', 'size', 'perpage', 'pagesize', 'count', 'take', 'top'],
    kinds: numbers,
    isPlain: true,
  },
  page: { names: ['page', 'pagenumber', 'pageindex'], kinds: numbers, isPlain: true, firsts: [0, 1] },
  offset: { names: ['offset', 'skip', 'start'], kinds: numbers, isPlain: true, firsts: [0] },
  cursor: { names: ['cursor', 'after', 'pagetoken', 'startingafter'], kinds: ['string'], isPlain: true },
  status: { names: ['status', 'petstatus'], kinds: ['string', 'unknown'] },
  categoryId: { names: ['categoryid', 'category'], kinds: [...numbers, 'unknown'] },
  petId: { names: ['petid', 'pet'], kinds: [...numbers, 'unknown'] },
  complete: { names: ['complete', 'completed', 'iscomplete'], kinds: ['boolean', 'unknown'] },
} as const satisfies Record<string, Role>;
type RoleName = keyof typeof roles;

/** The values of a parameter, as the description states them. */
interface ValueType {
  readonly kind: Shape['kind'];
  readonly isDate: boolean;
  /** Whether the description lists the values. */
  readonly isChoice: boolean;
  /** Whether the description neither lists the values nor gives a format to a text. */
  readonly isPlain: boolean;
  /** The default or the minimum of a number. */
  readonly first: number | undefined;
  readonly maximum: number | undefined;
}

function typeOf({ schema }: DocumentParameter): ValueType {
  const { kind } = shapeOf(schema);
  const { format, enum: choices, const: constant, default: fallback } = objectOf(schema);
  const { minimum, maximum } = boundsOf(schema) ?? {};
  const first = fallback ?? minimum;
  const isChoice = choices !== undefined || constant !== undefined;
  return {
    kind,
    isDate: /date|time/.test(String(format)),
    isChoice,
    isPlain: !isChoice && (kind !== 'string' || format === undefined),
    first: first === undefined ? undefined : Number(first),
    maximum: maximum === undefined ? undefined : Number(maximum),
  };
}

function canHaveRole({ kinds, isPlain, firsts }: Role, type: ValueType): boolean {
  const isFirst = !firsts || type.first === undefined || firsts.includes(type.first);
  return kinds.includes(type.kind) && !type.isDate && (type.isPlain || !isPlain) && isFirst;
}

type ParametersByRole = ReadonlyMap<RoleName, DocumentParameter>;

function parametersByRole({ parameters }: DocumentOperation, id: OperationId): ParametersByRole {
  const byRole = new Map<RoleName, DocumentParameter>();
  const { isList, parameters: tableParameters } = operations[id];
  for (const [role, rule] of Object.entries(roles) as [RoleName, Role][]) {
    const isOffered = isList && (!isFilter(role) || tableParameters.some(({ name }) => name === role));
    // A list counts either pages or records.
    if (!isOffered || (role === 'offset' && byRole.has('page'))) continue;
    const [candidate] = rule.names.flatMap((name) =>
      parameters.filter(
        (parameter) =>
          parameter.in === 'query' &&
          parameter.fixedValue === undefined &&
          compactName(parameter.name) === name &&
          canHaveRole(rule, typeOf(parameter)),
      ),
    );
    if (candidate) byRole.set(role, candidate);
  }
  return byRole;
}

function isFilter(name: string): name is RoleName {
  return name in roles && !/^(limit|page|offset|cursor)$/.test(name);
}

function hasName(role: RoleName, name: string): boolean {
  return roles[role].names.some((roleName) => roleName === compactName(name));
}

/** The parameters that requests send. */
interface BoundParameters {
  readonly parameters: readonly Parameter[];
  /**
   * A required parameter for which the program has no value. The user can give most headers with `--header`.
   */
  readonly unknownParameter: DocumentParameter | undefined;
}

/**
 * Names the parameters as the table does. A required parameter that the table lacks is called `query name` or
 * `header name`, so that no name of the table means two parameters. An optional parameter that the table
 * lacks is left out.
 */
export function toParameters(operation: DocumentOperation, id: OperationId): BoundParameters {
  const byRole = parametersByRole(operation, id);
  const parameters: Parameter[] = [];
  let unknownParameter: DocumentParameter | undefined;
  for (const parameter of operation.parameters) {
    const { name: wireName, required, schema, in: place } = parameter;
    const [role] = [...byRole].find(([, holder]) => holder === parameter) ?? [];
    const isInput = role === 'limit' || (role !== undefined && isFilter(role));
    const name = place === 'path' ? (takesId(id) ? 'id' : undefined) : isInput ? role : undefined;
    if (name === undefined && !required) continue;
    const constant =
      name === undefined ? (firstPosition(parameter, role) ?? constantOf(parameter)) : undefined;
    const hasValue = name !== undefined || constant !== undefined;
    if (place === 'path' || (place === 'header' && isFieldName(wireName)) || (place === 'query' && hasValue))
      parameters.push({
        name: name ?? `${place} ${wireName}`,
        wireName,
        in: place,
        required,
        bounds: constant === undefined ? textBounds(schema) : undefined,
        serviceDefault: isInput && !required ? constantOf(parameter) : undefined,
        constant,
      });
    else unknownParameter ??= parameter;
  }
  return { parameters, unknownParameter };
}

/** Returns the value that asks for the first page. */
function firstPosition(parameter: DocumentParameter, role: RoleName | undefined): string | undefined {
  if (role === 'page') return String(typeOf(parameter).first ?? 1);
  return role === 'offset' ? '0' : undefined;
}

/** Returns the bounds of a parameter, without the type string: every value is sent as text. */
function textBounds(schema: JsonValue | undefined): Bounds | undefined {
  const { type, ...bounds } = boundsOf(schema) ?? {};
  return type === 'string' ? bounds : { type, ...bounds };
}

/** Returns the value of `--map`, the only value that the description allows, or else the default. */
function constantOf({ schema, fixedValue }: DocumentParameter): string | undefined {
  if (fixedValue !== undefined) return fixedValue;
  const { const: constant, enum: choices, default: fallback } = objectOf(schema);
  const [only, ...others] = listOf(choices);
  const value = constant ?? (others.length === 0 ? only : undefined) ?? fallback;
  const isText = ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
  return isText && /^[\x20-\x7e]*$/.test(String(value)) ? String(value) : undefined;
}

/**
 * Finds out how the pages of a list follow each other, from the parameters of the list and from the fields
 * and headers of its answer.
 */
export function pagingOf(operation: DocumentOperation, id: OperationId): Paging {
  const byRole = parametersByRole(operation, id);
  const [page, offset, cursor] = [byRole.get('page'), byRole.get('offset'), byRole.get('cursor')];
  const next = nextIn(operation);
  if (next) return { kind: 'cursor', parameter: (cursor ?? page)?.name, next };
  const headers = answerHeaders(operation);
  if (headers.includes('link')) return { kind: 'link' };
  if (page) {
    const { first = page.required ? 1 : undefined, maximum } = typeOf(page);
    return { kind: 'number', parameter: page.name, first, maximum };
  }
  if (offset) return { kind: 'offset', parameter: offset.name, maximum: typeOf(offset).maximum };
  const parameter = operation.parameters.find(isOtherPaging);
  const header = headers.find(isPagingName);
  if (!parameter) return { kind: 'unknown', by: header && `the header ${header}` };
  const after = /^(starting)?after$/.test(compactName(parameter.name)) ? parameter.name : undefined;
  return { kind: 'unknown', by: `the ${parameter.in} parameter ${parameter.name}`, after };
}

const pagingWords = ['page', 'cursor', 'offset', 'skip', 'continuation', 'marker', 'bookmark', 'next'];
const sizeWords = ['size', 'count', 'per', 'limit', 'total'];

/** Whether the name of a parameter or a header says that it leads through a list. */
function isPagingName(name: string): boolean {
  const words = singularWords(name);
  return words.some((word) => pagingWords.includes(word)) && !words.some((word) => sizeWords.includes(word));
}

/** Whether a parameter seems to lead through a list, although it has no role. */
function isOtherPaging(parameter: DocumentParameter): boolean {
  const { name } = parameter;
  const { kind, isDate, isChoice } = typeOf(parameter);
  if (!/^(query|header)$/.test(parameter.in) || isChoice || isDate || kind === 'boolean') return false;
  if (hasName('offset', name)) return kind !== 'string';
  return hasName('page', name) || hasName('cursor', name) || isPagingName(name);
}

/** Lists the names of the headers of the answers, in lower case. */
function answerHeaders({ responses }: DocumentOperation): string[] {
  return Object.values(responses).flatMap((response) =>
    Object.keys(objectOf(objectOf(response).headers)).map((name) => name.toLowerCase()),
  );
}

/** Finds the fields that lead from an answer to its link or cursor to the next page. */
function nextIn({ answer }: DocumentOperation): readonly string[] | undefined {
  if (answer?.shape.kind !== 'object') return undefined;
  const nextField = ({ fields }: Shape) =>
    [...fields].find(([name, schema]) => isNextName(name) && shapeOf(schema).kind !== 'boolean')?.[0];
  for (const [field, schema] of answer.shape.fields) {
    const shape = shapeOf(schema);
    const inner = isOuterName(field) ? nextField(shape) : undefined;
    if (inner === undefined) continue;
    // HAL and others: `_links: { next: { href } }`.
    const isLink = shapeOf(shape.fields.get(inner)).fields.has('href');
    return isLink ? [field, inner, 'href'] : [field, inner];
  }
  const outermost = nextField(answer.shape);
  return outermost === undefined ? undefined : [outermost];
}

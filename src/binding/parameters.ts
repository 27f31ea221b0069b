import { isNextName, isOuterName } from '../api/list-signs.ts';
import { nouns } from '../api/nouns.ts';
import { type Paging, type Parameter, takesId } from '../api/operations.ts';
import { compactName } from '../process/text.ts';
import { listOf, objectOf } from './description.ts';
import type { DocumentOperation, DocumentParameter } from './document.ts';
import { singularWords } from './path-words.ts';
import type { TableOperation } from './record-form.ts';
import type { Shape } from './schema.ts';
import { isFreeHeader } from './security.ts';

// The name and the type of a query parameter decide its role: one of our filters, or a part in the paging of a list. A parameter
// has at most one role, and a role has at most one parameter.

const pagingRoles = ['limit', 'page', 'offset', 'cursor'];
const numbers = ['integer', 'number'];

/** The compact names of the parameters of each role, in order of preference, and their types. */
const roles: Readonly<
  Record<string, { readonly names: readonly string[]; readonly kinds: readonly string[] }>
> = {
  limit: { names: ['limit', 'size', 'perpage', 'pagesize', 'take'], kinds: numbers },
  page: { names: ['page', 'pagenumber'], kinds: numbers },
  offset: { names: ['offset', 'skip'], kinds: numbers },
  cursor: { names: ['cursor', 'after', 'pagetoken'], kinds: ['string'] },
  status: { names: ['status', 'petstatus'], kinds: ['string', 'unknown'] },
  categoryId: { names: ['categoryid', 'category'], kinds: [...numbers, 'unknown'] },
  petId: { names: ['petid', 'pet'], kinds: [...numbers, 'unknown'] },
  complete: { names: ['complete', 'completed', 'iscomplete'], kinds: ['boolean', 'unknown'] },
};

/** Finds the parameters of a list that have roles. A filter may have the name that `--map` gives to its field. */
function rolesOf(
  { parameters }: DocumentOperation,
  { isList, noun, fieldMap }: TableOperation,
): ReadonlyMap<string, DocumentParameter> {
  const parameterByRole = new Map<string, DocumentParameter>();
  for (const role of isList ? [...pagingRoles, ...nouns[noun].filters] : []) {
    const { names = [], kinds = [] } = roles[role] ?? {};
    const fitting = parameters.filter((parameter) => {
      const isFree =
        !pagingRoles.includes(role) || (!isChoice(parameter) && parameter.fixedValue === undefined);
      return parameter.in === 'query' && isFree && kinds.includes(parameter.shape.kind) && !isDate(parameter);
    });
    const mapped = fieldMap.get(role);
    const parameter = (mapped === undefined ? names : [compactName(mapped), ...names])
      .map((name) => fitting.find((each) => compactName(each.name) === name))
      .find((each) => each !== undefined);
    if (parameter) parameterByRole.set(role, parameter);
  }
  return parameterByRole;
}

function isChoice({ shape }: DocumentParameter): boolean {
  return (shape.keyword('enum') ?? shape.keyword('const')) !== undefined;
}

function isDate({ shape }: DocumentParameter): boolean {
  return /date|time/.test(String(shape.keyword('format')));
}

/**
 * Gives the parameters our names. An optional parameter that the table lacks is left out.
 *
 * @returns also the required parameters for which the program has no value, except headers that the user can give with `--header`.
 */
export function toParameters(operation: DocumentOperation, tableOperation: TableOperation) {
  const roleOf = new Map(
    [...rolesOf(operation, tableOperation)].map(([role, parameter]) => [parameter, role]),
  );
  const parameters: Parameter[] = [];
  const unknownParameters: DocumentParameter[] = [];
  for (const described of operation.parameters) {
    const parameter = toParameter(described, roleOf.get(described), tableOperation);
    if (parameter === 'unknown') unknownParameters.push(described);
    else if (parameter) parameters.push(parameter);
  }
  return { parameters, unknownParameters };
}

/**
 * Makes a parameter of the contract. The program fills it at each call, or it always has the same value. A parameter with a fixed value
 * is called `query name` or `header name`, so that it cannot be mistaken for a parameter of ours.
 *
 * @returns undefined if the parameter is left out, `unknown` if it is required and the program has no value for it.
 */
function toParameter(
  described: DocumentParameter,
  role: string | undefined,
  { id }: TableOperation,
): Parameter | 'unknown' | undefined {
  const { name: wireName, in: place, required, shape, fixedValue } = described;
  const value = constantOf(described);
  const own = { wireName, in: place as Parameter['in'], required };
  const filled = (name: string, serviceDefault?: string) =>
    ({ ...own, name, bounds: shape.bounds, serviceDefault }) as const;
  const fixed = (constant: string | undefined, serviceDefault?: string) =>
    ({ ...own, name: `${place} ${wireName}`, constant, serviceDefault }) as const;
  const isFilter = role !== undefined && !pagingRoles.includes(role);
  if (place === 'path' && takesId(id)) return filled('id');
  if (role === 'limit') return filled(role, required ? undefined : value);
  // A filter with a value hides records.
  if (isFilter && !required) return filled(role, value);
  if (!required) return undefined;
  if (place === 'path' || (place === 'header' && isFreeHeader(wireName))) return fixed(value);
  if (place !== 'query') return 'unknown';
  if (role === 'page') return fixed(String(firstPageNumber(described) ?? 1));
  if (role === 'offset') return fixed('0');
  // A command may ask for another value than `--map` gives.
  if (isFilter) return fixedValue === undefined ? 'unknown' : { ...filled(role, value), constant: value };
  return value === undefined ? 'unknown' : fixed(value);
}

/** Returns the number of the first page, by the default or the minimum of its parameter. */
function firstPageNumber({ shape }: DocumentParameter): number | undefined {
  const first = shape.keyword('default') ?? shape.bounds.minimum;
  return first === undefined ? undefined : Number(first);
}

/** Returns the value of `--map`, the only value that the description allows, or else the default. */
function constantOf({ shape, fixedValue }: DocumentParameter): string | undefined {
  if (fixedValue !== undefined) return fixedValue;
  const [only, ...others] = listOf(shape.keyword('enum'));
  const single = others.length === 0 ? only : undefined;
  const value = shape.keyword('const') ?? single ?? shape.keyword('default');
  const isText = ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
  return isText && /^[\x20-\x7e]*$/.test(String(value)) ? String(value) : undefined;
}

/** Finds out how the pages of a list follow each other, from the parameters of the list and from the fields and headers of its answer. */
export function pagingFrom(operation: DocumentOperation, tableOperation: TableOperation): Paging {
  const byRole = rolesOf(operation, tableOperation);
  const [page, offset, cursor] = [byRole.get('page'), byRole.get('offset'), byRole.get('cursor')];
  const next = nextIn(operation);
  if (next) return { kind: 'cursor', parameter: (cursor ?? page)?.name, next };
  const headers = Object.values(operation.responses).flatMap((response) =>
    Object.keys(objectOf(objectOf(response).headers)),
  );
  if (headers.some((name) => name.toLowerCase() === 'link')) return { kind: 'link' };
  if (page) {
    const first = firstPageNumber(page) ?? (page.required ? 1 : undefined);
    if (first === undefined || first === 0 || first === 1)
      return { kind: 'number', parameter: page.name, first };
  }
  if (offset) return { kind: 'offset', parameter: offset.name };
  const parameter = operation.parameters.find(isOtherPaging);
  const header = headers.find(isPagingName);
  const by = parameter ? `the ${parameter.in} parameter ${parameter.name}` : header && `the header ${header}`;
  return { kind: 'unknown', by };
}

const pagingWords = /^(page|cursor|offset|skip|start|starting|after|continuation|marker|bookmark|next)$/;
const sizeWords = /^(size|count|per|limit|total)$/;

/** Returns true if a parameter or a header seems to page a list. */
export function isPagingName(name: string): boolean {
  const words = singularWords(name);
  return words.some((word) => pagingWords.test(word)) && !words.some((word) => sizeWords.test(word));
}

/** Returns true if a parameter seems to page a list in a way that the program does not know. */
function isOtherPaging(parameter: DocumentParameter): boolean {
  const canLead = /^(query|header)$/.test(parameter.in) && !isChoice(parameter) && !isDate(parameter);
  return canLead && parameter.shape.kind !== 'boolean' && isPagingName(parameter.name);
}

/** Finds the path of fields to the link or the cursor of the next page. */
function nextIn({ answer }: DocumentOperation): readonly string[] | undefined {
  if (answer?.shape.kind !== 'object') return undefined;
  const nextField = ({ fields }: Shape) =>
    [...fields].find(([name, { kind }]) => isNextName(name) && kind !== 'boolean')?.[0];
  for (const [field, shape] of answer.shape.fields) {
    const inner = isOuterName(field) ? nextField(shape) : undefined;
    if (inner === undefined) continue;
    // HAL and others: `_links: { next: { href } }`.
    const isLink = shape.field(inner).fields.has('href');
    return isLink ? [field, inner, 'href'] : [field, inner];
  }
  const outermost = nextField(answer.shape);
  return outermost === undefined ? undefined : [outermost];
}

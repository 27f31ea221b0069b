import { idName, type OperationId, operations, type Paging, type Parameter } from '../api/operations.ts';
import type { Bounds, QueryName } from '../api/schemas.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { type DocumentOperation, type DocumentParameter, isFieldName } from './document.ts';
import { plain } from './nouns.ts';
import { boundsOf, listOf, objectOf, type Shape, shapeOf } from './schema.ts';

/** Other names for the table's query parameters, in lower case and without punctuation. */
const otherNames: Readonly<Record<QueryName, readonly string[]>> = {
  status: ['petstatus'],
  categoryId: ['category'],
  petId: ['pet'],
  complete: ['completed', 'iscomplete'],
  limit: ['pagesize', 'perpage', 'maxresults', 'size', 'count', 'take', 'top', 'pagelimit'],
  after: [],
};

const pageNames = /^(page|pagenumber|pageno|pageindex|currentpage)$/;
const offsetNames = /^(offset|skip|start|startindex|firstresult|pageoffset)$/;

/** The value with which a paging parameter asks for the first page, if it has to be sent. */
function beginningOf(name: string): string | undefined {
  if (pageNames.test(plain(name))) return '1';
  return offsetNames.test(plain(name)) ? '0' : undefined;
}

/** The filter or the page size of the table that a name stands for. */
export function filterOf(name: string, id: OperationId): QueryName | undefined {
  const ours = operations[id].parameters.flatMap((each) =>
    each.in === 'query' ? [each.name as QueryName] : [],
  );
  const written = plain(name);
  return (
    ours.find((each) => plain(each) === written) ?? ours.find((each) => otherNames[each].includes(written))
  );
}

/** The table's name for a query parameter, if its values are of the same type. */
function queryName({ name, in: place, schema }: DocumentParameter, id: OperationId): QueryName | undefined {
  const known = place === 'query' ? filterOf(name, id) : undefined;
  const isId = known === 'categoryId' || known === 'petId' || known === 'after';
  return isId && shapeOf(schema).kind === 'string' ? undefined : known;
}

/** A required parameter that the program has no value for. Most headers can be given with `--header`. */
export function unmetParameter(operation: DocumentOperation, id: OperationId): DocumentParameter | undefined {
  return operation.parameters.find(
    (parameter) =>
      parameter.required &&
      parameter.in !== 'path' &&
      queryName(parameter, id) === undefined &&
      (parameter.in === 'header'
        ? !isFieldName(parameter.name)
        : fixedValue(parameter) === undefined && beginningOf(parameter.name) === undefined),
  );
}

/**
 * The parameters of an operation by the table's names. Other required parameters are called `query name` or
 * `header name`, so that none is taken for one of ours.
 */
export function toParameters({ parameters }: DocumentOperation, id: OperationId): Parameter[] {
  return parameters.flatMap((parameter): Parameter[] => {
    const { name: wireName, required, schema, in: place } = parameter;
    if (place !== 'path' && place !== 'query' && place !== 'header') return [];
    if (place === 'header' && !isFieldName(wireName)) return [];
    const known = place === 'path' ? idName(id) : queryName(parameter, id);
    if (known === undefined && !required) return [];
    const value = known === undefined ? (fixedValue(parameter) ?? beginningOf(wireName)) : undefined;
    const isFilter = known !== undefined && known !== 'after';
    return [
      {
        name: known ?? `${place} ${wireName}`,
        wireName,
        in: place,
        required,
        bounds: value === undefined ? textBounds(schema) : undefined,
        fallback: isFilter && !required ? fixedValue(parameter) : undefined,
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

// How a list is divided into pages, by the names of its parameters and of the fields and headers of its answer.

const cursorNames =
  /^(x?cursor|pagecursor|after|before|pagetoken|nexttoken|nextcursor|xnextcursor|continuation|continuationtoken|startingafter|startafter|marker|next|bookmark|since|sinceid)$/;
const nextNames = /^(next|nextcursor|nextpagetoken|nexttoken|nextpage|nexturl|nextlink|nextpageurl|cursor)$/;
/** Fields of an answer that may hold the next one a level deeper. */
const outerNames = /^(paging|pagination|page|meta|metadata|links?|cursors?|next|pageinfo)$/;

export function pagingOf(operation: DocumentOperation): Paging {
  const headers = answerHeaders(operation);
  if (headers.includes('link')) return { kind: 'link' };
  const find = (names: RegExp, place?: string) =>
    operation.parameters.find(
      (each) => names.test(plain(each.name)) && (place === undefined || each.in === place),
    );
  const next = nextIn(operation);
  const cursor = find(cursorNames, 'query');
  if (next) return { kind: 'cursor', parameter: (cursor ?? find(pageNames, 'query'))?.name, next };
  const page = find(pageNames, 'query');
  if (page) return { kind: 'number', parameter: page.name, first: firstPage(page) };
  const offset = find(offsetNames, 'query');
  if (offset && shapeOf(offset.schema).kind !== 'string') return { kind: 'offset', parameter: offset.name };
  const other = cursor ?? offset ?? find(cursorNames);
  const header = headers.find((name) => cursorNames.test(plain(name)) || nextNames.test(plain(name)));
  const by = other ? `the ${other.in} parameter ${other.name}` : header && `the header ${header}`;
  return { kind: 'unknown', by };
}

/** The names of the headers that the answers have, in lower case. */
function answerHeaders({ responses }: DocumentOperation): string[] {
  return Object.values(responses).flatMap((response) =>
    Object.keys(objectOf(objectOf(response).headers)).map((name) => name.toLowerCase()),
  );
}

/** The number of the first page, if the description gives it by a default or a minimum of 0 or 1, or has it sent. */
function firstPage(parameter: DocumentParameter): number | undefined {
  const { minimum } = objectOf(parameter.schema);
  const first = Number(fixedValue(parameter) ?? minimum ?? Number.NaN);
  if (first === 0 || first === 1) return first;
  return parameter.required ? 1 : undefined;
}

/** The fields that lead from an answer to its link or cursor to the next page. */
function nextIn({ answer }: DocumentOperation): readonly string[] | undefined {
  if (typeof answer === 'string' || answer.shape.kind !== 'object') return undefined;
  const nextField = ({ fields }: Shape) => [...fields.keys()].find((name) => nextNames.test(plain(name)));
  const own = nextField(answer.shape);
  for (const [field, schema] of answer.shape.fields) {
    if (!outerNames.test(plain(field))) continue;
    const shape = shapeOf(schema);
    const inner = nextField(shape);
    if (inner === undefined) continue;
    // HAL and others: `_links: { next: { href } }`.
    const isLink = shapeOf(shape.fields.get(inner)).fields.has('href');
    return isLink ? [field, inner, 'href'] : [field, inner];
  }
  return own === undefined ? undefined : [own];
}

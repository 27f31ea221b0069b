import type { Paging } from '../api/operations.ts';
import type { DocumentOperation, DocumentParameter } from './document.ts';
import { plain } from './nouns.ts';
import { fixedValue, offsetNames, pageNames } from './parameters.ts';
import { objectOf, type Shape, shapeOf } from './schema.ts';

// How a list is divided into pages, by the names of its parameters and of the fields and headers of its answer.

const cursorNames =
  /^(x?cursor|pagecursor|after|before|pagetoken|nexttoken|nextcursor|xnextcursor|continuation|continuationtoken|startingafter|startafter|marker|next|bookmark|since|sinceid)$/;
const nextNames = /^(next|nextcursor|nextpagetoken|nexttoken|nextpage|nexturl|nextlink|nextpageurl|cursor)$/;
/** Fields of an answer that may hold the next one a level deeper. */
const outerNames = /^(paging|pagination|page|meta|metadata|links?|cursors?|next|pageinfo)$/;

/** Undefined if the description does not say that the list has pages. */
export function pagingOf(operation: DocumentOperation): Paging | undefined {
  const headers = answerHeaders(operation);
  if (headers.includes('link')) return { kind: 'links' };
  const find = (names: RegExp, place?: string) =>
    operation.parameters.find(
      (each) => names.test(plain(each.name)) && (place === undefined || each.in === place),
    );
  const next = nextIn(operation);
  const cursor = find(cursorNames, 'query');
  if (next) return { kind: 'cursor', parameter: (cursor ?? find(pageNames, 'query'))?.name, next };
  const page = find(pageNames, 'query');
  if (page) return { kind: 'page', parameter: page.name, first: firstPage(page) };
  const offset = find(offsetNames, 'query');
  if (offset && shapeOf(offset.schema).kind !== 'string') return { kind: 'offset', parameter: offset.name };
  const other = cursor ?? offset ?? find(cursorNames);
  const header = headers.find((name) => cursorNames.test(plain(name)) || nextNames.test(plain(name)));
  const by = other ? `the ${other.in} parameter ${other.name}` : header && `the header ${header}`;
  return by === undefined ? undefined : { kind: 'unknown', by };
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
function nextIn({ answer, names }: DocumentOperation): readonly string[] | undefined {
  if (typeof answer === 'string' || answer.shape.kind !== 'object') return undefined;
  const nextField = ({ fields }: Shape) => [...fields.keys()].find((name) => nextNames.test(plain(name)));
  const own = nextField(answer.shape);
  for (const [field, schema] of answer.shape.fields) {
    if (!outerNames.test(plain(field))) continue;
    const shape = shapeOf(schema, names);
    const inner = nextField(shape);
    if (inner === undefined) continue;
    // HAL and others: `_links: { next: { href } }`.
    const isLink = shapeOf(shape.fields.get(inner), names).fields.has('href');
    return isLink ? [field, inner, 'href'] : [field, inner];
  }
  return own === undefined ? undefined : [own];
}

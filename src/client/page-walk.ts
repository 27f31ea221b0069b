import { canBeginAfterId } from '../api/contract.ts';
import { type HttpHeaders, headerValue, linkTarget } from '../api/http.ts';
import { findListSign, isLink, type ListSign } from '../api/list-signs.ts';
import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { type JsonObject, valueIn } from '../process/exact-json.ts';
import { maskUrl } from '../process/secrets.ts';
import type { PageContent } from './read-answer.ts';

// This file reads the pages of a list in their order, and finds the end of the list.

/** One page of a list. */
export interface Page extends PageContent {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** The URL that answered. */
  readonly url: string;
  /**
   * Returns the error of a page that does not continue its list. The error names the request.
   *
   * @param why a clause.
   * @param hint a remedy, a sentence.
   */
  fault(why: string, hint?: string): Error;
}

/** The pages of one list. */
export interface PageSource {
  /** The URL of the first page. */
  readonly first: string;
  /** @throws CliError that names the request. */
  read(url: string): Promise<Page>;
}

const maxPages = 100_000;
const maxRecords = 10_000_000;
const maxEmptyPages = 1000;

/**
 * Yields the pages of a list in their order. At the end returns a clause that says why there may be more records, or
 * undefined if the list is whole.
 *
 * @param size the page size that the URL of the first page asks for.
 * @throws CliError for a list that does not end.
 */
export async function* pagesOf(
  { first, read }: PageSource,
  operation: Operation,
  size: number | undefined,
): AsyncGenerator<JsonObject[], string | undefined> {
  const { paging, noun } = operation;
  const { idField } = nouns[noun];
  const walk: Walk = { operation, first, size, pages: 0, count: 0, isLinked: false };
  if (paging?.kind === 'number') walk.firstNumber = paging.first;
  const visited = new Set<string>();
  let before: readonly JsonObject[] = [];
  let emptyPages = 0;
  for (let url = first; ; ) {
    const page = await read(url);
    const { records } = page;
    visited.add(url).add(withoutHash(page.url));
    if (walk.pages > 0 && isSamePage(before, records, idField)) {
      // The first page has the number 0 or 1. If page 1 repeats the first page, the next page is page 2.
      if (walk.pages > 1 || paging?.kind !== 'number' || walk.firstNumber !== undefined)
        throw page.fault('the page repeats the one before');
      walk.firstNumber = 1;
    } else {
      const fault = canBeginAfterId(operation) ? orderFault(before, records, idField) : undefined;
      if (fault !== undefined) throw page.fault(fault);
      yield records;
      before = records;
      walk.pages += 1;
      walk.count += records.length;
    }
    emptyPages = records.length === 0 ? emptyPages + 1 : 0;
    if (emptyPages > maxEmptyPages)
      throw page.fault(`the list does not end: more than ${maxEmptyPages} empty pages in a row`);
    if (walk.pages >= maxPages || walk.count > maxRecords)
      throw page.fault(`the list does not end: more than ${maxPages} pages or ${maxRecords} records`);
    walk.isLinked ||= linkTarget(linkOf(page), 'next') !== undefined;
    const { next, mayBeCut, probe } = nextStep(walk, page);
    if (next === undefined) {
      // If the page cannot be read, there is no answer, and the list may be cut.
      const last = mayBeCut !== undefined && probe ? await read(probe).catch(() => undefined) : undefined;
      return last?.records.length === 0 ? undefined : mayBeCut;
    }
    if (visited.has(next)) throw page.fault(`the link to the next page repeats: ${maskUrl(next)}`);
    url = next;
  }
}

/** The state of the reading of a list. Only `pagesOf` changes it. */
interface Walk {
  readonly operation: Operation;
  readonly first: string;
  /** The page size that was asked for. */
  readonly size: number | undefined;
  pages: number;
  count: number;
  /** Whether a page has had a link to the next page. */
  isLinked: boolean;
  /** The number of the first page: 0 or 1. Undefined until that is known. */
  firstNumber?: number | undefined;
}

interface Step {
  /** The URL of the next page. Undefined after the last page. */
  readonly next?: string | undefined;
  /** The reason why there may be more records, a clause. */
  readonly mayBeCut?: string | undefined;
  /** The URL of a page that has records only if there are more. */
  readonly probe?: string | undefined;
}

function nextStep(walk: Walk, page: Page): Step {
  const { operation, first, size, count } = walk;
  const { paging, noun } = operation;
  const link = linkTarget(linkOf(page), 'next');
  if (link !== undefined) return { next: resolveNext(link, page) };
  const sign = signOf(walk, page);
  const isLinked = walk.isLinked || linkTarget(linkOf(page), 'first', 'prev', 'last') !== undefined;
  if (isLinked || !paging || paging.kind === 'link') return signedStep(sign, page);
  if (paging.kind === 'cursor') return nextByCursor(paging, walk, page);
  if (paging.kind === 'unknown') {
    if (sign) return signedStep(sign, page);
    const last = page.records.at(-1)?.[nouns[noun].idField];
    const canProbe = paging.after !== undefined && typeof last === 'bigint';
    const probe = canProbe ? withQueryParameter(first, paging.after, `${last}`) : undefined;
    return { mayBeCut: unknownPagingClause(walk, paging.by), probe };
  }
  // A page that is shorter than the stated maximum is the last.
  const maximum = statedMaximum(operation);
  const length = page.records.length;
  if (length === 0 || (maximum !== undefined && length < Math.min(size ?? maximum, maximum)))
    return { mayBeCut: sign?.clause };
  const value = paging.kind === 'number' ? (walk.firstNumber ?? 0) + walk.pages : count;
  if (value > (paging.maximum ?? Number.POSITIVE_INFINITY))
    return { mayBeCut: `its ${paging.parameter} may not go beyond ${paging.maximum}` };
  return { next: withQueryParameter(first, paging.parameter, String(value)) };
}

/** Follows a link that the answer has although the description does not say so, if it is of the same origin. */
function signedStep(sign: ListSign | undefined, page: Page): Step {
  const { link, clause } = sign ?? {};
  const isOwn =
    link !== undefined &&
    URL.canParse(link, page.url) &&
    new URL(link, page.url).origin === new URL(page.url).origin;
  return isOwn ? { next: resolveNext(link, page) } : { mayBeCut: clause };
}

function nextByCursor(
  { parameter, next }: { readonly parameter: string | undefined; readonly next: readonly string[] },
  walk: Walk,
  page: Page,
): Step {
  const value = valueIn(page.envelope, next);
  if (value === undefined || value === null || value === '' || value === false)
    return signedStep(signOf(walk, page), page);
  if (typeof value === 'boolean' || typeof value === 'object')
    return { mayBeCut: `its ${next.join('.')} is neither a link nor a cursor` };
  const text = String(value);
  if (isLink(text)) return { next: resolveNext(text, page) };
  if (parameter === undefined) return { mayBeCut: `its ${next.join('.')} is not a link` };
  return { next: withQueryParameter(walk.first, parameter, text) };
}

/** Finds a statement of the page that there are more records than were read. */
function signOf({ count, pages }: Walk, { status, headers, envelope }: Page): ListSign | undefined {
  return findListSign({ status, headers, envelope }, { count, pages });
}

/**
 * Returns the reason why a list may be cut if its pages follow each other in an unknown way, a clause. Undefined if the list
 * is shorter than a page.
 *
 * @param by the parameter or header that leads to the next page; undefined if the description has none.
 */
function unknownPagingClause({ operation, size, count }: Walk, by: string | undefined): string | undefined {
  const { serviceDefault } = operation.parameters.find(({ name }) => name === 'limit') ?? {};
  if (by === undefined)
    return count >= (size ?? Number(serviceDefault ?? Number.NaN))
      ? `it answered ${count}, a full page, and no link to a next one`
      : undefined;
  const largest = statedMaximum(operation) ?? Number(serviceDefault ?? 0);
  return count > 0 && count >= Math.min(size ?? largest, largest)
    ? `its pages follow each other by ${by}, which petstore does not know`
    : undefined;
}

/** Whether a page has the same records as the page before. False for empty pages. */
function isSamePage(before: readonly JsonObject[], page: readonly JsonObject[], idField: string): boolean {
  if (before.length !== page.length || page.length === 0) return false;
  return before.every(
    (record, index) => record[idField] != null && record[idField] === page[index]?.[idField],
  );
}

/** Returns a clause if the ids do not grow from page to page. The built-in contract orders lists by id. */
function orderFault(
  before: readonly JsonObject[],
  [first]: readonly JsonObject[],
  idField: string,
): string | undefined {
  const last = before.at(-1)?.[idField];
  const id = first?.[idField];
  const isWrong = typeof last === 'bigint' && typeof id === 'bigint' && id <= last;
  return isWrong ? `the list does not end: a page after id ${last} begins with id ${id}` : undefined;
}

/** @throws CliError if the link is not a URL or leads to another origin. */
function resolveNext(link: string, page: Page): string {
  if (!URL.canParse(link, page.url)) throw page.fault(`the link to the next page is not a URL: ${link}`);
  const next = new URL(link, page.url);
  const here = new URL(page.url);
  if (next.origin !== here.origin) {
    const why = `the link to the next page leads to another origin: ${maskUrl(next.href)}`;
    throw page.fault(why, foreignOriginHint(next, here));
  }
  return withoutHash(next.href);
}

function linkOf({ headers }: Page): string | undefined {
  return headerValue(headers, 'link');
}

/** Returns the most likely reason why an answer has a URL of another origin, a clause. @param here the URL of the answer. */
export function foreignOriginHint(url: URL, here: URL): string {
  return url.host === here.host
    ? 'a gateway may not tell the service that its address is https (nginx: proxy_set_header X-Forwarded-Proto $scheme)'
    : 'a gateway may not pass on the header Host: see `petstore help gateways`';
}

function withoutHash(url: string): string {
  const parsed = new URL(url);
  parsed.hash = '';
  return parsed.href;
}

function withQueryParameter(url: string, name: string, value: string): string {
  const parsed = new URL(url);
  parsed.searchParams.set(name, value);
  return parsed.href;
}

/** Returns the stated maximum of records in a page. Undefined if the service states no maximum. */
export function statedMaximum({ parameters }: Operation): number | undefined {
  const maximum = parameters.find(({ name }) => name === 'limit')?.bounds?.maximum;
  return maximum === undefined ? undefined : Number(maximum);
}

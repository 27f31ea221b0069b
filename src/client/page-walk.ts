import { type HttpHeaders, headerValue, linkTarget } from '../api/http.ts';
import { findListSign, isLink, type ListSign, statesWhole } from '../api/list-signs.ts';
import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { CliError } from '../process/errors.ts';
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

/** What the end of a list shows. */
export interface ListEnd {
  /** The reason why there may be more records, a clause. */
  readonly mayBeCut?: string | undefined;
  /** A remark on the end of a list that is whole, a clause. */
  readonly note?: string | undefined;
}

/**
 * Yields the pages of a list in their order, and returns what its end shows.
 *
 * @param size the page size that the URL of the first page asks for.
 * @throws CliError for a list that does not end.
 */
export async function* pagesOf(
  { first, read }: PageSource,
  operation: Operation,
  size: number | undefined,
): AsyncGenerator<JsonObject[], ListEnd> {
  const { paging, noun } = operation;
  const { idField } = nouns[noun];
  const walk: Walk = { operation, first, size, pages: 0, count: 0, isLinked: false };
  if (paging?.kind === 'number') walk.firstNumber = paging.first;
  const visited = new Set<string>();
  let before: readonly JsonObject[] = [];
  let step: Step = { next: first };
  while (step.next !== undefined) {
    const url: string = step.next;
    const page = await readPage(read, url, step.isCounted === true);
    if (page === undefined) return { mayBeCut: step.doubt };
    const { records } = page;
    visited.add(url).add(withoutHash(page.url));
    if (walk.pages > 0 && isSamePage(before, records, idField)) {
      // The first page has the number 0 or 1. If page 1 repeats the first page, the next page is page 2.
      if (walk.pages === 1 && paging?.kind === 'number' && walk.firstNumber === undefined)
        walk.firstNumber = 1;
      else if (step.isCounted) {
        // A service that answers its only page again may not count pages at all.
        const note = `${new URL(url).search} repeats the page before it`;
        return walk.pages === 1 ? { mayBeCut: step.doubt ?? note } : { mayBeCut: step.doubt, note };
      } else throw page.fault('the page repeats the one before');
    } else {
      yield records;
      before = records;
      walk.pages += 1;
      walk.count += records.length;
    }
    if (walk.pages >= maxPages) throw page.fault(`the list does not end: more than ${maxPages} pages`);
    walk.isLinked ||= linkTarget(linkOf(page), 'next') !== undefined;
    step = nextStep(walk, page);
    if (step.next === undefined) break;
    const fault = visited.has(step.next)
      ? { reason: 'repeats', hint: undefined }
      : faultOfNext(new URL(step.next), page.url, page.url !== url);
    if (fault)
      throw page.fault(`the link to the next page ${fault.reason}: ${maskUrl(step.next)}`, fault.hint);
  }
  return { mayBeCut: step.doubt };
}

/** The statuses with which services answer a page behind the last one. */
const behindTheLast: readonly unknown[] = [204, 400, 404, 416];

/** Reads a page. Undefined if the number of the page was counted here, and the answer says that there is no such page. */
async function readPage(
  read: PageSource['read'],
  url: string,
  isCounted: boolean,
): Promise<Page | undefined> {
  try {
    return await read(url);
  } catch (error) {
    const isEnd = error instanceof CliError && behindTheLast.includes(error.details.status);
    if (isCounted && isEnd) return undefined;
    throw error;
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
  /** True if a page has had a link to the next page. */
  isLinked: boolean;
  /** The number of the first page: 0 or 1. Undefined until that is known. */
  firstNumber?: number | undefined;
}

interface Step {
  /** The URL of the next page. Undefined after the last page. */
  readonly next?: string | undefined;
  /** True if the URL has a number that was counted here, so that there may be no such page. */
  readonly isCounted?: boolean;
  /** The reason why there may be more records if the list ends here, a clause. */
  readonly doubt?: string | undefined;
}

function nextStep(walk: Walk, page: Page): Step {
  const { operation, first, size, count, pages } = walk;
  const { paging } = operation;
  const link = linkTarget(linkOf(page), 'next');
  if (link !== undefined) return { next: resolveNext(link, page) };
  const sign = findListSign(page, { count, pages });
  const isLinked = walk.isLinked || linkTarget(linkOf(page), 'first', 'prev', 'last') !== undefined;
  if (isLinked || !paging || paging.kind === 'link') return signedStep(sign, page);
  if (paging.kind === 'cursor') return nextByCursor(paging, walk, page, sign);
  if (paging.kind === 'unknown') {
    if (sign) return signedStep(sign, page);
    if (paging.by !== undefined && count > 0)
      return { doubt: `its pages follow each other by ${paging.by}, which petstore does not know` };
    const isFull = size !== undefined && count >= size;
    return isFull ? { doubt: `it answered ${count}, a full page, and no link to a next one` } : {};
  }
  if (page.records.length === 0 || statesWhole(page, count)) return { doubt: sign?.clause };
  const value = paging.kind === 'number' ? (walk.firstNumber ?? 0) + pages : count;
  if (value > (paging.maximum ?? Number.POSITIVE_INFINITY))
    return { doubt: `its ${paging.parameter} may not go beyond ${paging.maximum}` };
  const next = withQueryParameter(first, paging.parameter, String(value));
  return { next, isCounted: true, doubt: sign?.clause };
}

/** Follows a link that the answer has although the description does not say so, if it is of the same origin. */
function signedStep(sign: ListSign | undefined, page: Page): Step {
  const { link, clause } = sign ?? {};
  const isOwn =
    link !== undefined &&
    URL.canParse(link, page.url) &&
    new URL(link, page.url).origin === new URL(page.url).origin;
  return isOwn ? { next: resolveNext(link, page) } : { doubt: clause };
}

function nextByCursor(
  { parameter, next }: { readonly parameter: string | undefined; readonly next: readonly string[] },
  { first }: Walk,
  page: Page,
  sign: ListSign | undefined,
): Step {
  const value = valueIn(page.envelope, next);
  if (value === undefined || value === null || value === '' || value === false) return signedStep(sign, page);
  if (typeof value === 'boolean' || typeof value === 'object')
    return { doubt: `its ${next.join('.')} is neither a link nor a cursor` };
  const text = String(value);
  if (isLink(text)) return { next: resolveNext(text, page) };
  if (parameter === undefined) return { doubt: `its ${next.join('.')} is not a link` };
  return { next: withQueryParameter(first, parameter, text) };
}

/** Returns true if a page has the same records as the page before. False for empty pages. */
function isSamePage(before: readonly JsonObject[], page: readonly JsonObject[], idField: string): boolean {
  if (before.length !== page.length || page.length === 0) return false;
  return before.every(
    (record, index) => record[idField] != null && record[idField] === page[index]?.[idField],
  );
}

/** @throws CliError if the link is not a URL. */
function resolveNext(link: string, page: Page): string {
  if (!URL.canParse(link, page.url)) throw page.fault(`the link to the next page is not a URL: ${link}`);
  return withoutHash(new URL(link, page.url).href);
}

function linkOf({ headers }: Page): string | undefined {
  return headerValue(headers, 'link');
}

/**
 * Finds the fault of a link to the next page that leads out of the service, which a gateway in front may cause.
 *
 * @param url the URL that answered, which is another one if it `isRedirected`.
 * @returns the predicate of a sentence, and the likely cause as a clause.
 */
export function faultOfNext(
  next: URL,
  url: string,
  isRedirected: boolean,
): { readonly reason: string; readonly hint: string } | undefined {
  const { origin, pathname } = new URL(url);
  if (next.origin !== origin)
    return {
      reason: 'leaves the service',
      hint: 'a gateway may not pass on the header Host, or X-Forwarded-Proto: see `petstore help gateways`',
    };
  const isShorter = next.pathname.length < pathname.length && next.pathname !== '/';
  // After a redirect, the service takes the shorter path too.
  if (isRedirected || !isShorter || !pathname.endsWith(next.pathname)) return undefined;
  return {
    reason: `leaves out ${pathname.slice(0, -next.pathname.length)}`,
    hint: 'a gateway may not tell the service below which path it lies: see `petstore help gateways`',
  };
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

import { linkTarget } from '../api/http.ts';
import { isLink, totalsIn, whyMoreRecords } from '../api/list-signs.ts';
import { nouns } from '../api/nouns.ts';
import { isBound, type Operation, type Paging } from '../api/operations.ts';
import type { ServiceRecord } from '../api/record-values.ts';
import { CliError } from '../process/errors.ts';
import { printJson, valueIn } from '../process/exact-json.ts';
import { maskUrl } from '../process/secrets.ts';
import { isAfterLast } from './answer-table.ts';
import type { Answer, OperationCall } from './call.ts';
import { callError } from './call-error.ts';
import type { PageContent } from './read-answer.ts';
import { fetchValue } from './send-call.ts';
import { invalidResponse } from './transport/response.ts';

// Reads the pages of a list in their order, and finds the end of the list.

/** The answer of a list, and the records in it. */
interface Page extends PageContent, Answer {}

const maxPages = 100_000;
const maxRecords = 10_000_000;

/** There may be more records. */
export interface CutEnd {
  readonly kind: 'cut';
  /** A clause. */
  readonly why: string;
  /** True if another reading may be whole. */
  readonly isTransient?: boolean;
}

/** How a list ends. `unproven`: neither the answer nor the description shows whether there are more records. `note` is a clause. */
export type ListEnd =
  | { readonly kind: 'whole'; readonly note?: string }
  | { readonly kind: 'unproven' }
  | CutEnd;

/** The end of a list, or the next page. */
type PageStep =
  | ListEnd
  | {
      readonly kind: 'next';
      /** A link to the page, which may be relative. */
      readonly link: string;
      /** The end of the list if the service has no such page. Only a link that the program has made itself has it. */
      readonly orEnd?: ListEnd;
    };

/** The state of the reading of a list. Only `pagesOf` changes it. */
interface Walk {
  readonly operation: Operation;
  /** The URL of the first page. */
  readonly first: string;
  /** The requested page size. */
  readonly size: number | undefined;
  pages: number;
  count: number;
  /** True if a page has had a header with links, so that the list ends where there is no link to a next page. */
  isLinked: boolean;
  /** The number of the first page, 0 or 1, as soon as it is known. */
  firstNumber: number | undefined;
  /** The number of all records, as the last page said. */
  total: number | undefined;
  /** Why this reading may lack records, a clause: a deletion shifts all records behind it. */
  whySkipped: string | undefined;
}

/**
 * Yields the pages of a list in their order, and returns its end.
 *
 * @param call asks for the first page.
 * @param size the page size that it asks for.
 * @throws CliError for a list that does not end.
 */
export async function* pagesOf(
  call: OperationCall,
  size: number | undefined,
): AsyncGenerator<ServiceRecord[], ListEnd> {
  const { operation, request } = call;
  const { url: first } = request;
  const { paging, noun } = operation;
  const { idField } = nouns[noun];
  const firstNumber = paging?.kind === 'number' ? paging.first : undefined;
  const walk: Walk = {
    operation,
    first,
    size,
    pages: 0,
    count: 0,
    isLinked: false,
    firstNumber,
    total: undefined,
    whySkipped: undefined,
  };
  const end = (last: ListEnd): ListEnd =>
    last.kind === 'cut' || walk.whySkipped === undefined
      ? last
      : { kind: 'cut', why: walk.whySkipped, isTransient: true };
  const visited = new Set<string>();
  // The ids of the first page and of the last two.
  let earlier: readonly (readonly unknown[])[] = [];
  let orEnd: ListEnd | undefined;
  for (let url = first; ; ) {
    let page: Page;
    try {
      page = await fetchPage({ ...call, request: { ...request, url } });
    } catch (error) {
      if (orEnd && error instanceof CliError && isAfterLast(error)) return end(orEnd);
      throw error;
    }
    visited.add(url).add(withoutHash(page.request.url));
    // An order of a list may have no id.
    const ids = page.records.map(({ fields }) => fields[idField] ?? printJson(fields));
    const hasIds = page.records.every(({ fields }) => (fields[idField] ?? null) !== null);
    // Without ids, records may be alike. So they end only a list that states no next page, and it may have more.
    if ((hasIds || orEnd) && isRepeated(earlier, ids)) {
      // The first page has the number 0 or 1. If page 1 repeats the first page, the next page is page 2.
      if (walk.pages === 1 && paging?.kind === 'number' && walk.firstNumber === undefined)
        walk.firstNumber = 1;
      else if (orEnd) {
        // A service that repeats its only page may not count pages at all. One that links its pages may have only this one.
        const why = `${new URL(url).search} repeats earlier records`;
        const isLast = hasIds && (walk.pages > 1 || paging?.kind === 'link');
        return end(
          orEnd.kind === 'cut' ? orEnd : isLast ? { kind: 'whole', note: why } : { kind: 'cut', why },
        );
      } else throw pageError(page, 'the page repeats earlier records');
    } else {
      yield page.records;
      earlier = [...earlier.slice(0, 1), ...earlier.slice(1).slice(-1), ids];
      walk.pages += 1;
      walk.count += page.records.length;
    }
    if (walk.pages >= maxPages || walk.count >= maxRecords)
      throw pageError(page, `the list does not end after ${walk.count} records on ${walk.pages} pages`);
    walk.isLinked ||= linkOf(page, 'next', 'first', 'prev', 'last') !== undefined;
    const [total = walk.total] = totalsIn(page);
    // The pages of our contract begin behind an id, so a deletion shifts none.
    if (isBound(operation) && walk.total !== undefined && total !== undefined && total < walk.total)
      walk.whySkipped = `its total fell from ${walk.total} to ${total} while it was read`;
    walk.total = total;
    const step = nextStep(walk, page);
    if (step.kind !== 'next') return end(step);
    const { link } = step;
    orEnd = step.orEnd;
    const { reason, hint } = faultOfNext(link, page.request.url) ?? {};
    if (reason !== undefined)
      throw pageError(page, `the link to the next page ${reason}: ${maskUrl(link)}`, hint);
    url = withoutHash(new URL(link, page.request.url).href);
    if (visited.has(url)) throw pageError(page, `the link to the next page repeats: ${maskUrl(url)}`);
  }
}

async function fetchPage(call: OperationCall): Promise<Page> {
  const { answer, value } = await fetchValue(call);
  return { ...answer, ...(value as PageContent) };
}

/** Makes the error of a page that does not continue its list. @param why a clause. @param hint a remedy, a sentence. */
function pageError(page: Page, why: string, hint?: string): Error {
  return callError(page, invalidResponse(why, { hint }));
}

/** Returns the link to the next page that a page states, in the header or by a cursor in the body. @param url the URL that answered. */
export function statedNext(
  { paging }: Operation,
  url: string,
  page: Pick<Page, 'headers' | 'envelope'>,
): string | undefined {
  const link = linkOf(page, 'next');
  if (link !== undefined || paging?.kind !== 'cursor') return link;
  const step = stepByCursor(paging, url, page);
  return step.kind === 'next' ? step.link : undefined;
}

/** Finds the next page by a link in the header, or else as the description says. */
function nextStep(walk: Walk, page: Page): PageStep {
  const link = linkOf(page, 'next');
  if (link !== undefined) return { kind: 'next', link };
  const why = whyMoreRecords(page, walk);
  const stated: ListEnd = why === undefined ? { kind: 'whole' } : { kind: 'cut', why };
  return walk.isLinked ? stated : describedStep(walk, page, stated);
}

function linkOf({ headers }: Pick<Page, 'headers'>, ...relations: readonly string[]): string | undefined {
  return linkTarget(headers.link, ...relations);
}

/**
 * Returns the next step as the description says how pages follow each other.
 *
 * @param stated the end of the list if this page is the last one, by the answer alone.
 */
function describedStep(walk: Walk, page: Page, stated: ListEnd): PageStep {
  const { first, size, count, pages, operation } = walk;
  const { paging } = operation;
  const isCut = stated.kind === 'cut';
  const isFull = size !== undefined && count >= size;
  switch (paging?.kind) {
    case 'cursor': {
      // A last page may leave out the cursor. A service that never sends it may cut its list.
      if (pages > 1 || isCut || valueIn(page.envelope, paging.next) !== undefined)
        return stepByCursor(paging, first, page, stated);
      if (!isFull) return { kind: 'unproven' };
      return { kind: 'cut', why: `it answered a full page of ${count}, without ${paging.next.join('.')}` };
    }
    case 'number':
      return stepByCount(paging, (walk.firstNumber ?? 0) + walk.pages, walk, page, stated);
    case 'offset':
      return stepByCount(paging, count, walk, page, stated);
    case 'unknown': {
      if (isCut) return stated;
      if (paging.by !== undefined && count > 0)
        return { kind: 'cut', why: `its pages use ${paging.by}, which petstore cannot follow` };
      if (!isFull) return { kind: 'unproven' };
      return { kind: 'cut', why: `it answered a full page of ${count}, without a link to the next` };
    }
    case 'link': {
      const isFullPage = page.records.length === size;
      if (isBound(operation)) {
        if (isCut) return stated;
        if (!isFullPage) return { kind: 'unproven' };
        return { kind: 'cut', why: `it answered a full page of ${size}, without a link to the next` };
      }
      // A gateway may drop the links. Our contract says how to ask what follows a full page.
      const lastId = page.records.at(-1)?.fields[nouns[operation.noun].idField];
      if (!isFullPage || lastId === undefined) return stated;
      return { kind: 'next', link: withQueryParameter(first, 'after', String(lastId)), orEnd: stated };
    }
    default:
      return stated;
  }
}

type PagingBy<Kind extends Paging['kind']> = Extract<Paging, { readonly kind: Kind }>;

function stepByCursor(
  { parameter, next }: PagingBy<'cursor'>,
  first: string,
  page: Pick<Page, 'envelope'>,
  stated: ListEnd = { kind: 'whole' },
): PageStep {
  const value = valueIn(page.envelope, next);
  if (value === undefined || value === null || value === '' || value === false) return stated;
  const text = typeof value === 'boolean' || typeof value === 'object' ? undefined : String(value);
  if (text !== undefined && isLink(text)) return { kind: 'next', link: text };
  if (text !== undefined && parameter)
    return { kind: 'next', link: withQueryParameter(first, parameter, text) };
  return { kind: 'cut', why: `its ${next.join('.')} is neither a link nor a cursor that the list takes` };
}

/** @param value the number of the next page, or of its first record. */
function stepByCount(
  { parameter }: PagingBy<'number' | 'offset'>,
  value: number,
  { first, count }: Walk,
  page: Page,
  stated: ListEnd,
): PageStep {
  if (page.records.length === 0 || totalsIn(page).includes(count)) return stated;
  return { kind: 'next', link: withQueryParameter(first, parameter, String(value)), orEnd: stated };
}

/**
 * Returns true if each id of a page is on one of the earlier pages. Behind the end, services answer with the last page, the first
 * one, or the last records in another cut.
 */
function isRepeated(earlier: readonly (readonly unknown[])[], ids: readonly unknown[]): boolean {
  const [first] = ids;
  // The first id decides for nearly every page, without a set of a million ids.
  if (first == null || !earlier.some((page) => page.includes(first))) return false;
  const earlierIds = new Set(earlier.flat());
  return ids.every((id) => id != null && earlierIds.has(id));
}

/**
 * Finds out what is wrong with a link to the next page: the predicate of a sentence, and the likely cause as a clause.
 *
 * @param url the URL that answered. The link may be relative to it.
 */
export function faultOfNext(
  link: string,
  url: string,
): { readonly reason: string; readonly hint?: string } | undefined {
  if (!URL.canParse(link, url)) return { reason: 'is not a URL' };
  if (new URL(link, url).origin === new URL(url).origin) return undefined;
  const hint =
    'perhaps a gateway does not forward the header Host or X-Forwarded-Proto: see `petstore help gateways`';
  return { reason: 'leaves the service', hint };
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

import { linkTarget } from '../../api/http.ts';
import { isEndOfCursor, isLink, totalsIn, whyMoreRecords } from '../../api/list-signs.ts';
import { nouns } from '../../api/nouns.ts';
import type { Operation, Paging } from '../../api/operations.ts';
import { valueIn } from '../../process/exact-json.ts';
import type { Answer } from '../call.ts';
import type { PageContent } from '../read-answer.ts';

// How the pages of a list follow each other, and how the list ends.

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

export interface NextPage {
  readonly kind: 'next';
  /** A link to the page, which may be relative. */
  readonly link: string;
  /** The end of the list if the service has no such page. Only a link that the program has made itself has it. */
  readonly endIfMissing?: ListEnd | undefined;
}

export type PageStep = ListEnd | NextPage;

/** The answer of a list, and the records in it. */
export interface Page extends PageContent, Answer {}

/** A list that is read page by page, and what is known of it so far. */
export interface Walk {
  readonly operation: Operation;
  readonly paging: Paging;
  /** The URL of the first page. */
  readonly first: string;
  /** The requested page size. */
  readonly size: number | undefined;
  readonly pages: number;
  readonly count: number;
  /** True if a page has had a header with links. Then a list of another contract than ours ends where there is no link to a next page. */
  readonly hasHadLinks: boolean;
  /** The number of the first page, 0 or 1, as soon as it is known. */
  readonly firstNumber: number | undefined;
  /** The ids of the records of the first page. */
  readonly firstIds: string;
  /** What identifies the records of the first page and of the last two. */
  readonly earlierIds: readonly (readonly unknown[])[];
  /** The number of all records, as the last page said. */
  readonly total: number | undefined;
  /** Why this reading may lack records, a clause: a deletion shifts all records after it. */
  readonly whyIncomplete: string | undefined;
}

/** What follows from the way in which the pages of a list follow each other. */
interface PagingTraits {
  /** True if a page without a next one ends the list. Else the list may be cut: nothing but a link or a cursor leads further. */
  readonly provesEnd: boolean;
  /**
   * True if a page is asked for by the record before it. A deletion shifts no record of the later pages, and a service that
   * repeats a page has no more.
   */
  readonly isByRecord: boolean;
  /** True if the list is rarely cut, so that its pages can be used before the last one has come. */
  readonly isRarelyCut: boolean;
}

export const pagingTraits: Readonly<Record<Paging['kind'], PagingTraits>> = {
  link: { provesEnd: false, isByRecord: false, isRarelyCut: true },
  after: { provesEnd: true, isByRecord: true, isRarelyCut: true },
  number: { provesEnd: true, isByRecord: false, isRarelyCut: false },
  offset: { provesEnd: true, isByRecord: false, isRarelyCut: false },
  cursor: { provesEnd: false, isByRecord: false, isRarelyCut: false },
  unknown: { provesEnd: false, isByRecord: false, isRarelyCut: false },
};

/** Returns how the pages of a list follow each other. */
export function pagingOf({ paging }: Operation): Paging {
  return paging ?? { kind: 'unknown', by: undefined };
}

/** Returns the link to the next page that a page states, in the header or by a cursor in the body. @param url the URL that answered. */
export function statedNext(
  operation: Operation,
  url: string,
  page: Pick<Page, 'headers' | 'envelope'>,
): string | undefined {
  const link = linkOf(page, 'next');
  const paging = pagingOf(operation);
  if (link !== undefined || paging.kind !== 'cursor') return link;
  const next = cursorLink(paging, url, page);
  return typeof next === 'string' ? next : undefined;
}

/** Finds the next page by a link in the header, or else as the description says how pages follow each other. */
export function nextStep(walk: Walk, page: Page): PageStep {
  const link = linkOf(page, 'next');
  if (link !== undefined) return { kind: 'next', link };
  const end = endAt(walk, page);
  const { kind } = walk.paging;
  // A gateway may drop the links of our contract, so a full page is followed by one more request.
  const own = walk.hasHadLinks && !pagingTraits[kind].isByRecord ? undefined : describedNext(walk, page);
  if (typeof own !== 'string') return own ?? end;
  return { kind: 'next', link: own, endIfMissing: kind === 'cursor' ? undefined : end };
}

export function linkOf(
  { headers }: Pick<Page, 'headers'>,
  ...relations: readonly string[]
): string | undefined {
  return linkTarget(headers.link, ...relations);
}

/** Makes the link to the page after a page, if the description says how, and the page does not show that it is the last one. */
function describedNext(walk: Walk, page: Page): string | CutEnd | undefined {
  const { operation, paging, first, size, count, pages, firstNumber } = walk;
  const isLast = page.records.length === 0 || totalsIn(page).includes(count);
  switch (paging.kind) {
    case 'cursor':
      return cursorLink(paging, first, page);
    case 'number':
      return isLast ? undefined : withQueryParameter(first, paging.parameter, (firstNumber ?? 0) + pages);
    case 'offset':
      return isLast ? undefined : withQueryParameter(first, paging.parameter, count);
    case 'after': {
      const lastId = page.records.at(-1)?.fields[nouns[operation.noun].idField];
      const isFull = page.records.length === size && lastId !== undefined;
      return isFull ? withQueryParameter(first, 'after', String(lastId)) : undefined;
    }
    case 'link':
    case 'unknown':
      return undefined;
  }
}

/** Returns the end of a list if this page is its last one. */
function endAt({ paging, hasHadLinks, size, count, pages }: Walk, page: Page): ListEnd {
  const why = whyMoreRecords(page, { count, pages });
  if (why !== undefined) return { kind: 'cut', why };
  if (hasHadLinks || pagingTraits[paging.kind].provesEnd) return { kind: 'whole' };
  if (paging.kind === 'unknown' && paging.by !== undefined && count > 0)
    return { kind: 'cut', why: `its pages use ${paging.by}, which petstore cannot follow` };
  const next = paging.kind === 'cursor' ? paging.next : undefined;
  // A last page may leave out the cursor. A service that never sends it may cut its list.
  if (next && (pages > 1 || valueIn(page.envelope, next) !== undefined)) return { kind: 'whole' };
  if (size === undefined || count < size) return { kind: 'unproven' };
  const lacking = next ? next.join('.') : 'a link to the next';
  return { kind: 'cut', why: `it answered a full page of ${count}, without ${lacking}` };
}

/** Returns the link that the cursor of a page leads to, or undefined if the cursor says that there is none. */
function cursorLink(
  { parameter, next }: Extract<Paging, { readonly kind: 'cursor' }>,
  first: string,
  page: Pick<Page, 'envelope'>,
): string | CutEnd | undefined {
  const value = valueIn(page.envelope, next);
  if (value === undefined || isEndOfCursor(value)) return undefined;
  const text = typeof value === 'boolean' || typeof value === 'object' ? undefined : String(value);
  if (text !== undefined && isLink(text)) return text;
  if (text !== undefined && parameter) return withQueryParameter(first, parameter, text);
  return { kind: 'cut', why: `its ${next.join('.')} is neither a link nor a cursor that the list takes` };
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

function withQueryParameter(url: string, name: string, value: string | number): string {
  const parsed = new URL(url);
  // Not by `searchParams`, which would write the spaces of other parameters in another way than the first request.
  const begin = `${encodeURIComponent(name)}=`;
  const others = parsed.search.replace(/^\?/, '').split('&');
  const kept = others.filter((pair) => pair !== '' && !pair.startsWith(begin));
  parsed.search = [...kept, begin + encodeURIComponent(value)].join('&');
  return parsed.href;
}

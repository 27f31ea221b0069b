import { linkTarget } from '../api/http.ts';
import { isEndOfCursor, isLink, totalsIn, whyMoreRecords } from '../api/list-signs.ts';
import { nouns } from '../api/nouns.ts';
import type { Operation, Paging } from '../api/operations.ts';
import { valueIn } from '../process/exact-json.ts';
import type { Answer } from './call.ts';
import type { PageContent } from './read-answer.ts';

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
  readonly endIfMissing?: ListEnd;
}

export type PageStep = ListEnd | NextPage;

/** The answer of a list, and the records in it. */
export interface Page extends PageContent, Answer {}

/** What was read of a list so far. Each page that is read changes it. */
export interface Walk {
  readonly operation: Operation;
  /** The URL of the first page. */
  readonly first: string;
  /** The requested page size. */
  readonly size: number | undefined;
  pages: number;
  count: number;
  /** True if a page has had a header with links. Then a list of another contract than ours ends where there is no link to a next page. */
  hasHadLinks: boolean;
  /** The number of the first page, 0 or 1, as soon as it is known. */
  firstNumber: number | undefined;
  readonly visited: Set<string>;
  /** The ids of the records of the first page. */
  firstIds: string;
  /** What identifies the records of the first page and of the last two. */
  earlierIds: readonly (readonly unknown[])[];
  /** The number of all records, as the last page said. */
  total: number | undefined;
  /** Why this reading may lack records, a clause: a deletion shifts all records after it. */
  whySkipped: string | undefined;
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
export function nextStep(walk: Readonly<Walk>, page: Page): PageStep {
  const link = linkOf(page, 'next');
  if (link !== undefined) return { kind: 'next', link };
  const why = whyMoreRecords(page, walk);
  const stated: ListEnd = why === undefined ? { kind: 'whole' } : { kind: 'cut', why };
  const isEnd = walk.hasHadLinks && walk.operation.paging?.kind !== 'after';
  return isEnd ? stated : describedStep(walk, page, stated);
}

export function linkOf(
  { headers }: Pick<Page, 'headers'>,
  ...relations: readonly string[]
): string | undefined {
  return linkTarget(headers.link, ...relations);
}

/**
 * Returns the next step as the description says how pages follow each other.
 *
 * @param stated the end of the list if this page is the last one, by the answer alone.
 */
function describedStep(walk: Readonly<Walk>, page: Page, stated: ListEnd): PageStep {
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
      if (isCut) return stated;
      if (page.records.length !== size) return { kind: 'unproven' };
      return { kind: 'cut', why: `it answered a full page of ${size}, without a link to the next` };
    }
    case 'after': {
      // A gateway may drop the links, so a full page is followed by one more request.
      const lastId = page.records.at(-1)?.fields[nouns[operation.noun].idField];
      if (page.records.length !== size || lastId === undefined) return stated;
      return { kind: 'next', link: withQueryParameter(first, 'after', String(lastId)), endIfMissing: stated };
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
  if (value === undefined || isEndOfCursor(value)) return stated;
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
  { first, count }: Readonly<Walk>,
  page: Page,
  stated: ListEnd,
): PageStep {
  if (page.records.length === 0 || totalsIn(page).includes(count)) return stated;
  return { kind: 'next', link: withQueryParameter(first, parameter, String(value)), endIfMissing: stated };
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

function withQueryParameter(url: string, name: string, value: string): string {
  const parsed = new URL(url);
  // Not by `searchParams`, which would write the spaces of other parameters in another way than the first request.
  const begin = `${encodeURIComponent(name)}=`;
  const others = parsed.search.replace(/^\?/, '').split('&');
  const kept = others.filter((pair) => pair !== '' && !pair.startsWith(begin));
  parsed.search = [...kept, begin + encodeURIComponent(value)].join('&');
  return parsed.href;
}

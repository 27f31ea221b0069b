import { canBeginAfterId } from '../api/contract.ts';
import { linkTarget } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { type JsonObject, valueIn } from '../process/exact-json.ts';
import { maskUrl } from '../process/secrets.ts';
import type { PageContent } from './read-answer.ts';

// How the pages of a list follow each other, and where they end.

/** One answer to a list. */
export interface Page extends PageContent {
  readonly link: string | undefined;
  /** The URL that answered. */
  readonly url: string;
  /** The error of a page that does not continue its list; it names the request. @param why a clause. */
  fault(why: string): Error;
}

/** The pages of one list. */
export interface PageSource {
  /** The URL of the first. */
  readonly first: string;
  /** @throws CliError that names the request. */
  read(url: string): Promise<Page>;
}

const maxPages = 100_000;
const maxRecords = 10_000_000;
const maxEmptyPages = 1000;

/**
 * The pages of a list in their order. Returns why there may be more, a clause; undefined if the list ends.
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
      // The first page may have the number 0 or 1: if page 1 is the first one again, page 2 is the next.
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
    walk.isLinked ||= linkTarget(page.link, 'next') !== undefined;
    const { next, doubt, probe } = nextStep(walk, page);
    if (next === undefined) {
      // A page that cannot be read tells nothing.
      const last = doubt !== undefined && probe ? await read(probe).catch(() => undefined) : undefined;
      return last?.records.length === 0 ? undefined : doubt;
    }
    if (visited.has(next)) throw page.fault(`the link to the next page repeats: ${maskUrl(next)}`);
    url = next;
  }
}

/** How far a list has been read. Only `pagesOf` changes it. */
interface Walk {
  readonly operation: Operation;
  readonly first: string;
  /** The page size that was asked for. */
  readonly size: number | undefined;
  pages: number;
  count: number;
  /** Whether an answer has had a link to the next page. */
  isLinked: boolean;
  /** The number of the first page, if pages have numbers; undefined while it is not known to be 1 and not 0. */
  firstNumber?: number | undefined;
}

interface Step {
  /** The URL of the next page; undefined after the last. */
  readonly next?: string | undefined;
  /** Why there may be more, a clause. */
  readonly doubt?: string | undefined;
  /** The URL of a page that would have more. */
  readonly probe?: string | undefined;
}

function nextStep(walk: Walk, page: Page): Step {
  const { operation, first, size, count } = walk;
  const { paging, noun } = operation;
  const link = linkTarget(page.link, 'next');
  if (link !== undefined) return { next: resolveNext(link, page) };
  const doubt = doubtOf(walk, page);
  const isLinked = walk.isLinked || linkTarget(page.link, 'first', 'prev', 'last') !== undefined;
  if (isLinked || !paging || paging.kind === 'link') return { doubt };
  if (paging.kind === 'cursor') return nextByCursor(paging, walk, page);
  if (paging.kind === 'unknown') {
    if (doubt !== undefined) return { doubt };
    const last = page.records.at(-1)?.[nouns[noun].idField];
    const canProbe = paging.after !== undefined && typeof last === 'bigint';
    const probe = canProbe ? withParameter(first, paging.after, `${last}`) : undefined;
    return { doubt: doubtOfUnknown(walk, paging.by), probe };
  }
  // A page that is shorter than the stated maximum is the last.
  const maximum = statedMaximum(operation);
  const length = page.records.length;
  if (length === 0 || (maximum !== undefined && length < Math.min(size ?? maximum, maximum))) return {};
  const value = paging.kind === 'number' ? (walk.firstNumber ?? 0) + walk.pages : count;
  if (value > (paging.maximum ?? Number.POSITIVE_INFINITY))
    return { doubt: `its ${paging.parameter} may not go beyond ${paging.maximum}` };
  return { next: withParameter(first, paging.parameter, String(value)) };
}

function nextByCursor(
  { parameter, next }: { readonly parameter: string | undefined; readonly next: readonly string[] },
  walk: Walk,
  page: Page,
): Step {
  const value = valueIn(page.envelope, next);
  if (value === undefined || value === null || value === '' || value === false)
    return { doubt: doubtOf(walk, page) };
  if (typeof value === 'boolean' || typeof value === 'object')
    return { doubt: `its ${next.join('.')} is neither a link nor a cursor` };
  const text = String(value);
  if (/^(https?:\/)?\/|^\?/.test(text)) return { next: resolveNext(text, page) };
  if (parameter === undefined) return { doubt: `its ${next.join('.')} is not a link` };
  return { next: withParameter(walk.first, parameter, text) };
}

/** Why there may be more records although the list has ended: its answer says so, a clause. */
function doubtOf({ count }: Walk, { envelope }: Page): string | undefined {
  for (const [field, value] of Object.entries(envelope ?? {})) {
    const name = field.toLowerCase().replace(/[^a-z]/g, '');
    if (/^hasmore$|^hasnext(page)?$/.test(name) && value === true) return `it says ${field}: true`;
    if (/^total(count|elements|items|records|results)?$/.test(name) && Number(value) > count)
      return `it says ${field}: ${value}, and sent ${count}`;
  }
  return undefined;
}

/**
 * Why a list may be cut if its pages follow each other in an unknown way, a clause; undefined if it is shorter than a page.
 *
 * @param by the parameter or header that leads to the next page; undefined if the description has none.
 */
function doubtOfUnknown({ operation, size, count }: Walk, by: string | undefined): string | undefined {
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

/** Whether a page has the records of the one before; false for empty pages. */
function isSamePage(before: readonly JsonObject[], page: readonly JsonObject[], idField: string): boolean {
  if (before.length !== page.length || page.length === 0) return false;
  return before.every(
    (record, index) => record[idField] != null && record[idField] === page[index]?.[idField],
  );
}

/** A clause if the ids do not grow from page to page, as the contract of the table orders them. */
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
  if (next.origin !== new URL(page.url).origin)
    throw page.fault(`the link to the next page leads to another origin: ${maskUrl(next.href)}`);
  return withoutHash(next.href);
}

function withoutHash(url: string): string {
  const parsed = new URL(url);
  parsed.hash = '';
  return parsed.href;
}

function withParameter(url: string, name: string, value: string): string {
  const parsed = new URL(url);
  parsed.searchParams.set(name, value);
  return parsed.href;
}

/** The most records of a page that the service states; undefined if it does not. */
export function statedMaximum({ parameters }: Operation): number | undefined {
  const maximum = parameters.find(({ name }) => name === 'limit')?.bounds?.maximum;
  return maximum === undefined ? undefined : Number(maximum);
}

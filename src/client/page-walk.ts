import { type Contract, canSeek } from '../api/contract.ts';
import { type HttpRequest, linkTarget } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import { maskUrl } from '../process/secrets.ts';
import type { ListAnswer } from './response.ts';
import { invalidAnswer } from './transport/transport-error.ts';

// How the pages of a list follow each other, and where they end.

/** One answer to a list. */
export interface Page extends ListAnswer {
  readonly link: string | undefined;
  /** The URL that answered. */
  readonly url: string;
}

/** What a list needs of the client. */
export interface ListSource {
  readonly contract: Contract;
  /** The request with these parameters. @throws UsageError if they break the contract. */
  toRequest(query: Readonly<Record<string, unknown>>): HttpRequest;
  /** @throws CliError that names the request. */
  fetchPage(operation: Operation, request: HttpRequest): Promise<Page>;
}

const maxPages = 100_000;
const maxRecords = 10_000_000;
const maxEmptyPages = 1000;

/** The page of a request and those that follow it. Returns why there may be more, a clause; undefined if the list ends. */
export async function* pagesOf(
  source: ListSource,
  operation: Operation,
  query: Readonly<Record<string, unknown>>,
): AsyncGenerator<JsonObject[], string | undefined> {
  const request = source.toRequest(query);
  const first = request.url;
  const walk: Walk = {
    operation,
    first,
    size: query.limit as number | undefined,
    pages: 0,
    count: 0,
    isLinked: false,
    emptyPages: 0,
  };
  const visited = new Set<string>();
  const idField = nouns[operation.noun].idField;
  let before: readonly JsonObject[] = [];
  for (let next = first; ; ) {
    const page: Page = await source.fetchPage(operation, { ...request, url: next });
    const { records, url } = page;
    visited.add(withoutHash(url));
    visited.add(next);
    walk.pages += 1;
    const isSame = walk.pages > 1 && records.length > 0 && isSamePage(before, records, idField);
    // The first page may have the number 0 or 1: if page 1 is the first one again, page 2 is the next.
    if (isSame && walk.pages === 2 && isUnnumbered(operation)) {
      walk.base = 1;
    } else {
      if (isSame) throw invalidAnswer('the page repeats the one before');
      if (canSeek(operation)) checkOrder(before, records, idField);
      yield records;
      before = records;
      walk.count += records.length;
    }
    walk.emptyPages = records.length === 0 ? walk.emptyPages + 1 : 0;
    walk.isLinked ||= linkTarget(page.link, 'next') !== undefined;
    checkLimits(walk);
    const step: Step = nextStep(walk, page);
    if (step.next !== undefined && visited.has(step.next))
      throw invalidAnswer(`the link to the next page repeats: ${maskUrl(step.next)}`);
    if (step.next === undefined && step.doubt !== undefined && step.probe !== undefined)
      return (await isEmpty(source, operation, { ...request, url: step.probe })) ? undefined : step.doubt;
    if (step.next === undefined) return step.doubt;
    next = step.next;
  }
}

/** @throws CliError if a list is longer than any real one. */
function checkLimits({ pages, count, emptyPages }: Walk): void {
  if (emptyPages > maxEmptyPages) throw endless(`more than ${maxEmptyPages} empty pages in a row`);
  if (pages >= maxPages || count > maxRecords)
    throw endless(`more than ${maxPages} pages or ${maxRecords} records`);
}

/** Whether a page has no records; a page that cannot be read tells nothing. */
async function isEmpty(source: ListSource, operation: Operation, request: HttpRequest): Promise<boolean> {
  const page = await source.fetchPage(operation, request).catch(() => undefined);
  return page?.records.length === 0;
}

/** How far a list has been read. Only `pagesOf` changes it. */
interface Walk {
  readonly operation: Operation;
  readonly first: string;
  /** The page size that was asked for. */
  readonly size: number | undefined;
  pages: number;
  count: number;
  /** How many of the last pages had no records. */
  emptyPages: number;
  /** Whether an answer has had a link to the next page. */
  isLinked: boolean;
  /** The number of the first page, once it is known although the description does not give it. */
  base?: number;
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
  const { operation, first, size } = walk;
  const { paging } = operation;
  const link = linkTarget(page.link, 'next');
  if (link !== undefined) return { next: resolveNext(link, page.url) };
  const isLinked = walk.isLinked || linkTarget(page.link, 'first', 'prev', 'last') !== undefined;
  if (isLinked || !paging || paging.kind === 'link') return { doubt: doubtOf(walk, page) };
  if (paging.kind === 'cursor') return nextByCursor(paging, walk, page);
  if (paging.kind === 'unknown') {
    const doubt = doubtOf(walk, page);
    const last = page.records.at(-1)?.[nouns[operation.noun].idField];
    const canProbe = doubt === undefined && paging.after !== undefined && typeof last === 'bigint';
    const probe = canProbe ? withParameter(first, paging.after, `${last}`) : undefined;
    return { doubt: doubt ?? doubtOfUnknown(walk, paging.by), probe };
  }
  const count = page.records.length;
  // A page that is shorter than the stated maximum is the last.
  const maximum = statedMaximum(operation);
  const isShort = maximum !== undefined && count < Math.min(size ?? maximum, maximum);
  if (count === 0 || isShort) return {};
  const start = paging.kind === 'number' ? (paging.first ?? walk.base ?? 0) : 0;
  const pagesBefore =
    walk.base === 1 && paging.kind === 'number' && paging.first === undefined ? walk.pages - 1 : walk.pages;
  const value = paging.kind === 'number' ? start + pagesBefore : walk.count;
  if (value > (paging.maximum ?? Number.POSITIVE_INFINITY))
    return { doubt: `its ${paging.parameter} may not go beyond ${paging.maximum}` };
  return { next: withParameter(first, paging.parameter, String(value)) };
}

function nextByCursor(
  { parameter, next }: { readonly parameter: string | undefined; readonly next: readonly string[] },
  walk: Walk,
  page: Page,
): Step {
  let value: JsonValue | undefined = page.envelope;
  for (const field of next) value = isJsonObject(value) ? value[field] : undefined;
  if (value === undefined || value === null || value === '' || value === false)
    return { doubt: doubtOf(walk, page) };
  if (typeof value === 'boolean' || typeof value === 'object')
    return { doubt: `its ${next.join('.')} is neither a link nor a cursor` };
  const text = String(value);
  if (/^(https?:\/)?\/|^\?/.test(text)) return { next: resolveNext(text, page.url) };
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
  const { fallback } = operation.parameters.find(({ name }) => name === 'limit') ?? {};
  if (by === undefined)
    return count >= (size ?? Number(fallback ?? Number.NaN))
      ? `it answered ${count}, a full page, and no link to a next one`
      : undefined;
  const largest = statedMaximum(operation) ?? Number(fallback ?? 0);
  return count > 0 && count >= Math.min(size ?? largest, largest)
    ? `its pages follow each other by ${by}, which petstore does not know`
    : undefined;
}

function isUnnumbered({ paging }: Operation): boolean {
  return paging?.kind === 'number' && paging.first === undefined;
}

function isSamePage(before: readonly JsonObject[], page: readonly JsonObject[], idField: string): boolean {
  if (before.length !== page.length) return false;
  return before.every((record, at) => record[idField] != null && record[idField] === page[at]?.[idField]);
}

/** @throws CliError if the ids do not grow, as the contract of the table orders them. */
function checkOrder(before: readonly JsonObject[], [first]: readonly JsonObject[], idField: string): void {
  const last = before.at(-1)?.[idField];
  const id = first?.[idField];
  if (typeof last === 'bigint' && typeof id === 'bigint' && id <= last)
    throw endless(`a page after id ${last} begins with id ${id}`);
}

function endless(why: string): Error {
  return invalidAnswer(`the list does not end: ${why}`);
}

/** @throws CliError if the link is not a URL or leads to another origin. */
function resolveNext(link: string, url: string): string {
  if (!URL.canParse(link, url)) throw invalidAnswer(`the link to the next page is not a URL: ${link}`);
  const next = new URL(link, url);
  if (next.origin !== new URL(url).origin)
    throw invalidAnswer(`the link to the next page leads to another origin: ${maskUrl(next.href)}`);
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

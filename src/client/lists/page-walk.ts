import { totalsIn } from '../../api/list-signs.ts';
import { nouns } from '../../api/nouns.ts';
import type { ServiceRecord } from '../../api/record-values.ts';
import { CliError, isInterruption } from '../../process/errors.ts';
import { printJson } from '../../process/exact-json.ts';
import { maskUrl } from '../../process/secrets.ts';
import { isAfterLastPage } from '../answer-table.ts';
import type { OperationCall } from '../call.ts';
import { withCallDetails } from '../call-error.ts';
import { readPageIn } from '../read-answer.ts';
import { fetchAnswer } from '../send-call.ts';
import { invalidResponse } from '../transport/response.ts';
import {
  faultOfNext,
  type ListEnd,
  linkOf,
  type NextPage,
  nextStep,
  type Page,
  type PageStep,
  pagingOf,
  pagingTraits,
  type Walk,
} from './next-page.ts';

// Reads the pages of a list in their order.

const maxPages = 100_000;
const maxRecords = 10_000_000;
const hasChanged = 'it has changed while it was read';

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
  let walk = beginWalk(call, size);
  let step: PageStep = { kind: 'next', link: walk.first };
  let url = walk.first;
  const visited = new Set<string>();
  while (step.kind === 'next') {
    const { endIfMissing }: NextPage = step;
    const page = await fetchPage(call, url, endIfMissing);
    if ('kind' in page) return endOf(walk, page);
    visited.add(url).add(withoutHash(page.request.url));
    const ids = pageIdsOf(walk, page);
    const repeatedShare = repeatedShareOf(walk, ids, endIfMissing);
    // If page 1 repeats the first page, the next page is page 2.
    if (isFirstNumberUnknown(walk) && repeatedShare >= 0.5) {
      // If only a part is the same, somebody has changed the list between the two requests, so the number is only likely.
      walk = { ...walk, firstNumber: 1, ...(repeatedShare < 1 && { whyIncomplete: hasChanged }) };
    } else if (repeatedShare === 1) {
      return endOf(walk, await endOfRepeated(call, walk, page, ids, endIfMissing));
    } else {
      yield page.records;
      walk = withPage(walk, page, ids);
    }
    step = nextStep(walk, page);
    if (step.kind === 'next') url = urlOfNext(visited, page, step.link);
  }
  return endOf(walk, step);
}

/** Returns true if the second page will show whether the first one has the number 0 or 1. */
function isFirstNumberUnknown({ paging, pages, firstNumber }: Walk): boolean {
  return paging.kind === 'number' && pages === 1 && firstNumber === undefined;
}

function beginWalk({ operation, request }: OperationCall, size: number | undefined): Walk {
  const paging = pagingOf(operation);
  return {
    operation,
    paging,
    first: request.url,
    size,
    firstIds: '',
    earlierIds: [],
    pages: 0,
    count: 0,
    hasHadLinks: false,
    firstNumber: paging.kind === 'number' ? paging.first : undefined,
    total: undefined,
    whyIncomplete: undefined,
  };
}

/** Fetches a page. Returns `endIfMissing` if the service has no such page. */
async function fetchPage(call: OperationCall, url: string, endIfMissing?: ListEnd): Promise<Page | ListEnd> {
  try {
    const request = { ...call.request, url };
    const { answer, value } = await fetchAnswer({ ...call, request }, readPageIn);
    return { ...answer, ...value };
  } catch (error) {
    if (endIfMissing && error instanceof CliError && isAfterLastPage(error)) return endIfMissing;
    throw error;
  }
}

/** Adds a page to what was read. @throws CliError if the list does not end. */
function withPage(walk: Walk, page: Page, { ids }: PageIds): Walk {
  const pages = walk.pages + 1;
  const count = walk.count + page.records.length;
  if (pages >= maxPages || count >= maxRecords)
    throw pageError(page, `the list does not end after ${count} records on ${pages} pages`);
  const [total = walk.total] = totalsIn(page);
  const hasFallen = walk.total !== undefined && total !== undefined && total < walk.total;
  const isShifted = hasFallen && !pagingTraits[walk.paging.kind].isByRecord;
  return {
    ...walk,
    pages,
    count,
    hasHadLinks: walk.hasHadLinks || linkOf(page, 'next', 'first', 'prev', 'last') !== undefined,
    firstIds: walk.pages === 0 ? recordIdsOf(walk, page) : walk.firstIds,
    earlierIds: [...walk.earlierIds.slice(0, 1), ...walk.earlierIds.slice(1).slice(-1), ids],
    total,
    whyIncomplete: isShifted
      ? `its total fell from ${walk.total} to ${total} while it was read`
      : walk.whyIncomplete,
  };
}

function endOf({ whyIncomplete }: Walk, end: ListEnd): ListEnd {
  return end.kind === 'cut' || whyIncomplete === undefined
    ? end
    : { kind: 'cut', why: whyIncomplete, isTransient: true };
}

/** Returns the URL of the next page. @throws CliError if its link leaves the service, or was there before. */
function urlOfNext(visited: ReadonlySet<string>, page: Page, link: string): string {
  const { reason, hint } = faultOfNext(link, page.request.url) ?? {};
  if (reason !== undefined)
    throw pageError(page, `the link to the next page ${reason}: ${maskUrl(link)}`, hint);
  const url = withoutHash(new URL(link, page.request.url).href);
  if (visited.has(url)) throw pageError(page, `the link to the next page repeats: ${maskUrl(url)}`);
  return url;
}

/** Makes the error of a page that does not continue its list. @param why a clause. @param hint a remedy, a sentence. */
function pageError(page: Page, why: string, hint?: string): Error {
  return withCallDetails(page, invalidResponse(why, { hint }));
}

/**
 * The ids of the records of a page. A record without an id, such as an order, has its JSON instead, and so has a count of a bound
 * service, which may have several counts of one pet.
 */
interface PageIds {
  readonly ids: readonly unknown[];
  /** True if every record has an id. */
  readonly isComplete: boolean;
}

function pageIdsOf({ operation }: Walk, { records }: Page): PageIds {
  const { idField, isCount } = nouns[operation.noun];
  const isIdEnough = !isCount || operation.recordForm.isOurs;
  const ids = records.map(({ fields }) => (isIdEnough ? fields[idField] : undefined) ?? printJson(fields));
  return { ids, isComplete: records.every(({ fields }) => (fields[idField] ?? null) !== null) };
}

/**
 * Returns the share of the ids of a page that are on earlier pages, from 0 to 1. After the end, services answer with the last page, the
 * first one, or the last records, cut in another way. Records without ids may be alike, so they count only if the program has made the
 * link.
 */
function repeatedShareOf(
  walk: Walk,
  { ids, isComplete }: PageIds,
  endIfMissing: ListEnd | undefined,
): number {
  const { earlierIds } = walk;
  if (ids.length === 0 || !(isComplete || endIfMissing)) return 0;
  // The first id decides for nearly every page, without a set of a million ids.
  if (!isFirstNumberUnknown(walk) && !earlierIds.some((page) => page.includes(ids[0]))) return 0;
  const known = new Set(earlierIds.flat());
  const share = ids.filter((id) => known.has(id)).length / ids.length;
  return isComplete || share === 1 ? share : 0;
}

/**
 * Returns the end of a list whose page repeats earlier records. A record that came while the list was read shifts all later ones, which
 * also looks like a repetition; then the first page has changed.
 *
 * @throws CliError if the service itself has linked the page.
 */
async function endOfRepeated(
  call: OperationCall,
  walk: Walk,
  page: Page,
  { isComplete }: PageIds,
  endIfMissing: ListEnd | undefined,
): Promise<ListEnd> {
  if (!endIfMissing) throw pageError(page, 'the page repeats earlier records');
  if (endIfMissing.kind === 'cut') return endIfMissing;
  const note = `${new URL(page.request.url).search} repeats earlier records`;
  // A service that repeats its only page may not count pages at all.
  const isLast = isComplete && (walk.pages > 1 || pagingTraits[walk.paging.kind].isByRecord);
  if (!isLast) return { kind: 'cut', why: note };
  try {
    const first = await fetchPage(call, walk.first);
    if ('records' in first && recordIdsOf(walk, first) === walk.firstIds) return { kind: 'whole', note };
    return { kind: 'cut', why: hasChanged, isTransient: true };
  } catch (error) {
    if (!(error instanceof CliError) || isInterruption(error)) throw error;
    return { kind: 'cut', why: `its first page cannot be read again: ${error.message}`, isTransient: true };
  }
}

function recordIdsOf({ operation }: Walk, { records }: Page): string {
  return records.map(({ fields }) => fields[nouns[operation.noun].idField]).join();
}

function withoutHash(url: string): string {
  const parsed = new URL(url);
  parsed.hash = '';
  return parsed.href;
}

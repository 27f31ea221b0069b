import { canBeginAfterId } from '../api/contract.ts';
import { headerValue, linkTarget } from '../api/http.ts';
import type { Parameter } from '../api/operations.ts';
import { isSameValue } from '../api/values.ts';
import { foreignOriginHint } from '../client/page-walk.ts';
import { type JsonValue, printJson } from '../process/exact-json.ts';
import type { CheckAnswer, CheckContext } from './check.ts';
import { type Details, type Finding, FindingError, flaky } from './finding.ts';
import { judge } from './judge-answer.ts';
import { idsOf, recordsOf } from './records.ts';
import { faultOf } from './round.ts';

// The faults of a list as a whole: its ids, pages and filters. Other clients may write while it is read, so a fault that
// they could have caused must be confirmed.

const furtherLooks = 2;

/**
 * Looks for a fault, and if there is one, looks twice more, because other clients could have caused it.
 *
 * @param look finds faults of one sort. `isFirst` is true for the first look.
 * @returns the fault if another look finds a fault too, perhaps in another record; else a flaky finding.
 */
export async function confirmFault(
  look: (isFirst: boolean) => Promise<Finding | undefined>,
): Promise<Finding[]> {
  const fault = await look(true);
  if (!fault) return [];
  for (let count = 0; count < furtherLooks; count += 1) if (await look(false)) return [fault];
  return [flaky(`${fault.reason}, once in ${1 + furtherLooks} looks`, fault)];
}

/** Finds the faults of a list. @param answer the valid answer to a request without filter and page size. */
export async function faultsOfList(context: CheckContext, answer: CheckAnswer): Promise<Finding[]> {
  const { operation } = answer;
  const replyOf = async (isFirst: boolean) => (isFirst ? answer : context.ask(operation, {}));
  const faults = [
    await confirmFault(async (isFirst) => faultOfIds(await replyOf(isFirst))),
    await confirmFault(async (isFirst) => faultOfPages(context, await replyOf(isFirst))),
  ];
  for (const filter of operation.parameters) {
    const value = valueFor(filter, answer);
    if (value !== undefined)
      faults.push(await confirmFault(() => faultOfFilter(context, answer, filter, value)));
  }
  return faults.flat();
}

/** Finds an id that the list shows twice. */
function faultOfIds(answer: CheckAnswer): Finding | undefined {
  const ids = new Set<bigint>();
  const id = idsOf(answer).find((candidate) => ids.size === ids.add(candidate).size);
  if (id === undefined) return undefined;
  return faultOf(answer, 'the list has an id twice', { expected: 'each record once', got: `id ${id}` });
}

/**
 * Follows the link of a list to its next page, once, and compares the two pages. If all records fit on one page, requests
 * the list in two pages, if the contract has a page size.
 *
 * @param list the answer to a request without page size.
 * @returns the fault; undefined if there is none, or if a new record may have shifted the pages.
 * @throws FindingError with a fault of the link itself, which other clients cannot have caused.
 */
async function faultOfPages(context: CheckContext, list: CheckAnswer): Promise<Finding | undefined> {
  const { operation } = list;
  const isPaged = nextOf(list) !== undefined;
  const sizeParameter = operation.parameters.find(({ name }) => name === 'limit');
  const half = Math.min(Math.floor(recordsOf(list).length / 2), 50);
  if (!isPaged && (!sizeParameter || half < Number(sizeParameter.bounds?.minimum ?? 1))) return undefined;
  const askFirst = () => context.ask(operation, isPaged ? {} : { query: { limit: half } });
  const page = isPaged ? list : await askFirst();
  // These records are in the list too, whose schema was checked.
  if (!isPaged) judge(page, { skipsSchema: true });
  const next = nextUrl(page);
  if (!next) return undefined;
  const { definitions } = list;
  const secondPage: CheckAnswer = { ...(await context.get(next.href)), operation, definitions };
  judge(secondPage, { step: 'next page' });
  nextUrl(secondPage, page);
  const ids = [...idsOf(page), ...idsOf(secondPage)];
  // A larger page with the records of both pages shows whether a record is missing between the two.
  const limit = Math.min(Number(sizeParameter?.bounds?.maximum ?? 1000), ids.length);
  const largePage = isPaged ? sizeParameter && (await context.ask(operation, { query: { limit } })) : list;
  const isListEnd = nextOf(secondPage) === undefined && !isPaged;
  const largeIds = largePage ? idsOf(largePage).slice(0, isListEnd ? undefined : ids.length) : [];
  const fault = comparePages(page, secondPage, largeIds);
  if (!fault) return undefined;
  const earlierIds = new Set([...ids, ...largeIds, ...idsOf(list)]);
  const currentIds = idsOf(await askFirst());
  return currentIds.every((id) => earlierIds.has(id)) ? fault : undefined;
}

/** Compares two successive pages. @param largeIds the ids of one page that has the records of both. */
function comparePages(
  page: CheckAnswer,
  nextPage: CheckAnswer,
  largeIds: readonly bigint[],
): Finding | undefined {
  const fault = (reason: string, got: string, expected = 'the page after it') =>
    faultOf(nextPage, reason, { expected, got });
  const [pageIds, nextIds] = [idsOf(page), idsOf(nextPage)];
  const pageIdSet = new Set(pageIds);
  const repeatedIds = nextIds.filter((id) => pageIdSet.has(id));
  if (repeatedIds.length > 0)
    return repeatedIds.length === nextIds.length
      ? fault('the next link gives the same records again', nextOf(page) ?? '')
      : fault('the next page repeats records of the page before', `id ${repeatedIds.join(', ')}`);
  const ids = [...pageIds, ...nextIds];
  const smallerIndex = ids.findIndex((id, index) => index > 0 && id < (ids[index - 1] ?? id));
  if (smallerIndex !== -1 && canBeginAfterId(page.operation)) {
    const got = `id ${ids[smallerIndex]} after ${ids[smallerIndex - 1]}`;
    return fault('the list is not ordered by id', got, 'ids that grow');
  }
  const idSet = new Set(ids);
  const missingIds = largeIds.filter((id) => !idSet.has(id));
  if (missingIds.length === 0) return undefined;
  return fault('records are missing between two pages', `id ${missingIds.join(', ')}`);
}

/**
 * Reads the link to the next page and checks it.
 *
 * @param previousPage undefined for the first page.
 * @returns undefined if the page has no link.
 * @throws FindingError if the link leaves the service, or leads to this page or the previous one.
 */
function nextUrl(page: CheckAnswer, previousPage?: CheckAnswer): URL | undefined {
  const link = nextOf(page);
  if (link === undefined) return undefined;
  const here = new URL(page.url);
  const fault = (reason: string, details: Details) =>
    new FindingError(faultOf(page, `the next link ${reason}`, { got: link, ...details }));
  if (!URL.canParse(link, page.url)) throw fault('is not a URL', { expected: 'Link: <url>; rel="next"' });
  const next = new URL(link, page.url);
  const urlFault = faultOfUrl(next, here);
  if (urlFault) throw fault(urlFault.reason, urlFault.details);
  next.hash = '';
  const expected = 'the page after it';
  const prefix = previousPage ? 'of the second page ' : '';
  if (isSameAddress(next, here)) throw fault(`${prefix}points at its own page`, { expected });
  if (previousPage && isSameAddress(next, new URL(previousPage.url)))
    throw fault('points back', { expected });
  return next;
}

/**
 * Checks that a URL in an answer leads to the same service.
 *
 * @param here the URL of the answer.
 * @returns the fault, a clause without a subject; undefined if the URL is good.
 */
export function faultOfUrl(
  url: URL,
  here: URL,
): { readonly reason: string; readonly details: Details } | undefined {
  if (url.origin === here.origin) return undefined;
  const details = { expected: `a URL at ${here.origin}`, hint: foreignOriginHint(url, here) };
  const isOtherScheme =
    here.protocol === 'https:' && url.protocol === 'http:' && url.hostname === here.hostname;
  return isOtherScheme
    ? { reason: 'is http, although the service is reached by https', details }
    : { reason: 'leaves the service', details };
}

/** Whether two URLs have the same address, and the same parameters in any order. */
function isSameAddress(first: URL, second: URL): boolean {
  const key = ({ origin, pathname, searchParams }: URL) =>
    [origin, pathname, ...[...searchParams].map(([name, value]) => `${name}=${value}`).sort()].join(' ');
  return key(first) === key(second);
}

/** Returns the link to the next page as the header has it. */
function nextOf({ headers }: CheckAnswer): string | undefined {
  return linkTarget(headerValue(headers, 'link'), 'next');
}

/**
 * Finds a value for a filter in the records of a list.
 *
 * @returns undefined if no record has a value that the filter accepts, or if the parameter is not a filter.
 */
function valueFor(
  { name, in: location, bounds = {} }: Parameter,
  answer: CheckAnswer,
): JsonValue | undefined {
  if (location !== 'query' || !Object.hasOwn(answer.operation.records.names, name)) return undefined;
  const isAccepted = (value: JsonValue | undefined) => {
    if (bounds.enum && !bounds.enum.includes(String(value))) return false;
    const type = typeof value === 'bigint' ? 'number' : typeof value;
    if (type !== 'string' && type !== 'boolean' && type !== 'number') return false;
    if (bounds.type === 'string' || bounds.type === 'boolean') return type === bounds.type;
    return bounds.type === undefined || type === 'number';
  };
  return recordsOf(answer)
    .map((record) => record[name])
    .find(isAccepted);
}

/** Finds the fault of a filter that returns a record with another value, or no record at all. */
async function faultOfFilter(
  context: CheckContext,
  { operation }: CheckAnswer,
  { name, wireName }: Parameter,
  value: JsonValue,
): Promise<Finding | undefined> {
  const answer = await context.ask(operation, { query: { [name]: value } }, { isUnchecked: true });
  const filter = `the filter ${wireName}=${value}`;
  judge(answer, { step: filter, skipsSchema: true });
  const records = recordsOf(answer);
  const fault = (reason: string, got: string) =>
    faultOf(answer, `${filter} ${reason}`, { expected: 'only records with it', got });
  if (records.length === 0)
    return fault(`finds nothing, although ${operation.id} shows a record with it`, '[]');
  const foreignRecord = records.find(
    (record) => record[name] !== undefined && !isSameValue(value, record[name]),
  );
  return foreignRecord && fault('lets other records through', printJson(foreignRecord));
}

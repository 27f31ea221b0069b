import { headerValue, linkTarget } from '../api/http.ts';
import type { Parameter } from '../api/operations.ts';
import { isSameValue } from '../api/values.ts';
import { faultOfNext } from '../client/page-walk.ts';
import { type JsonValue, printJson } from '../process/exact-json.ts';
import type { CheckAnswer, CheckContext, RawAnswer } from './check.ts';
import { type Finding, FindingError, fail, warn } from './finding.ts';
import { judge } from './judge-answer.ts';
import { idsOf, recordsOf } from './records.ts';
import { faultOf } from './round.ts';

// The faults of a list as a whole: its ids, its next page and a filter. Other clients may write while it is read, so a fault
// that they could have caused is a warning.

/** Finds the faults of a list. @param answer the valid answer to a request without filter and page size. */
export async function faultsOfList(context: CheckContext, answer: CheckAnswer): Promise<Finding[]> {
  const faults = [
    faultOfIds(answer),
    await faultOfNextPage(context, answer),
    await faultOfFilter(context, answer),
  ];
  return faults.filter((fault) => fault !== undefined);
}

/** Finds an id that the list shows twice. */
function faultOfIds(answer: CheckAnswer): Finding | undefined {
  const ids = new Set<bigint>();
  const id = idsOf(answer).find((candidate) => ids.size === ids.add(candidate).size);
  if (id === undefined) return undefined;
  return faultOf(answer, 'the list has an id twice', { expected: 'each record once', got: `id ${id}` });
}

/**
 * Follows the link of a list to its next page, once. If all records fit on one page, asks for half of them, if the contract
 * has a page size.
 *
 * @throws FindingError with a fault of the link or of the page.
 */
async function faultOfNextPage(context: CheckContext, list: CheckAnswer): Promise<Finding | undefined> {
  const { operation, definitions } = list;
  const page = nextOf(list) === undefined ? await askForHalf(context, list) : list;
  const next = page && nextUrl(page);
  if (!next) return undefined;
  const nextPage: CheckAnswer = { ...(await context.get(next.href)), operation, definitions };
  judge(nextPage, { step: 'next page' });
  const [ids, nextIds] = [new Set(idsOf(page)), idsOf(nextPage)];
  const repeatedIds = nextIds.filter((id) => ids.has(id));
  if (repeatedIds.length === 0) return undefined;
  const expected = 'the page after it';
  if (repeatedIds.length === nextIds.length)
    return faultOf(nextPage, 'the next link gives the same records again', { expected, got: nextOf(page) });
  const reason = 'the next page repeats records of the page before';
  return warn(reason, faultOf(nextPage, reason, { expected, got: `id ${repeatedIds.join(', ')}` }));
}

/** Requests a list in two pages. Undefined if the contract has no page size that does so. */
async function askForHalf(context: CheckContext, list: CheckAnswer): Promise<CheckAnswer | undefined> {
  const { operation } = list;
  const size = operation.parameters.find(({ name }) => name === 'limit');
  const limit = Math.min(Math.floor(recordsOf(list).length / 2), 50);
  if (!size || limit < Number(size.bounds?.minimum ?? 1)) return undefined;
  const page = await context.ask(operation, { query: { limit } });
  // These records are in the list too, whose schema was checked.
  judge(page, { skipsSchema: true });
  return page;
}

/** Returns the URL of the next page; undefined if the page has no link. @throws FindingError if it leaves the service. */
function nextUrl(page: CheckAnswer): URL | undefined {
  const fault = faultOfNextLink(page);
  if (fault) throw new FindingError(faultOf(page, fault.reason, fault));
  const link = nextOf(page);
  return link === undefined ? undefined : new URL(link, page.url);
}

/** Finds the fault of the link to the next page, if the answer has one: it is no URL, or leaves the service. */
export function faultOfNextLink(page: RawAnswer): Finding | undefined {
  const link = nextOf(page);
  if (link === undefined) return undefined;
  const details = URL.canParse(link, page.url)
    ? faultOfNext(new URL(link, page.url), page.url, page.isRedirected)
    : { reason: 'is not a URL', expected: 'Link: <url>; rel="next"' };
  return details && fail(`the next link ${details.reason}`, { ...details, got: link });
}

/** Returns the link to the next page as the header has it. */
function nextOf({ headers }: RawAnswer): string | undefined {
  return linkTarget(headerValue(headers, 'link'), 'next');
}

/** Asks for the records with a value that a record of the list has, by the first filter for which there is one. */
async function faultOfFilter(context: CheckContext, list: CheckAnswer): Promise<Finding | undefined> {
  const { operation } = list;
  const filter = operation.parameters.find((parameter) => valueFor(parameter, list) !== undefined);
  const value = filter && valueFor(filter, list);
  if (!filter || value === undefined) return undefined;
  const { name, wireName } = filter;
  const answer = await context.ask(operation, { query: { [name]: value } }, { isUnchecked: true });
  const subject = `the filter ${wireName}=${value}`;
  judge(answer, { step: subject, skipsSchema: true });
  const records = recordsOf(answer);
  const details = { expected: 'only records with it' };
  if (records.length === 0) {
    const reason = `${subject} finds nothing, although ${operation.id} shows a record with it`;
    return warn(reason, faultOf(answer, reason, details));
  }
  const foreign = records.find((record) => record[name] !== undefined && !isSameValue(value, record[name]));
  return (
    foreign &&
    faultOf(answer, `${subject} lets other records through`, { ...details, got: printJson(foreign) })
  );
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

import { headerValue, linkTarget } from '../api/http.ts';
import type { Operation, Parameter } from '../api/operations.ts';
import { isSameValue } from '../api/values.ts';
import { faultOfNext } from '../client/page-walk.ts';
import { type JsonValue, printJson } from '../process/exact-json.ts';
import type { CheckAnswer, CheckContext, RawAnswer } from './check.ts';
import { type Finding, fail, warn } from './finding.ts';
import { judge } from './judge-answer.ts';
import { idsOf, recordsOf } from './records.ts';
import { detailsOf, faultOf } from './round.ts';

// The faults of a list as a whole: its ids, its next page and a filter. Other clients may write while it is read, so a fault
// that they could have caused is a warning.

/** Finds the faults of a list. @param list the valid answer to a request without filter and page size */
export async function faultsOfList(context: CheckContext, list: CheckAnswer): Promise<Finding[]> {
  const faults = [
    faultOfIds(list),
    await faultOfNextPage(context, await pageWithNext(context, list)),
    await faultOfFilter(context, list),
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

/** Finds the fault of the link to the next page, if the answer has one: it is no URL, or leaves the service. */
export function faultOfNextLink(page: RawAnswer): Finding | undefined {
  const link = nextOf(page);
  if (link === undefined) return undefined;
  const details = URL.canParse(link, page.url)
    ? faultOfNext(new URL(link, page.url), page.url, page.isRedirected)
    : { reason: 'is not a URL', expected: 'Link: <url>; rel="next"' };
  return details && fail(`the next link ${details.reason}`, { ...detailsOf(page), ...details, got: link });
}

/** Returns a list, or if all its records fit on one page, its smallest first page. */
async function pageWithNext(context: CheckContext, list: CheckAnswer): Promise<CheckAnswer> {
  const { operation } = list;
  const size = operation.parameters.find(({ name }) => name === 'limit');
  const limit = Number(size?.bounds?.minimum ?? 1);
  if (!size || nextOf(list) !== undefined || recordsOf(list).length <= limit) return list;
  const page = await context.ask(operation, { query: { limit } });
  judge(page);
  return page;
}

/** Follows the link to the next page, once. @throws FindingError with a fault of the next page */
async function faultOfNextPage(context: CheckContext, page: CheckAnswer): Promise<Finding | undefined> {
  const [link, fault] = [nextOf(page), faultOfNextLink(page)];
  if (link === undefined || fault) return fault;
  const { operation, definitions } = page;
  const nextPage = { ...(await context.get(new URL(link, page.url).href)), operation, definitions };
  judge(nextPage, { step: 'next page' });
  const [ids, nextIds] = [idsOf(page), idsOf(nextPage)];
  if (nextIds.length === 0 || nextIds.some((id) => !ids.includes(id))) return undefined;
  const details = { expected: 'the page after it', got: link };
  return faultOf(nextPage, 'the next link gives the same records again', details);
}

/** Returns the link to the next page as the header has it. */
function nextOf({ headers }: RawAnswer): string | undefined {
  return linkTarget(headerValue(headers, 'link'), 'next');
}

/** Asks for the records with a value that a record of the list has, by the first filter for which there is one. */
async function faultOfFilter(context: CheckContext, list: CheckAnswer): Promise<Finding | undefined> {
  const { operation } = list;
  for (const filter of operation.parameters) {
    const { name, wireName } = filter;
    const value = recordsOf(list)
      .map((record) => record[name])
      .find((candidate) => isAccepted(filter, operation, candidate));
    if (value === undefined) continue;
    const answer = await context.ask(operation, { query: { [name]: value } }, { isUnchecked: true });
    const subject = `the filter ${wireName}=${value}`;
    judge(answer, { step: subject });
    const records = recordsOf(answer);
    const details = { expected: 'only records with it' };
    if (records.length === 0) {
      const reason = `${subject} finds nothing, although ${operation.id} shows a record with it`;
      return warn(reason, faultOf(answer, reason, details));
    }
    const foreign = records.find((record) => record[name] !== undefined && !isSameValue(value, record[name]));
    const reason = `${subject} lets other records through`;
    return foreign && faultOf(answer, reason, { ...details, got: printJson(foreign) });
  }
  return undefined;
}

/** Whether a parameter is a filter that accepts the value of its field in a record. */
function isAccepted(
  { name, in: location, bounds = {} }: Parameter,
  { records }: Operation,
  value: JsonValue | undefined,
): boolean {
  if (location !== 'query' || !Object.hasOwn(records.names, name)) return false;
  const type = typeof value === 'bigint' ? 'number' : typeof value;
  const wanted = bounds.type === 'integer' ? 'number' : (bounds.type ?? type);
  const isListed = !bounds.enum || bounds.enum.includes(String(value));
  return isListed && type === wanted && /^(string|number|boolean)$/.test(type);
}

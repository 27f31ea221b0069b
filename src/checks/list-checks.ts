import { canSeek } from '../api/contract.ts';
import { fieldValue, linkTarget } from '../api/http.ts';
import type { Parameter } from '../api/operations.ts';
import { isSameValue } from '../api/values.ts';
import { type JsonValue, printJson } from '../process/exact-json.ts';
import type { CheckContext, Reply } from './check.ts';
import { type Details, type Finding, FindingError, flaky } from './finding.ts';
import { judge } from './judge-answer.ts';
import { idsOf, recordsOf } from './records.ts';
import { faultOf } from './round.ts';

// The faults of a list as a list: ids, pages, filters. Others may write while it is read, so a fault that they could have
// caused is looked at again.

const furtherLooks = 2;

/**
 * Looks twice more for a fault that others could have caused. It is a failure if one of these looks finds a fault too, in
 * whatever record, else it is flaky.
 *
 * @param look looks for faults of one kind; gets whether it is the first look.
 */
export async function confirmFault(
  look: (isFirst: boolean) => Promise<Finding | undefined>,
): Promise<Finding[]> {
  const fault = await look(true);
  if (!fault) return [];
  for (let count = 0; count < furtherLooks; count += 1) if (await look(false)) return [fault];
  return [flaky(`${fault.reason}, once in ${1 + furtherLooks} looks`, fault)];
}

/** The faults of a list whose answer is valid. @param reply the answer to the plain list. */
export async function faultsOfList(context: CheckContext, reply: Reply): Promise<Finding[]> {
  const { operation } = reply;
  const replyOf = async (isFirst: boolean) => (isFirst ? reply : context.ask(operation, {}));
  const faults = [
    await confirmFault(async (isFirst) => repeatedId(await replyOf(isFirst))),
    await confirmFault(async (isFirst) => faultOfPages(context, await replyOf(isFirst))),
  ];
  for (const filter of operation.parameters) {
    const value = valueFor(filter, reply);
    if (value !== undefined)
      faults.push(await confirmFault(() => faultOfFilter(context, reply, filter, value)));
  }
  return faults.flat();
}

function repeatedId(reply: Reply): Finding | undefined {
  const ids = new Set<bigint>();
  const id = idsOf(reply).find((candidate) => ids.size === ids.add(candidate).size);
  if (id === undefined) return undefined;
  return faultOf(reply, 'the list has an id twice', { expected: 'each record once', got: `id ${id}` });
}

/**
 * Follows a list's link to its next page, once. If all records fit on one page, the list is requested again in two
 * pages, if the contract has a page size.
 *
 * @param whole the answer to the plain list.
 * @returns undefined also if a record appeared meanwhile, which may have shifted the pages.
 * @throws FindingError with a fault of the link itself, which others cannot have caused.
 */
async function faultOfPages(context: CheckContext, whole: Reply): Promise<Finding | undefined> {
  const { operation } = whole;
  const isPaged = nextOf(whole) !== undefined;
  const size = operation.parameters.find(({ name }) => name === 'limit');
  const half = Math.min(Math.floor(recordsOf(whole).length / 2), 50);
  if (!isPaged && (!size || half < Number(size.bounds?.minimum ?? 1))) return undefined;
  const askFirst = () => context.ask(operation, isPaged ? {} : { query: { limit: half } });
  const page = isPaged ? whole : await askFirst();
  // The records are those of the plain list, whose schema was checked.
  if (!isPaged) judge(page, { skipsSchema: true });
  const next = nextUrl(page);
  if (!next) return undefined;
  const { definitions } = whole;
  const second: Reply = { ...(await context.get(next.href)), operation, definitions };
  judge(second, { step: 'next page' });
  nextUrl(second, page);
  const ids = [...idsOf(page), ...idsOf(second)];
  // The same records on one larger page show whether one is missing between the two.
  const limit = Math.min(Number(size?.bounds?.maximum ?? 1000), ids.length);
  const large = isPaged ? size && (await context.ask(operation, { query: { limit } })) : whole;
  const isEnd = nextOf(second) === undefined && !isPaged;
  const idsOfLarge = large ? idsOf(large).slice(0, isEnd ? undefined : ids.length) : [];
  const fault = comparePages(page, second, idsOfLarge);
  if (!fault) return undefined;
  const idsBefore = new Set([...ids, ...idsOfLarge, ...idsOf(whole)]);
  const idsNow = idsOf(await askFirst());
  return idsNow.every((id) => idsBefore.has(id)) ? fault : undefined;
}

/** @param idsOfLarge the ids of one page that has the records of both. */
function comparePages(page: Reply, second: Reply, idsOfLarge: readonly bigint[]): Finding | undefined {
  const fault = (reason: string, got: string, expected = 'the page after it') =>
    faultOf(second, reason, { expected, got });
  const [before, after] = [idsOf(page), idsOf(second)];
  const idsOfPage = new Set(before);
  const repeated = after.filter((id) => idsOfPage.has(id));
  if (repeated.length > 0)
    return repeated.length === after.length
      ? fault('the next link gives the same records again', nextOf(page) ?? '')
      : fault('the next page repeats records of the page before', `id ${repeated.join(', ')}`);
  const ids = [...before, ...after];
  const at = ids.findIndex((id, index) => index > 0 && id < (ids[index - 1] ?? id));
  if (at !== -1 && canSeek(page.operation))
    return fault('the list is not ordered by id', `id ${ids[at]} after ${ids[at - 1]}`, 'ids that grow');
  const idsOfBoth = new Set(ids);
  const missing = idsOfLarge.filter((id) => !idsOfBoth.has(id));
  if (missing.length === 0) return undefined;
  return fault('records are missing between two pages', `id ${missing.join(', ')}`);
}

/**
 * The checked link to the next page; undefined if there is none.
 *
 * @param before the page before this one; undefined for the first.
 * @throws FindingError if the link does not lead on.
 */
function nextUrl(page: Reply, before?: Reply): URL | undefined {
  const link = nextOf(page);
  if (link === undefined) return undefined;
  const here = new URL(page.url);
  const fault = (reason: string, details: Details) =>
    new FindingError(faultOf(page, `the next link ${reason}`, { got: link, ...details }));
  if (!URL.canParse(link, page.url)) throw fault('is not a URL', { expected: 'Link: <url>; rel="next"' });
  const next = new URL(link, page.url);
  const place = faultOfTarget(next, here);
  if (place) throw fault(place.reason, place.details);
  next.hash = '';
  const expected = 'the page after it';
  const subject = before ? 'of the second page ' : '';
  if (isSameAddress(next, here)) throw fault(`${subject}points at its own page`, { expected });
  if (before && isSameAddress(next, new URL(before.url))) throw fault('points back', { expected });
  return next;
}

/** Why a URL that the service gives does not lead back to it, a clause without a subject; undefined if it does. */
export function faultOfTarget(
  url: URL,
  here: URL,
): { readonly reason: string; readonly details: Details } | undefined {
  if (url.origin === here.origin) return undefined;
  const expected = `a URL at ${here.origin}`;
  if (here.protocol !== 'https:' || url.protocol !== 'http:' || url.hostname !== here.hostname)
    return { reason: 'leaves the service', details: { expected } };
  const hint = 'the service is behind a proxy and does not know its scheme: let it trust X-Forwarded-Proto';
  return { reason: 'is http, although the service is reached by https', details: { expected, hint } };
}

/** Whether two URLs have the same address and the same parameters in any order. */
function isSameAddress(left: URL, right: URL): boolean {
  const key = ({ origin, pathname, searchParams }: URL) =>
    [origin, pathname, ...[...searchParams].map(([name, value]) => `${name}=${value}`).sort()].join(' ');
  return key(left) === key(right);
}

function nextOf({ fields }: Reply): string | undefined {
  return linkTarget(fieldValue(fields, 'link'), 'next');
}

/** The value of the first record that a filter takes; undefined without such a value, or if the parameter is not a filter. */
function valueFor({ name, in: place, bounds = {} }: Parameter, reply: Reply): JsonValue | undefined {
  if (place !== 'query' || !Object.hasOwn(reply.operation.records.names, name)) return undefined;
  const isTaken = (value: JsonValue | undefined) => {
    if (bounds.enum && !bounds.enum.includes(String(value))) return false;
    const type = typeof value === 'bigint' ? 'number' : typeof value;
    if (type !== 'string' && type !== 'boolean' && type !== 'number') return false;
    if (bounds.type === 'string' || bounds.type === 'boolean') return type === bounds.type;
    return bounds.type === undefined || type === 'number';
  };
  return recordsOf(reply)
    .map((record) => record[name])
    .find(isTaken);
}

/** The fault of a filter that lets a record with another value through, or finds none. */
async function faultOfFilter(
  context: CheckContext,
  { operation }: Reply,
  { name, wireName }: Parameter,
  value: JsonValue,
): Promise<Finding | undefined> {
  const reply = await context.ask(operation, { query: { [name]: value } }, { isUnchecked: true });
  const filter = `the filter ${wireName}=${value}`;
  judge(reply, { step: filter, skipsSchema: true });
  const records = recordsOf(reply);
  const fault = (reason: string, got: string) =>
    faultOf(reply, `${filter} ${reason}`, { expected: 'only records with it', got });
  if (records.length === 0)
    return fault(`finds nothing, although ${operation.id} shows a record with it`, '[]');
  const intruder = records.find((record) => record[name] !== undefined && !isSameValue(value, record[name]));
  return intruder && fault('lets other records through', printJson(intruder));
}

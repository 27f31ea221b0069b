import { fieldValue, linkTarget } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import { excerpt } from '../process/text.ts';
import { type CheckRun, detailsOf, type Reply } from './ask.ts';
import { fail, type Verdict } from './check.ts';
import { faultOf, judge } from './judge-answer.ts';
import { idsOf, recordsOf } from './records.ts';

const furtherLooks = 2;

/**
 * A fault that may come from others who write at the same time: it counts only if two further readings show the same.
 *
 * @param look gets whether this is the first reading.
 */
export async function confirmed(
  look: (isFirst: boolean) => Promise<Verdict | undefined>,
): Promise<Verdict | undefined> {
  const found = await look(true);
  for (let count = 0; found && count < furtherLooks; count += 1) {
    const again = await look(false);
    if (again?.reason !== found.reason || again.got !== found.got) return undefined;
  }
  return found;
}

/** An id that a list has twice, or records out of order where the contract orders them. */
export function faultOfList(operation: Operation, reply: Reply): Verdict | undefined {
  return faultOfIds(operation, reply, idsOf(operation, reply));
}

function faultOfIds(operation: Operation, reply: Reply, ids: readonly bigint[]): Verdict | undefined {
  const wrong = (reason: string, expected: string, got: string) =>
    fail(reason, { ...detailsOf(reply), operation, expected, got });
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) return wrong('the list has an id twice', 'each record once', `id ${twice}`);
  const at = ids.findIndex((id, index) => index > 0 && id < (ids[index - 1] ?? id));
  if (at === -1 || !operation.ordered) return undefined;
  return wrong('the list is not ordered by id', 'ids that grow', `id ${ids[at]} after ${ids[at - 1]}`);
}

/**
 * Follows a list's link to its next page, once. If all records fit on one page, the list is requested again in two
 * pages, if the contract has a page size.
 *
 * @param whole the answer to the plain list, if it is not to be asked again.
 * @throws VerdictError with a fault of the link itself, which others cannot have caused.
 */
export async function faultOfPages(
  run: CheckRun,
  operation: Operation,
  whole: Reply | undefined,
): Promise<Verdict | undefined> {
  const all = whole ?? (await run.ask(operation, {}));
  const isPaged = nextOf(all) !== undefined;
  const size = operation.parameters.find(({ name }) => name === 'limit');
  const half = Math.min(Math.floor(recordsOf(operation, all).length / 2), 50);
  if (!isPaged && (!size || half < Number(size.bounds?.minimum ?? 1))) return undefined;
  const page = isPaged ? all : await run.ask(operation, { query: { limit: half } });
  if (!isPaged) judge(run, operation, page);
  const next = linkOf(run, operation, page);
  if (!next) return undefined;
  const second = await run.get(next.href);
  judge(run, operation, second, { step: 'next page' });
  checkLinkBack(run, operation, page, second, next);
  const [before, after] = [idsOf(operation, page), idsOf(operation, second)];
  const wrong = (reason: string, got: string) =>
    fail(reason, { ...detailsOf(second), operation, expected: 'the page after it', got });
  const again = after.filter((id) => before.includes(id));
  if (again.length > 0)
    return again.length === after.length
      ? wrong('the next link gives the same records again', excerpt(nextOf(page) ?? '', run.mask))
      : wrong(
          'the next page repeats records of the page before',
          excerpt(`id ${again.join(', ')}`, run.mask),
        );
  // The same records on one larger page show whether one is missing between the two.
  const both = [...before, ...after];
  const limit = Math.min(Number(size?.bounds?.maximum ?? 1000), both.length);
  const large = isPaged && size ? await run.ask(operation, { query: { limit } }) : isPaged ? undefined : all;
  const isEnd = nextOf(second) === undefined && !isPaged;
  const expected = large ? idsOf(operation, large).slice(0, isEnd ? undefined : both.length) : [];
  const missing = expected.filter((id) => !both.includes(id));
  if (missing.length > 0)
    return wrong('records are missing between two pages', excerpt(`id ${missing.join(', ')}`, run.mask));
  return faultOfIds(operation, second, both);
}

/** The checked link to the next page; undefined if there is none. */
function linkOf(run: CheckRun, operation: Operation, page: Reply): URL | undefined {
  const link = nextOf(page);
  if (link === undefined) return undefined;
  const wrong = (reason: string, expected: string, hint?: string) =>
    faultOf(run, operation, page, reason, { expected, hint, got: excerpt(link, run.mask) });
  if (!URL.canParse(link, page.url)) throw wrong('the next link is not a URL', 'Link: <url>; rel="next"');
  const here = new URL(page.url);
  const next = new URL(link, page.url);
  if (here.protocol === 'https:' && next.protocol === 'http:' && next.hostname === here.hostname)
    throw wrong(
      'the next link is http, although the service is reached by https',
      `a URL at ${here.origin}`,
      'the service is behind a proxy and does not know its scheme: let it trust X-Forwarded-Proto',
    );
  if (next.origin !== here.origin) throw wrong('the next link leaves the service', `a URL at ${here.origin}`);
  next.hash = '';
  if (isSamePage(next, here)) throw wrong('the next link points at its own page', 'the page after it');
  return next;
}

/** Whether the second page leads on. */
function checkLinkBack(run: CheckRun, operation: Operation, page: Reply, second: Reply, url: URL): void {
  const got = nextOf(second);
  if (got === undefined || !URL.canParse(got, url.href)) return;
  const third = new URL(got, url);
  const details = { expected: 'the page after it', got: excerpt(got, run.mask) };
  const wrong = (reason: string) => faultOf(run, operation, second, reason, details);
  if (isSamePage(third, url)) throw wrong('the next link of the second page points at its own page');
  if (isSamePage(third, new URL(page.url))) throw wrong('the next link points back');
}

/** Whether two URLs have the same address and the same parameters in any order. */
function isSamePage(one: URL, other: URL): boolean {
  const key = ({ origin, pathname, searchParams }: URL) =>
    [origin, pathname, ...[...searchParams].map(([name, value]) => `${name}=${value}`).sort()].join(' ');
  return key(one) === key(other);
}

function nextOf({ fields }: Reply): string | undefined {
  return linkTarget(fieldValue(fields, 'link'), 'next');
}

import type { Operation } from '../api/contract.ts';
import { fieldValue } from '../api/http.ts';
import { linkTarget } from '../api/links.ts';
import { judge, successOf } from './answer.ts';
import { fail, type Verdict } from './check.ts';
import { detailsOf, type Exchange } from './exchange.ts';
import { recordsOf, type Session } from './session.ts';

/**
 * What is wrong with a list's link to its next page, if anything is. A list that fits on one page is asked for once more
 * with the smallest page, where the contract has a page size; the link is followed once.
 */
export async function judgePaging(
  session: Session,
  operation: Operation,
  whole: Exchange,
): Promise<Verdict | undefined> {
  const page = await pageWithLink(session, operation, whole);
  if (!page) return undefined;
  const judgement = judge(operation, page, successOf(operation));
  if ('fault' in judgement) return judgement.fault;
  const target = nextOf(page);
  if (target === undefined) return undefined;
  const next = URL.canParse(target, page.url) ? new URL(target, page.url) : undefined;
  const wrong = (reason: string, expected: string) =>
    fail(reason, { ...detailsOf(page), operation, expected, got: target });
  if (!next) return wrong('the next link is no URL', 'Link: <url>; rel="next"');
  if (next.origin !== new URL(page.url).origin)
    return wrong('the next link leaves the service', `a URL at ${new URL(page.url).origin}`);
  if (next.href === new URL(page.url).href)
    return wrong('the next link repeats its own page', 'the page after it');
  return judgeNext(session, operation, { page, next: next.href });
}

async function judgeNext(
  session: Session,
  operation: Operation,
  { page, next }: { readonly page: Exchange; readonly next: string },
): Promise<Verdict | undefined> {
  const second = await session.send({ method: 'GET', path: next });
  const judgement = judge(operation, second, successOf(operation));
  if ('fault' in judgement) return { ...judgement.fault, reason: `next page: ${judgement.fault.reason}` };
  const got = nextOf(second);
  if (got === undefined || new URL(got, next).href !== page.url) return undefined;
  const details = { ...detailsOf(second), operation };
  return fail('the next links go in a circle', { ...details, expected: 'the page after it', got });
}

async function pageWithLink(
  session: Session,
  operation: Operation,
  whole: Exchange,
): Promise<Exchange | undefined> {
  if (!operation.many) return undefined;
  if (nextOf(whole) !== undefined) return whole;
  const size = operation.parameters.find(({ name }) => name === 'limit');
  const limit = Number(size?.bounds?.minimum ?? 1);
  if (!size || recordsOf(whole).length <= limit) return undefined;
  return session.send(session.toRequest(operation, { query: { limit } }));
}

function nextOf({ fields }: Exchange): string | undefined {
  return linkTarget(fieldValue(fields, 'link'), 'next');
}

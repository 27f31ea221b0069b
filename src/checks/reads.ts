import { fieldValue } from '../api/http.ts';
import { readLifecycle } from '../api/lifecycle.ts';
import { linkTarget } from '../api/links.ts';
import type { Operation } from '../api/operations.ts';
import { idFieldOf } from '../client/response.ts';
import { CliError } from '../process/errors.ts';
import { counted } from '../process/text.ts';
import { fail, isRed, pass, skip, type Verdict, VerdictError, warn } from './check.ts';
import { judge } from './judge.ts';
import { sunsetOf } from './lifecycle.ts';
import { detailsOf, jsonId, type Probe, type Reply, recordsOf } from './probe.ts';
import { durationText, excerpt, latencyOf, statusText } from './text.ts';

/** Status, content type, body and paging are as documented. */
export async function checkOperation(probe: Probe, operation: Operation): Promise<Verdict> {
  const reply = await probe.visit(operation);
  const verdict = await judgeReply(probe, operation, reply).catch((error) => {
    if (error instanceof VerdictError) return error.verdict;
    throw error;
  });
  return { ...verdict, requestMs: reply.elapsedMs };
}

async function judgeReply(probe: Probe, operation: Operation, reply: Reply): Promise<Verdict> {
  if (reply.status === 410 && isPastSunset(probe, operation, reply))
    return warn('gone, as its sunset announced', detailsOf(reply));
  // The service document does not state this path, so the service may use another.
  const isElsewhere = operation.source === 'chosen' && (reply.status === 404 || reply.status === 405);
  const hint = 'if the service has other paths, `petstore api bind` reads them from its description';
  judge(probe, operation, reply, isElsewhere ? { hint } : {});
  await judgePaging(probe, operation, reply);
  const count = operation.many ? `, ${counted(recordsOf(operation, reply).length, 'record', 'records')}` : '';
  return pass(`${statusText(reply.status)}${count}`, detailsOf(reply));
}

function isPastSunset({ now }: Probe, operation: Operation, { fields }: Reply): boolean {
  const end = sunsetOf(operation, readLifecycle(fields));
  return operation.deprecated && end !== undefined && end <= now();
}

/**
 * Follows a list's link to its next page, once. If all records fit on one page, the list is requested again with the
 * smallest page size, if the contract has one.
 *
 * @throws VerdictError with the fault of the link or of the next page.
 */
async function judgePaging(probe: Probe, operation: Operation, whole: Reply): Promise<void> {
  const page = await pageWithLink(probe, operation, whole);
  if (!page) return;
  judge(probe, operation, page);
  const got = nextOf(page);
  if (got === undefined) return;
  const here = new URL(page.url);
  const next = URL.canParse(got, page.url) ? new URL(got, page.url) : undefined;
  const wrong = (reason: string, expected: string) =>
    new VerdictError(fail(reason, { ...detailsOf(page), operation, expected, got }));
  if (!next) throw wrong('the next link is not a URL', 'Link: <url>; rel="next"');
  if (next.origin !== here.origin) throw wrong('the next link leaves the service', `a URL at ${here.origin}`);
  next.hash = '';
  if (isSamePage(next, here)) throw wrong('the next link points at its own page', 'the page after it');
  await judgeNext(probe, operation, page, next);
}

async function judgeNext(probe: Probe, operation: Operation, page: Reply, next: URL): Promise<void> {
  const second = await probe.send({ method: 'GET', path: next.href });
  judge(probe, operation, second, { step: 'next page' });
  const wrong = (reason: string, got: string) =>
    new VerdictError(fail(reason, { ...detailsOf(second), operation, expected: 'the page after it', got }));
  const ids = (reply: Reply) =>
    recordsOf(operation, reply).map((record) => jsonId(record[idFieldOf(operation)]));
  const before = new Set(ids(page));
  const after = ids(second);
  const again = after.filter((id) => id !== undefined && before.has(id));
  if (again.length > 0)
    throw again.length === after.length
      ? wrong('the next link gives the same records again', nextOf(page) ?? '')
      : wrong(
          'the next page repeats records of the page before',
          excerpt(`id ${again.join(', ')}`, probe.mask),
        );
  const got = nextOf(second);
  if (got === undefined || !URL.canParse(got, next.href)) return;
  const third = new URL(got, next);
  if (isSamePage(third, next)) throw wrong('the next link of the second page points at its own page', got);
  if (isSamePage(third, new URL(page.url))) throw wrong('the next link points back', got);
}

/** Whether two URLs have the same address and the same parameters in any order. */
function isSamePage(one: URL, other: URL): boolean {
  const key = ({ origin, pathname, searchParams }: URL) =>
    [origin, pathname, ...[...searchParams].map(([name, value]) => `${name}=${value}`).sort()].join(' ');
  return key(one) === key(other);
}

async function pageWithLink(probe: Probe, operation: Operation, whole: Reply): Promise<Reply | undefined> {
  if (!operation.many) return undefined;
  if (nextOf(whole) !== undefined) return whole;
  const size = operation.parameters.find(({ name }) => name === 'limit');
  const limit = Number(size?.bounds?.minimum ?? 1);
  if (!size || recordsOf(operation, whole).length <= limit) return undefined;
  return probe.call(operation, { query: { limit } });
}

function nextOf({ fields }: Reply): string | undefined {
  return linkTarget(fieldValue(fields, 'link'), 'next');
}

/** The latency is within the limit. The first call is not counted. */
export async function checkLatency(probe: Probe, operation: Operation): Promise<Verdict> {
  const before = probe.results.get(`op/${operation.id}`);
  if (before && isRed(before)) return skip(`op/${operation.id} says what is wrong`);
  const reply = await probe.visit(operation);
  const { samples = 5 } = probe.options;
  const timesMs: number[] = [];
  let lost: string | undefined;
  for (let sample = 0; sample < samples; sample += 1) {
    try {
      const { status, elapsedMs } = await probe.sendOnce(reply.request);
      if (operation.success.includes(status)) timesMs.push(elapsedMs);
      else lost ??= `answered ${statusText(status)}`;
    } catch (error) {
      if (!(error instanceof CliError) || probe.signal.aborted) throw error;
      lost ??= error.message;
    }
  }
  const details = { ...detailsOf(reply), operation };
  const missing =
    lost === undefined ? '' : `; ${samples - timesMs.length} of ${samples} not counted: ${lost}`;
  // The operation's own check reports missing answers.
  if (timesMs.length === 0) return warn(`no call could be timed${missing}`, details);
  const figures = latencyOf(timesMs);
  const texts = Object.entries(figures).map(([name, ms]) => `${name} ${durationText(ms)}`);
  const got = `${texts.join(', ')} of ${timesMs.length}${missing}`;
  const { maxLatency } = probe.options;
  if (!maxLatency || figures[maxLatency.statistic] <= maxLatency.ms) return pass(got, details);
  const { statistic, ms } = maxLatency;
  return fail(`${statistic} ${durationText(figures[statistic])} is over the limit`, {
    ...details,
    expected: `${statistic} of at most ${durationText(ms)}`,
    got,
  });
}

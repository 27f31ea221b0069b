import type { Contract } from '../api/contract.ts';
import { fieldValue } from '../api/http.ts';
import { readLifecycle } from '../api/lifecycle.ts';
import { linkTarget } from '../api/links.ts';
import type { Operation } from '../api/operations.ts';
import { CliError } from '../errors.ts';
import { counted } from '../text.ts';
import { type Check, type Details, fail, isRed, pass, skip, type Verdict, warn } from './check.ts';
import { judge } from './judge.ts';
import { sunsetOf } from './lifecycle.ts';
import { detailsOf, jsonOf, type Probe, type Reply, readsOf, recordsOf, toId } from './probe.ts';
import { durationText, percentile, statusText } from './text.ts';

/** One check for every GET: status, content type, body and paging are as documented. */
export function operationChecks(contract: Contract): Check<Probe>[] {
  return readsOf(contract).map((operation) => ({
    id: `op/${operation.id}`,
    operation,
    run: (probe) => checkOperation(probe, operation),
  }));
}

async function checkOperation(probe: Probe, operation: Operation): Promise<Verdict> {
  const visit = await probe.visit(operation);
  if ('none' in visit) return skip(visit.none);
  return { ...(await judgeReply(probe, operation, visit.reply)), requestMs: visit.reply.elapsedMs };
}

async function judgeReply(probe: Probe, operation: Operation, reply: Reply): Promise<Verdict> {
  if (reply.status === 410 && isPastSunset(probe, operation, reply))
    return warn('gone, as its sunset announced', detailsOf(reply));
  const judgement = judge(probe, operation, reply);
  if ('fault' in judgement) {
    // The service document does not state this path, so the service may use another.
    const isElsewhere = operation.source === 'chosen' && (reply.status === 404 || reply.status === 405);
    const hint = 'if the service has other paths, `petstore api bind` reads them from its description';
    return isElsewhere ? { ...judgement.fault, hint } : judgement.fault;
  }
  return (await judgePaging(probe, operation, reply)) ?? pass(summarise(reply), detailsOf(reply));
}

function isPastSunset({ now }: Probe, operation: Operation, { fields }: Reply): boolean {
  const end = sunsetOf(operation, readLifecycle(fields));
  return operation.deprecated && end !== undefined && end <= now();
}

function summarise(reply: Reply): string {
  const body = jsonOf(reply);
  const status = statusText(reply.status);
  return Array.isArray(body) ? `${status}, ${counted(body.length, 'record', 'records')}` : status;
}

/**
 * The fault of a list's link to its next page, if there is one. If all records fit on one page, the list is requested
 * again with the smallest page size, if the contract has one. The link is followed once.
 */
async function judgePaging(probe: Probe, operation: Operation, whole: Reply): Promise<Verdict | undefined> {
  const page = await pageWithLink(probe, operation, whole);
  if (!page) return undefined;
  const judgement = judge(probe, operation, page);
  if ('fault' in judgement) return judgement.fault;
  const target = nextOf(page);
  if (target === undefined) return undefined;
  const here = new URL(page.url);
  const next = URL.canParse(target, page.url) ? new URL(target, page.url) : undefined;
  const wrong = (reason: string, expected: string) =>
    fail(reason, { ...detailsOf(page), operation, expected, got: target });
  if (!next) return wrong('the next link is not a URL', 'Link: <url>; rel="next"');
  if (next.origin !== here.origin)
    return wrong('the next link leaves the service', `a URL at ${here.origin}`);
  next.hash = '';
  if (isSamePage(next, here)) return wrong('the next link points at its own page', 'the page after it');
  return judgeNext(probe, operation, { page, next });
}

async function judgeNext(
  probe: Probe,
  operation: Operation,
  { page, next }: { readonly page: Reply; readonly next: URL },
): Promise<Verdict | undefined> {
  const second = await probe.send({ method: 'GET', path: next.href });
  const judgement = judge(probe, operation, second);
  if ('fault' in judgement) return { ...judgement.fault, reason: `next page: ${judgement.fault.reason}` };
  const wrong = (reason: string, got: string) =>
    fail(reason, { ...detailsOf(second), operation, expected: 'the page after it', got });
  const ids = (reply: Reply) => recordsOf(reply).map((record) => toId(record.id ?? record.petId));
  const [before, after] = [ids(page), ids(second)];
  if (after.length > 0 && after.every((id, at) => id !== undefined && id === before[at]))
    return wrong('the next link gives the same records again', nextOf(page) ?? '');
  const got = nextOf(second);
  if (got === undefined || !URL.canParse(got, next.href)) return undefined;
  const third = new URL(got, next);
  if (isSamePage(third, next)) return wrong('the next link of the second page points at its own page', got);
  return isSamePage(third, new URL(page.url)) ? wrong('the next link points back', got) : undefined;
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
  if (!size || recordsOf(whole).length <= limit) return undefined;
  return probe.send(probe.toRequest(operation, { query: { limit } }));
}

function nextOf({ fields }: Reply): string | undefined {
  return linkTarget(fieldValue(fields, 'link'), 'next');
}

/** One check for every GET: its latency is within the limit. The first call is not counted. */
export function latencyChecks(contract: Contract): Check<Probe>[] {
  return readsOf(contract).map((operation) => ({
    id: `latency/${operation.id}`,
    operation,
    run: (probe) => checkLatency(probe, operation),
  }));
}

async function checkLatency(probe: Probe, operation: Operation): Promise<Verdict> {
  const before = probe.results.get(`op/${operation.id}`);
  if (before && isRed(before)) return skip(`op/${operation.id} says what is wrong`);
  const visit = await probe.visit(operation);
  if ('none' in visit) return skip(visit.none);
  const { samples = 5 } = probe.options;
  const timesMs: number[] = [];
  let lost: string | undefined;
  for (let sample = 0; sample < samples; sample += 1) {
    try {
      const { status, elapsedMs } = await probe.sendOnce(visit.reply.request);
      if (operation.success.includes(status)) timesMs.push(elapsedMs);
      else lost ??= `answered ${statusText(status)}`;
    } catch (error) {
      if (!(error instanceof CliError) || probe.signal.aborted) throw error;
      lost ??= error.message;
    }
  }
  return judgeTimes(probe, timesMs, { lost, details: { ...detailsOf(visit.reply), operation } });
}

/** Only a time above the limit is a failure: the operation's own check reports missing answers. */
function judgeTimes(
  { options: { maxLatency, samples = 5 } }: Probe,
  timesMs: readonly number[],
  { lost, details }: { readonly lost: string | undefined; readonly details: Details },
): Verdict {
  const missing =
    lost === undefined ? '' : `; ${samples - timesMs.length} of ${samples} not counted: ${lost}`;
  if (timesMs.length === 0) return warn(`no call could be timed${missing}`, details);
  const figures = {
    p50: percentile(timesMs, 50),
    p95: percentile(timesMs, 95),
    max: percentile(timesMs, 100),
  };
  const texts = Object.entries(figures).map(([name, ms]) => `${name} ${durationText(ms)}`);
  const got = `${texts.join(', ')} of ${timesMs.length}${missing}`;
  if (!maxLatency || figures[maxLatency.statistic] <= maxLatency.ms) return pass(got, details);
  const { statistic, ms } = maxLatency;
  const expected = `${statistic} of at most ${durationText(ms)}`;
  return fail(`${statistic} ${durationText(figures[statistic])} is over the limit`, {
    ...details,
    expected,
    got,
  });
}

import type { Operation } from '../api/operations.ts';
import type { RawRequest } from '../client/request.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError, UnavailableError, UsageError } from '../process/errors.ts';
import { type Details, fail, pass, skip, type Verdict, verdictOfError } from './check.ts';
import { problemOf } from './conditions.ts';
import {
  detailsOf,
  idParameter,
  isGatewayStatus,
  isOfOneOperation,
  type Probe,
  type Reply,
  readsOf,
} from './probe.ts';
import { durationText, excerpt, statusText } from './text.ts';

/** Passes if one operation answers: the checks of the other operations report their own faults. */
export async function checkHttp(probe: Probe): Promise<Verdict> {
  if (probe.late) return probe.late;
  let first: Verdict | undefined;
  for (const { operation, request } of knocksOf(probe)) {
    let isFinal = false;
    // The answer is shared with the check of the operation, which needs the same one.
    const answered = operation ? probe.visit(operation) : probe.send(request);
    const verdict = await answered.then(
      (reply) => judgeHttp(probe, reply, operation?.id ?? 'the base URL'),
      (error): Verdict => {
        if (!(error instanceof CliError)) throw error;
        isFinal = !isOfOneOperation(error);
        return { ...verdictOfError(error), state: 'fail' };
      },
    );
    if (verdict.state === 'pass') return verdict;
    first ??= verdict;
    if (isFinal) break;
  }
  return first ?? skip('there is nothing to ask for');
}

/** A request that tests whether the service answers. */
interface Knock {
  /** Undefined for the base URL itself. */
  readonly operation?: Operation | undefined;
  readonly request: RawRequest;
}

/** The operations that need no id, in the contract's order; the base URL if there are none. */
function knocksOf(probe: Probe): Knock[] {
  const lists = readsOf(probe.client.contract).filter((operation) => idParameter(operation) === undefined);
  const knocks = lists.flatMap((operation) => {
    try {
      return [{ operation, request: probe.toRequest(operation, {}) }];
    } catch (error) {
      // The contract requires a parameter without a value.
      if (error instanceof UsageError) return [];
      throw error;
    }
  });
  return knocks.length > 0 ? knocks : [{ request: { method: 'GET', path: probe.client.baseUrl } }];
}

/** Passes for a JSON answer that is not 401, 403 or 404, nor a gateway error. */
function judgeHttp(probe: Probe, reply: Reply, what: string): Verdict {
  const { status, url, request, mediaType, json } = reply;
  const details = detailsOf(reply);
  const answered = `${what} answered ${statusText(status)}`;
  if (status === 401 || status === 403) {
    const reason = carriesCredential(probe, request) ? answered : `${answered}, and no token was sent`;
    return fail(reason, { ...details, hint: reply.error?.details.hint });
  }
  if (isGatewayStatus(status))
    return fail(answered, { ...details, hint: 'nothing answers behind the gateway; --wait waits for it' });
  if (status === 404) return fail(answered, { ...details, hint: wrongPathHint });
  if (json !== undefined && mediaType !== 'text/html') return pass(answered, details);
  const isPage = /html/.test(mediaType) || /^\s*<(!doctype|html)/i.test(reply.text);
  const from = isMoved(probe, reply) ? `, redirected to ${url}` : '';
  return fail(`${answered} with ${isPage ? 'a web page' : 'something that is not JSON'}${from}`, {
    ...details,
    expected: 'JSON',
    got: excerpt(reply.text, probe.mask),
    hint: from
      ? 'does the service want a login, and is the base URL that of its API?'
      : 'is the base URL that of the API, and is the deployment done? --wait waits for JSON',
  });
}

const wrongPathHint =
  'is the path of the base URL right? If the service has other paths, `petstore api bind` reads them from its description';

/** Whether a redirect led to another address. */
export function isMoved({ client }: Probe, { request, url }: Reply): boolean {
  return client.toRawRequest(request).url.split('?')[0] !== url.split('?')[0];
}

function carriesCredential({ client, options }: Probe, request: RawRequest): boolean {
  const { in: place, name } = options.credentialPlace;
  const { fields, url } = client.toRawRequest(request);
  if (place === 'query') return new URL(url).searchParams.has(name);
  return fields[place === 'cookie' ? 'cookie' : name] !== undefined || fields.authorization !== undefined;
}

const pauseMs = 500;
/** A shorter rest of the wait is not worth another request. */
const shortestPauseMs = 20;
/** The least time for the last request, when the wait is nearly over. */
const shortestKnockMs = 200;
const longestKnockMs = 5000;

/**
 * Sends the first operation until the answer is JSON with a status below 500 and every condition of `--wait-for` holds.
 * An answer that waiting cannot change ends the wait at once: 401, 403, a certificate that is not trusted.
 *
 * @param onWaiting called once, if the first answer was not good enough.
 * @returns the failure, if the time ran out.
 */
export async function waitForService(
  probe: Probe,
  onWaiting: (why: string) => Promise<void>,
): Promise<Verdict | undefined> {
  const { waitMs, timeoutMs } = probe.options;
  if (waitMs === 0) return undefined;
  const [knock] = knocksOf(probe);
  const endMs = monotonicMs() + waitMs;
  let isTold = false;
  while (knock) {
    const knockMs = Math.min(Math.max(endMs - monotonicMs(), shortestKnockMs), timeoutMs, longestKnockMs);
    const problem = await readiness(probe, knock.request, knockMs);
    if (problem === undefined || probe.signal.aborted) return undefined;
    const { what, why, details } = problem;
    if (!isTold) await onWaiting(why);
    isTold = true;
    const restMs = endMs - monotonicMs();
    if (restMs < shortestPauseMs) {
      const reason = `${what} after waiting ${durationText(waitMs)}: ${why}`;
      return fail(reason, details);
    }
    await sleep(Math.min(pauseMs, restMs), probe.signal).catch(() => {});
  }
  return undefined;
}

interface Problem {
  readonly what: string;
  readonly why: string;
  readonly details: Details;
}

/** The remaining problem; undefined if there is none, or if waiting will not help. */
async function readiness(probe: Probe, request: RawRequest, timeoutMs: number): Promise<Problem | undefined> {
  let reply: Reply;
  try {
    reply = await probe.sendOnce(request, { timeoutMs });
  } catch (error) {
    if (error instanceof UnavailableError && error.reason === 'tls') return undefined;
    if (!(error instanceof CliError || probe.signal.aborted)) throw error;
    const { reason, method, url } = verdictOfError(error);
    return { what: 'no answer below 500', why: reason, details: { method, url } };
  }
  const { status, mediaType, json } = reply;
  const details = detailsOf(reply);
  const answered = `answered ${statusText(status)}`;
  if (status === 401 || status === 403) return undefined;
  if (status >= 500) return { what: 'no answer below 500', why: answered, details };
  if (json === undefined)
    return {
      what: 'no JSON answer',
      why: `${answered} with ${mediaType || 'no content type'}`,
      details,
    };
  for (const condition of probe.options.waitFor) {
    const problem = await problemOf(probe, condition, reply, timeoutMs);
    if (!problem) continue;
    const { reason, expected, method, url, status, requestId } = problem;
    const why = expected === undefined ? reason : `${reason}, expected ${expected}`;
    return { what: '--wait-for does not hold', why, details: { method, url, status, requestId } };
  }
  return undefined;
}

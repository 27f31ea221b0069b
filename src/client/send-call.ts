import {
  fieldValue,
  type HttpFields,
  type HttpRequest,
  type HttpResponse,
  requestIdOf,
  shownUrl,
} from '../api/http.ts';
import { monotonicMs, race, sleep } from '../process/deadline.ts';
import { type ErrorDetails, UnavailableError } from '../process/errors.ts';
import { maskUrl } from '../process/secrets.ts';
import { StoppedError } from '../process/signals.ts';
import { type Attempt, isReading, mayHaveBeenApplied, StoppedCallError } from './attempt.ts';
import type { Call, ClientOptions } from './call.ts';
import { callError } from './call-error.ts';
import { type CredentialParameter, withMaskedParameter, withParameter } from './request.ts';
import { isRedirect, retryAfter, retryDelay, shouldRetry } from './retry.ts';
import { decodeBody } from './transport/answer.ts';

/** The final answer of a call. */
export interface CallResult {
  /** With its content encodings decoded; perhaps an error. */
  readonly response: HttpResponse;
  readonly attempts: readonly Attempt[];
  /** What is left of the deadline, for work on the answer. */
  readonly leftMs: number;
}

/**
 * Sends the request until there is a final answer: within the deadline, with retries if they are safe and may help,
 * following redirects within one origin.
 *
 * @throws UnavailableError with the attempts, if no answer came; StoppedCallError if the signal of the options was
 *   aborted; the reason of the client's signal if that was.
 */
export async function sendCall(call: Call): Promise<CallResult> {
  const { client, options, request } = call;
  const timeoutMs = options.timeoutMs ?? client.timeoutMs;
  const signals = options.signal ? [client.signal, options.signal] : [client.signal];
  const attempts: Attempt[] = [];
  const pending = isReading(request.method)
    ? undefined
    : { method: request.method, url: shownUrl(request.url) };
  let leftMs = timeoutMs;
  try {
    for (;;) {
      const turn = options.beforeAttempt?.();
      if (turn) await turn;
      const attempt = await tryOnce(call, attempts.length + 1, { leftMs, signals }, () => {
        if (pending) client.pendingWrites?.add(pending);
      });
      attempts.push(attempt);
      for (const signal of signals) signal.throwIfAborted();
      leftMs -= attempt.elapsedMs;
      if (pending && !mayHaveBeenApplied(request.method, attempts)) client.pendingWrites?.delete(pending);
      client.observe?.({ kind: 'attempt', attempt });
      options.afterAttempt?.(attempt);
      const { nextDelayMs, retryAfterMs } = attempt;
      if (nextDelayMs === undefined) return await toResult(call, attempts, leftMs);
      await sleep(nextDelayMs, ...signals);
      const isFree = retryAfterMs !== undefined && options.maxRetryAfterMs !== undefined;
      if (!isFree) leftMs -= nextDelayMs;
    }
  } catch (error) {
    client.signal.throwIfAborted();
    throw error instanceof StoppedError ? new StoppedCallError(attempts, error) : error;
  } finally {
    if (pending) client.pendingWrites?.delete(pending);
  }
}

/** The answer to the last attempt. @throws UnavailableError if there is none. */
function toResult(
  call: Call,
  attempts: readonly Attempt[],
  leftMs: number,
): CallResult | Promise<CallResult> {
  const { response, error } = attempts.at(-1) as Attempt;
  if (error || !response) throw callError(call, attempts, error);
  if (!response.fields['content-encoding']) return { response, attempts, leftMs };
  return decodeBody(response).then(
    (plain) => ({ response: plain, attempts, leftMs }),
    (thrown) => {
      throw callError(call, attempts, thrown);
    },
  );
}

/** Sends the request once, and follows redirects. Never throws; an abort is the error of the attempt. */
async function tryOnce(
  call: Call,
  number: number,
  { leftMs, signals }: { readonly leftMs: number; readonly signals: readonly AbortSignal[] },
  onSending: () => void,
): Promise<Attempt> {
  const { client } = call;
  const parameter = parameterOf(call);
  const startMs = monotonicMs();
  let request = call.request;
  let response: HttpResponse | undefined;
  let error: Error | undefined;
  let isSent = false;
  const toTimeout = () => timeoutError(call, isSent);
  const markSent = () => {
    isSent = true;
    onSending();
  };
  try {
    for (let redirects = 0; ; redirects += 1) {
      isSent = false;
      response = undefined;
      const limits = { leftMs: leftMs - (monotonicMs() - startMs), timedOut: toTimeout, signals };
      response = await race(limits, (cancellation) =>
        client.transport.send(withParameter(request, parameter), { cancellation, onSending: markSent }),
      );
      isSent = true;
      if (!isRedirect(response.status)) break;
      const next = followRedirect(request, response, redirects);
      const elapsedMs = monotonicMs() - startMs;
      const hop = toAttempt(call, { request, number, elapsedMs, isSent, response, error });
      client.observe?.({ kind: 'attempt', attempt: hop });
      request = next;
    }
  } catch (thrown) {
    error = thrown as Error;
    if (error instanceof UnavailableError) isSent = error.sent;
  }
  const elapsedMs = monotonicMs() - startMs;
  return toAttempt(call, { request, number, elapsedMs, isSent, response, error }, leftMs - elapsedMs);
}

type Outcome = Pick<Attempt, 'request' | 'number' | 'elapsedMs' | 'isSent' | 'response' | 'error'>;

/** @param leftMs until the deadline; undefined if a redirect is followed. */
function toAttempt(call: Call, outcome: Outcome, leftMs?: number): Attempt {
  const { request, number, elapsedMs, isSent, response, error } = outcome;
  const retryAfterMs = response && retryAfter(response.fields, Date.now());
  const retry = leftMs === undefined ? undefined : planRetry(call, outcome, retryAfterMs, leftMs);
  return {
    request: withMaskedParameter(request, parameterOf(call)),
    isRedirected: request !== call.request,
    number,
    elapsedMs,
    isSent,
    response,
    error,
    requestId: response && requestIdIn(call.client, response.fields),
    retryAfterMs,
    nextDelayMs: retry?.nextDelayMs,
    note: retry?.note,
  };
}

/** The credential for the query. It is added just before the request is sent, so that no trace or error has it. */
function parameterOf({ client, options: { parameter } }: Call): CredentialParameter | undefined {
  return parameter === null ? undefined : (parameter ?? client.parameter);
}

/** The delay before the next attempt, or why there is none although the status allows one. */
function planRetry(
  { request, options, client }: Call,
  { number, response, error }: Outcome,
  retryAfterMs: number | undefined,
  leftMs: number,
): Pick<Attempt, 'nextDelayMs' | 'note'> | undefined {
  if (number > (options.retries ?? client.retries)) return undefined;
  const policy = { statuses: options.retriedStatuses, retriesUnreachable: client.retriesUnreachable };
  if (!shouldRetry(request.method, error ?? response, policy)) return undefined;
  const nextDelayMs = retryDelay(number, retryAfterMs);
  const { maxRetryAfterMs } = options;
  if (retryAfterMs !== undefined && maxRetryAfterMs !== undefined) {
    if (retryAfterMs <= maxRetryAfterMs) return { nextDelayMs };
    return { note: `the service asks to wait ${seconds(retryAfterMs)}` };
  }
  if (nextDelayMs < leftMs) return { nextDelayMs };
  // If the deadline itself ended the attempt, the error says so.
  if (leftMs <= 0 && error) return undefined;
  return { note: noTime(options.timeoutMs ?? client.timeoutMs, retryAfterMs) };
}

/** The service's id of a request, secrets masked. */
function requestIdIn({ secrets }: ClientOptions, fields: HttpFields): string | undefined {
  const id = requestIdOf(fields);
  return id && secrets.mask(id);
}

export function timeoutError({ client, options }: Call, isSent: boolean): UnavailableError {
  const why = `no answer within ${seconds(options.timeoutMs ?? client.timeoutMs)}`;
  return new UnavailableError(why, { reason: 'timeout', sent: isSent });
}

function noTime(timeoutMs: number, retryAfterMs: number | undefined): string {
  const deadline = `the deadline of ${seconds(timeoutMs)}`;
  return retryAfterMs === undefined
    ? `no time for another attempt is left of ${deadline}`
    : `the service asks to wait ${seconds(retryAfterMs)}, longer than what is left of ${deadline}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms) / 1000} s`;
}

const maxRedirects = 5;

/**
 * The request that follows a redirect: a GET within the same origin.
 *
 * @throws UnavailableError `redirect` for any other; it names the target. Fields such as a credential must not go to
 *   another origin, and a write must not be sent to another URL.
 */
function followRedirect(request: HttpRequest, response: HttpResponse, redirects: number): HttpRequest {
  if (redirects === maxRedirects)
    throw redirectError(`the service redirected more than ${maxRedirects} times`);
  const { status } = response;
  const location = fieldValue(response.fields, 'location');
  const from = new URL(request.url);
  const to =
    location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (!to || !/^https?:$/.test(to.protocol))
    throw redirectError(`the service answered ${status}, a redirect that names no target`, { status });
  const notFollowed = (why: string) => {
    const isElsewhere = from.origin !== to.origin;
    const hint = isElsewhere ? `if the service has moved there, give --base-url ${to.origin}` : undefined;
    return redirectError(`the service answered ${status}, a redirect to ${maskUrl(to.href)}; ${why}`, {
      status,
      hint,
    });
  };
  if (request.method !== 'GET' && request.method !== 'HEAD') throw notFollowed('a write is never redirected');
  if (to.origin !== from.origin) throw notFollowed('another origin is never followed');
  to.hash = '';
  return { method: request.method, url: to.href, fields: request.fields };
}

function redirectError(message: string, details: ErrorDetails = {}): UnavailableError {
  return new UnavailableError(message, { ...details, reason: 'redirect', sent: true, retryable: false });
}

import { type HttpRequest, type HttpResponse, isSafeMethod, requestIdOf } from '../api/http.ts';
import { monotonicMs, sleep, withinLimits } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { maskUrl } from '../process/secrets.ts';
import { durationText } from '../process/text.ts';
import { type Attempt, mayRetry } from './answer-table.ts';
import type { Answer, Call, OperationCall, UnansweredCall } from './call.ts';
import { responseErrorOf, withCallDetails } from './call-error.ts';
import { senderOf } from './read-answer.ts';
import { permittedDelayMs, retryAfterMsOf } from './retry.ts';
import { noAnswerError, timeoutError } from './transport/response.ts';

/**
 * Sends a call until it has a final response or its deadline passes. Retries where that is safe and may help, and follows redirects
 * within one origin.
 */
export async function sendCall(call: Call): Promise<Answer | UnansweredCall> {
  const { service, options } = call;
  const { pace } = options;
  const signals = [service.signal, options.signal].filter((signal) => signal !== undefined);
  // A run that has stopped waits only for requests in flight.
  const stopped = pace?.stop.stopped ?? service.signal;
  const attempts: Attempt[] = [];
  let { deadlineMs } = options;
  try {
    for (;;) {
      const turn = pace?.waitForTurn();
      if (turn) await turn;
      if (!pace) deadlineMs ??= monotonicMs() + service.limits.timeoutMs;
      const attempt = await makeAttempt(call, attempts.length + 1, deadlineMs, signals);
      attempts.push(attempt);
      for (const signal of signals) signal.throwIfAborted();
      service.observe(attempt, call.operation);
      pace?.attemptEnded(attempt);
      options.afterAttempt?.(attempt);
      const { nextDelayMs, request, response, error } = attempt;
      if (nextDelayMs !== undefined) {
        await sleep(nextDelayMs, ...signals, stopped);
        continue;
      }
      if (error || !response) throw error;
      const { status, headers, body } = response;
      // Not by a spread: V8 takes 10 µs for one with further members (`bench/README.md`).
      const answerError = responseErrorOf({ call, attempts }, response);
      return { call, attempts, request, status, headers, body, error: answerError };
    }
  } catch (thrown) {
    return { call, attempts, error: withCallDetails({ call, attempts }, thrown) };
  }
}

/** Sends a call and reads its answer with `read`. @throws the error of the answer. */
export async function fetchAnswer<Value>(
  call: OperationCall,
  read: (call: OperationCall, answer: Answer) => Value,
): Promise<{ readonly answer: Answer; readonly value: Value }> {
  const answer = await sendCall(call);
  if (answer.status === undefined || answer.error) throw answer.error;
  try {
    return { answer, value: read(call, answer) };
  } catch (error) {
    throw withCallDetails(answer, error);
  }
}

/**
 * Sends the request and follows its redirects. Never throws: an abort becomes the error of the attempt.
 *
 * @param deadlineMs as in `CallOptions`.
 */
async function makeAttempt(
  call: Call,
  number: number,
  deadlineMs: number | undefined,
  signals: readonly AbortSignal[],
): Promise<Attempt> {
  const { service } = call;
  const startMs = monotonicMs();
  const mostMs = deadlineMs === undefined ? service.limits.timeoutMs : deadlineMs - startMs;
  let limitMs = mostMs;
  let { request } = call;
  for (let redirects = 0; ; redirects += 1) {
    const { isSent, response, error } = await sendRequest(service, request, limitMs, signals);
    const isRedirect = response && redirectStatuses.includes(response.status);
    const next = isRedirect ? followRedirect(request, response, redirects) : undefined;
    const elapsedMs = monotonicMs() - startMs;
    const requestId = response && requestIdOf(response.headers);
    const failure = response && response.status >= 400 ? response : undefined;
    const attempt: Attempt = {
      request,
      number,
      elapsedMs,
      isSent,
      response,
      error: next instanceof CliError ? next : error,
      sender: failure && senderOf(failure, call.operation),
      requestId: requestId && service.secrets.mask(requestId),
      retryAfterMs: failure && retryAfterMsOf(failure.headers, Date.now()),
    };
    if (next === undefined || next instanceof CliError) {
      const retry = response && !failure ? undefined : delayOrReason(call, attempt, mostMs - elapsedMs);
      return retry ? { ...attempt, ...retry } : attempt;
    }
    service.observe(attempt, call.operation);
    request = next;
    limitMs = mostMs - elapsedMs;
  }
}

async function sendRequest(
  { limits, transport }: Call['service'],
  request: HttpRequest,
  limitMs: number,
  signals: readonly AbortSignal[],
): Promise<Pick<Attempt, 'isSent' | 'response' | 'error'>> {
  let isSent = false;
  const onSending = () => {
    isSent = true;
  };
  const createTimeoutError = () => timeoutError(limits.timeoutMs);
  try {
    const response = await withinLimits({ limitMs, createTimeoutError, signals }, (cancellation) =>
      transport.send(request, { cancellation, onSending }),
    );
    return { isSent, response };
  } catch (thrown) {
    const error = thrown as Error;
    // A proxy that fails has not forwarded the request. Any other error may come after the service has received it.
    const isOfProxy = error instanceof CliError && error.details.noAnswer === 'proxy';
    return { isSent: isSent && !isOfProxy, error };
  }
}

/** Returns the delay before the next attempt, or why there is none although the answer allows one. */
function delayOrReason(
  call: Call,
  attempt: Attempt,
  remainingMs: number,
): Pick<Attempt, 'nextDelayMs' | 'whyNoRetry'> | undefined {
  const { options, service } = call;
  const { number, response, retryAfterMs } = attempt;
  if (!mayRetry(attempt) || (response && options.isFinalStatus?.(response.status))) return undefined;
  // A pace ends the run if the service asks to wait too long.
  const limitMs = options.pace ? Number.POSITIVE_INFINITY : remainingMs;
  const { retries } = options;
  const limits =
    retries === undefined ? service.limits : { ...service.limits, retries, retriesOf429: retries };
  const delayMs = permittedDelayMs(number, { ...attempt, status: response?.status }, limits);
  if (delayMs !== undefined && delayMs < limitMs) return { nextDelayMs: delayMs };
  if (retryAfterMs === undefined || retryAfterMs < limitMs) return undefined;
  const deadline = `the deadline of ${durationText(service.limits.timeoutMs)}`;
  return {
    whyNoRetry: `the service asks to wait ${durationText(retryAfterMs)}, longer than what is left of ${deadline}`,
  };
}

const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308];
const maxRedirects = 5;

/**
 * Returns the request that follows a redirect, or an error that names the URL. Only a safe method within one origin is followed,
 * because a credential must not go to another origin, and a write must not go to another URL.
 */
function followRedirect(
  { method, url, headers }: HttpRequest,
  response: HttpResponse,
  redirects: number,
): HttpRequest | CliError {
  const location = response.headers.location;
  const to = location !== undefined && URL.canParse(location, url) ? new URL(location, url) : undefined;
  const { status } = response;
  const from = new URL(url);
  const isToHttps = from.protocol === 'http:' && to?.protocol === 'https:' && to.hostname === from.hostname;
  const hint = isToHttps ? `if the service wants https, begin the base URL with ${to.origin}` : undefined;
  const refuse = (rule: string, target = to ? maskUrl(to.href) : 'no URL') =>
    noAnswerError('redirect', `the service answered ${status}, a redirect to ${target}; ${rule}`, {
      status,
      hint,
    });
  if (!isSafeMethod(method)) return refuse('only a GET is followed');
  if (!to || to.origin !== from.origin) return refuse('only one to the same origin is followed');
  if (redirects >= maxRedirects) return refuse(`at most ${maxRedirects} are followed`);
  to.hash = '';
  return { method, url: to.href, headers };
}

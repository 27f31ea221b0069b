import { type HttpRequest, type HttpResponse, headerValue, requestIdOf } from '../api/http.ts';
import { monotonicMs, race, sleep } from '../process/deadline.ts';
import { CliError, type ErrorDetails, InterruptedError, unansweredError } from '../process/errors.ts';
import { maskUrl } from '../process/secrets.ts';
import { StoppedError } from '../process/signals.ts';
import { secondsText } from '../process/text.ts';
import { type Attempt, mayHaveBeenApplied, retryAfter, retryDelay, shouldRetry } from './attempt.ts';
import type { Call } from './call.ts';
import { callDetails, callError } from './call-error.ts';
import { maxRetryWaitMs } from './pace.ts';
import { withMaskedParameter, withParameter } from './request.ts';
import { decodeBody } from './transport/response.ts';

/** The final answer of a call. */
export interface CallResponse {
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
 * @throws CliError with the attempts, if no answer came; InterruptedError with them, if the client's signal was aborted;
 *   StoppedError with them, if the signal of the options or the pace was.
 */
export async function sendCall(call: Call): Promise<CallResponse> {
  const { client, options } = call;
  const { pace } = options;
  const signals = [client.signal, options.signal, pace?.abandoned].filter((signal) => signal !== undefined);
  const attempts: Attempt[] = [];
  let leftMs = timeoutOf(call);
  client.observe?.({ kind: 'begin' });
  try {
    for (;;) {
      const turn = pace?.waitForTurn();
      if (turn) await turn;
      const attempt = await tryOnce(call, attempts.length + 1, leftMs, signals);
      attempts.push(attempt);
      for (const signal of signals) signal.throwIfAborted();
      leftMs -= attempt.elapsedMs;
      client.observe?.({ kind: 'attempt', attempt });
      pace?.observe(attempt);
      options.afterAttempt?.(attempt);
      const { nextDelayMs, retryAfterMs, response, error } = attempt;
      if (nextDelayMs !== undefined) {
        await sleep(nextDelayMs, ...signals);
        if (!pace || retryAfterMs === undefined) leftMs -= nextDelayMs;
        continue;
      }
      if (error || !response) throw error;
      const isEncoded = response.headers['content-encoding'] !== undefined;
      return { response: isEncoded ? await decodeBody(response) : response, attempts, leftMs };
    }
  } catch (error) {
    throw withAttempts(client.signal.aborted ? client.signal.reason : error, call, attempts);
  } finally {
    client.observe?.({ kind: 'end' });
  }
}

function withAttempts(error: unknown, call: Call, attempts: readonly Attempt[]): unknown {
  if (error instanceof StoppedError) return new StoppedError(error.message, attempts);
  if (!(error instanceof InterruptedError)) return callError(call, attempts, error);
  return mayHaveBeenApplied(call.request.method, attempts)
    ? new InterruptedError(error.signal, callDetails(call, attempts))
    : error;
}

/** Sends the request once, and follows redirects. Never throws; an abort is the error of the attempt. */
async function tryOnce(
  call: Call,
  number: number,
  leftMs: number,
  signals: readonly AbortSignal[],
): Promise<Attempt> {
  const { client } = call;
  // The credential is added just before the request is sent, so that no trace or error has it.
  const parameter =
    call.options.parameter === undefined ? client.parameter : (call.options.parameter ?? undefined);
  const startMs = monotonicMs();
  let { request } = call;
  for (let redirects = 0; ; redirects += 1) {
    let response: HttpResponse | undefined;
    let error: Error | undefined;
    let next: HttpRequest | undefined;
    let isSent = false;
    const onSending = () => {
      isSent = true;
    };
    try {
      const limits = {
        leftMs: leftMs - (monotonicMs() - startMs),
        timedOut: () => timeoutError(call),
        signals,
      };
      response = await race(limits, (cancellation) =>
        client.transport.send(withParameter(request, parameter), { cancellation, onSending }),
      );
      if (isRedirect(response.status)) next = followRedirect(request, response, redirects);
    } catch (thrown) {
      error = thrown as Error;
      // A proxy that fails has passed nothing on.
      if (error instanceof CliError && error.details.reason === 'proxy') isSent = false;
    }
    const elapsedMs = monotonicMs() - startMs;
    const requestId = response && requestIdOf(response.headers);
    const attempt: Attempt = {
      request: withMaskedParameter(request, parameter),
      isRedirected: redirects > 0,
      number,
      elapsedMs,
      isSent,
      response,
      error,
      requestId: requestId && client.secrets.mask(requestId),
      retryAfterMs: response && retryAfter(response.headers, Date.now()),
    };
    if (!next) {
      const retry = planRetry(call, attempt, leftMs - elapsedMs);
      return retry ? { ...attempt, ...retry } : attempt;
    }
    client.observe?.({ kind: 'attempt', attempt });
    request = next;
  }
}

/** The delay before the next attempt, or why there is none although the status allows one. */
function planRetry(
  call: Call,
  attempt: Attempt,
  leftMs: number,
): Pick<Attempt, 'nextDelayMs' | 'note'> | undefined {
  const { request, options, client } = call;
  const { number, error, retryAfterMs } = attempt;
  if (number > (options.retries ?? client.retries)) return undefined;
  const policy = { statuses: options.retriedStatuses, retriesUnreachable: client.retriesUnreachable };
  if (!shouldRetry(request.method, attempt, policy)) return undefined;
  const nextDelayMs = retryDelay(number, retryAfterMs);
  if (options.pace && retryAfterMs !== undefined)
    return retryAfterMs <= maxRetryWaitMs
      ? { nextDelayMs }
      : { note: `the service asks to wait ${secondsText(retryAfterMs)}` };
  if (nextDelayMs < leftMs) return { nextDelayMs };
  // If the deadline itself ended the attempt, the error says so.
  if (leftMs <= 0 && error) return undefined;
  const deadline = `the deadline of ${secondsText(timeoutOf(call))}`;
  return {
    note:
      retryAfterMs === undefined
        ? `no time for another attempt is left of ${deadline}`
        : `the service asks to wait ${secondsText(retryAfterMs)}, longer than what is left of ${deadline}`,
  };
}

function timeoutOf({ client, options }: Call): number {
  return options.timeoutMs ?? client.timeoutMs;
}

export function timeoutError(call: Call): CliError {
  return unansweredError('timeout', `no answer within ${secondsText(timeoutOf(call))}`);
}

/** Whether a status leads to another place; a 304 is an answer. */
function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

const maxRedirects = 5;

/**
 * The request that follows a redirect: a GET within the same origin.
 *
 * @throws CliError `redirect` for any other; it names the target. Fields such as a credential must not go to
 *   another origin, and a write must not be sent to another URL.
 */
function followRedirect(request: HttpRequest, response: HttpResponse, redirects: number): HttpRequest {
  if (redirects === maxRedirects)
    throw redirectError(`the service redirected more than ${maxRedirects} times`);
  const { status } = response;
  const location = headerValue(response.headers, 'location');
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
  return { method: request.method, url: to.href, headers: request.headers };
}

function redirectError(why: string, details: ErrorDetails = {}): CliError {
  return unansweredError('redirect', why, { ...details, retryable: false });
}

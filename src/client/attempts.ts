import type { HttpRequest, HttpResponse, Transport } from '../api/http.ts';
import { UnavailableError } from '../errors.ts';
import type { Attempt, CallOptions } from './client.ts';
import type { CredentialParameter } from './credential-parameter.ts';
import { type Failed, unavailableError } from './failures.ts';
import { type Delay, OneCall, type Outcome } from './one-call.ts';
import { retryAfter, retryDelay, shouldRetry } from './retry.ts';

export interface SenderOptions {
  readonly transport: Transport;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly signal: AbortSignal;
  readonly parameter?: CredentialParameter | undefined;
  readonly mask?: ((text: string) => string) | undefined;
  onAttempt?: ((attempt: Attempt) => void) | undefined;
  now(): Date;
}

/** The answer that the service gave in the end, be it a refusal. */
interface Exchange {
  readonly response: HttpResponse;
  /** Where it came from, redirects followed. */
  readonly url: string;
  readonly attempts: number;
  /** Why there was no further attempt, a clause, where the status invited one. */
  readonly note?: string | undefined;
}

/**
 * Sends a request until there is an answer to keep: within one deadline, again where that is safe and may help, along
 * redirects within one origin.
 *
 * @param what what it is for, as `Get a pet`; undefined for a raw request.
 * @throws UnavailableError where no answer came; the reason of the signal where that was aborted.
 */
export type Sender = (
  request: HttpRequest,
  what: string | undefined,
  options: CallOptions,
) => Promise<Exchange>;

export function createSender(sender: SenderOptions): Sender {
  return async (request, what, options) => {
    const call = new OneCall(sender, options, request);
    for (;;) {
      const wait = options.beforeAttempt?.();
      if (wait) await wait;
      const outcome = await call.attempt();
      const next = nextAfter(call, outcome, sender);
      report(call, outcome, next);
      const { response, error } = outcome;
      const { delayMs, outsideDeadline } = next;
      if (delayMs !== undefined) await call.wait({ delayMs, outsideDeadline });
      else if (response)
        return { response, url: outcome.request.url, attempts: call.attempts, note: next.note };
      else throw failureOf(error, call, { what, note: next.note, mask: sender.mask });
    }
  };
}

/** What follows an attempt: another one after a delay, or none. */
interface Next extends Partial<Delay> {
  readonly retryAfterMs?: number | undefined;
  readonly note?: string;
}

function nextAfter(call: OneCall, { response, error }: Outcome, sender: SenderOptions): Next {
  const { request, attempts, leftMs, options } = call;
  const retryAfterMs = response && retryAfter(response.fields, sender.now);
  const mayRetry = attempts <= (options.retries ?? sender.retries);
  if (!mayRetry || !shouldRetry(request.method, response ?? error)) return { retryAfterMs };
  const { maxRetryAfterMs } = options;
  const delayMs = retryDelay(attempts, retryAfterMs);
  if (retryAfterMs !== undefined && maxRetryAfterMs !== undefined)
    return retryAfterMs > maxRetryAfterMs
      ? { retryAfterMs, note: `it asks to wait ${seconds(retryAfterMs)}` }
      : { retryAfterMs, delayMs, outsideDeadline: true };
  if (delayMs < leftMs) return { retryAfterMs, delayMs };
  // The deadline itself has ended the attempt, and its error says so.
  if (leftMs <= 0 && error) return { retryAfterMs };
  return { retryAfterMs, note: noTime(call.timeoutMs, retryAfterMs) };
}

function noTime(timeoutMs: number, retryAfterMs: number | undefined): string {
  const deadline = `the deadline of ${seconds(timeoutMs)}`;
  return retryAfterMs === undefined
    ? `no time for another attempt is left of ${deadline}`
    : `it asks to wait ${seconds(retryAfterMs)}, longer than what is left of ${deadline}`;
}

function report(call: OneCall, outcome: Outcome, { delayMs, retryAfterMs }: Next): void {
  const { options, sender, attempts: number } = call;
  if (!sender.onAttempt && !options.afterAttempt) return;
  const { request, elapsedMs, response, error } = outcome;
  const attempt = {
    request: call.shown(request),
    number,
    elapsedMs,
    response,
    error,
    retryAfterMs,
    nextDelayMs: delayMs,
  };
  sender.onAttempt?.(attempt);
  options.afterAttempt?.(attempt);
}

function failureOf(
  error: Error | undefined,
  { request, attempts }: OneCall,
  why: Pick<Failed, 'what' | 'note' | 'mask'>,
): unknown {
  if (!(error instanceof UnavailableError)) return error;
  return unavailableError({ ...why, method: request.method, url: request.url, attempts }, error);
}

function seconds(ms: number): string {
  return `${Math.round(ms) / 1000} s`;
}

import { fieldValue, type HttpRequest, type HttpResponse, type Transport } from '../api/http.ts';
import { monotonicMs } from '../clock.ts';
import { type Cancellation, type Limits, pause, race } from '../deadline.ts';
import { type ErrorDetails, InterruptedError, UnavailableError } from '../errors.ts';
import { maskUrl, shownUrl } from '../mask.ts';
import type { Attempt, CallOptions } from './client.ts';
import { type FailedCall, unavailableError } from './failures.ts';
import { type CredentialParameter, withMaskedParameter, withParameter } from './request.ts';
import { maxAnswerBytes, maxErrorBytes } from './response.ts';
import { mayHaveBeenApplied, retryAfter, retryDelay, shouldRetry } from './retry.ts';

export interface SenderOptions extends Pick<FailedCall, 'credential' | 'mask'> {
  readonly transport: Transport;
  readonly timeoutMs: number;
  readonly retries: number;
  /** Aborted when the process is interrupted. */
  readonly signal: AbortSignal;
  /** A credential in the query of every request. */
  readonly parameter?: CredentialParameter | undefined;
  /** Called after every attempt of every call, for traces. */
  onAttempt?: ((attempt: Attempt) => void) | undefined;
  /** Called with notes for the user about a call that succeeds. */
  note?: ((line: string) => void) | undefined;
  now(): Date;
}

/** The purpose of a call, for its messages: a list, or something else; undefined for a raw request. */
export type Purpose = FailedCall['purpose'];

/** The final answer, perhaps an error, and its call. */
interface Sent {
  readonly response: HttpResponse;
  readonly call: Call;
  /** True for a DELETE that was sent before and now finds nothing: it has succeeded. */
  readonly isGone: boolean;
}

/**
 * Sends a request until there is a final answer: within one deadline, with retries if they are safe and may help,
 * following redirects within one origin.
 *
 * @throws UnavailableError if no answer came; the reason of the signal if one was aborted.
 */
export async function send(
  sender: SenderOptions,
  request: HttpRequest,
  purpose: Purpose,
  options: CallOptions,
): Promise<Sent> {
  const call = new Call(sender, request, purpose, options);
  for (;;) {
    const turn = options.beforeAttempt?.();
    if (turn) await turn;
    const outcome = await call.attempt();
    const next = nextAfter(call, outcome);
    call.report(outcome, next);
    const { response, error } = outcome;
    call.note = next.note;
    if (next.delayMs !== undefined) await call.pause(next.delayMs, next.outsideDeadline === true);
    else if (response) return { response, call, isGone: call.isGone(response) };
    else throw error instanceof UnavailableError ? unavailableError(call, error) : error;
  }
}

/** The result of an attempt: an answer, or an error. */
type Outcome = Pick<Attempt, 'elapsedMs' | 'response' | 'error'>;

/** A call in progress: the remaining time, the number of attempts, and their possible effects. */
export class Call implements Limits, FailedCall {
  attempts = 0;
  leftMs: number;
  note: string | undefined;
  /** The current request, redirects followed. */
  request: HttpRequest;
  mayBeApplied = false;
  readonly timeoutMs: number;
  readonly signals: readonly AbortSignal[];
  readonly purpose: Purpose;
  readonly sender: SenderOptions;
  readonly options: CallOptions;
  private readonly first: HttpRequest;
  /** Added to the query only when the request is sent, so that no other part of the program sees it. */
  private readonly parameter: CredentialParameter | undefined;
  /** True if the service may have received a byte of the current attempt. */
  private sent = false;
  private sentAttempts = 0;

  constructor(sender: SenderOptions, request: HttpRequest, purpose: Purpose, options: CallOptions) {
    this.sender = sender;
    this.options = options;
    this.purpose = purpose;
    this.first = request;
    this.request = request;
    this.parameter = options.withoutParameter ? undefined : sender.parameter;
    this.timeoutMs = options.timeoutMs ?? sender.timeoutMs;
    this.leftMs = this.timeoutMs;
    this.signals = options.signal ? [sender.signal, options.signal] : [sender.signal];
  }

  get credential(): string | undefined {
    return this.sender.credential;
  }

  get mask(): FailedCall['mask'] {
    return this.sender.mask;
  }

  /** @throws the reason of the signal, if one was aborted. */
  async attempt(): Promise<Outcome> {
    this.attempts += 1;
    this.request = this.first;
    const begunAtMs = monotonicMs();
    const leftMs = this.leftMs;
    const spend = () => {
      const elapsedMs = monotonicMs() - begunAtMs;
      this.leftMs = leftMs - elapsedMs;
      return elapsedMs;
    };
    try {
      for (let redirects = 0; ; redirects += 1) {
        const response = await race(this, (cancellation) => this.exchange(cancellation));
        const elapsedMs = spend();
        if (!isRedirect(response)) return this.settle({ response, elapsedMs });
        this.sender.onAttempt?.({ request: this.shown(), response, number: this.attempts, elapsedMs });
        if (redirects === mostRedirects) throw refusedRedirect(`redirected more than ${mostRedirects} times`);
        this.request = followRedirect(this.request, response);
      }
    } catch (error) {
      const elapsedMs = spend();
      for (const signal of this.signals) signal.throwIfAborted();
      return this.settle({ error: error as Error, elapsedMs });
    }
  }

  /** Waits before the next attempt. */
  async pause(delayMs: number, outsideDeadline: boolean): Promise<void> {
    const { signals } = this;
    const leftMs = outsideDeadline ? Number.POSITIVE_INFINITY : this.leftMs;
    const onAbort = (reason: unknown) => this.onAbort(reason);
    await pause(delayMs, { leftMs, signals, timedOut: () => this.timedOut(), onAbort });
    if (!outsideDeadline) this.leftMs -= delayMs;
  }

  /** Runs long work on an answer within the remaining time of the call. */
  within<Value>(work: (cancellation: Cancellation) => Promise<Value>): Promise<Value> {
    this.sent = true;
    return race(this, work);
  }

  report({ response, error, elapsedMs }: Outcome, { retryAfterMs, delayMs }: Next): void {
    const { sender, options, attempts: number } = this;
    if (!sender.onAttempt && !options.afterAttempt) return;
    // Spreading objects here takes 5 µs a row of a bulk run.
    const attempt = {
      request: this.shown(),
      number,
      response,
      error,
      elapsedMs,
      retryAfterMs,
      nextDelayMs: delayMs,
    };
    sender.onAttempt?.(attempt);
    options.afterAttempt?.(attempt);
  }

  isGone({ status }: HttpResponse): boolean {
    const { method, url } = this.request;
    if (method !== 'DELETE' || (status !== 404 && status !== 410) || this.sentAttempts < 2) return false;
    this.sender.note?.(
      `note: DELETE ${shownUrl(url)}: sent ${this.sentAttempts} times, and answered ${status} in the end: it is gone`,
    );
    return true;
  }

  timedOut(): Error {
    return new UnavailableError(`no answer within ${this.timeoutMs / 1000} s`, {
      reason: 'timeout',
      sent: this.sent,
    });
  }

  /** Adds to the error of an interruption that a write may have been applied. */
  onAbort(reason: unknown): void {
    const { method, url } = this.request;
    if (!(reason instanceof InterruptedError)) return;
    if (this.mayBeApplied || mayHaveBeenApplied(method, { sent: this.sent }))
      reason.leaveOpen(method, shownUrl(url));
  }

  private exchange(cancellation: Cancellation): Promise<HttpResponse> {
    this.sent = false;
    const onSending = () => {
      this.sent = true;
    };
    const whole = withParameter(this.request, this.parameter);
    return this.sender.transport.send(whole, { cancellation, maxBytes, onSending });
  }

  /** Records the possible effects of a finished attempt. */
  private settle(outcome: Outcome): Outcome {
    const { response, error } = outcome;
    const sent = response !== undefined || (error instanceof UnavailableError && error.sent);
    if (sent) this.sentAttempts += 1;
    this.mayBeApplied ||= mayHaveBeenApplied(this.request.method, response ?? { sent });
    this.sent = false;
    return outcome;
  }

  /** The request, safe to show. */
  private shown(): HttpRequest {
    return withMaskedParameter(this.request, this.parameter);
  }
}

/** The body of an error is read only for its message. */
function maxBytes(status: number): number {
  return status >= 200 && status < 300 ? maxAnswerBytes : maxErrorBytes;
}

/** The next step after an attempt: another one after a delay, or the end. */
interface Next {
  readonly delayMs?: number;
  /** The delay does not count against the deadline. */
  readonly outsideDeadline?: true;
  readonly retryAfterMs?: number | undefined;
  /** Why there is no further attempt although the status allows one, a clause. */
  readonly note?: string;
}

function nextAfter(call: Call, { response, error }: Outcome): Next {
  const { request, attempts, leftMs, options, sender } = call;
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
  // The deadline itself ended the attempt, and the error says so.
  if (leftMs <= 0 && error) return { retryAfterMs };
  return { retryAfterMs, note: noTime(call.timeoutMs, retryAfterMs) };
}

function noTime(timeoutMs: number, retryAfterMs: number | undefined): string {
  const deadline = `the deadline of ${seconds(timeoutMs)}`;
  return retryAfterMs === undefined
    ? `no time for another attempt is left of ${deadline}`
    : `it asks to wait ${seconds(retryAfterMs)}, longer than what is left of ${deadline}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms) / 1000} s`;
}

const mostRedirects = 5;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function isRedirect({ status }: HttpResponse): boolean {
  return redirectStatuses.has(status);
}

/**
 * The request that follows a redirect: a GET within the same origin, or from http to https on the same host name, each
 * with its default port.
 *
 * @throws UnavailableError `redirect` for any other; it names the target. Fields such as a credential must not go to
 *   another origin, and a write must not be sent to another URL.
 */
export function followRedirect(request: HttpRequest, response: HttpResponse): HttpRequest {
  const { status } = response;
  const location = fieldValue(response.fields, 'location');
  const from = new URL(request.url);
  const to = location === undefined ? undefined : parseUrl(location, from);
  if (!to) throw refusedRedirect(`answered ${status}, a redirect that names no target`, { status });
  const refuse = (why: string) =>
    refusedRedirect(`answered ${status}, a redirect to ${maskUrl(to.href)}; ${why}`, {
      status,
      hint:
        from.origin === to.origin
          ? undefined
          : `if the service has moved there, give --base-url ${to.origin}`,
    });
  if (request.method !== 'GET' && request.method !== 'HEAD') throw refuse('a write is never redirected');
  if (to.origin !== from.origin && !isUpgrade(from, to)) throw refuse('another origin is never followed');
  to.hash = '';
  return { method: request.method, url: to.href, fields: request.fields };
}

/** Another port may be another service, so only the default ports count as the same. */
function isUpgrade(from: URL, to: URL): boolean {
  return (
    from.protocol === 'http:' &&
    to.protocol === 'https:' &&
    from.hostname === to.hostname &&
    from.port === '' &&
    to.port === ''
  );
}

function parseUrl(location: string, base: URL): URL | undefined {
  const url = URL.canParse(location, base.href) ? new URL(location, base) : undefined;
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : undefined;
}

function refusedRedirect(message: string, details: ErrorDetails = {}): UnavailableError {
  // `sent` tells whether a write may have been applied; a service that redirects has not applied it.
  return new UnavailableError(message, { ...details, reason: 'redirect', sent: false, retryable: false });
}

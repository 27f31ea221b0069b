import type { HttpRequest, HttpResponse, Transport } from '../api/http.ts';
import { UnavailableError } from '../errors.ts';
import { maxAnswerBytes, maxErrorBytes } from './body.ts';
import type { Attempt, CallOptions } from './client.ts';
import { type Failed, unavailableError } from './failures.ts';
import { type Limits, pause, race } from './race.ts';
import { followRedirect, isRedirect, mostRedirects, tooManyRedirects } from './redirects.ts';
import { isRetriedAnswer, isRetriedError, retryAfter, retryDelay } from './retry.ts';

export interface SenderOptions {
  readonly transport: Transport;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly signal: AbortSignal;
  readonly mask?: ((text: string) => string) | undefined;
  onAttempt?: ((attempt: Attempt) => void) | undefined;
  now(): Date;
}

/** The answer that the service gave in the end, be it a refusal. */
export interface Exchange {
  readonly response: HttpResponse;
  /** The request as it was sent at last, redirects followed. */
  readonly request: HttpRequest;
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
    const call = new Call(sender, options, request);
    for (;;) {
      await options.beforeAttempt?.();
      const outcome = await call.attempt();
      const next = call.next(outcome);
      call.report(outcome, next);
      if (next.delayMs !== undefined) await call.wait(next.delayMs, next.outsideDeadline);
      else if (outcome.response)
        return {
          response: outcome.response,
          request: outcome.request,
          attempts: call.attempts,
          note: next.note,
        };
      else throw failureOf(outcome.error, call, { what, note: next.note, mask: sender.mask });
    }
  };
}

interface Outcome {
  readonly request: HttpRequest;
  readonly elapsedMs: number;
  readonly response?: HttpResponse;
  readonly error?: Error;
}

/** What follows an attempt: another one after a delay, or none. */
interface Next {
  readonly delayMs?: number;
  /** The delay is the caller's affair and does not count against the deadline. */
  readonly outsideDeadline?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly note?: string;
}

/** One call as it goes on: what is left of its time, how often it was sent. */
class Call {
  attempts = 0;
  readonly timeoutMs: number;
  readonly request: HttpRequest;
  readonly #sender: SenderOptions;
  readonly #options: CallOptions;
  readonly #signals: readonly AbortSignal[];
  #leftMs: number;
  /** Whether a byte of the attempt that is under way may have reached the service. */
  #sent = false;

  constructor(sender: SenderOptions, options: CallOptions, request: HttpRequest) {
    this.#sender = sender;
    this.#options = options;
    this.request = request;
    this.timeoutMs = options.timeoutMs ?? sender.timeoutMs;
    this.#leftMs = this.timeoutMs;
    this.#signals = options.signal ? [sender.signal, options.signal] : [sender.signal];
  }

  /** @throws the reason of the signal, where that was aborted. */
  async attempt(): Promise<Outcome> {
    this.attempts += 1;
    const started = performance.now();
    let request = this.request;
    try {
      for (let redirects = 0; ; redirects += 1) {
        const elapsedMs = performance.now() - started;
        const response = await this.#send(request, elapsedMs);
        if (!isRedirect(response)) return { request, response, elapsedMs: this.#spend(started) };
        this.#sender.onAttempt?.({ request, response, number: this.attempts, elapsedMs });
        if (redirects === mostRedirects) throw tooManyRedirects();
        request = followRedirect(request, response);
      }
    } catch (error) {
      for (const signal of this.#signals) signal.throwIfAborted();
      const elapsedMs = this.#spend(started);
      return { request, error: error as Error, elapsedMs };
    }
  }

  next({ response, error }: Outcome): Next {
    const retryAfterMs = response && retryAfter(response.fields, this.#sender.now);
    const { method } = this.request;
    const isWorthIt = error ? isRetriedError(method, error) : response && isRetriedAnswer(method, response);
    if (!isWorthIt || this.attempts > (this.#options.retries ?? this.#sender.retries))
      return { retryAfterMs };
    const { maxRetryAfterMs } = this.#options;
    if (retryAfterMs !== undefined && maxRetryAfterMs !== undefined) {
      if (retryAfterMs > maxRetryAfterMs)
        return { retryAfterMs, note: `it asks to wait ${seconds(retryAfterMs)}` };
      return { retryAfterMs, delayMs: retryDelay(this.attempts, retryAfterMs), outsideDeadline: true };
    }
    const delayMs = retryDelay(this.attempts, retryAfterMs);
    if (delayMs < this.#leftMs) return { retryAfterMs, delayMs };
    // The deadline itself has ended the attempt, and its error says so.
    if (this.#leftMs <= 0) return { retryAfterMs };
    return { retryAfterMs, note: this.#noTime(retryAfterMs) };
  }

  report({ request, response, error, elapsedMs }: Outcome, { delayMs, retryAfterMs }: Next): void {
    if (!this.#sender.onAttempt && !this.#options.afterAttempt) return;
    const number = this.attempts;
    const attempt = { request, number, elapsedMs, response, error, retryAfterMs, nextDelayMs: delayMs };
    this.#sender.onAttempt?.(attempt);
    this.#options.afterAttempt?.(attempt);
  }

  async wait(ms: number, outsideDeadline = false): Promise<void> {
    const limits = outsideDeadline ? { ...this.#limits(), leftMs: Number.POSITIVE_INFINITY } : this.#limits();
    await pause(ms, limits);
    if (!outsideDeadline) this.#leftMs -= ms;
  }

  #send(request: HttpRequest, elapsedMs: number): Promise<HttpResponse> {
    this.#sent = false;
    const limits = { ...this.#limits(), leftMs: this.#leftMs - elapsedMs };
    return race(limits, (cancellation) =>
      this.#sender.transport.send(request, {
        cancellation,
        maxBytes,
        onSending: () => {
          this.#sent = true;
        },
      }),
    );
  }

  #limits(): Limits {
    return { leftMs: this.#leftMs, timedOut: () => this.#timedOut(), signals: this.#signals };
  }

  #timedOut(): UnavailableError {
    return new UnavailableError(`no answer within ${seconds(this.timeoutMs)}`, {
      reason: 'timeout',
      sent: this.#sent,
    });
  }

  #spend(started: number): number {
    const elapsedMs = performance.now() - started;
    this.#leftMs -= elapsedMs;
    return elapsedMs;
  }

  #noTime(retryAfterMs: number | undefined): string {
    const deadline = `the deadline of ${seconds(this.timeoutMs)}`;
    return retryAfterMs === undefined
      ? `no time for another attempt is left of ${deadline}`
      : `it asks to wait ${seconds(retryAfterMs)}, longer than what is left of ${deadline}`;
  }
}

function failureOf(
  error: Error | undefined,
  call: Call,
  why: Pick<Failed, 'what' | 'note' | 'mask'>,
): unknown {
  if (!(error instanceof UnavailableError)) return error;
  const { method, url } = call.request;
  return unavailableError({ ...why, method, url, attempts: call.attempts }, error);
}

/** An error's body is read for its reason alone. */
function maxBytes(status: number): number {
  return status >= 200 && status < 300 ? maxAnswerBytes : maxErrorBytes;
}

function seconds(ms: number): string {
  return `${Math.round(ms) / 1000} s`;
}

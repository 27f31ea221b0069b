import type { HttpRequest, HttpResponse, SendOptions } from '../api/http.ts';
import { monotonicMs } from '../clock.ts';
import { type Cancellation, type Limits, pause, race } from '../deadline.ts';
import { UnavailableError } from '../errors.ts';
import type { SenderOptions } from './attempts.ts';
import { maxAnswerBytes, maxErrorBytes } from './body.ts';
import type { CallOptions } from './client.ts';
import { type CredentialParameter, withMaskedParameter, withParameter } from './credential-parameter.ts';
import { followRedirect, isRedirect, mostRedirects, tooManyRedirects } from './redirects.ts';

/** How an attempt ended: with an answer, or without. */
export interface Outcome {
  /** The request as it was sent at last, redirects followed. */
  readonly request: HttpRequest;
  readonly elapsedMs: number;
  readonly response?: HttpResponse | undefined;
  readonly error?: Error | undefined;
}

/** A pause before the next attempt. */
export interface Delay {
  readonly delayMs: number;
  /** It is the caller's affair, and takes nothing from the time that is left. */
  readonly outsideDeadline?: boolean | undefined;
}

/** One call as it goes on: what is left of its time, how often it was sent. */
export class OneCall implements Limits {
  attempts = 0;
  leftMs: number;
  readonly timeoutMs: number;
  readonly signals: readonly AbortSignal[];
  readonly sender: SenderOptions;
  readonly options: CallOptions;
  readonly request: HttpRequest;
  /** Put into the query only when it is sent, so that nothing else of the program knows it. */
  private readonly parameter: CredentialParameter | undefined;
  /** Whether a byte of the attempt that is under way may have reached the service. */
  private sent = false;

  constructor(sender: SenderOptions, options: CallOptions, request: HttpRequest) {
    this.sender = sender;
    this.options = options;
    this.request = request;
    this.parameter = options.withoutParameter ? undefined : sender.parameter;
    this.timeoutMs = options.timeoutMs ?? sender.timeoutMs;
    this.leftMs = this.timeoutMs;
    this.signals = options.signal ? [sender.signal, options.signal] : [sender.signal];
  }

  /** @throws the reason of the signal, where that was aborted. */
  async attempt(): Promise<Outcome> {
    this.attempts += 1;
    const begun = { atMs: monotonicMs(), leftMs: this.leftMs };
    let request = this.request;
    try {
      for (let redirects = 0; ; redirects += 1) {
        const response = await this.send(request);
        const elapsedMs = this.spend(begun);
        if (!isRedirect(response)) return { request, response, elapsedMs };
        this.sender.onAttempt?.({ request: this.shown(request), response, number: this.attempts, elapsedMs });
        if (redirects === mostRedirects) throw tooManyRedirects();
        request = followRedirect(request, response);
      }
    } catch (error) {
      const elapsedMs = this.spend(begun);
      for (const signal of this.signals) signal.throwIfAborted();
      return { request, error: error as Error, elapsedMs };
    }
  }

  async wait({ delayMs, outsideDeadline }: Delay): Promise<void> {
    const leftMs = outsideDeadline ? Number.POSITIVE_INFINITY : this.leftMs;
    await pause(delayMs, { leftMs, signals: this.signals, timedOut: () => this.timedOut() });
    if (!outsideDeadline) this.leftMs -= delayMs;
  }

  /** The request as it may be shown. */
  shown(request: HttpRequest): HttpRequest {
    return withMaskedParameter(request, this.parameter);
  }

  timedOut(): Error {
    return new UnavailableError(`no answer within ${this.timeoutMs / 1000} s`, {
      reason: 'timeout',
      sent: this.sent,
    });
  }

  private send(request: HttpRequest): Promise<HttpResponse> {
    this.sent = false;
    const whole = withParameter(request, this.parameter);
    return race(this, (cancellation) => this.sender.transport.send(whole, this.sendOptions(cancellation)));
  }

  /** Takes what an attempt has used from the time that was left when it began, and gives it. */
  private spend({ atMs, leftMs }: { readonly atMs: number; readonly leftMs: number }): number {
    const elapsedMs = monotonicMs() - atMs;
    this.leftMs = leftMs - elapsedMs;
    return elapsedMs;
  }

  private sendOptions(cancellation: Cancellation): SendOptions {
    const onSending = () => {
      this.sent = true;
    };
    return { cancellation, maxBytes, onSending };
  }
}

/** An error's body is read for its reason alone. */
function maxBytes(status: number): number {
  return status >= 200 && status < 300 ? maxAnswerBytes : maxErrorBytes;
}

import type { Contract } from '../api/contract.ts';
import {
  fieldValue,
  type HttpFields,
  type HttpRequest,
  type HttpResponse,
  requestIdOf,
  shownUrl,
  type Transport,
} from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import { type Cancellation, type Limits, monotonicMs, race, sleep } from '../process/deadline.ts';
import { type ErrorDetails, type PendingWrite, UnavailableError } from '../process/errors.ts';
import { maskUrl, type Secrets } from '../process/secrets.ts';
import { type CredentialParameter, withMaskedParameter, withParameter } from './request.ts';
import { isRedirect, mayHaveBeenApplied, retryAfter, retryDelay, shouldRetry } from './retry.ts';
import { decoded } from './transport/answer.ts';

/** The service that a client calls, and how. */
export interface ClientOptions {
  readonly contract: Contract;
  /** Without a trailing slash; operation paths are appended to it. */
  readonly baseUrl: string;
  /** Fields for every request: the user agent, those of `--header`, the credential. */
  readonly fields: HttpFields;
  /** A credential in the query of every request. */
  readonly parameter?: CredentialParameter | undefined;
  /** The source of the credential, for messages; undefined if there is none. */
  readonly credential?: string | undefined;
  /** The command line that examines the connection, for hints; by default that of the active profile. */
  readonly doctor?: string | undefined;
  readonly transport: Transport;
  readonly timeoutMs: number;
  readonly retries: number;
  /** Whether a refused connection and an unknown host are retried too. */
  readonly retriesUnreachable?: boolean | undefined;
  /** Aborted when the process is interrupted. */
  readonly signal: AbortSignal;
  /** Holds the writes of this client that may have been applied and are not answered. */
  readonly pendingWrites?: Set<PendingWrite> | undefined;
  /** Masked in every text of the service that an error quotes. */
  readonly secrets: Secrets;
  /** Called with everything that happens, for traces, the waiting line and notices. */
  observe?: ((event: ClientEvent) => void) | undefined;
}

/** What happens in a client: an attempt has ended; an operation was answered; a call that succeeds needs a note. */
export type ClientEvent =
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
  | { readonly kind: 'answer'; readonly operation: Operation; readonly response: HttpResponse }
  | { readonly kind: 'note'; readonly line: string };

/** The options of one call. */
export interface CallOptions {
  /** Sent as If-Match; not by a raw request, which names its own fields. */
  readonly ifMatch?: string | undefined;
  /** Deadline of the whole call in milliseconds, instead of the client's. */
  readonly timeoutMs?: number | undefined;
  /** Most retries, instead of the client's. */
  readonly retries?: number | undefined;
  /** The statuses after which another attempt is made, instead of those of reliability. */
  readonly retriedStatuses?: ReadonlySet<number> | undefined;
  /** A credential in the query in place of the client's; null for none. */
  readonly parameter?: CredentialParameter | null | undefined;
  /** Sends an input that breaks the contract, to see whether the service refuses it. */
  readonly isUnchecked?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The user did not ask for this call: no notice names its endpoint. */
  readonly skipsNotices?: boolean | undefined;
  /**
   * The longest Retry-After to wait for. The wait does not count against the deadline; a longer one ends the call. If
   * undefined, a Retry-After counts against the deadline, and ends the call if it does not fit.
   */
  readonly maxRetryAfterMs?: number | undefined;
  /**
   * Called before each attempt. A promise is awaited and does not count against the deadline: a rate limit, or a shared
   * pause.
   */
  beforeAttempt?(): Promise<void> | undefined;
  afterAttempt?(attempt: Attempt): void;
}

/** A finished attempt, for traces, rate limits and back-off. */
export interface Attempt {
  /** Without a credential in the query. */
  readonly request: HttpRequest;
  /** 1 for the first. */
  readonly number: number;
  readonly elapsedMs: number;
  /** The result: an answer, or the error of the transport. */
  readonly response?: HttpResponse | undefined;
  readonly error?: Error | undefined;
  /** The service's id of the request, secrets masked; undefined if it sent none. */
  readonly requestId?: string | undefined;
  /** The answer's Retry-After, in milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
  /** Milliseconds until the next attempt; undefined if there will be none. */
  readonly nextDelayMs?: number | undefined;
}

/** A request, the attempts to get it answered within one deadline, and their possible effects. */
export class Call implements Limits {
  readonly client: ClientOptions;
  /** Undefined for a raw request. */
  readonly operation: Operation | undefined;
  readonly options: CallOptions;
  /** The current request, redirects followed, without a credential in the query. */
  request: HttpRequest;
  attempts = 0;
  /** Milliseconds until the deadline. */
  leftMs: number;
  /** True if an attempt may have been applied. */
  mayBeApplied = false;
  /** Why there is no further attempt although the status allows one, a clause. */
  note: string | undefined;
  /** The final answer, as it came. */
  response: HttpResponse | undefined;
  /** True for a DELETE that was sent before and now finds nothing: it has succeeded. */
  isGone = false;
  readonly signals: readonly AbortSignal[];
  private readonly first: HttpRequest;
  private readonly timeoutMs: number;
  /** Added to the query only when the request is sent, so that no other part of the program sees it. */
  private readonly parameter: CredentialParameter | undefined;
  /** True if the service may have received a byte of the current attempt. */
  private sent = false;
  /** For the message of an interruption; undefined if the request only reads. */
  private readonly pending: PendingWrite | undefined;

  constructor(client: ClientOptions, request: HttpRequest, options: CallOptions, operation?: Operation) {
    this.client = client;
    this.operation = operation;
    this.options = options;
    this.first = request;
    this.request = request;
    this.parameter = options.parameter === null ? undefined : (options.parameter ?? client.parameter);
    const { method, url } = request;
    this.pending = mayHaveBeenApplied(method, { sent: true }) ? { method, url: shownUrl(url) } : undefined;
    this.timeoutMs = options.timeoutMs ?? client.timeoutMs;
    this.leftMs = this.timeoutMs;
    this.signals = options.signal ? [client.signal, options.signal] : [client.signal];
  }

  /**
   * Sends the request until there is a final answer, perhaps an error: within the deadline, with retries if they are
   * safe and may help, following redirects within one origin. Returns the answer with its content encodings decoded.
   *
   * @throws UnavailableError, whose message is only the reason, if no answer came; the reason of the signal if one was
   *   aborted.
   */
  async send(): Promise<HttpResponse> {
    for (;;) {
      const turn = this.options.beforeAttempt?.();
      if (turn) await turn;
      const attempt = await this.attempt();
      this.client.observe?.({ kind: 'attempt', attempt });
      this.options.afterAttempt?.(attempt);
      const { response, error, nextDelayMs, retryAfterMs } = attempt;
      if (nextDelayMs !== undefined) {
        await sleep(nextDelayMs, ...this.signals);
        const isFree = retryAfterMs !== undefined && this.options.maxRetryAfterMs !== undefined;
        if (!isFree) this.leftMs -= nextDelayMs;
      } else if (!response) throw error;
      else {
        this.accept(response);
        return response.fields['content-encoding'] ? decoded(response) : response;
      }
    }
  }

  /** Runs long work on the answer within the remaining time of the call. */
  within<Value>(work: (cancellation: Cancellation) => Promise<Value>): Promise<Value> {
    this.sent = true;
    return race(this, work);
  }

  timedOut(): Error {
    return new UnavailableError(`no answer within ${seconds(this.timeoutMs)}`, {
      reason: 'timeout',
      sent: this.sent,
    });
  }

  /** The service's id of the request, secrets masked. */
  requestIdIn(fields: HttpFields): string | undefined {
    const id = requestIdOf(fields);
    return id && this.client.secrets.mask(id);
  }

  /** To be called when the outcome is known. */
  end(): void {
    if (this.pending) this.client.pendingWrites?.delete(this.pending);
  }

  /** Sends the request once, and follows redirects. @throws the reason of the signal, if one was aborted. */
  private async attempt(): Promise<Attempt> {
    const { client } = this;
    this.attempts += 1;
    this.request = this.first;
    const startMs = monotonicMs();
    const dueAtMs = startMs + this.leftMs;
    const spend = () => {
      const nowMs = monotonicMs();
      this.leftMs = dueAtMs - nowMs;
      return nowMs - startMs;
    };
    let response: HttpResponse | undefined;
    let error: Error | undefined;
    try {
      for (let redirects = 0; response === undefined; redirects += 1) {
        const answer = await race(this, (cancellation) => this.sendOnce(cancellation));
        if (!isRedirect(answer.status)) response = answer;
        else {
          const elapsedMs = spend();
          const attempt = { request: this.shown(), number: this.attempts, elapsedMs, response: answer };
          client.observe?.({ kind: 'attempt', attempt });
          this.request = followRedirect(this.request, answer, redirects);
        }
      }
    } catch (thrown) {
      for (const signal of this.signals) signal.throwIfAborted();
      error = thrown as Error;
    }
    const elapsedMs = spend();
    this.recordEffects(response, error);
    const retryAfterMs = response && retryAfter(response.fields, Date.now());
    const nextDelayMs = this.delayAfter(response ?? error, retryAfterMs);
    const { attempts: number } = this;
    const requestId = response && this.requestIdIn(response.fields);
    return {
      request: this.shown(),
      number,
      elapsedMs,
      response,
      error,
      requestId,
      retryAfterMs,
      nextDelayMs,
    };
  }

  private sendOnce(cancellation: Cancellation): Promise<HttpResponse> {
    this.sent = false;
    const onSending = () => {
      this.sent = true;
      if (this.pending) this.client.pendingWrites?.add(this.pending);
    };
    return this.client.transport.send(withParameter(this.request, this.parameter), {
      cancellation,
      onSending,
    });
  }

  private recordEffects(response: HttpResponse | undefined, error: Error | undefined): void {
    const sent = response !== undefined || (error instanceof UnavailableError && error.sent);
    this.mayBeApplied ||= mayHaveBeenApplied(this.request.method, response ?? { sent });
    this.sent = false;
    if (!this.mayBeApplied) this.end();
  }

  /** Milliseconds until the next attempt; undefined, perhaps with a note, if there is to be none. */
  private delayAfter(
    ended: HttpResponse | Error | undefined,
    retryAfterMs: number | undefined,
  ): number | undefined {
    const { attempts, leftMs, options, client } = this;
    this.note = undefined;
    if (attempts > (options.retries ?? client.retries)) return undefined;
    const { retriedStatuses: statuses } = options;
    const { retriesUnreachable } = client;
    if (!shouldRetry(this.request.method, ended, { statuses, retriesUnreachable })) return undefined;
    const delayMs = retryDelay(attempts, retryAfterMs);
    const { maxRetryAfterMs } = options;
    if (retryAfterMs !== undefined && maxRetryAfterMs !== undefined) {
      if (retryAfterMs <= maxRetryAfterMs) return delayMs;
      this.note = `the service asks to wait ${seconds(retryAfterMs)}`;
      return undefined;
    }
    if (delayMs < leftMs) return delayMs;
    // If the deadline itself ended the attempt, the error says so.
    if (leftMs > 0 || !(ended instanceof Error)) this.note = noTime(this.timeoutMs, retryAfterMs);
    return undefined;
  }

  private accept(response: HttpResponse): void {
    this.response = response;
    const { method, url } = this.request;
    const { status } = response;
    this.isGone = method === 'DELETE' && (status === 404 || status === 410) && this.mayBeApplied;
    if (!this.isGone) return;
    const line = `note: DELETE ${shownUrl(url)}: answered ${status}, and an earlier attempt may have been applied: the record is gone`;
    this.client.observe?.({ kind: 'note', line });
  }

  /** The request, safe to show. */
  private shown(): HttpRequest {
    return withMaskedParameter(this.request, this.parameter);
  }
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
  if (redirects === maxRedirects) throw redirectError(`redirected more than ${maxRedirects} times`);
  const { status } = response;
  const location = fieldValue(response.fields, 'location');
  const from = new URL(request.url);
  const to =
    location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (!to || !/^https?:$/.test(to.protocol))
    throw redirectError(`answered ${status}, a redirect that names no target`, { status });
  const notFollowed = (why: string) => {
    const isElsewhere = from.origin !== to.origin;
    const hint = isElsewhere ? `if the service has moved there, give --base-url ${to.origin}` : undefined;
    return redirectError(`answered ${status}, a redirect to ${maskUrl(to.href)}; ${why}`, { status, hint });
  };
  if (request.method !== 'GET' && request.method !== 'HEAD') throw notFollowed('a write is never redirected');
  if (to.origin !== from.origin) throw notFollowed('another origin is never followed');
  to.hash = '';
  return { method: request.method, url: to.href, fields: request.fields };
}

function redirectError(message: string, details: ErrorDetails = {}): UnavailableError {
  // A service that redirects a request has not applied it.
  return new UnavailableError(message, { ...details, reason: 'redirect', sent: false, retryable: false });
}

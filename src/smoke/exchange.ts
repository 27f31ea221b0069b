import { isUtf8 } from 'node:buffer';
import { fieldValue, type HttpFields } from '../api/http.ts';
import type { Client, RawRequest } from '../client/client.ts';
import { retryAfter } from '../client/retry.ts';
import { monotonicMs } from '../clock.ts';
import { sleep } from '../deadline.ts';
import { UnavailableError } from '../errors.ts';
import { type JsonValue, parseJson } from '../json.ts';
import type { Details } from './check.ts';

/** A request and the answer that came, whatever its status. */
export interface Exchange {
  readonly request: RawRequest;
  /** Where the answer came from, redirects followed. */
  readonly url: string;
  readonly status: number;
  readonly fields: HttpFields;
  /** What is no UTF-8 in it shows as U+FFFD. */
  readonly text: string;
  readonly isUtf8: boolean;
  /** Of the last attempt. */
  readonly elapsedMs: number;
  /** It took a second attempt. */
  readonly retried: boolean;
  /** Masks the secrets of this run, which a service may send back. */
  mask(text: string): string;
  /** Tells what of the answer could not be checked, a clause: the check that looks at it is no pass then. */
  remark(text: string): void;
}

export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** Leaves out the credential that requests carry in their query. */
  readonly withoutParameter?: boolean | undefined;
  mask?(text: string): string;
  remark?(text: string): void;
}

const pauseMs = 250;
/** Longest that a rate limit of the service may hold one request up. */
const patienceMs = 30_000;
const gatewayStatuses: readonly number[] = [502, 503, 504];

const passing: readonly string[] = ['refused', 'dns', 'reset', 'timeout', 'proxy'];

/**
 * Sends a request, once more where no answer came or a gateway answered 502, 503 or 504. A write may then have been
 * applied twice: whoever sends one must be ready for that.
 *
 * @throws UnavailableError where no answer came.
 */
export async function exchange(
  client: Client,
  request: RawRequest,
  options: SendOptions = {},
): Promise<Exchange> {
  const first = await exchangePatiently(client, request, options).catch((error: unknown) => {
    if (!mayPass(error)) throw error;
    return undefined;
  });
  if (first && !isGatewayStatus(first.status)) return first;
  await pause(pauseMs, options);
  return { ...(await exchangePatiently(client, request, options)), retried: true };
}

/** Sends a request, and again for as long as the service says that it is asked too fast and for how long to wait. */
async function exchangePatiently(
  client: Client,
  request: RawRequest,
  options: SendOptions,
): Promise<Exchange> {
  const endMs = monotonicMs() + patienceMs;
  for (;;) {
    const answer = await exchangeOnce(client, request, options);
    const waitMs = answer.status === 429 ? retryAfter(answer.fields, () => new Date()) : undefined;
    if (waitMs === undefined || monotonicMs() + waitMs > endMs) return answer;
    await pause(Math.max(waitMs, pauseMs), options);
  }
}

/** Sends a request once. */
export async function exchangeOnce(
  client: Client,
  request: RawRequest,
  { mask = same, remark = ignore, signal, timeoutMs, withoutParameter }: SendOptions = {},
): Promise<Exchange> {
  const startedMs = monotonicMs();
  const { url, status, fields, body } = await client.request(request, {
    signal,
    timeoutMs,
    withoutParameter,
    retries: 0,
  });
  const elapsedMs = monotonicMs() - startedMs;
  const bytes = Buffer.from(body);
  const text = bytes.toString('utf8');
  return {
    request,
    url,
    status,
    fields,
    text,
    isUtf8: isUtf8(bytes),
    elapsedMs,
    retried: false,
    mask,
    remark,
  };
}

function pause(ms: number, { signal }: SendOptions): Promise<void> {
  return sleep(ms, ...(signal ? [signal] : []));
}

/** Whether a status is a gateway's word that the service behind it does not answer. */
export function isGatewayStatus(status: number): boolean {
  return gatewayStatuses.includes(status);
}

/** Where a verdict's answer came from, for its report. */
export function detailsOf({ request, url, status }: Exchange): Details {
  return { method: request.method, url, status };
}

/** The media type of an answer, in lower case and without parameters; empty where it names none. */
export function mediaTypeOf({ fields }: Pick<Exchange, 'fields'>): string {
  return (fieldValue(fields, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** The value of an answer's JSON body; undefined where it is none. */
export function jsonOf({ text }: Pick<Exchange, 'text'>): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof UnavailableError && passing.includes(error.reason);
}

function ignore(): void {}

function same(text: string): string {
  return text;
}

import { type HttpResponse, headerValue, withoutParameters } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import { isJsonObject, type JsonValue, parseJson } from '../process/exact-json.ts';
import type { Mask } from '../process/secrets.ts';
import { shorten } from '../process/text.ts';
import { inputFaults } from './input-faults.ts';
import { isMarkup, readMarkup } from './markup.ts';
import { encodingOf } from './transport/response.ts';

// This file reads the body of an error: whose answer it is, and what it says.

/**
 * The author of an error, by its body:
 *
 * - `service`: JSON, or what the description states for this answer, so the service itself has answered;
 * - `gateway`: HTML or other text, so a gateway before the service may have answered;
 * - `unknown`: the body is empty.
 */
export type Author = 'service' | 'gateway' | 'unknown';

/** Returns the author of an error response. @param operation what was called, if that is known. */
export function authorOf({ status, headers, body }: HttpResponse, operation?: Operation): Author {
  if (body.length === 0) return 'unknown';
  const { responses = {} } = operation ?? {};
  const stated = responses[status] ?? responses[`${String(status).charAt(0)}XX`];
  const type = withoutParameters(headerValue(headers, 'content-type') ?? '').toLowerCase();
  if (!isJsonType(type) && stated?.mediaTypes.includes(type)) return 'service';
  const value = tryJson(body);
  // A page such as `404` or `null` is JSON by chance, if no content type says that it is.
  const isJson =
    isJsonType(headerValue(headers, 'content-type')) || (typeof value === 'object' && value !== null);
  return value !== undefined && isJson ? 'service' : 'gateway';
}

/** The error that a service describes in a body of any shape. */
interface DescribedError {
  readonly author: Author;
  /** The service's message. Without one, a sentence of the program. */
  readonly why: string;
  /** The service's own code. */
  readonly code?: string | undefined;
  /** The service's own message, if it sent one. */
  readonly message?: string | undefined;
}

/**
 * Reads the body of an error: `{code, message, status}`, problem details (RFC 9457), other JSON with a message, text, an
 * empty body, or anything else. It never throws.
 *
 * @param mask masks the secrets in the body before the body is cut.
 */
export function readErrorBody(response: HttpResponse, mask: Mask, operation?: Operation): DescribedError {
  const { status, headers, body } = response;
  const author = authorOf(response, operation);
  if (author === 'unknown') {
    const encoding = encodingOf(headers);
    const why = encoding === undefined ? 'with no reason given' : `with a body encoded as ${encoding}`;
    return { author, why: `the answer is ${status}, ${why}` };
  }
  const type = headerValue(headers, 'content-type');
  const value = author === 'service' ? tryJson(body) : undefined;
  const words = messageIn(value);
  if (words !== undefined) {
    const message = oneLine(mask(words));
    const code = codeIn(value);
    return { author, why: message, code: code && oneLine(mask(code), 100), message };
  }
  const what = type === undefined ? 'no content type' : withoutParameters(type);
  if (what === 'text/plain') return { author, why: beginningOf(body, mask) };
  const squid = headerValue(headers, 'x-squid-error');
  const reason = squid === undefined ? '' : ` (${mask(squid)})`;
  return { author, why: `the answer is ${status} with ${what}: ${beginningOf(body, mask)}${reason}` };
}

function tryJson(body: HttpResponse['body']): JsonValue | undefined {
  try {
    return parseJson(bodyText(body));
  } catch {
    return undefined;
  }
}

/** Finds the message in a body of any shape. */
export function messageIn(value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value)) return messageIn(value[0]);
  if (!isJsonObject(value)) return undefined;
  const { message, detail, error_description, title, error, errors } = value;
  const words = [message, detail, error_description, title, error].find(isWords);
  const faults = inputFaults(value);
  if (faults === undefined) return words ?? messageIn(error) ?? messageIn(errors);
  return words === undefined || faults.includes(words) ? faults : `${words.replace(/[.:]$/, '')}: ${faults}`;
}

function codeIn(value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value)) return codeIn(value[0]);
  if (!isJsonObject(value)) return undefined;
  return [value.code, value.error].find(isWords) ?? codeIn(value.error);
}

function isWords(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function oneLine(text: string, most = 1000): string {
  return shorten(text.replace(/\s+/g, ' ').trim(), most);
}

/**
 * Returns the beginning of a body as one line, or of a page its title or its text. Bytes that are not UTF-8 become
 * replacement characters.
 */
export function beginningOf(body: HttpResponse['body'], mask: Mask): string {
  const text = bodyText(body.slice(0, 64 * 1024));
  return oneLine(mask(isMarkup(text) ? readMarkup(text) : text), 200);
}

export function isJsonType(type: string | undefined): boolean {
  if (type === 'application/json') return true;
  return type !== undefined && /^application\/([\w.!#$&^-]+\+)?json$/i.test(withoutParameters(type));
}

export function bodyText(body: HttpResponse['body']): string {
  if (typeof body === 'string') return body;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}

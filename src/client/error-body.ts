import { statedResponse } from '../api/contract.ts';
import { type HttpResponse, headerValue, withoutParameters } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import type { Author } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonIn } from '../process/exact-json.ts';
import type { Mask } from '../process/secrets.ts';
import { shorten } from '../process/text.ts';
import { encodingOf } from './transport/response.ts';

/** Returns who sent an error response, by its body. @param operation undefined for a raw request. */
export function authorOf({ status, headers, body }: HttpResponse, operation?: Operation): Author {
  if (body.length === 0) return 'unknown';
  const stated = operation && statedResponse(operation, status);
  const type = withoutParameters(headerValue(headers, 'content-type') ?? '').toLowerCase();
  if (!isJsonType(type) && stated?.mediaTypes.includes(type)) return 'service';
  const value = jsonIn(bodyText(body));
  // A text such as `404` is JSON by chance, unless the content type says that it is JSON.
  const isJson =
    isJsonType(headerValue(headers, 'content-type')) || (typeof value === 'object' && value !== null);
  return value !== undefined && isJson ? 'service' : 'gateway';
}

/**
 * Reads the body of an error: `{code, message, status}`, problem details (RFC 9457), other JSON with a message, text, an
 * empty body, or anything else. Never throws. `code` and `message` are those of the service. `why` is its message, or else describes
 * the answer.
 *
 * @param mask masks the secrets in the body before the body is cut.
 */
export function readErrorBody(
  { status, headers, body }: HttpResponse,
  author: Author | undefined,
  mask: Mask,
): { readonly why: string; readonly code?: string | undefined; readonly message?: string } {
  const encoding = body.length === 0 ? encodingOf(headers) : undefined;
  if (encoding !== undefined) return { why: `the answer is ${status}, with a body encoded as ${encoding}` };
  const value = author === 'service' ? jsonIn(bodyText(body)) : undefined;
  const bodyMessage = messageIn(value);
  const code = codeIn(value);
  const shownCode = code && oneLine(mask(code), 100);
  if (bodyMessage !== undefined) {
    const message = oneLine(mask(bodyMessage));
    return { why: message, code: shownCode, message };
  }
  if (body.length === 0 || (isJsonObject(value) && typeof value.message === 'string'))
    return { why: `the answer is ${status}, with no reason given`, code: shownCode };
  const type = withoutParameters(headerValue(headers, 'content-type') ?? 'no content type');
  const beginning = beginningOf(body, mask);
  return { why: type === 'text/plain' ? beginning : `the answer is ${status} with ${type}: ${beginning}` };
}

/** The fields that may have a message, in the order in which they are preferred. */
const messageFields = [
  'message',
  'defaultMessage',
  'msg',
  'reason',
  'detail',
  'error_description',
  'title',
  'error',
];

/**
 * Frameworks list the faults of a request, or keep them in an object by field, beside a title that says nothing: ASP.NET and
 * Laravel `errors`, Spring `errors`, Quarkus and API Platform `violations`, FastAPI `detail`, NestJS `message`, RFC 9457
 * `invalid-params`, zod `issues`, Litestar `extra`, Moleculer `data`.
 */
const faultLists = [
  'errors',
  'violations',
  'invalid-params',
  'issues',
  'detail',
  'details',
  'message',
  'extra',
  'data',
];

/** Finds the message in a body of any shape, and the faults of the request, which follow it. */
export function messageIn(value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value) || isText(value)) return faultsIn(value).join('; ') || undefined;
  if (!isJsonObject(value)) return undefined;
  const { message, error } = value;
  const inner = isText(message) && /^\s*[[{]/.test(message) ? jsonIn(message) : undefined;
  if (inner !== undefined) return messageIn({ ...value, message: inner });
  const lists = faultLists.map((name) => value[name]).filter((list) => typeof list === 'object');
  const mainMessage = firstText(value, messageFields);
  // Django has the lists alone, by field.
  const isByField = Object.values(value).every((list) => Array.isArray(list) && list.every(isText));
  const faults = [...new Set(faultsIn(isByField && lists.length === 0 ? value : lists))].join('; ');
  if (faults === '') return mainMessage ?? messageIn(error);
  return mainMessage === undefined || faults.includes(mainMessage)
    ? faults
    : `${mainMessage.replace(/[.:]$/, '')}: ${faults}`;
}

/** Lists the faults in a text, in an object about one field, and in lists and objects of these. */
function faultsIn(value: JsonValue | undefined, field?: string): string[] {
  if (isText(value)) return [named(field, value)];
  if (Array.isArray(value)) return value.flatMap((item) => faultsIn(item, field));
  if (!isJsonObject(value)) return [];
  const text = firstText(value, messageFields);
  if (text === undefined) return Object.entries(value).flatMap(([name, inner]) => faultsIn(inner, name));
  const { path, loc, source } = value;
  const place = [loc, path].find(Array.isArray)?.filter((part) => part !== 'body');
  const pointer = isJsonObject(source) ? source.pointer : undefined;
  const name = firstText(value, ['field', 'propertyPath', 'path', 'key', 'name']);
  return [named(name ?? [place?.join('.'), pointer, field].find(isText), text)];
}

/** Puts the name of a field before a fault that does not name it. */
function named(field: string | undefined, reason: string): string {
  const isNamed = field === undefined || reason.toLowerCase().includes(field.toLowerCase());
  return isNamed ? reason.trim() : `${field}: ${reason.trim()}`;
}

function firstText(value: JsonObject, names: readonly string[]): string | undefined {
  return names.map((name) => value[name]).find(isText);
}

function codeIn(value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value)) return codeIn(value[0]);
  if (!isJsonObject(value)) return undefined;
  return firstText(value, ['code', 'error']) ?? codeIn(value.error);
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function oneLine(text: string, most = 1000): string {
  return shorten(text.replace(/\s+/g, ' ').trim(), most);
}

/** Returns the title of a page, or the beginning of any other body, as one line. Bytes that are not UTF-8 become replacement characters. */
export function beginningOf(body: HttpResponse['body'], mask: Mask): string {
  return oneLine(mask(titleOrText(bodyText(body.slice(0, 64 * 1024)))), 200);
}

/** Returns the title of a page, or another text as it is. */
export function titleOrText(text: string): string {
  return /^\s*</.test(text) ? (/<title[^<>]*>([^<]*[^<\s][^<]*)/i.exec(text)?.[1] ?? text) : text;
}

export function isJsonType(type: string | undefined): boolean {
  if (type === 'application/json') return true;
  return type !== undefined && /^application\/([\w.!#$&^-]+\+)?json$/i.test(withoutParameters(type));
}

export function bodyText(body: HttpResponse['body']): string {
  if (typeof body === 'string') return body;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}

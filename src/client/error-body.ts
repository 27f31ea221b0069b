import { statedResponse } from '../api/contract.ts';
import { type HttpResponse, headerValue, withoutParameters } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import type { Author } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonIn } from '../process/exact-json.ts';
import type { Mask } from '../process/secrets.ts';
import { shorten } from '../process/text.ts';
import { encodingOf } from './transport/response.ts';

// This file reads the body of an error: whose answer it is, and what it says.

/** Returns the author of an error response. @param operation what was called, if that is known. */
export function authorOf({ status, headers, body }: HttpResponse, operation?: Operation): Author {
  if (body.length === 0) return 'unknown';
  const stated = operation && statedResponse(operation, status);
  const type = withoutParameters(headerValue(headers, 'content-type') ?? '').toLowerCase();
  if (!isJsonType(type) && stated?.mediaTypes.includes(type)) return 'service';
  const value = jsonIn(bodyText(body));
  // A page such as `404` or `null` is JSON by chance, if no content type says that it is.
  const isJson =
    isJsonType(headerValue(headers, 'content-type')) || (typeof value === 'object' && value !== null);
  return value !== undefined && isJson ? 'service' : 'gateway';
}

/**
 * Reads the body of an error: `{code, message, status}`, problem details (RFC 9457), other JSON with a message, text, an
 * empty body, or anything else. It never throws. `why` is the service's message, or without one a sentence of the program; `code`
 * and `message` are the service's own.
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
  const words = messageIn(value);
  const code = codeIn(value);
  const shownCode = code && oneLine(mask(code), 100);
  if (words !== undefined) {
    const message = oneLine(mask(words));
    return { why: message, code: shownCode, message };
  }
  if (body.length === 0 || (isJsonObject(value) && typeof value.message === 'string'))
    return { why: `the answer is ${status}, with no reason given`, code: shownCode };
  const type = withoutParameters(headerValue(headers, 'content-type') ?? 'no content type');
  const beginning = beginningOf(body, mask);
  return { why: type === 'text/plain' ? beginning : `the answer is ${status} with ${type}: ${beginning}` };
}

/** The fields of a body that may have a message, in the order in which they are preferred. */
const titles = ['message', 'detail', 'error_description', 'title', 'error'];

/**
 * Frameworks put what is wrong with a request into a list or an object by field, next to a title that says nothing: ASP.NET and
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

/** Finds the message in a body of any shape. What is wrong with the request follows it. */
export function messageIn(value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value) || isWords(value)) return faultsIn(value).join('; ') || undefined;
  if (!isJsonObject(value)) return undefined;
  const { message, error } = value;
  const inner = isWords(message) && /^\s*[[{]/.test(message) ? jsonIn(message) : undefined;
  if (inner !== undefined) return messageIn({ ...value, message: inner });
  const lists = faultLists.map((name) => value[name]).filter((list) => typeof list === 'object');
  const words = firstWords(value, titles);
  // Django has the lists alone, by field.
  const isByField = Object.values(value).every((list) => Array.isArray(list) && list.every(isWords));
  const faults = [...new Set(faultsIn(isByField && lists.length === 0 ? value : lists))].join('; ');
  if (faults === '') return words ?? messageIn(error);
  return words === undefined || faults.includes(words) ? faults : `${words.replace(/[.:]$/, '')}: ${faults}`;
}

/** Lists what is wrong, in a text, an object that says it of one field, and whatever holds such. */
function faultsIn(value: JsonValue | undefined, field?: string): string[] {
  if (isWords(value)) return [named(field, value)];
  if (Array.isArray(value)) return value.flatMap((item) => faultsIn(item, field));
  if (!isJsonObject(value)) return [];
  const text = firstWords(value, ['message', 'defaultMessage', 'msg', 'reason', 'detail', 'title']);
  if (text === undefined) return Object.entries(value).flatMap(([name, inner]) => faultsIn(inner, name));
  const { path, loc, source } = value;
  const place = [loc, path].find(Array.isArray)?.filter((part) => part !== 'body');
  const pointer = isJsonObject(source) ? source.pointer : undefined;
  const name = firstWords(value, ['field', 'propertyPath', 'path', 'key', 'name']);
  return [named(name ?? [place?.join('.'), pointer, field].find(isWords), text)];
}

/** Puts the name of a field before a reason that does not name it. */
function named(field: string | undefined, reason: string): string {
  const isNamed = field === undefined || reason.toLowerCase().includes(field.toLowerCase());
  return isNamed ? reason.trim() : `${field}: ${reason.trim()}`;
}

function firstWords(value: JsonObject, names: readonly string[]): string | undefined {
  return names.map((name) => value[name]).find(isWords);
}

function codeIn(value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value)) return codeIn(value[0]);
  if (!isJsonObject(value)) return undefined;
  return firstWords(value, ['code', 'error']) ?? codeIn(value.error);
}

function isWords(value: JsonValue | undefined): value is string {
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

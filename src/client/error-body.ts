import { fieldValue, type HttpResponse } from '../api/http.ts';
import { isJsonObject, type JsonValue, parseJson } from '../json.ts';
import { decodeBody, excerpt, isJsonType, maxErrorBytes, mediaType } from './body.ts';

/** What a service said of an error, in whatever shape it said it. */
export interface Refusal {
  /** Its message with the status, or what came in place of one. */
  readonly why: string;
  /** The service's own code. */
  readonly code: string | undefined;
  /** The service's own message, bare. */
  readonly message?: string | undefined;
}

/**
 * Reads an error's body: the service's own `{code, message, status}`, problem details (RFC 9457), other JSON that holds a
 * message, text, nothing, or garbage. Never throws.
 */
export async function readRefusal(response: HttpResponse): Promise<Refusal> {
  const { status } = response;
  const bytes = await decodeBody(response, maxErrorBytes).catch(() => new Uint8Array());
  if (bytes.length === 0) return { why: `answered ${status}, with no reason given`, code: undefined };
  const type = fieldValue(response.fields, 'content-type');
  const value = type === undefined || isJsonType(type) ? tryJson(bytes) : undefined;
  const message = value === undefined ? undefined : messageIn(value);
  if (message !== undefined) return described(message, status, codeIn(value));
  const text = excerpt(bytes);
  if (type !== undefined && mediaType(type) === 'text/plain') return described(text, status);
  const what = type === undefined ? 'no content type' : mediaType(type);
  return { why: `answered ${status} with ${what}: ${text}`, code: undefined };
}

function described(message: string, status: number, code?: string): Refusal {
  return { why: `${message} (${code === undefined ? status : `${status} ${code}`})`, code, message };
}

function tryJson(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

function messageIn(value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value)) return messageIn(value[0]);
  if (!isJsonObject(value)) return undefined;
  const { message, detail, error_description, title, error, errors } = value;
  const found = [message, detail, error_description, title, error].find(isWords);
  return found === undefined ? (messageIn(error) ?? messageIn(errors)) : oneLine(found);
}

function codeIn(value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value)) return codeIn(value[0]);
  if (!isJsonObject(value)) return undefined;
  const found = [value.code, value.error].find(isWords);
  return found === undefined ? codeIn(value.error) : oneLine(found).slice(0, 100);
}

function isWords(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function oneLine(text: string): string {
  const most = 1000;
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most)}...` : line;
}

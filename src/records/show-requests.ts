import { type HttpRequest, headerLines, shownUrl } from '../api/http.ts';
import { type JsonValue, printJson } from '../process/exact-json.ts';
import { sanitize } from '../process/text.ts';
import { jsonOrText } from './parse-values.ts';

/** Makes requests an output, to be printed and not sent: as on the wire, or as data in the structured formats. */
export function toRequestDocuments(requests: readonly HttpRequest[]): {
  readonly documents: readonly unknown[];
  readonly text: string;
} {
  return { documents: requests.map(toDocument), text: requests.map(requestText).join('\n') };
}

function toDocument(request: HttpRequest) {
  const body = bodyOf(request);
  return {
    method: request.method,
    url: shownUrl(request.url),
    headers: request.headers,
    ...(body === undefined ? {} : { body }),
  };
}

/** Returns a request as on the wire, with indented JSON and visible control characters. */
function requestText(request: HttpRequest): string {
  const requestLine = `${request.method} ${shownUrl(request.url)}`;
  const lines = [requestLine, ...headerLines(request.headers)].map((line) => `${sanitize(line)}\n`);
  const body = bodyOf(request);
  return lines.join('') + (body === undefined ? '' : `\n${printJson(body, 2)}\n`);
}

/** Returns the JSON value of a body, or its text. */
function bodyOf({ body }: HttpRequest): JsonValue | undefined {
  if (body === undefined) return undefined;
  return jsonOrText(typeof body === 'string' ? body : Buffer.from(body).toString());
}

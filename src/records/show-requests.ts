import { type HttpRequest, headerLines, shownUrl } from '../api/http.ts';
import type { Context } from '../context.ts';
import { type JsonValue, printJson } from '../process/exact-json.ts';
import { sanitize } from '../process/text.ts';
import { jsonOrText } from './parse-values.ts';

/**
 * Shows requests without sending them: as text like on the wire, or as data in the structured formats.
 *
 * @param asList print a list, even of one.
 */
export async function showRequests(
  context: Context,
  requests: readonly HttpRequest[],
  asList = false,
): Promise<void> {
  const printer = await context.printer();
  await printer.documents(requests.map(toDocument), requests.map(requestText).join('\n'), asList);
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

/** A request as on the wire, its JSON indented, everything safe to show. */
function requestText(request: HttpRequest): string {
  const requestLine = `${request.method} ${shownUrl(request.url)}`;
  const lines = [requestLine, ...headerLines(request.headers)].map((line) => `${sanitize(line)}\n`);
  const body = bodyOf(request);
  return lines.join('') + (body === undefined ? '' : `\n${printJson(body, 2)}\n`);
}

/** The JSON value of a body, or its text. */
function bodyOf({ body }: HttpRequest): JsonValue | undefined {
  if (body === undefined) return undefined;
  return jsonOrText(typeof body === 'string' ? body : Buffer.from(body).toString());
}

import { type HttpHeaders, type HttpRequest, headerLines, shownUrl } from '../api/http.ts';
import { type JsonValue, jsonIn, printJson } from '../process/exact-json.ts';
import type { Secrets } from '../process/secrets.ts';
import { sanitize } from '../process/text.ts';
import type { Attempt } from './answer-table.ts';

/**
 * Formats an attempt for `-v` as one line. For `-vv` it adds the headers of the request and of the response, with
 * credentials masked.
 *
 * @param level 1 for `-v`, 2 for `-vv`.
 */
export function traceOf(attempt: Attempt, level: number, secrets: Secrets): string {
  const { request, response } = attempt;
  const lines = [`* ${request.method} ${shownUrl(request.url)} -> ${shownResult(attempt)}`];
  if (level > 1)
    lines.push(
      ...directedLines('>', request.headers, secrets),
      ...directedLines('<', response?.headers ?? {}, secrets),
    );
  return lines.map((line) => `${sanitize(secrets.mask(line))}\n`).join('');
}

function shownResult({ response, error, number, elapsedMs, nextDelayMs }: Attempt): string {
  const result = response ? `${response.status}` : (error?.message ?? 'no answer');
  const count = number > 1 || nextDelayMs !== undefined ? `, attempt ${number}` : '';
  const next = nextDelayMs === undefined ? '' : `, next in ${(nextDelayMs / 1000).toFixed(2)} s`;
  return `${result} in ${Math.round(elapsedMs)} ms${count}${next}`;
}

function directedLines(direction: '>' | '<', headers: HttpHeaders, { maskHeaders }: Secrets): string[] {
  return headerLines(maskHeaders(headers)).map((line) => `${direction} ${line}`);
}

/**
 * Turns requests into the output of a dry run: the text as on the wire, or data for the structured formats.
 *
 * @param asList whether a single request is a list too.
 */
export function requestsOutput(requests: readonly HttpRequest[], asList: boolean) {
  const documents = requests.map(toDocument);
  const data = documents.length === 1 && !asList ? documents[0] : documents;
  return { kind: 'text', text: requests.map(requestText).join('\n'), data } as const;
}

function toDocument(request: HttpRequest) {
  const body = shownBody(request);
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
  const body = shownBody(request);
  return lines.join('') + (body === undefined ? '' : `\n${printJson(body, 2)}\n`);
}

/** Returns the JSON value of a body, or its text. */
function shownBody({ body }: HttpRequest): JsonValue | undefined {
  if (body === undefined) return undefined;
  const text = typeof body === 'string' ? body : Buffer.from(body).toString();
  return jsonIn(text) ?? text;
}

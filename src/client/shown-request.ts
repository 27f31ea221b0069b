import { type HttpHeaders, type HttpRequest, headerLines, shownUrl } from '../api/http.ts';
import { jsonIn, printJson } from '../process/exact-json.ts';
import type { Secrets } from '../process/secrets.ts';
import { sanitize } from '../process/text.ts';
import type { Attempt } from './answer-table.ts';

// What the user sees of requests: a dry run shows them as they would be sent, and `-v` tells what became of each.

/**
 * Turns requests into the output of a dry run: the text as on the wire, or data for the structured formats.
 *
 * @param asList whether a single request is a list too.
 */
export function dryRunOutput(requests: readonly HttpRequest[], asList: boolean) {
  const documents = requests.map((request) => {
    const { method, url, headers } = request;
    const text = bodyTextOf(request);
    return { method, url: shownUrl(url), headers, ...(text !== undefined && { body: jsonIn(text) ?? text }) };
  });
  const data = documents.length === 1 && !asList ? documents[0] : documents;
  return { kind: 'text', text: requests.map(wireText).join('\n'), data } as const;
}

function bodyTextOf({ body }: HttpRequest): string | undefined {
  return typeof body === 'object' ? Buffer.from(body).toString() : body;
}

/** Returns a request as on the wire, with indented JSON and visible control characters. */
function wireText(request: HttpRequest): string {
  const { method, url, headers } = request;
  const head = [`${method} ${shownUrl(url)}`, ...headerLines(headers)].map((line) => `${sanitize(line)}\n`);
  const text = bodyTextOf(request);
  if (text === undefined) return head.join('');
  const json = jsonIn(text);
  const body = json === undefined ? sanitize(text, '\t\n').trimEnd() : printJson(json, 2);
  return `${head.join('')}\n${body}\n`;
}

/**
 * Formats an attempt for `-v` as one line. For `-vv` it adds the headers of the request and of the response, with credentials masked.
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

/** Returns what became of an attempt: `504 from a gateway in 12 ms`. */
function shownResult({ response, sender, error, number, elapsedMs, nextDelayMs }: Attempt): string {
  const from = sender === 'gateway' ? ' from a gateway' : '';
  const result = response ? `${response.status}${from}` : (error?.message ?? 'no answer');
  const count = number > 1 || nextDelayMs !== undefined ? `, attempt ${number}` : '';
  const next = nextDelayMs === undefined ? '' : `, next in ${(nextDelayMs / 1000).toFixed(2)} s`;
  return `${result} in ${Math.round(elapsedMs)} ms${count}${next}`;
}

function directedLines(direction: '>' | '<', headers: HttpHeaders, { maskHeaders }: Secrets): string[] {
  return headerLines(maskHeaders(headers)).map((line) => `${direction} ${line}`);
}

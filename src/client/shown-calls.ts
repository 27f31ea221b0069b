import { type HttpHeaders, headerLines, shownUrl } from '../api/http.ts';
import type { Secrets } from '../process/secrets.ts';
import { sanitize } from '../process/text.ts';
import type { Attempt } from './attempt.ts';

/**
 * Formats an attempt for `-v` as one line. For `-vv` it adds the headers of the request and of the response, with
 * credentials masked.
 *
 * @param level 1 for `-v`, 2 for `-vv`.
 */
export function traceOf(attempt: Attempt, level: number, secrets: Secrets): string {
  const { request, response } = attempt;
  const lines = [`* ${request.method} ${shownUrl(request.url)} -> ${resultOf(attempt)}`];
  if (level > 1)
    lines.push(
      ...directedLines('>', request.headers, secrets),
      ...directedLines('<', response?.headers ?? {}, secrets),
    );
  return lines.map((line) => `${sanitize(secrets.mask(line))}\n`).join('');
}

function resultOf({ response, error, number, elapsedMs, nextDelayMs }: Attempt): string {
  const result = response ? `${response.status}` : (error?.message ?? 'no answer');
  const count = number > 1 || nextDelayMs !== undefined ? `, attempt ${number}` : '';
  const next = nextDelayMs === undefined ? '' : `, next in ${(nextDelayMs / 1000).toFixed(2)} s`;
  return `${result} in ${Math.round(elapsedMs)} ms${count}${next}`;
}

function directedLines(direction: '>' | '<', headers: HttpHeaders, { maskHeaders }: Secrets): string[] {
  return headerLines(maskHeaders(headers)).map((line) => `${direction} ${line}`);
}

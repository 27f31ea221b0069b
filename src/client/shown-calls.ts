import { type HttpHeaders, headerLines, shownUrl } from '../api/http.ts';
import type { LiveLine } from '../output/streams.ts';
import { monotonicMs } from '../process/deadline.ts';
import type { Secrets } from '../process/secrets.ts';
import { sanitize } from '../process/text.ts';
import type { Attempt } from './attempt.ts';
import type { ClientEvent } from './call.ts';

// What people see of calls while they run: the line that says what is waited for, and the trace of -v.

/**
 * Shows on the live line what the calls of a client wait for, once that takes more than a second.
 *
 * @param host of the service that should answer.
 * @returns the observer of the client.
 */
export function showWaiting(line: LiveLine, host: string): (event: ClientEvent) => void {
  let calls = 0;
  let sinceMs = 0;
  let retry = '';
  let hide = () => {};
  const text = () => {
    const seconds = Math.floor((monotonicMs() - sinceMs) / 1000);
    return seconds === 0 ? undefined : `waiting for ${sanitize(host)} ${seconds} s${retry}`;
  };
  return (event) => {
    if (event.kind === 'begin') {
      calls += 1;
      if (calls > 1) return;
      sinceMs = monotonicMs();
      hide = line.show(text);
    } else if (event.kind === 'end') {
      calls -= 1;
      sinceMs = monotonicMs();
      retry = '';
      if (calls === 0) hide();
    } else if (event.kind === 'attempt' && event.attempt.nextDelayMs !== undefined) {
      const { number, response } = event.attempt;
      retry = `, attempt ${number + 1} after ${response ? `status ${response.status}` : 'no answer'}`;
    }
  };
}

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

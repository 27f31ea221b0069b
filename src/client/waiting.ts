import type { LiveLine } from '../output/streams.ts';
import { monotonicMs } from '../process/deadline.ts';
import { sanitize } from '../process/text.ts';
import type { ClientEvent } from './call.ts';

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

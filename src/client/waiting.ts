import type { LiveLine } from '../output/live-line.ts';
import { monotonicMs } from '../process/deadline.ts';
import { sanitize } from '../process/text.ts';
import type { ClientEvent } from './call.ts';
import type { Client } from './client.ts';

/** Shows on the live line what a client waits for, once that takes more than a second. */
interface Waiting {
  /** The same client, with its calls shown. */
  follow(client: Client): Client;
  observe(event: ClientEvent): void;
}

/** @param host of the service that should answer. */
export function createWaiting(line: LiveLine, host: string): Waiting {
  let retry = '';
  const during = async <Value>(work: Promise<Value>): Promise<Value> => {
    const since = monotonicMs();
    const hide = line.show(() => {
      const seconds = Math.floor((monotonicMs() - since) / 1000);
      return seconds === 0 ? undefined : `waiting for ${sanitize(host)} ${seconds} s${retry}`;
    });
    try {
      return await work;
    } finally {
      hide();
      retry = '';
    }
  };
  async function* duringPages<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
    const iterator = pages[Symbol.asyncIterator]();
    try {
      for (let next = await during(iterator.next()); !next.done; next = await during(iterator.next())) {
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return {
    follow: (client) => ({
      ...client,
      call: (...call) => during(client.call(...call)),
      list: (...list) => duringPages(client.list(...list)),
      request: (...request) => during(client.request(...request)),
    }),
    observe(event) {
      if (event.kind !== 'attempt' || event.attempt.nextDelayMs === undefined) return;
      const { number, response } = event.attempt;
      retry = `, attempt ${number + 1} after ${response ? `status ${response.status}` : 'no answer'}`;
    },
  };
}

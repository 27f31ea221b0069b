import type { Attempt, Client } from '../client/client.ts';
import { monotonicMs } from '../clock.ts';
import type { Io } from '../io.ts';
import { sanitize } from '../text.ts';
import { canDrawBar } from './progress.ts';
import type { StatusLine } from './status-line.ts';

/** Says on the terminal what a command waits for, as soon as that takes more than a second. */
export interface Waiting {
  during<Value>(work: Promise<Value>): Promise<Value>;
  duringPages<Page>(pages: AsyncIterable<Page>): AsyncIterable<Page>;
  /** Told how each attempt ended. */
  note(attempt: Attempt): void;
}

interface WaitingOptions {
  /** Whose answer is awaited: the host of the service. */
  readonly host: string;
  readonly quiet: boolean;
}

const delayMs = 1000;

/** Undefined where there is nobody to say it to. */
export function createWaiting(io: Io, line: StatusLine, options: WaitingOptions): Waiting | undefined {
  if (options.quiet || !canDrawBar(io)) return undefined;
  let remark = '';
  const draw = (since: number) => {
    if (line.isTaken) return;
    const seconds = Math.floor((monotonicMs() - since) / 1000);
    const text = `waiting for ${sanitize(options.host)} ${seconds} s${remark}`;
    line.show(text.slice(0, (io.stderr.columns ?? 80) - 1));
  };
  const during = async <Value>(work: Promise<Value>): Promise<Value> => {
    const since = monotonicMs();
    const timer = setInterval(() => draw(since), delayMs);
    timer.unref();
    try {
      return await work;
    } finally {
      clearInterval(timer);
      remark = '';
      if (!line.isTaken) line.clear();
    }
  };
  return {
    during,
    async *duringPages(pages) {
      const iterator = pages[Symbol.asyncIterator]();
      try {
        for (let next = await during(iterator.next()); !next.done; next = await during(iterator.next())) {
          yield next.value;
        }
      } finally {
        await iterator.return?.();
      }
    },
    note({ number, response, nextDelayMs }) {
      if (nextDelayMs === undefined) return;
      const why = response ? `status ${response.status}` : 'no answer';
      remark = `, attempt ${number + 1} after ${why}`;
    },
  };
}

/** The same client, and what it waits for is said. */
export function withWaiting(client: Client, waiting: Waiting): Client {
  return {
    ...client,
    call: (...call) => waiting.during(client.call(...call)),
    list: (...list) => waiting.duringPages(client.list(...list)),
    request: (...request) => waiting.during(client.request(...request)),
  };
}

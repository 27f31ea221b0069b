import type { Attempt, Client } from '../client/client.ts';
import { monotonicMs } from '../clock.ts';
import { type Io, withWrite } from '../io.ts';
import { sanitize } from '../text.ts';

/** The live line: one line at the end of the terminal that shows the current activity. */
export interface StatusLine {
  /** Draws or redraws the line; the text must fit the terminal. */
  show(text: string): void;
  clear(): void;
  /** Reserves the line for one activity until the returned function is called; waiting is not shown meanwhile. */
  take(): () => void;
  readonly isTaken: boolean;
}

const eraseLine = '\r\x1b[K';

/**
 * Erases a line of `width` columns. If the terminal was narrowed meanwhile, it has wrapped the line over several. Only
 * xterm cuts it instead, and there the line above belongs to other output.
 */
function erase(width: number, { stderr, env }: Io): string {
  const columns = stderr.columns ?? width;
  const folds = env.XTERM_VERSION || width === 0 ? 0 : Math.ceil(width / columns) - 1;
  return folds > 0 ? `\r\x1b[${folds}A\x1b[J` : eraseLine;
}

/** The columns of a line: one for each character outside colour sequences. */
function widthOf(text: string): number {
  return Array.from(text.replace(/\x1b\[[\d;]*m/g, '')).length;
}

/** The live line, and streams for all other output, which erase the line before they write to the terminal. */
export function createStatusLine(io: Io): { readonly io: Io; readonly line: StatusLine } {
  let width: number | undefined;
  let takers = 0;
  const draw = (text: string) => void io.stderr.write(text).catch(() => {});
  const line: StatusLine = {
    show(text) {
      draw(`${erase(width ?? 0, io)}${text}`);
      width = widthOf(text);
    },
    clear() {
      if (width !== undefined) draw(erase(width, io));
      width = undefined;
    },
    take() {
      takers += 1;
      return () => {
        takers -= 1;
        line.clear();
      };
    },
    get isTaken() {
      return takers > 0;
    },
  };
  const stdout = withWrite(io.stdout, (...written) => {
    if (io.stdout.isTerminal) line.clear();
    return io.stdout.write(...written);
  });
  const stderr = withWrite(io.stderr, (...written) => {
    line.clear();
    return io.stderr.write(...written);
  });
  return { io: { ...io, stdout, stderr }, line };
}

/** Whether stderr is a terminal on which a line can be redrawn. */
export function canDrawBar({ stderr, env }: Io): boolean {
  return stderr.isTerminal && !env.CI && env.TERM !== 'dumb';
}

/** Shows on the terminal what a command waits for, once that takes more than a second. */
export interface Waiting {
  during<Value>(work: Promise<Value>): Promise<Value>;
  duringPages<Page>(pages: AsyncIterable<Page>): AsyncIterable<Page>;
  /** To be called after each attempt. */
  note(attempt: Attempt): void;
}

interface WaitingOptions {
  /** The host of the service that should answer. */
  readonly host: string;
  readonly quiet: boolean;
}

const delayMs = 1000;

/** Undefined if stderr cannot show it. */
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

/** The same client, which also shows what it waits for. */
export function withWaiting(client: Client, waiting: Waiting): Client {
  return {
    ...client,
    call: (...call) => waiting.during(client.call(...call)),
    list: (...list) => waiting.duringPages(client.list(...list)),
    request: (...request) => waiting.during(client.request(...request)),
  };
}

import type { Io } from '../io.ts';
import { canDrawBar, startProgress } from './progress.ts';
import type { StatusLine } from './status-line.ts';
import { plainStyle } from './style.ts';

export type Pages<Row> = AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>;

interface ProgressOptions {
  readonly statusLine?: StatusLine | undefined;
  readonly quiet: boolean;
  readonly sort: string | undefined;
  /** What is counted. */
  readonly noun: string;
}

/** The same pages; a person who sees none of them, for they go to a file or are still to be sorted, sees their number. */
export async function* withProgress<Row>(
  pages: Pages<Row>,
  io: Io,
  { statusLine, quiet, sort, noun }: ProgressOptions,
): AsyncGenerator<readonly Row[]> {
  const isBlind = sort !== undefined || io.stdout.isFile;
  let done = 0;
  const progress =
    statusLine && !statusLine.isTaken && !quiet && canDrawBar(io) && isBlind
      ? startProgress(io, statusLine, {
          mode: 'bar',
          label: 'reading',
          unit: noun,
          style: plainStyle,
          delayMs: 1000,
          read: () => ({ done }),
        })
      : undefined;
  try {
    for await (const page of pages) {
      done += page.length;
      yield page;
    }
  } finally {
    await progress?.stop();
  }
}

export async function* sorted<Row>(
  pages: Pages<Row>,
  compare: (one: Row, other: Row) => number,
): AsyncGenerator<Row[]> {
  const rows: Row[] = [];
  for await (const page of pages) for (const row of page) rows.push(row);
  yield rows.sort(compare);
}

/** The pages up to the last of so many rows; none is asked for beyond it. */
export async function* firstOf<Row>(pages: Pages<Row>, limit: number): AsyncGenerator<readonly Row[]> {
  let left = limit;
  for await (const page of pages) {
    yield page.slice(0, left);
    left -= page.length;
    if (left <= 0) return;
  }
}

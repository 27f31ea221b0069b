import { monotonicMs, withDeadline } from '../deadline.ts';
import type { Io } from '../io.ts';
import type { LiveLine } from './live-line.ts';
import { startProgress } from './progress.ts';
import { plainStyle } from './style.ts';

export type Pages<Row> = AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>;

/** The same pages, counted on the live line. */
export async function* withProgress<Row>(
  pages: Pages<Row>,
  io: Io,
  line: LiveLine,
  noun: string,
): AsyncGenerator<readonly Row[]> {
  let done = 0;
  const progress = startProgress(io, line, {
    mode: 'auto',
    label: 'reading',
    unit: noun,
    style: plainStyle,
    delayMs: 1000,
    read: () => ({ done }),
  });
  try {
    for await (const page of pages) {
      done += page.length;
      yield page;
    }
  } finally {
    await progress.stop();
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

/** The pages with the first `limit` rows; requests no page after those. */
export async function* firstOf<Row>(pages: Pages<Row>, limit: number): AsyncGenerator<readonly Row[]> {
  let left = limit;
  for await (const page of pages) {
    yield page.slice(0, left);
    left -= page.length;
    if (left <= 0) return;
  }
}

/**
 * The same rows in larger pages, so that more rows share their column widths: up to `leastRows`, or the rows that
 * arrive within 300 ms of the first.
 */
export async function* joined<Row>(pages: Pages<Row>): AsyncGenerator<readonly Row[]> {
  const iterator = (async function* () {
    yield* pages;
  })();
  let held: readonly Row[] = [];
  let next: Promise<IteratorResult<readonly Row[]>> | undefined;
  let until = 0;
  try {
    while (true) {
      next ??= iterator.next();
      const result =
        held.length === 0
          ? await next
          : await withDeadline(next, Math.max(0, until - monotonicMs()), () => undefined);
      if (result?.done) return;
      if (result) {
        next = undefined;
        if (held.length === 0) until = monotonicMs() + joinMs;
        held = held.concat(result.value);
      }
      if (result && held.length < leastRows) continue;
      const page = held;
      held = [];
      yield page;
    }
  } finally {
    // The reader left while a page was pending: nobody else handles its error.
    next?.catch(() => {});
    iterator.return(undefined).catch(() => {});
    // Show the rows that have arrived, even if the rest fails.
    if (held.length > 0) yield held;
  }
}

const leastRows = 50;
const joinMs = 300;

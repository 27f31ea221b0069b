import { monotonicMs, withDeadline } from '../process/deadline.ts';
import type { Io } from '../process/io.ts';
import type { LiveLine } from './live-line.ts';
import { startProgress } from './progress.ts';
import { plainStyle } from './style.ts';

export type Pages<Entity> = AsyncIterable<readonly Entity[]> | Iterable<readonly Entity[]>;

/** The same pages, counted on the live line. */
export async function* withCount<Entity>(
  pages: Pages<Entity>,
  io: Io,
  line: LiveLine,
  noun: string,
): AsyncGenerator<readonly Entity[]> {
  let done = 0;
  const stopProgress = startProgress(io, line, {
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
    await stopProgress();
  }
}

export async function* sorted<Entity>(
  pages: Pages<Entity>,
  compare: (one: Entity, other: Entity) => number,
): AsyncGenerator<Entity[]> {
  const records: Entity[] = [];
  for await (const page of pages) for (const record of page) records.push(record);
  yield records.sort(compare);
}

/** The pages with the first `limit` records; requests no page after those. */
export async function* firstOf<Entity>(
  pages: Pages<Entity>,
  limit: number,
): AsyncGenerator<readonly Entity[]> {
  let left = limit;
  for await (const page of pages) {
    yield page.slice(0, left);
    left -= page.length;
    if (left <= 0) return;
  }
}

/** Records that a joined page has at least, unless they take longer than `joinMs` to arrive. */
const leastRecords = 50;
const joinMs = 300;

/** The same records in larger pages, so that more of them share their column widths. */
export async function* joined<Entity>(pages: Pages<Entity>): AsyncGenerator<readonly Entity[]> {
  const iterator = (async function* () {
    yield* pages;
  })();
  let held: readonly Entity[] = [];
  let next: Promise<IteratorResult<readonly Entity[]>> | undefined;
  let until = 0;
  try {
    while (true) {
      next ??= iterator.next();
      const leftMs = held.length === 0 ? Number.POSITIVE_INFINITY : Math.max(0, until - monotonicMs());
      const result = await withDeadline(next, leftMs, () => undefined);
      if (result?.done) return;
      if (result) {
        next = undefined;
        if (held.length === 0) until = monotonicMs() + joinMs;
        held = held.concat(result.value);
        if (held.length < leastRecords) continue;
      }
      const page = held;
      held = [];
      yield page;
    }
  } finally {
    // The reader left while a page was pending: nobody else handles its error.
    next?.catch(() => {});
    iterator.return(undefined).catch(() => {});
    // Show the records that have arrived, even if the rest fails.
    if (held.length > 0) yield held;
  }
}

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

/** Records in pages of 1,000. */
export function* inPages<Entity>(records: Iterable<Entity>): Generator<Entity[]> {
  let page: Entity[] = [];
  for (const record of records) {
    page.push(record);
    if (page.length < 1000) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

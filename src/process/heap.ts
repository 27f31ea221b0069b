import { setFlagsFromString } from 'node:v8';

/** An input of more bytes than this has so many rows that memory matters: 100,000 rows of counts. */
const largeInputBytes = 2 ** 20;

/**
 * Does the work on an input. If the input is large, V8 collects garbage when the heap has grown by a third: by default it waits
 * until it is three to four times as large as what is in use (`bench/README.md`). The flag is reset afterwards, because V8
 * refuses code caches that were created under other flags; for the same reason a small input does without.
 *
 * @param size the bytes of the input.
 */
export async function inSmallHeap<Result>(size: number, work: () => Promise<Result>): Promise<Result> {
  if (size < largeInputBytes) return work();
  setFlagsFromString('--heap-growing-percent=33');
  try {
    return await work();
  } finally {
    setFlagsFromString('--heap-growing-percent=0');
  }
}

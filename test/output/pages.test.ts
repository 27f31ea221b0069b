import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { joined } from '../../src/output/pages.ts';

// One clock for all tests: the deadlines of the program share one timer.
beforeAll(() => {
  vi.useFakeTimers();
});
afterAll(() => {
  vi.useRealTimers();
});

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

async function collect<Entity>(pages: AsyncIterable<readonly Entity[]>): Promise<(readonly Entity[])[]> {
  const all: (readonly Entity[])[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

test('small pages are joined, large ones stay as they are', async () => {
  expect(await collect(joined([[1], [2], [], [3]]))).toEqual([[1, 2, 3]]);
  expect(await collect(joined([numbers(60), numbers(70), [1]]))).toEqual([numbers(60), numbers(70), [1]]);
  expect(await collect(joined([]))).toEqual([]);
});

test('records wait at most 300 ms for more', async () => {
  const seen: (readonly number[])[] = [];
  const reading = (async () => {
    for await (const page of joined(slow())) seen.push(page);
  })();
  async function* slow() {
    yield [1];
    await wait(200);
    yield [2];
    await wait(5000);
    yield [3];
  }
  await vi.advanceTimersByTimeAsync(299);
  expect(seen).toEqual([]);
  await vi.advanceTimersByTimeAsync(2);
  expect(seen).toEqual([[1, 2]]);
  await vi.advanceTimersByTimeAsync(5000);
  await reading;
  expect(seen).toEqual([[1, 2], [3]]);
});

test('records that arrived before an error are passed on before it', async () => {
  async function* failing() {
    yield [1];
    throw new Error('page 2');
  }
  const seen: (readonly number[])[] = [];
  const reading = (async () => {
    for await (const page of joined(failing())) seen.push(page);
  })();
  await expect(reading).rejects.toThrow('page 2');
  expect(seen).toEqual([[1]]);
});

test('leaving the loop closes the pages once', async () => {
  let closed = 0;
  async function* pages() {
    try {
      while (true) yield numbers(60);
    } finally {
      closed += 1;
    }
  }
  for await (const page of joined(pages())) {
    expect(page).toHaveLength(60);
    break;
  }
  await vi.advanceTimersByTimeAsync(1);
  expect(closed).toBe(1);
});

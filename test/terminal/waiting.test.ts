import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { createLiveLine } from '../../src/output/live-line.ts';
import { createWaiting } from '../../src/output/waiting.ts';
import { fakeIo } from '../helpers/run-cli.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** A client whose only call takes as long as it is told, and whose only list takes 1200 ms. */
function start() {
  const fake = fakeIo({ terminals: ['stderr'] });
  const line = createLiveLine(fake);
  const waiting = createWaiting(line, 'shop.example');
  let isClosed = false;
  async function* pages() {
    try {
      await wait(1200);
      yield 1;
      yield 2;
    } finally {
      isClosed = true;
    }
  }
  const client = { call: wait, list: pages } as unknown as Client;
  const { call, list } = waiting.follow(client) as unknown as { call: typeof wait; list: typeof pages };
  return {
    ...{ line, waiting, call, list },
    drawn: () => fake.written('stderr').split('\r\x1b[K'),
    isClosed: () => isClosed,
  };
}

test('a wait of less than a second is not shown', async () => {
  const { call, drawn } = start();
  const work = call(900);
  await vi.advanceTimersByTimeAsync(900);
  await work;
  expect(drawn()).toEqual(['']);
});

test('a longer wait names the host and the seconds, and is erased at its end', async () => {
  const { call, drawn } = start();
  const work = call(2500);
  await vi.advanceTimersByTimeAsync(2500);
  await work;
  expect(drawn()).toEqual(['', 'waiting for shop.example 1 s', 'waiting for shop.example 2 s', '']);
});

test('a repeated attempt is named with its reason', async () => {
  const { call, waiting, drawn } = start();
  const work = call(1500);
  const request = { method: 'GET', url: 'http://shop.example/pets', fields: {} };
  const response = { status: 503, fields: {}, body: '' };
  const attempt = { request, response, number: 1, elapsedMs: 10, nextDelayMs: 2000 };
  waiting.observe({ kind: 'attempt', attempt });
  await vi.advanceTimersByTimeAsync(1500);
  await work;
  expect(drawn()[1]).toBe('waiting for shop.example 1 s, attempt 2 after status 503');
});

test('nothing is shown while other work shows its progress', async () => {
  const { line, call, drawn } = start();
  const hide = line.show(() => undefined);
  const work = call(1500);
  await vi.advanceTimersByTimeAsync(1500);
  await work;
  hide();
  expect(drawn()).toEqual(['']);
});

test('the wait for each page is shown, and leaving the loop closes the list', async () => {
  const { list, drawn, isClosed } = start();
  const reading = (async () => {
    for await (const page of list()) return page;
    return undefined;
  })();
  await vi.advanceTimersByTimeAsync(1200);
  expect(await reading).toBe(1);
  expect(isClosed()).toBe(true);
  expect(drawn()).toContain('waiting for shop.example 1 s');
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { monotonicMs, sleep } from '../../src/process/deadline.ts';
import { type LookSchedule, poll } from '../../src/process/poll.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] }));
afterEach(() => void vi.useRealTimers());

const running = new AbortController().signal;

/** Polls on fake time. @returns the time of each look in milliseconds, and the value of the last look. */
async function looksOf(
  schedule: Partial<LookSchedule>,
  look: (count: number) => { isFinal?: boolean; leastPauseMs?: number; durationMs?: number } = () => ({}),
) {
  const startedMs = monotonicMs();
  const times: number[] = [];
  const polling = poll(
    async () => {
      times.push(Math.round(monotonicMs() - startedMs));
      const { durationMs = 0, isFinal = false, leastPauseMs } = look(times.length);
      if (durationMs > 0) await sleep(durationMs);
      return { value: times.length, isFinal, leastPauseMs };
    },
    { pauseMs: () => 1000, signal: running, ...schedule },
  );
  await vi.advanceTimersByTimeAsync(60_000);
  return { times, value: await polling };
}

test('the first look is at once, and a final look is the last', async () => {
  const { times, value } = await looksOf({}, (count) => ({ isFinal: count === 3 }));
  expect(times).toEqual([0, 1000, 2000]);
  expect(value).toBe(3);
});

test('the last look begins when the time is over', async () => {
  expect((await looksOf({ limitMs: 2500 })).times).toEqual([0, 1000, 2000, 2500]);
});

test('the last look gets the time that it needs before the limit', async () => {
  const { times } = await looksOf({ limitMs: 2500, lastLookMs: (durationMs) => 2 * durationMs }, () => ({
    durationMs: 200,
  }));
  expect(times).toEqual([0, 1200, 2100]);
});

test('pauses may grow, and Retry-After is the least pause', async () => {
  const { times } = await looksOf({ limitMs: 10_000, pauseMs: (count) => count * 1000 }, (count) =>
    count === 1 ? { leastPauseMs: 4000 } : { isFinal: count === 3 },
  );
  expect(times).toEqual([0, 4000, 6000]);
});

test('a Retry-After beyond the limit ends the looks', async () => {
  const { times, value } = await looksOf({ limitMs: 3000 }, () => ({ leastPauseMs: 60_000 }));
  expect(times).toEqual([0]);
  expect(value).toBe(1);
});

test('a signal ends a pause', async () => {
  const end = new AbortController();
  const polling = poll(async () => ({ value: 0, isFinal: false }), {
    pauseMs: () => 60_000,
    signal: end.signal,
  });
  const outcome = polling.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(1000);
  end.abort(new Error('stopped'));
  expect(await outcome).toMatchObject({ message: 'stopped' });
});

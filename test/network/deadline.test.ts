import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withinLimits } from '../../src/process/deadline.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] }));
afterEach(() => void vi.useRealTimers());

test('each piece of work ends at its own deadline or by its signal, in whatever order they began', async () => {
  const ended: string[] = [];
  const start = (limitMs: number, signals: readonly AbortSignal[] = []) =>
    withinLimits(
      { limitMs, signals, timedOut: () => new Error(`after ${limitMs} ms`) },
      () => new Promise<never>(() => {}),
    ).catch(({ message }) => ended.push(message));
  for (const limitMs of [500, 300, 100, 400, 0]) void start(limitMs);
  const stop = new AbortController();
  void start(Number.POSITIVE_INFINITY, [stop.signal]);
  expect(await withinLimits({ limitMs: 200 }, async () => 'answer')).toBe('answer');
  await vi.advanceTimersByTimeAsync(99);
  expect(ended).toEqual(['after 0 ms']);
  await vi.advanceTimersByTimeAsync(250);
  expect(ended).toEqual(['after 0 ms', 'after 100 ms', 'after 300 ms']);
  await vi.advanceTimersByTimeAsync(10_000);
  stop.abort(new Error('stopped'));
  await vi.advanceTimersByTimeAsync(1);
  expect(ended.slice(3)).toEqual(['after 400 ms', 'after 500 ms', 'stopped']);
});

import { expect, onTestFinished, test, vi } from 'vitest';
import { timeoutError } from '../../src/client/transport/response.ts';
import { withinLimits } from '../../src/process/deadline.ts';

test('each piece of work ends at its own deadline or by its signal, in whatever order they began', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] });
  onTestFinished(() => void vi.useRealTimers());
  const ended: string[] = [];
  const start = (limitMs: number, signals: readonly AbortSignal[] = []) => {
    const limits = { limitMs, signals, timedOut: () => new Error(`after ${limitMs} ms`) };
    withinLimits(limits, () => new Promise(() => {})).catch(({ message }) => ended.push(message));
  };
  for (const limitMs of [500, 300, 100, 400, 0]) start(limitMs);
  const stop = new AbortController();
  start(Number.POSITIVE_INFINITY, [stop.signal]);
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

test('a request that gets the rest of a deadline says so', () => {
  expect(timeoutError(3000, 469).message).toBe('no answer within the last 469 ms of 3 s');
});

import { expect, test } from 'vitest';
import type { Attempt } from '../../src/client/attempt.ts';
import { Pace, type StopReason } from '../../src/client/pace.ts';
import { unansweredError } from '../../src/process/errors.ts';
import { Stop } from '../../src/process/signals.ts';

function attempt(status: number, more: Partial<Attempt> = {}): Attempt {
  const request = { method: 'PUT', url: 'http://127.0.0.1/', headers: {}, body: undefined };
  return {
    request,
    isRedirected: false,
    isSent: true,
    number: 1,
    elapsedMs: 0,
    latencyMs: 0,
    response: { status, headers: {}, body: '' },
    ...more,
  };
}

function paceOf(concurrency: number) {
  const stop = new Stop<StopReason>();
  const pace = new Pace({ concurrency, rate: null }, stop);
  const answer = (status: number, times = 1) => {
    for (let time = 0; time < times; time += 1) {
      void pace.waitForTurn();
      pace.observe(attempt(status));
    }
  };
  return { pace, stop, answer };
}

test.each([429, 503])('a %i halves the number of requests in flight, down to 1', async (status) => {
  const { pace, answer } = paceOf(9);
  const limits: number[] = [];
  for (let time = 0; time < 5; time += 1) {
    answer(status);
    limits.push(pace.limit);
  }
  expect(limits).toEqual([4, 2, 1, 1, 1]);
});

test('a timeout halves it too, and other failures do not', () => {
  const { pace, answer } = paceOf(8);
  answer(500);
  answer(404);
  expect(pace.limit).toBe(8);
  void pace.waitForTurn();
  const error = unansweredError('timeout', 'no answer');
  pace.observe(attempt(0, { response: undefined, error }));
  expect(pace.limit).toBe(4);
});

test('requests that were in flight at the halving do not halve it again', () => {
  const { pace } = paceOf(16);
  for (let time = 0; time < 10; time += 1) {
    void pace.waitForTurn();
    pace.observe(attempt(503, { elapsedMs: 50 }));
  }
  expect(pace.limit).toBe(8);
});

test('it grows back one by one, each time after as many successes, up to the limit', () => {
  const { pace, answer } = paceOf(8);
  answer(503);
  expect(pace.limit).toBe(4);
  answer(200, 3);
  expect(pace.limit).toBe(4);
  answer(200);
  expect(pace.limit).toBe(5);
  answer(200, 5);
  expect(pace.limit).toBe(6);
  answer(200, 1000);
  expect(pace.limit).toBe(8);
});

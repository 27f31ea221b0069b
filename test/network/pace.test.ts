import { expect, onTestFinished, test, vi } from 'vitest';
import type { Attempt } from '../../src/client/answer-table.ts';
import { Pace } from '../../src/client/pace.ts';
import { noAnswerError, timeoutError } from '../../src/client/transport/response.ts';
import { withinLimits } from '../../src/process/deadline.ts';
import { type CliError, InterruptedError } from '../../src/process/errors.ts';
import { Stop, StoppedError } from '../../src/process/signals.ts';

function attempt(status: number, more: Partial<Attempt> = {}): Attempt {
  const request = { method: 'PUT', url: 'http://127.0.0.1/', headers: {} };
  const response = { status, headers: {}, body: '' };
  return { request, isSent: true, number: 1, elapsedMs: 0, response, ...more };
}

function stopClock(): void {
  vi.useFakeTimers({ toFake: ['hrtime', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

function openPace(patienceMs = 0) {
  const stop = new Stop<CliError>();
  const pace = new Pace(undefined, stop, patienceMs);
  const answer = (status: number, times = 1, method = 'PUT') => {
    for (let time = 0; time < times; time += 1) {
      void pace.waitForTurn();
      pace.attemptEnded(attempt(status, { request: { method, url: 'http://127.0.0.1/', headers: {} } }));
    }
  };
  return { pace, stop, answer };
}

test('20 attempts in a row without an answer from the service stop the run', () => {
  const { stop, answer } = openPace();
  answer(502, 19);
  answer(404);
  answer(504, 19);
  expect(stop.cause).toBeUndefined();
  answer(503);
  expect(stop.cause).toMatchObject({
    kind: 'unavailable',
    message: '20 attempts in a row got no answer from the service: the last one was 503',
  });
});

test.each([
  ['5 s', 5000, 5000],
  ['10 min', 600_000, 30_000],
])(
  'with a timeout of %s a silent service is probed ten times, and then the run stops',
  async (_, timeoutMs, ms) => {
    stopClock();
    const { pace, stop, answer } = openPace(timeoutMs);
    answer(502, 20);
    const probe = async () => {
      await pace.waitForTurn();
      pace.attemptEnded(attempt(502));
    };
    for (let worker = 0; worker < 8; worker += 1)
      void (async () => {
        while (!stop.cause) await probe().catch(() => {});
      })();
    await vi.advanceTimersByTimeAsync(0.98 * ms);
    expect(stop.cause).toBeUndefined();
    await vi.advanceTimersByTimeAsync(0.12 * ms);
    expect(stop.cause?.message).toMatch(/^31 attempts in a row/);
  },
);

test('a service that answers nothing at all for a minute stops the run, and one that answers meanwhile does not', () => {
  stopClock();
  const { pace, stop, answer } = openPace(30_000);
  const stayAway = (elapsedMs: number) => {
    void pace.waitForTurn();
    const error = noAnswerError('timeout', 'no answer within 30 s');
    pace.attemptEnded(attempt(0, { response: undefined, error, elapsedMs }));
  };
  vi.advanceTimersByTime(62_000);
  stayAway(30_000);
  answer(200, 1, 'GET');
  // Two that began before the answer.
  for (const elapsedMs of [62_000, 62_000]) stayAway(elapsedMs);
  vi.advanceTimersByTime(59_000);
  stayAway(30_000);
  expect(stop.cause).toBeUndefined();
  vi.advanceTimersByTime(1000);
  stayAway(30_000);
  expect(stop.cause?.message).toBe(
    '5 attempts in a row got no answer from the service: no answer within 30 s',
  );
});

test('an answered reading does not count where writes get no answer', () => {
  const { stop, answer } = openPace();
  for (let row = 0; row < 19; row += 1) {
    answer(502);
    answer(200, 1, 'GET');
  }
  answer(200);
  answer(502, 19, 'GET');
  answer(200, 1, 'GET');
  answer(502, 19);
  answer(200, 1, 'GET');
  expect(stop.cause).toBeUndefined();
  answer(502);
  expect(stop.cause?.message).toMatch(/^20 attempts/);
});

test('a page of a gateway and a lost connection are no answers of the service', () => {
  const { pace, stop } = openPace();
  const page = { status: 403, headers: { 'content-type': 'text/html' }, body: '<p>no' };
  const error = noAnswerError('reset', 'the connection was closed before an answer came');
  for (let time = 0; time < 10; time += 1)
    for (const more of [
      { response: page, author: 'gateway' as const },
      { response: undefined, error },
    ]) {
      void pace.waitForTurn();
      pace.attemptEnded(attempt(0, more));
    }
  expect(stop.cause?.message).toMatch(/^20 attempts .*: the connection was closed/);
});

/** Asks for turns. @returns a function that counts those that have come some milliseconds later. */
function countTurns(pace: Pace, count: number): (ms: number) => Promise<number> {
  let turns = 0;
  for (let turn = 0; turn < count; turn += 1)
    void (async () => {
      await pace.waitForTurn();
      turns += 1;
    })();
  return async (ms) => {
    await vi.advanceTimersByTimeAsync(ms);
    return turns;
  };
}

test.each([429, 503])('a %i without Retry-After pauses all requests', async (status) => {
  stopClock();
  vi.spyOn(Math, 'random').mockReturnValueOnce(0.12);
  const { pace, answer } = openPace();
  answer(status);
  const turnsAfter = countTurns(pace, 2);
  expect([await turnsAfter(59), await turnsAfter(1)]).toEqual([0, 2]);
});

test('a rate spreads requests over the time', async () => {
  stopClock();
  const turnsAfter = countTurns(new Pace(50, new Stop<CliError>(), 0), 4);
  expect([await turnsAfter(0), await turnsAfter(19), await turnsAfter(1)]).toEqual([1, 1, 2]);
  expect([await turnsAfter(20), await turnsAfter(19), await turnsAfter(1)]).toEqual([3, 3, 4]);
});

test('a stop ends what waits for its turn', async () => {
  const { pace, stop } = openPace();
  void pace.waitForTurn();
  pace.attemptEnded(attempt(429, { retryAfterMs: 60_000 }));
  const turn = pace.waitForTurn();
  stop.trigger(new InterruptedError('SIGINT'));
  await expect(turn).rejects.toThrow(StoppedError);
});

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

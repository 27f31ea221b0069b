import { expect, onTestFinished, test, vi } from 'vitest';
import type { Attempt } from '../../src/client/answer-table.ts';
import { Pace } from '../../src/client/pace.ts';
import { noAnswerError } from '../../src/client/transport/response.ts';
import { monotonicMs, withinLimits } from '../../src/process/deadline.ts';
import { interruption, isInterruption } from '../../src/process/errors.ts';
import { Stop } from '../../src/process/signals.ts';

function stopClock(): void {
  vi.useFakeTimers({ toFake: ['hrtime', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** A pace, and a function whose attempts, by default of a PUT, end at once with a status, which may depend on the turn. */
function openPace(timeoutMs = 0) {
  const stop = new Stop();
  const pace = new Pace(undefined, stop, timeoutMs);
  const answer = async (status: number | (() => number), times = 1, more: Partial<Attempt> = {}) => {
    for (let time = 0; time < times; time += 1) {
      await pace.waitForTurn();
      const response = { status: typeof status === 'number' ? status : status(), headers: {}, body: '' };
      pace.attemptEnded({ ...put, isSent: true, number: 1, elapsedMs: 0, response, ...more });
    }
  };
  return { pace, stop, answer };
}

const requestOf = (method: string) => ({ request: { method, url: 'http://127.0.0.1/', headers: {} } });
const put = requestOf('PUT');
const get = requestOf('GET');

test('20 attempts in a row without an answer from the service, and then 10 more, stop the run', async () => {
  const { stop, answer } = openPace();
  await answer(502, 29);
  await answer(404);
  await answer(504, 29);
  expect(stop.cause).toBeUndefined();
  await answer(502);
  expect(stop.cause).toMatchObject({
    kind: 'unavailable',
    message: '30 attempts in a row got no answer from the service: the last one was 502',
  });
});

test.each([
  [5000, 5000],
  [600_000, 30_000],
])(
  'with a timeout of %i ms an outage stops the run after %i ms, in which one request at a time is sent',
  async (timeoutMs, ms) => {
    stopClock();
    const { stop, answer } = openPace(timeoutMs);
    await answer(502, 20);
    for (let worker = 0; worker < 8; worker += 1) answer(502, 100).catch(() => {});
    await vi.advanceTimersByTimeAsync(0.88 * ms);
    expect(stop.cause).toBeUndefined();
    await vi.advanceTimersByTimeAsync(0.12 * ms);
    expect(stop.cause?.message).toMatch(/^30 attempts in a row/);
  },
);

test('a service that takes 100 requests a second refuses few of the requests of eight workers', async () => {
  stopClock();
  const { answer } = openPace();
  const begun = monotonicMs();
  const counts = { taken: 0, refused: 0 };
  // It allows three more requests at once.
  const take = () => {
    const isTaken = counts.taken < 3 + (monotonicMs() - begun) / 10;
    counts[isTaken ? 'taken' : 'refused'] += 1;
    return isTaken ? 200 : 429;
  };
  const work = async () => {
    while (counts.taken < 400) await answer(take);
  };
  const workers = Promise.all(Array.from({ length: 8 }, work));
  await vi.advanceTimersByTimeAsync(60_000);
  await workers;
  expect(counts.refused).toBeLessThan(100);
});

test('a service that answers nothing at all for a minute stops the run, and one that answers meanwhile does not', async () => {
  stopClock();
  const { stop, answer } = openPace(30_000);
  const stayAway = (elapsedMs: number) => {
    const error = noAnswerError('timeout', 'no answer within 30 s');
    return answer(0, 1, { response: undefined, error, elapsedMs });
  };
  vi.advanceTimersByTime(62_000);
  // One attempt shows nothing, however long it takes.
  await stayAway(62_000);
  await answer(200, 1, get);
  // Two that began before the answer.
  for (const elapsedMs of [62_000, 62_000]) await stayAway(elapsedMs);
  vi.advanceTimersByTime(59_000);
  // A pause that a gateway asks for is no silence.
  await answer(503, 1, { retryAfterMs: 90_000 });
  vi.advanceTimersByTime(90_000 + 59_000);
  await stayAway(30_000);
  expect(stop.cause).toBeUndefined();
  vi.advanceTimersByTime(1000);
  await stayAway(30_000);
  expect(stop.cause?.message).toBe(
    '6 attempts in a row got no answer from the service: no answer within 30 s',
  );
});

test('an answered reading is no sign of life where writes get no answer', async () => {
  const { stop, answer } = openPace();
  for (let row = 0; row < 24; row += 1) {
    await answer(502);
    await answer(200, 1, get);
  }
  await answer(200);
  await answer(502, 29, get);
  await answer(200, 1, get);
  await answer(502, 29);
  await answer(200, 1, get);
  expect(stop.cause).toBeUndefined();
  await answer(502);
  expect(stop.cause?.message).toMatch(/^31 attempts/);
});

test('a page of a gateway and a lost connection are no answers of the service', async () => {
  const { stop, answer } = openPace();
  const error = noAnswerError('reset', 'the connection was closed before an answer came');
  for (let time = 0; time < 15; time += 1) {
    await answer(403, 1, { sender: 'gateway' });
    await answer(0, 1, { response: undefined, error });
  }
  expect(stop.cause?.message).toMatch(/^30 attempts .*: the connection was closed/);
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

test.each([
  [429, 1],
  [503, 2],
])('a %i without Retry-After pauses all requests, and then lets %i go at once', async (status, count) => {
  stopClock();
  vi.spyOn(Math, 'random').mockReturnValueOnce(0.12);
  const { pace, answer } = openPace();
  await answer(status);
  const turnsAfter = countTurns(pace, 2);
  expect([await turnsAfter(59), await turnsAfter(1), await turnsAfter(10)]).toEqual([0, count, 2]);
});

test('a rate spreads requests over the time', async () => {
  stopClock();
  const turnsAfter = countTurns(new Pace(50, new Stop(), 0), 4);
  expect([await turnsAfter(0), await turnsAfter(19), await turnsAfter(1)]).toEqual([1, 1, 2]);
  expect([await turnsAfter(20), await turnsAfter(19), await turnsAfter(1)]).toEqual([3, 3, 4]);
});

test('a stop ends what waits for its turn', async () => {
  const { pace, stop, answer } = openPace();
  await answer(429, 1, { retryAfterMs: 60_000 });
  const turn = pace.waitForTurn();
  stop.trigger(interruption('SIGINT'));
  await expect(turn).rejects.toSatisfy(isInterruption);
});

test('each piece of work ends at its own deadline or by its signal, in whatever order they began', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] });
  onTestFinished(() => void vi.useRealTimers());
  const ended: string[] = [];
  const start = (limitMs: number, signals: readonly AbortSignal[] = []) => {
    const limits = { limitMs, signals, createTimeoutError: () => new Error(`after ${limitMs} ms`) };
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

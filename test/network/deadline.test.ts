import { expect, test } from 'vitest';
import { monotonicMs, race, sleep } from '../../src/process/deadline.ts';

const signals: AbortSignal[] = [];

function timeLimit(leftMs: number, name = 'late') {
  return { leftMs, signals, timedOut: () => new Error(name) };
}

function never(): Promise<never> {
  return new Promise(() => {});
}

test('each piece of work ends at its own deadline, at once if it has passed, in whatever order they began', async () => {
  const others = new AbortController();
  const startedMs = monotonicMs();
  const endOf = (leftMs: number) =>
    race({ ...timeLimit(leftMs), signals: [others.signal] }, never).catch(() => monotonicMs() - startedMs);
  const waiting = endOf(3_600_000);
  const limitsMs = [500, 300, 100, 400, 200, 1];
  const endsMs = await Promise.all(limitsMs.map(endOf));
  for (const [index, limitMs] of limitsMs.entries())
    expect(endsMs[index]).toBeGreaterThanOrEqual(limitMs - 1);
  others.abort();
  await waiting;
});

test('work that is done in time does not expire, but other work that began at the same time does', async () => {
  const expired: string[] = [];
  const timedOut = () => {
    expired.push('done');
    return new Error();
  };
  const beside = race(timeLimit(20), never);
  expect(await race({ leftMs: 10, signals, timedOut }, async () => 'answer')).toBe('answer');
  await expect(beside).rejects.toThrow('late');
  expect(expired).toEqual([]);
});

test('a signal ends work without a deadline', async () => {
  const stop = new AbortController();
  const work = race({ ...timeLimit(Number.POSITIVE_INFINITY), signals: [stop.signal] }, never);
  await sleep(5);
  stop.abort(new Error('stopped'));
  await expect(work).rejects.toThrow('stopped');
});

import { expect, test } from 'vitest';
import { race, sleep } from '../../src/process/deadline.ts';

const signals: AbortSignal[] = [];

function timeLimit(leftMs: number, name = 'late') {
  return { leftMs, signals, timedOut: () => new Error(name) };
}

function never(): Promise<never> {
  return new Promise(() => {});
}

test('each piece of work ends at its own deadline, at once if it has passed, in whatever order they began', async () => {
  const ended: string[] = [];
  const late = (leftMs: number) =>
    race(timeLimit(leftMs, String(leftMs)), never).catch(({ message }) => ended.push(message));
  await Promise.all([500, 300, 100, 400, 200, 1].map(late));
  expect(ended).toEqual(['1', '100', '200', '300', '400', '500']);
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

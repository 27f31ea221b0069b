import { expect, onTestFinished, test, vi } from 'vitest';
import type { Signal } from '../../src/process/errors.ts';
import { createInterrupts, inTwoSteps, type SignalSteps } from '../../src/process/signals.ts';

/** Starts work without an end, and records what the signals do to it. */
function start(steps: Partial<SignalSteps> = {}) {
  let send = (_: Signal) => {};
  const interrupts = createInterrupts({
    onSignal(listener) {
      send = listener;
      return () => {};
    },
  });
  const stops: Signal[] = [];
  const stop = (signal: Signal) => void stops.push(signal);
  void inTwoSteps({ interrupts }, { stop, ...steps }, () => new Promise(() => {}));
  return { stops, ended: interrupts.signal, send: (signal: Signal) => send(signal) };
}

test('the second signal ends the command if the work cannot be abandoned', () => {
  const { stops, ended, send } = start();
  send('SIGINT');
  expect(ended.aborted).toBe(false);
  send('SIGTERM');
  expect(stops).toEqual(['SIGINT']);
  expect(ended.reason).toMatchObject({ signal: 'SIGTERM' });
});

test('work that goes on too long after a signal ends with the command', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const limits = { abandon: () => {}, stopMs: 11_000, abandonMs: 1000 };
  const [stopped, abandoned] = [start(limits), start(limits)];
  stopped.send('SIGINT');
  abandoned.send('SIGINT');
  abandoned.send('SIGTERM');
  vi.advanceTimersByTime(1000);
  expect([stopped.ended.aborted, abandoned.ended.reason.signal]).toEqual([false, 'SIGTERM']);
  vi.advanceTimersByTime(10_000);
  expect(stopped.ended.aborted).toBe(true);
});

import { expect, onTestFinished, test, vi } from 'vitest';
import type { Signal } from '../../src/process/errors.ts';
import { createInterrupts, inTwoSteps, Stop } from '../../src/process/signals.ts';

/** Starts work without an end, sends it signals, and returns its stop and what ends the command. */
function interrupt(...signals: readonly Signal[]) {
  let send = (_: Signal) => {};
  const onSignal = (listener: typeof send) => {
    send = listener;
    return () => {};
  };
  const interrupts = createInterrupts({ onSignal });
  const stop = new Stop<Signal>();
  const stopBy = (signal: Signal) => stop.trigger(signal);
  void inTwoSteps(interrupts, stop, stopBy, () => new Promise(() => {}));
  for (const signal of signals) send(signal);
  return { stop, ended: interrupts.signal };
}

test('the first signal stops the work, and the second one abandons it', () => {
  const once = interrupt('SIGINT');
  expect([once.stop.cause, once.stop.abandoned.aborted]).toEqual(['SIGINT', false]);
  const twice = interrupt('SIGINT', 'SIGTERM');
  expect([twice.stop.cause, twice.stop.abandoned.aborted]).toEqual(['SIGINT', true]);
});

test('work that goes on 11 s after a signal, or 1 s after the second one, ends with the command', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const [once, twice] = [interrupt('SIGINT'), interrupt('SIGINT', 'SIGTERM', 'SIGHUP')];
  vi.advanceTimersByTime(1000);
  expect([once.ended.aborted, twice.ended.reason.signal]).toEqual([false, 'SIGTERM']);
  vi.advanceTimersByTime(10_000);
  expect(once.ended.reason.signal).toBe('SIGINT');
});

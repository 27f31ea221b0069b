import { expect, test, vi } from 'vitest';
import type { Signal } from '../../src/process/errors.ts';
import { createInterrupts, inTwoSteps, type SignalSteps } from '../../src/process/signals.ts';

/** Starts work that ends when the test says so, and records what the signals do to it. */
function start(limits: Pick<SignalSteps, 'stopMs' | 'abandonMs'> & { readonly canAbandon?: boolean } = {}) {
  let send = (_: Signal) => {};
  const onSignal = (listener: (signal: Signal) => void) => {
    send = listener;
    return () => {};
  };
  const interrupts = createInterrupts({ onSignal });
  const events: string[] = [];
  const { canAbandon = true, ...times } = limits;
  const steps = {
    ...times,
    stop: (signal: Signal) => void events.push(`stop ${signal}`),
    ...(canAbandon && { abandon: (signal: Signal) => void events.push(`abandon ${signal}`) }),
  };
  let end = (_: string) => {};
  const work = () =>
    new Promise<string>((resolve) => {
      end = resolve;
    });
  const result = inTwoSteps({ interrupts }, steps, work);
  return {
    events,
    interrupts,
    result,
    end: (value: string) => end(value),
    send: (signal: Signal) => send(signal),
  };
}

test('the first signal stops work, the second one abandons it, and further ones do nothing', async () => {
  const { events, interrupts, result, end, send } = start();
  send('SIGINT');
  send('SIGTERM');
  send('SIGINT');
  end('done');
  expect(await result).toBe('done');
  expect(events).toEqual(['stop SIGINT', 'abandon SIGTERM']);
  expect(interrupts.signal.aborted).toBe(false);
});

test('the second signal ends the command if the work cannot be abandoned', () => {
  const { events, interrupts, send } = start({ canAbandon: false });
  send('SIGINT');
  expect(interrupts.signal.aborted).toBe(false);
  send('SIGINT');
  expect(events).toEqual(['stop SIGINT']);
  expect(interrupts.signal.reason).toMatchObject({ signal: 'SIGINT' });
});

test('work that goes on too long after a signal ends with the command', () => {
  vi.useFakeTimers();
  try {
    const stopped = start({ stopMs: 11_000, abandonMs: 1000 });
    stopped.send('SIGINT');
    vi.advanceTimersByTime(10_999);
    expect(stopped.interrupts.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(stopped.interrupts.signal.aborted).toBe(true);

    const abandoned = start({ stopMs: 11_000, abandonMs: 1000 });
    abandoned.send('SIGINT');
    abandoned.send('SIGTERM');
    vi.advanceTimersByTime(1000);
    expect(abandoned.interrupts.signal.reason).toMatchObject({ signal: 'SIGTERM' });
  } finally {
    vi.useRealTimers();
  }
});

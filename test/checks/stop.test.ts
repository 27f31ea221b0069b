import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SmokeStop } from '../../src/checks/stop.ts';
import { createInterrupts } from '../../src/process/signals.ts';
import { fakeIo } from '../helpers/run-cli.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the time limit for cleaning up ends when the cleaning up does, so that a later run can clean up too', async () => {
  const stop = new SmokeStop(createInterrupts(fakeIo()), () => {});
  await stop.whileCleaning(async () => {});
  vi.advanceTimersByTime(60_000);
  expect(stop.cut.aborted).toBe(false);
  void stop.whileCleaning(() => new Promise(() => {}));
  vi.advanceTimersByTime(60_000);
  expect(stop.cut.aborted).toBe(true);
});

import { monotonicMs, sleep } from '../process/deadline.ts';

/** The last look of a poll has at least this time. */
const leastLookMs = 100;

/**
 * Calls `look` until it returns a value: at once, then after each pause, and once more right before the time is over,
 * with twice the time that the look before it took.
 *
 * @param look gets the milliseconds that are left.
 * @returns undefined if the time is over. @throws what `look` throws, and the reason of the signal.
 */
export async function poll<Value>(
  {
    forMs,
    everyMs,
    signal,
  }: { readonly forMs: number; readonly everyMs: number; readonly signal: AbortSignal },
  look: (leftMs: number) => Promise<Value | undefined>,
): Promise<Value | undefined> {
  const endMs = monotonicMs() + forMs;
  for (let isLast = false; ; ) {
    const beganMs = monotonicMs();
    const value = await look(Math.max(endMs - beganMs, 1));
    const nowMs = monotonicMs();
    if (value !== undefined || isLast || nowMs >= endMs) return value;
    const pauseMs = endMs - nowMs - Math.max(leastLookMs, 2 * (nowMs - beganMs));
    isLast = pauseMs <= everyMs;
    await sleep(Math.max(0, Math.min(everyMs, pauseMs)), signal);
  }
}

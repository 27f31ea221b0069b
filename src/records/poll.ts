import { monotonicMs, sleep } from '../process/deadline.ts';

/** The last reading of a poll has at least this time. */
const leastReadMs = 100;

/**
 * Calls `read` until it returns a value: at once, then after each pause, and once more right before the time is over.
 * The last call has twice the time that the one before it took.
 *
 * @param read gets the milliseconds that are left.
 * @returns undefined if the time is over. @throws what `read` throws, and the reason of the signal.
 */
export async function poll<Value>(
  {
    forMs,
    everyMs,
    signal,
  }: { readonly forMs: number; readonly everyMs: number; readonly signal: AbortSignal },
  read: (leftMs: number) => Promise<Value | undefined>,
): Promise<Value | undefined> {
  const endMs = monotonicMs() + forMs;
  for (let isLast = false; ; ) {
    const beganMs = monotonicMs();
    const value = await read(Math.max(endMs - beganMs, 1));
    const nowMs = monotonicMs();
    if (value !== undefined || isLast || nowMs >= endMs) return value;
    const pauseMs = endMs - nowMs - Math.max(leastReadMs, 2 * (nowMs - beganMs));
    isLast = pauseMs <= everyMs;
    await sleep(Math.max(0, Math.min(everyMs, pauseMs)), signal);
  }
}

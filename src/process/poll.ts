import { monotonicMs, sleep } from './deadline.ts';

/** The result of one look at something that changes. */
export interface Look<Value> {
  readonly value: Value;
  /** Whether no further look is needed, or would help. */
  readonly isFinal: boolean;
  /** The shortest pause before the next look in milliseconds, such as a Retry-After. */
  readonly leastPauseMs?: number | undefined;
}

/** When looks begin, and what ends them. */
export interface LookSchedule {
  /** Returns the pause before the next look in milliseconds. @param count the number of looks so far. */
  pauseMs(count: number): number;
  /** The time in milliseconds in which looks begin. Undefined if only a final look or the signal ends them. */
  readonly limitMs?: number | undefined;
  /**
   * Returns the time in milliseconds that is kept for the last look before the limit. By default 0: the last look begins
   * when the time is over.
   *
   * @param durationMs the duration of the look before.
   */
  lastLookMs?(durationMs: number): number;
  /** Ends a pause. */
  readonly signal: AbortSignal;
}

/**
 * Looks at something at once and then after each pause, until a look is final or the time is over. The last pause is
 * shortened, so that there is always a look at the end of the time.
 *
 * @param look gets the rest of the time in milliseconds, which is infinite without a limit.
 * @returns the value of the last look.
 * @throws what a look throws; the reason of the signal if it is aborted in a pause.
 */
export async function poll<Value>(
  look: (remainingMs: number) => Promise<Look<Value>>,
  { pauseMs, limitMs = Number.POSITIVE_INFINITY, lastLookMs = () => 0, signal }: LookSchedule,
): Promise<Value> {
  const endMs = monotonicMs() + limitMs;
  for (let count = 1, isLast = false; ; count += 1) {
    const beganMs = monotonicMs();
    const { value, isFinal, leastPauseMs = 0 } = await look(endMs - beganMs);
    const nowMs = monotonicMs();
    const longestPauseMs = Math.max(0, endMs - nowMs - lastLookMs(nowMs - beganMs));
    if (isFinal || isLast || nowMs >= endMs || leastPauseMs > longestPauseMs) return value;
    const nextPauseMs = Math.max(pauseMs(count), leastPauseMs);
    isLast = nextPauseMs >= longestPauseMs;
    await sleep(Math.min(nextPauseMs, longestPauseMs), signal);
  }
}

import { monotonicMs, sleep } from '../process/deadline.ts';
import type { SlowApp } from './app.ts';
import type { Random } from './random.ts';
import { Refusal } from './refusal.ts';

/** Faults that `serve` injects on purpose, to test a client against a service with problems. */
export interface Faults {
  /** Milliseconds before each answer. */
  readonly latencyMs?: number | undefined;
  /** Share of requests, from 0 to 1, that are answered 503 and not carried out. */
  readonly errorRate?: number | undefined;
  /** Requests a second; further ones are answered 429 with Retry-After, and not carried out. */
  readonly ratePerSecond?: number | undefined;
}

/** The app with faults; the app itself if there are none. */
export function withFaults(app: SlowApp, faults: Faults, random: Random): SlowApp {
  const { latencyMs = 0, errorRate = 0, ratePerSecond } = faults;
  if (latencyMs === 0 && errorRate === 0 && ratePerSecond === undefined) return app;
  const admit = ratePerSecond === undefined ? () => 0 : createBucket(ratePerSecond);
  return async (request) => {
    const waitSeconds = admit(monotonicMs() / 1000);
    if (latencyMs > 0) await sleep(latencyMs);
    if (waitSeconds > 0) return rateLimited(waitSeconds).toResponse();
    if (random() < errorRate)
      return new Refusal('unavailable', 'failed on purpose (--error-rate)').toResponse();
    return app(request);
  };
}

/**
 * A bucket of a second's worth of requests that fills steadily.
 *
 * @returns seconds until the next request would be let through; 0 for one that is.
 */
function createBucket(ratePerSecond: number): (nowSeconds: number) => number {
  const capacity = Math.max(1, ratePerSecond);
  let level = capacity;
  let last: number | undefined;
  return (now) => {
    level = Math.min(capacity, level + (now - (last ?? now)) * ratePerSecond);
    last = now;
    if (level < 1) return (1 - level) / ratePerSecond;
    level -= 1;
    return 0;
  };
}

function rateLimited(waitSeconds: number): Refusal {
  return new Refusal('rate_limited', 'too many requests (--rate-limit)', {
    'retry-after': String(Math.max(1, Math.ceil(waitSeconds))),
  });
}

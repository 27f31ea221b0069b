/** Monotonic milliseconds from an arbitrary start. `performance.now()` would do, but loads all of `node:perf_hooks`. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

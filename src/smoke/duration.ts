/** A length of time as people read it: `0.4 ms`, `12 ms`, `1.3 s`. */
export function durationText(ms: number): string {
  if (ms >= 1000) return `${Number((ms / 1000).toFixed(ms < 10_000 ? 1 : 0))} s`;
  return `${ms < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
}

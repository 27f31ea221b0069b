import { STATUS_CODES } from 'node:http';

/** A duration for people: `0.4 ms`, `12 ms`, `1.3 s`, `10 min`. */
export function durationText(ms: number): string {
  if (ms >= 120_000) return `${Number((ms / 60_000).toFixed(ms < 600_000 ? 1 : 0))} min`;
  if (ms >= 1000) return `${Number((ms / 1000).toFixed(ms < 10_000 ? 1 : 0))} s`;
  return `${ms < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
}

/** A status with its reason phrase: `404 Not Found`. */
export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}

/** The first 200 bytes of a text; secrets are masked before it is cut. */
export function excerpt(text: string, mask: (text: string) => string): string {
  const masked = mask(text);
  const bytes = Buffer.from(masked);
  if (bytes.length <= 200) return masked;
  const cut = bytes.subarray(0, 200).toString('utf8');
  return `${cut.replace(/\ufffd+$/, '')}...`;
}

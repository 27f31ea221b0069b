import type { HttpFields } from '../api/http.ts';

/** Chosen, as the sunset is: the service document gives no date. */
const deprecatedSince = Date.UTC(2026, 0, 1);

/**
 * The fields that announce the end of a deprecated operation.
 *
 * @param sunset YYYY-MM-DD; undefined where no date is known.
 * @see RFC 9745 (Deprecation, a date that is never after the sunset), RFC 8594 (Sunset)
 */
export function deprecationFields(sunset: string | undefined): HttpFields {
  if (sunset === undefined) return { deprecation: `@${deprecatedSince / 1000}` };
  const end = new Date(`${sunset}T00:00:00Z`);
  const since = Math.min(deprecatedSince, end.getTime());
  return { deprecation: `@${since / 1000}`, sunset: end.toUTCString() };
}

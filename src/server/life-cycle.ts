import type { HttpFields } from '../api/http.ts';

/** When a deprecated operation ends where nobody says otherwise: YYYY-MM-DD. The service document gives no date. */
export const defaultSunset = '2027-12-31';

const deprecatedSince = Date.UTC(2026, 0, 1);

/**
 * The fields that announce the end of a deprecated operation.
 *
 * @param sunset YYYY-MM-DD.
 * @see RFC 9745 (Deprecation, a date that is never after the sunset), RFC 8594 (Sunset)
 */
export function deprecationFields(sunset: string): HttpFields {
  const end = new Date(`${sunset}T00:00:00Z`);
  const since = Math.min(deprecatedSince, end.getTime());
  return { deprecation: `@${since / 1000}`, sunset: end.toUTCString() };
}

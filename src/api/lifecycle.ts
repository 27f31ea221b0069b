import { dayOf } from '../process/text.ts';
import { type HttpHeaders, headerDate, headerValue } from './http.ts';
import type { Operation } from './operations.ts';

/**
 * Says that an operation is deprecated or may change, from its description and the headers of its answer: `getPet is deprecated
 * as of 2026-01-01 and ends on 2030-01-01`. Headers take precedence; malformed ones are ignored. Undefined for a stable
 * operation that stays.
 *
 * @see RFC 9745 (Deprecation), RFC 8594 (Sunset)
 */
export function describeLifecycle(operation: Operation, headers: HttpHeaders): string | undefined {
  const { stability } = operation;
  const [, seconds] = /^@(-?\d{1,15})$/.exec(headerValue(headers, 'deprecation')?.trim() ?? '') ?? [];
  const since = seconds === undefined ? undefined : validDate(Number(seconds) * 1000);
  const until = sunsetOf(operation, headers);
  const isDeprecated =
    operation.isDeprecated || since !== undefined || headerDate(headers, 'sunset') !== undefined;
  const clauses = [
    isDeprecated && `is deprecated${since ? ` as of ${dayOf(since)}` : ''}`,
    isDeprecated && until && `ends on ${dayOf(until)}`,
    stability !== 'stable' && `is ${stability} and may change`,
  ].filter((clause) => typeof clause === 'string');
  return clauses.length === 0 ? undefined : `${operation.id} ${clauses.join(' and ')}`;
}

/** Returns when an operation may be gone, by the header of an answer, or else by its description. */
export function sunsetOf({ sunset = '' }: Operation, headers: HttpHeaders): Date | undefined {
  return validDate(headerDate(headers, 'sunset') ?? Date.parse(sunset));
}

function validDate(ms: number): Date | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

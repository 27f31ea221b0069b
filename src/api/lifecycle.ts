import { dayOf } from '../process/text.ts';
import { type HttpHeaders, headerValue, linkTarget } from './http.ts';
import type { Operation } from './operations.ts';

/** The value of a header that holds a date. */
interface HeaderDate {
  readonly text: string;
  /** Undefined if the header is malformed. */
  readonly date: Date | undefined;
  /** Whether the value has the form of an earlier draft: `true` or an HTTP date. */
  readonly isDraftForm?: true;
}

/** The headers of an answer that tell when its operation ends. */
interface Lifecycle {
  readonly deprecation?: HeaderDate | undefined;
  readonly sunset?: HeaderDate | undefined;
  /** A page about the end: the target of a link with the relation `deprecation` or `sunset`. */
  readonly link?: string | undefined;
}

/** Reads the headers Deprecation, Sunset and Link. @see RFC 9745 (Deprecation), RFC 8594 (Sunset) */
function readLifecycle(headers: HttpHeaders): Lifecycle {
  const deprecation = headerValue(headers, 'deprecation')?.trim();
  const sunset = headerValue(headers, 'sunset')?.trim();
  return {
    deprecation: deprecation === undefined ? undefined : readDeprecation(deprecation),
    sunset: sunset === undefined ? undefined : { text: sunset, date: httpDate(sunset) },
    link: readLink(headerValue(headers, 'link')),
  };
}

/**
 * Says that an operation is deprecated or may change, from its description and the headers of its answer: `getPet is deprecated
 * as of 2026-01-01 and ends on 2030-01-01`. Headers take precedence; malformed ones are ignored. Undefined for a stable
 * operation that stays.
 */
export function describeLifecycle(operation: Operation, headers: HttpHeaders): string | undefined {
  const { deprecation, sunset, link } = readLifecycle(headers);
  const since = deprecation?.date;
  const until =
    sunset?.date ?? (operation.sunset === undefined ? undefined : validDate(Date.parse(operation.sunset)));
  const isDeprecated =
    operation.isDeprecated || deprecation?.isDraftForm || since !== undefined || sunset?.date !== undefined;
  const { stability } = operation;
  const clauses = [
    isDeprecated && `is deprecated${since ? ` as of ${dayOf(since)}` : ''}`,
    isDeprecated && until && `ends on ${dayOf(until)}`,
    stability !== 'stable' && `is ${stability} and may change`,
  ].filter((clause) => typeof clause === 'string');
  if (clauses.length === 0) return undefined;
  return `${operation.id} ${clauses.join(' and ')}${isDeprecated && link ? ` (see ${link})` : ''}`;
}

function readDeprecation(text: string): HeaderDate {
  const seconds = /^@(-?\d{1,15})$/.exec(text)?.[1];
  const date = seconds === undefined ? undefined : validDate(Number(seconds) * 1000);
  if (date) return { text, date };
  if (text.toLowerCase() === 'true') return { text, date: undefined, isDraftForm: true };
  const draftDate = httpDate(text);
  return draftDate ? { text, date: draftDate, isDraftForm: true } : { text, date: undefined };
}

const httpDates =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads an HTTP date. @see RFC 9110, 5.6.7 */
function httpDate(text: string): Date | undefined {
  return httpDates.test(text) ? validDate(Date.parse(text)) : undefined;
}

/** Finds the page about the end, if a browser can open it. @see RFC 9745, 3; RFC 8594, 6 */
function readLink(header: string | undefined): string | undefined {
  const target = linkTarget(header, 'deprecation', 'sunset');
  return target !== undefined && /^https?:/.test(target) ? target : undefined;
}

function validDate(ms: number): Date | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

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
export function readLifecycle(headers: HttpHeaders): Lifecycle {
  const deprecation = headerValue(headers, 'deprecation')?.trim();
  const sunset = headerValue(headers, 'sunset')?.trim();
  return {
    deprecation: deprecation === undefined ? undefined : readDeprecation(deprecation),
    sunset: sunset === undefined ? undefined : { text: sunset, date: httpDate(sunset) },
    link: readLink(headerValue(headers, 'link')),
  };
}

/** A notice about an operation. Its texts are clauses, such as `ends on 2027-12-31, in 305 days`, or undefined. */
export interface LifecycleNotice {
  readonly deprecation: string | undefined;
  readonly stability: string | undefined;
  /** Whether the operation ends in 90 days or less, or was to end before. */
  readonly isEnding: boolean;
}

/** The time before the end of an operation in which people are told of it. */
const noticeDays = 90;

/**
 * Makes the notice about an operation from its description and the headers of its answer. Headers take
 * precedence. Malformed headers are ignored.
 */
export function describeLifecycle(operation: Operation, headers: HttpHeaders, now: Date): LifecycleNotice {
  const { stability } = operation;
  const { deprecation, until } = describeDeprecation(operation, headers, now);
  return {
    deprecation,
    stability: stability === 'stable' ? undefined : `is ${stability} and may change`,
    isEnding: until !== undefined && daysUntil(until, now) <= noticeDays,
  };
}

/**
 * Makes the warnings about the endpoints that a command used: one line about deprecated endpoints, such as
 * `warning: pets get uses an endpoint that ends on 2027-12-31, in 305 days`, and one line about beta or
 * experimental endpoints.
 *
 * @param command as the user typed it, such as `pets get`.
 */
export function lifecycleLines(command: string, notices: Iterable<LifecycleNotice>): string[] {
  const list = [...notices];
  return (['deprecation', 'stability'] as const).flatMap((subject) => {
    const clauses = [...new Set(list.flatMap((notice) => notice[subject] ?? []))];
    if (clauses.length === 0) return [];
    return [`warning: ${command} uses an endpoint that ${clauses.join(', and one that ')}`];
  });
}

function describeDeprecation(
  operation: Operation,
  headers: HttpHeaders,
  now: Date,
): { readonly deprecation?: string; readonly until?: Date | undefined } {
  const { deprecation, sunset, link } = readLifecycle(headers);
  const since = deprecation?.date;
  const until = sunset?.date ?? dateOf(operation.sunset);
  const isDeprecated = operation.isDeprecated || deprecation?.isDraftForm === true || since !== undefined;
  if (!isDeprecated && !sunset?.date) return {};
  const announced = since && since > now ? `will be deprecated on ${dayOf(since)}` : undefined;
  const begun = since && !announced ? `deprecated since ${dayOf(since)}` : undefined;
  const end = until && describeEnd(until, now);
  const clause = [announced, end].filter(Boolean).join(' and ') || `is ${begun ?? 'deprecated'}`;
  const details = [end && begun, isDeprecated && link && `see ${link}`].filter(Boolean);
  return { deprecation: details.length === 0 ? clause : `${clause} (${details.join('; ')})`, until };
}

function describeEnd(until: Date, now: Date): string {
  const days = daysUntil(until, now);
  const count = `${Math.abs(days)} ${Math.abs(days) === 1 ? 'day' : 'days'}`;
  if (until <= now) return `was to end on ${dayOf(until)}, ${days === 0 ? 'today' : `${count} ago`}`;
  return `ends on ${dayOf(until)}, ${days === 0 ? 'today' : `in ${count}`}`;
}

const dayMs = 86_400_000;

/** Counts the days between two moments by their dates in UTC; below 0 if the first one is over. */
function daysUntil(moment: Date, now: Date): number {
  return Math.round((Date.parse(dayOf(moment)) - Date.parse(dayOf(now))) / dayMs);
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

function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : validDate(Date.parse(text));
}

function validDate(ms: number): Date | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

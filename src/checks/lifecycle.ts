import { type Lifecycle, readLifecycle } from '../api/lifecycle.ts';
import type { Operation } from '../api/operations.ts';
import { type Details, fail, pass, skip, type Verdict, VerdictError, warn } from './check.ts';
import { detailsOf, type Probe } from './probe.ts';

/** The headers Deprecation and Sunset agree with the description. */
export async function checkLifecycle(probe: Probe, operation: Operation): Promise<Verdict> {
  const reply = await probe.visit(operation).catch((error) => {
    throw error instanceof VerdictError ? error : new VerdictError(skip(`${operation.id} gave no answer`));
  });
  if (reply.status >= 400 && reply.status !== 410) return skip(`${operation.id} answered ${reply.status}`);
  const details = detailsOf(reply);
  const lifecycle = readLifecycle(reply.fields);
  const found = [
    ...judgeMark(operation, lifecycle, details),
    ...judgeForm(lifecycle, details),
    ...judgeDates(probe, operation, lifecycle, details),
  ];
  // The gravest finding, with the others named in its reason.
  const worst = found.find(({ state }) => state === 'fail') ?? found[0];
  if (!worst) return pass(describe(operation, lifecycle), details);
  const others = found.filter((each) => each !== worst).map(({ reason }) => reason);
  return { ...worst, reason: [worst.reason, ...others].join('; ') };
}

/** The header Deprecation and the description must agree. */
function judgeMark(
  { deprecated }: Operation,
  { deprecation, sunset }: Lifecycle,
  details: Details,
): Verdict[] {
  const more = { ...details, expected: deprecated ? 'a Deprecation header' : 'no Deprecation header' };
  if (deprecation && !deprecated)
    return [fail('deprecated by its header, not by the description', { ...more, got: deprecation.text })];
  if (!deprecation && deprecated) return [warn('deprecated by the description, not by a header', more)];
  if (sunset && !deprecated) return [warn('a Sunset header on an operation that is not deprecated', details)];
  return [];
}

function judgeForm({ deprecation, sunset }: Lifecycle, details: Details): Verdict[] {
  const found: Verdict[] = [];
  const more = { ...details, expected: '@ and Unix seconds (RFC 9745)', got: deprecation?.text };
  if (deprecation?.older) found.push(warn('the Deprecation header has the older form', more));
  else if (deprecation && !deprecation.date) found.push(fail('the Deprecation header is malformed', more));
  if (sunset && !sunset.date) {
    const expected = 'an HTTP date (RFC 8594)';
    found.push(fail('the Sunset header is malformed', { ...details, expected, got: sunset.text }));
  }
  return found;
}

function judgeDates(
  { now }: Probe,
  operation: Operation,
  { deprecation, sunset }: Lifecycle,
  details: Details,
): Verdict[] {
  const found: Verdict[] = [];
  const described = describedSunset(operation);
  const more = { ...details, got: sunset?.text };
  if (sunset?.date && described && described !== dayOf(sunset.date))
    found.push(
      fail('the sunset dates differ', { ...more, expected: `${described}, as the description says` }),
    );
  if (sunset?.date && deprecation?.date && sunset.date < deprecation.date) {
    const expected = `a date not before ${deprecation.date.toISOString()} (RFC 9745)`;
    found.push(fail('Sunset is before Deprecation', { ...more, expected }));
  }
  const end = sunsetOf(operation, { sunset });
  if (end && end <= now()) found.push(warn(`its sunset passed on ${dayOf(end)}`));
  return found;
}

/** The end of an operation: from its header, else from the description. */
export function sunsetOf(operation: Operation, { sunset }: Lifecycle): Date | undefined {
  const described = describedSunset(operation);
  return sunset?.date ?? (described === undefined ? undefined : new Date(described));
}

/** YYYY-MM-DD from the service's own description; the table's date holds only for the local server. */
function describedSunset({ source, sunset }: Operation): string | undefined {
  return source === 'bound' ? sunset : undefined;
}

function describe({ deprecated }: Operation, { deprecation, sunset }: Lifecycle): string {
  if (!deprecated) return 'not deprecated';
  const since = deprecation?.date && dayOf(deprecation.date);
  return `deprecated since ${since}${sunset?.date ? `, sunset ${dayOf(sunset.date)}` : ''}`;
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

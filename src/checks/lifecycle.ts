import { type Lifecycle, readLifecycle } from '../api/lifecycle.ts';
import type { Operation } from '../api/operations.ts';
import { dayOf } from '../process/text.ts';
import { type Details, fail, pass, skip, type Verdict, VerdictError, warn } from './check.ts';
import { detailsOf, type Probe } from './probe.ts';

/** The headers Deprecation and Sunset agree with the description. The gravest fault names the others too. */
export async function checkLifecycle(probe: Probe, operation: Operation): Promise<Verdict> {
  const reply = await probe.visit(operation).catch((error) => {
    throw error instanceof VerdictError ? error : new VerdictError(skip(`${operation.id} gave no answer`));
  });
  if (reply.status >= 400 && reply.status !== 410) return skip(`${operation.id} answered ${reply.status}`);
  const headers = readLifecycle(reply.fields);
  const details = detailsOf(reply);
  const found = [
    ...faultsOfMark(operation, headers, details),
    ...faultsOfForm(headers, details),
    ...faultsOfDates(operation, headers, details),
  ];
  const end = sunsetOf(operation, headers);
  if (end && end <= probe.now()) found.push(warn(`its sunset passed on ${dayOf(end)}`));
  const worst = found.find(({ state }) => state === 'fail') ?? found[0];
  if (!worst) return pass(describe(operation, headers), details);
  const others = found.filter((each) => each !== worst).map(({ reason }) => reason);
  return { ...worst, reason: [worst.reason, ...others].join('; ') };
}

/** Either the description or a header calls the operation deprecated, and the other does not. */
function faultsOfMark(
  { deprecated }: Operation,
  { deprecation, sunset }: Lifecycle,
  details: Details,
): Verdict[] {
  if (deprecation && !deprecated) {
    const more = { ...details, got: deprecation.text, expected: 'no Deprecation header' };
    return [fail('deprecated by its header, not by the description', more)];
  }
  if (!deprecation && deprecated) {
    const more = { ...details, expected: 'a Deprecation header' };
    return [warn('deprecated by the description, not by a header', more)];
  }
  if (sunset && !deprecated) return [warn('a Sunset header on an operation that is not deprecated', details)];
  return [];
}

function faultsOfForm({ deprecation, sunset }: Lifecycle, details: Details): Verdict[] {
  const found: Verdict[] = [];
  const ofDeprecation = { ...details, got: deprecation?.text, expected: '@ and Unix seconds (RFC 9745)' };
  if (deprecation?.older) found.push(warn('the Deprecation header has the older form', ofDeprecation));
  else if (deprecation && !deprecation.date)
    found.push(fail('the Deprecation header is malformed', ofDeprecation));
  if (sunset && !sunset.date) {
    const more = { ...details, got: sunset.text, expected: 'an HTTP date (RFC 8594)' };
    found.push(fail('the Sunset header is malformed', more));
  }
  return found;
}

function faultsOfDates(
  operation: Operation,
  { deprecation, sunset }: Lifecycle,
  details: Details,
): Verdict[] {
  if (!sunset?.date) return [];
  const found: Verdict[] = [];
  const described = describedSunset(operation);
  if (described && described !== dayOf(sunset.date)) {
    const expected = `${described}, as the description says`;
    found.push(fail('the sunset dates differ', { ...details, got: sunset.text, expected }));
  }
  if (deprecation?.date && sunset.date < deprecation.date) {
    const expected = `a date not before ${deprecation.date.toISOString()} (RFC 9745)`;
    found.push(fail('Sunset is before Deprecation', { ...details, got: sunset.text, expected }));
  }
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

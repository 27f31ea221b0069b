import type { Contract } from '../api/contract.ts';
import { type Lifecycle, readLifecycle } from '../api/lifecycle.ts';
import type { Operation } from '../api/operations.ts';
import { type Check, type Details, fail, pass, skip, type Verdict, warn } from './check.ts';
import { detailsOf, type Probe, readsOf } from './probe.ts';

/** One check for every GET: its Deprecation and Sunset headers agree with the description. */
export function lifecycleChecks(contract: Contract): Check<Probe>[] {
  return readsOf(contract).map((operation) => ({
    id: `lifecycle/${operation.id}`,
    operation,
    run: (probe) => check(probe, operation),
  }));
}

async function check(probe: Probe, operation: Operation): Promise<Verdict> {
  const visit = await probe.visit(operation).catch(() => undefined);
  if (!visit) return skip(`${operation.id} gave no answer`);
  if ('none' in visit) return skip(visit.none);
  if (visit.reply.status >= 400 && visit.reply.status !== 410)
    return skip(`${operation.id} answered ${visit.reply.status}`);
  const details = detailsOf(visit.reply);
  const lifecycle = readLifecycle(visit.reply.fields);
  const found = [
    ...judgeMark(operation, lifecycle, details),
    ...judgeForm(lifecycle, details),
    ...judgeDates(operation, lifecycle, details),
    ...judgePassed(probe, operation, lifecycle),
  ];
  return worstOf(found) ?? pass(describe(operation, lifecycle), details);
}

function judgeMark(operation: Operation, { deprecation, sunset }: Lifecycle, details: Details): Verdict[] {
  const { deprecated } = operation;
  const more = { ...details, expected: deprecated ? 'a Deprecation header' : 'no Deprecation header' };
  if (deprecation && !deprecated)
    return [fail('deprecated by its header, not by the description', { ...more, got: deprecation.text })];
  if (!deprecation && deprecated) return [warn('deprecated by the description, not by a header', more)];
  if (sunset && !deprecated) return [warn('a Sunset header on an operation that is not deprecated', details)];
  return [];
}

function judgeForm({ deprecation, sunset }: Lifecycle, details: Details): Verdict[] {
  const expected = { ...details, expected: '@ and Unix seconds (RFC 9745)', got: deprecation?.text };
  const found: Verdict[] = [];
  if (deprecation?.older) found.push(warn('the Deprecation header has the older form', expected));
  else if (deprecation && !deprecation.date)
    found.push(fail('the Deprecation header is malformed', expected));
  if (sunset && !sunset.date)
    found.push(
      fail('the Sunset header is malformed', {
        ...details,
        expected: 'an HTTP date (RFC 8594)',
        got: sunset.text,
      }),
    );
  return found;
}

function judgeDates(operation: Operation, { deprecation, sunset }: Lifecycle, details: Details): Verdict[] {
  const found: Verdict[] = [];
  if (!sunset?.date) return found;
  const day = sunset.date.toISOString().slice(0, 10);
  const described = describedSunset(operation);
  if (described && described !== day)
    found.push(
      fail('the sunset dates differ', {
        ...details,
        expected: `${described}, as the description says`,
        got: sunset.text,
      }),
    );
  if (deprecation?.date && sunset.date < deprecation.date)
    found.push(
      fail('Sunset is before Deprecation', {
        ...details,
        expected: `a date not before ${deprecation.date.toISOString()} (RFC 9745)`,
        got: sunset.text,
      }),
    );
  return found;
}

function judgePassed(probe: Probe, operation: Operation, { sunset }: Lifecycle): Verdict[] {
  const date = sunsetOf(operation, { sunset });
  return date && date <= probe.now() ? [warn(`its sunset passed on ${date.toISOString().slice(0, 10)}`)] : [];
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

/** The gravest finding, with the others named in its reason. */
function worstOf(found: readonly Verdict[]): Verdict | undefined {
  const worst = found.find(({ state }) => state === 'fail') ?? found[0];
  const others = found.filter((each) => each !== worst).map(({ reason }) => reason);
  return worst && { ...worst, reason: [worst.reason, ...others].join('; ') };
}

function describe({ deprecated }: Operation, { deprecation, sunset }: Lifecycle): string {
  if (!deprecated) return 'not deprecated';
  const since = deprecation?.date?.toISOString().slice(0, 10);
  const until = sunset?.date?.toISOString().slice(0, 10);
  return `deprecated since ${since}${until ? `, sunset ${until}` : ''}`;
}

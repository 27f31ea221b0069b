import type { Contract } from '../api/contract.ts';
import { type Lifecycle, readLifecycle } from '../api/lifecycle.ts';
import type { Operation } from '../api/operations.ts';
import { CliError } from '../process/errors.ts';
import { dayOf } from '../process/text.ts';
import { type Check, type Details, type Finding, FindingError, fail, pass, skip, warn } from './check.ts';
import { inputsFor } from './records.ts';
import { type CheckContext, detailsOf, type Reply, readsOf } from './round.ts';

/** One check for every GET that the description marks as deprecated, or whose answer has a header about it. */
export function lifecycleChecks(contract: Contract): Check<CheckContext>[] {
  return readsOf(contract).map((operation) => ({
    id: `lifecycle/${operation.id}`,
    operation,
    isOptional: !operation.deprecated,
    async run(context) {
      const reply = await replyOf(context, operation);
      if (typeof reply !== 'string') return judgeHeaders(context, operation, reply);
      return operation.deprecated ? [skip(reply)] : [];
    },
  }));
}

/** The answer that the check of the operation looks at too, or the reason why there is none, a clause. */
async function replyOf(context: CheckContext, operation: Operation): Promise<Reply | string> {
  try {
    const [input] = await inputsFor(context, operation);
    const reply = await context.visit(operation, input);
    const isRefused = reply.status >= 400 && reply.status !== 410;
    return isRefused ? `${operation.id} answered ${reply.status}` : reply;
  } catch (error) {
    if (error instanceof FindingError) return error.message;
    context.signal.throwIfAborted();
    if (error instanceof CliError) return `${operation.id} gave no answer`;
    throw error;
  }
}

/** Compares the headers Deprecation and Sunset with the description. Returns no finding if neither says anything. */
function judgeHeaders({ round }: CheckContext, operation: Operation, reply: Reply): Finding[] {
  const headers = readLifecycle(reply.fields);
  if (!operation.deprecated && !headers.deprecation && !headers.sunset) return [];
  const details = detailsOf(reply);
  const faults = faultsOf(operation, headers, details);
  const end = sunsetDate(operation, headers);
  if (end && end <= round.now()) faults.push(warn(`its sunset passed on ${dayOf(end)}`));
  return faults.length > 0 ? faults : [pass(describeDates(headers), details)];
}

/** The faults of the headers: they disagree with the description, are malformed, or contradict each other. */
function faultsOf(operation: Operation, { deprecation, sunset }: Lifecycle, details: Details): Finding[] {
  const faults: Finding[] = [];
  const add = (make: typeof fail, reason: string, got: string | undefined, expected: string) =>
    faults.push(make(reason, { ...details, got, expected }));
  const { deprecated } = operation;
  const agreement = 'no such header, or a mark in the description';
  if (deprecation && !deprecated)
    add(fail, 'deprecated by its header, not by the description', deprecation.text, agreement);
  else if (sunset && !deprecated)
    add(fail, 'a Sunset header on an operation that the description does not mark', sunset.text, agreement);
  else if (!deprecation && deprecated)
    add(warn, 'deprecated by the description, not by a header', undefined, 'a Deprecation header');
  const form = '@ and Unix seconds (RFC 9745)';
  if (deprecation?.older) add(warn, 'the Deprecation header has the older form', deprecation.text, form);
  else if (deprecation && !deprecation.date)
    add(fail, 'the Deprecation header is malformed', deprecation.text, form);
  if (!sunset) return faults;
  if (!sunset.date) add(fail, 'the Sunset header is malformed', sunset.text, 'an HTTP date (RFC 8594)');
  const described = operation.sunset;
  if (sunset.date && described && described !== dayOf(sunset.date))
    add(fail, 'the sunset dates differ', sunset.text, `${described}, as the description says`);
  if (sunset.date && deprecation?.date && sunset.date < deprecation.date) {
    const since = deprecation.date.toISOString();
    add(fail, 'Sunset is before Deprecation', sunset.text, `a date not before ${since} (RFC 9745)`);
  }
  return faults;
}

/** The sunset of an operation: from its header, else from the description. */
export function sunsetDate(operation: Operation, { sunset }: Lifecycle): Date | undefined {
  const described = operation.sunset;
  return sunset?.date ?? (described === undefined ? undefined : new Date(described));
}

function describeDates({ deprecation, sunset }: Lifecycle): string {
  const since = deprecation?.date && dayOf(deprecation.date);
  return `deprecated since ${since}${sunset?.date ? `, sunset ${dayOf(sunset.date)}` : ''}`;
}

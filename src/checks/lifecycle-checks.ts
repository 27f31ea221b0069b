import { readLifecycle } from '../api/lifecycle.ts';
import type { Operation } from '../api/operations.ts';
import { CliError } from '../process/errors.ts';
import { dayOf } from '../process/text.ts';
import type { Check, CheckAnswer, CheckContext } from './check.ts';
import { type Finding, FindingError, fail, pass, skip, warn } from './finding.ts';
import { inputsFor } from './records.ts';
import { detailsOf } from './round.ts';

/**
 * Makes a check for every GET. The check has no finding unless the description marks the operation as deprecated, or its
 * answer has a Deprecation or Sunset header.
 */
export function createLifecycleChecks(reads: readonly Operation[]): Check[] {
  return reads.map((operation) => ({
    id: `lifecycle/${operation.id}`,
    operation,
    isOptional: !operation.isDeprecated,
    async run(context) {
      const answer = await replyOf(context, operation);
      if (typeof answer !== 'string') return judgeHeaders(answer, context.now());
      return operation.isDeprecated ? [skip(answer)] : [];
    },
  }));
}

/** Returns the answer that the check `op` of the operation uses too, or the reason why there is none, a clause. */
async function replyOf(context: CheckContext, operation: Operation): Promise<CheckAnswer | string> {
  try {
    const [input] = await inputsFor(context, operation);
    const answer = await context.askOnce(operation, input);
    const isRefused = answer.status >= 400 && answer.status !== 410;
    return isRefused ? `${operation.id} answered ${answer.status}` : answer;
  } catch (error) {
    if (error instanceof FindingError) return error.message;
    context.signal.throwIfAborted();
    if (error instanceof CliError) return `${operation.id} gave no answer`;
    throw error;
  }
}

/** Compares the headers Deprecation and Sunset with the description. Returns no finding if none of them says anything. */
function judgeHeaders(answer: CheckAnswer, now: Date): Finding[] {
  const { operation, headers } = answer;
  const { deprecation, sunset } = readLifecycle(headers);
  if (!operation.isDeprecated && !deprecation && !sunset) return [];
  const faults = faultsOf(answer);
  const sunsetAt = sunsetDate(answer);
  if (sunsetAt && sunsetAt <= now) faults.push(warn(`its sunset passed on ${dayOf(sunsetAt)}`));
  if (faults.length > 0) return faults;
  const since = deprecation?.date && dayOf(deprecation.date);
  const until = sunset?.date ? `, sunset ${dayOf(sunset.date)}` : '';
  return [pass(`deprecated since ${since}${until}`, detailsOf(answer))];
}

/** Finds headers that disagree with the description, are malformed, or contradict each other. */
function faultsOf(answer: CheckAnswer): Finding[] {
  const { deprecation, sunset } = readLifecycle(answer.headers);
  const { isDeprecated, sunset: describedSunset } = answer.operation;
  const faults: Finding[] = [];
  const add = (make: typeof fail, reason: string, got: string | undefined, expected: string) =>
    faults.push(make(reason, { ...detailsOf(answer), got, expected }));
  const agreement = 'no such header, or a mark in the description';
  if (deprecation && !isDeprecated)
    add(fail, 'deprecated by its header, not by the description', deprecation.text, agreement);
  else if (sunset && !isDeprecated)
    add(fail, 'a Sunset header on an operation that the description does not mark', sunset.text, agreement);
  else if (!deprecation && isDeprecated)
    add(warn, 'deprecated by the description, not by a header', undefined, 'a Deprecation header');
  const form = '@ and Unix seconds (RFC 9745)';
  if (deprecation?.isDraftForm)
    add(warn, 'the Deprecation header has the older form', deprecation.text, form);
  else if (deprecation && !deprecation.date)
    add(fail, 'the Deprecation header is malformed', deprecation.text, form);
  if (!sunset) return faults;
  if (!sunset.date) add(fail, 'the Sunset header is malformed', sunset.text, 'an HTTP date (RFC 8594)');
  if (sunset.date && describedSunset && describedSunset !== dayOf(sunset.date))
    add(fail, 'the sunset dates differ', sunset.text, `${describedSunset}, as the description says`);
  if (sunset.date && deprecation?.date && sunset.date < deprecation.date) {
    const since = deprecation.date.toISOString();
    add(fail, 'Sunset is before Deprecation', sunset.text, `a date not before ${since} (RFC 9745)`);
  }
  return faults;
}

/** Returns the sunset of an operation, from the header of its answer, or from the description if there is no header. */
export function sunsetDate({ operation, headers }: CheckAnswer): Date | undefined {
  const { sunset } = readLifecycle(headers);
  return sunset?.date ?? (operation.sunset === undefined ? undefined : new Date(operation.sunset));
}

import { headerValue } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import { dayOf } from '../process/text.ts';
import type { Check, CheckAnswer } from './check.ts';
import { type Finding, pass, skip, statusText, warn } from './finding.ts';
import { inputsFor } from './records.ts';
import { detailsOf } from './round.ts';

/**
 * Makes a check for every GET. No report has the check unless the description marks the operation as deprecated, or its
 * answer has a Deprecation or Sunset header.
 */
export function createLifecycleChecks(reads: readonly Operation[]): Check[] {
  return reads.map((operation) => ({
    id: `lifecycle/${operation.id}`,
    operation,
    needs: [`op/${operation.id}`],
    isOptional: !operation.isDeprecated,
    async run(context) {
      const [input] = await inputsFor(context, operation);
      const answer = await context.askOnce(operation, input);
      const { status } = answer;
      if (status >= 400 && status !== 410) return skip(`${operation.id} answered ${statusText(status)}`);
      return judgeMarks(answer, context.now());
    },
  }));
}

/** Compares the headers Deprecation and Sunset with the mark of the description. @see RFC 9745, RFC 8594 */
function judgeMarks(answer: CheckAnswer, now: Date): Finding[] {
  const { operation, headers } = answer;
  const header = headerValue(headers, 'deprecation') ?? headerValue(headers, 'sunset');
  if (!operation.isDeprecated && header === undefined) return [];
  const details = { ...detailsOf(answer), got: header };
  const findings: Finding[] = [];
  if (!operation.isDeprecated)
    findings.push(warn('deprecated by its header, not by the description', details));
  if (header === undefined) findings.push(warn('deprecated by the description, not by a header', details));
  const sunsetDay = passedSunset(answer, now);
  if (sunsetDay) findings.push(warn(`its sunset passed on ${sunsetDay}`, details));
  return findings.length > 0
    ? findings
    : [pass('deprecated by the description and by a header', detailsOf(answer))];
}

/** Returns the day of a sunset that has passed, by the header of the answer, or else by the description. */
export function passedSunset({ operation, headers }: CheckAnswer, now: Date): string | undefined {
  const ms = Date.parse(headerValue(headers, 'sunset') ?? operation.sunset ?? '');
  return ms <= now.getTime() ? dayOf(new Date(ms)) : undefined;
}

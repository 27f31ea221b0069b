import { type Condition, meetsHeader } from '../input/condition.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import type { Check, CheckContext, RawAnswer } from './check.ts';
import { differenceTo } from './condition-difference.ts';
import { type Finding, findingOfError, pass, statusText } from './finding.ts';
import { askFor } from './first-answer.ts';
import { detailsOf, rateLimitPauseMs } from './round.ts';

/** The conditions of `--wait-for`, and the time limits of the checks for them. */
export interface VersionOptions {
  readonly waitFor: readonly Condition[];
  readonly waitMs: number;
  readonly timeoutMs: number;
}

/** The number of looks before the other checks of a round. A look compares the service with every condition once. */
const looksBefore = 30;
/** The number of looks after the other checks of a round. */
const looksAfter = 10;
/** The most looks at the same time. */
const maxAtOnce = 8;
/** The shortest time limit of a look. */
const minLookMs = 1000;

/** Makes the check that the service is the deployment of `--wait-for`: every condition holds in every look. */
export function createVersionCheck(options: VersionOptions): Check {
  const passed = pass(`held in ${looksBefore} looks, each on a new connection`);
  return {
    id: 'reach/version',
    isPrerequisite: true,
    run: async (context) => (await lookOften(context, options, looksBefore)) ?? passed,
  };
}

/** Checks after a round that the conditions still hold. @returns the failure; undefined if they do. */
export function checkVersionAgain(
  context: CheckContext,
  options: VersionOptions,
): Promise<Finding | undefined> {
  return lookOften(context, options, looksAfter).catch(findingOfError);
}

/**
 * Looks a number of times, each time on a new connection, because one replica of the new version must not speak for the
 * others. If the service limits the rate, waits and continues with one look at a time.
 *
 * @returns the failure; undefined if every condition held every time.
 */
async function lookOften(
  context: CheckContext,
  { waitFor, waitMs, timeoutMs }: VersionOptions,
  count: number,
): Promise<Finding | undefined> {
  const endMs = monotonicMs() + Math.max(waitMs, timeoutMs);
  const lookMs = Math.min(timeoutMs, Math.max(waitMs, minLookMs));
  let atOnce = maxAtOnce;
  for (let remaining = count; remaining > 0; ) {
    const size = Math.min(atOnce, remaining);
    const looks = await Promise.all(Array.from({ length: size }, () => look(context, waitFor, lookMs)));
    const fault = looks.flatMap((result) => result.fault ?? [])[0];
    if (fault) return fault;
    const pausesMs = looks.flatMap((result) => result.pauseMs ?? []);
    remaining -= size - pausesMs.length;
    if (pausesMs.length === 0) continue;
    atOnce = 1;
    const pauseMs = Math.max(...pausesMs);
    if (monotonicMs() + pauseMs > endMs)
      return context.tracker.failure('the service answered 429 Too Many Requests');
    await sleep(pauseMs, context.signal);
  }
  return undefined;
}

/** The result of a look. It is empty if every condition holds. */
interface Look {
  /** The failure, if a condition does not hold. */
  readonly fault?: Finding;
  /** The time to wait, if the service limits the rate. */
  readonly pauseMs?: number | undefined;
}

/** Compares the service with every condition. Conditions on the same path share a request. */
async function look(
  context: CheckContext,
  conditions: readonly Condition[],
  timeoutMs: number,
): Promise<Look> {
  const { tracker, mask } = context;
  const answers = new Map<string | undefined, RawAnswer>();
  try {
    for (const condition of conditions) {
      const options = { retries: 0, timeoutMs, changes: { connection: 'close' } };
      const answer = answers.get(condition.path) ?? (await askFor(context, condition, options));
      answers.set(condition.path, answer);
      const difference = differenceTo(condition, answer, mask);
      if (!difference) continue;
      if (answer.status === 429) return { pauseMs: rateLimitPauseMs(answer) };
      const { reason } = difference;
      // The tracker has already counted an answer with another header.
      if (answer.status < 300 && meetsHeader(condition, answer.headers)) tracker.countForeign(reason);
      const isRefusal = answer.status >= 400 && condition.status === undefined;
      const refusal = `${condition.path ?? 'the service'} answered ${statusText(answer.status)}`;
      const details = { ...difference, ...detailsOf(answer) };
      return { fault: tracker.failure(isRefusal ? refusal : reason, details) };
    }
    return {};
  } catch (error) {
    context.signal.throwIfAborted();
    const { reason, exitCode, ...details } = findingOfError(error);
    return { fault: tracker.failure(reason, details) };
  }
}

import { retryAfter } from '../client/attempt.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import type { Check, CheckContext, RawReply } from './check.ts';
import { type Condition, differenceTo, meetsHeader } from './condition.ts';
import { type Finding, findingOfError, pass, statusText } from './finding.ts';
import { askFor } from './first-answer.ts';
import { detailsOf } from './round.ts';

/** The conditions of `--wait-for`, and the times within which they are looked at. */
export interface VersionOptions {
  readonly waitFor: readonly Condition[];
  readonly waitMs: number;
  readonly timeoutMs: number;
}

/** The number of looks at the conditions before the checks of a round, and after them. */
const looksBefore = 30;
const looksAfter = 10;
/** The most looks at the same time. */
const maxAtOnce = 8;
/** The shortest deadline of a look. */
const minLookMs = 1000;
/** The pause after a 429 that does not say how long to wait. */
const defaultPauseMs = 1000;

/** Checks that the service is the deployment of `--wait-for`: every condition holds, again and again. */
export function versionCheck(options: VersionOptions): Check {
  const passed = pass(`held in ${looksBefore} looks, each on a new connection`);
  return {
    id: 'reach/version',
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
 * Looks at the conditions a number of times, each time on a new connection, because one replica of the new version must
 * not speak for the others. If the service limits the rate, waits and goes on with one look at a time.
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
  for (let left = count; left > 0; ) {
    const size = Math.min(atOnce, left);
    const looks = await Promise.all(Array.from({ length: size }, () => look(context, waitFor, lookMs)));
    const fault = looks.flatMap((result) => result.fault ?? [])[0];
    if (fault) return fault;
    const pausesMs = looks.flatMap((result) => result.pauseMs ?? []);
    left -= size - pausesMs.length;
    if (pausesMs.length === 0) continue;
    atOnce = 1;
    const pauseMs = Math.max(...pausesMs);
    if (monotonicMs() + pauseMs > endMs)
      return context.deployment.failure('the service answered 429 Too Many Requests');
    await sleep(pauseMs, context.signal);
  }
  return undefined;
}

interface Look {
  /** The failure, if a condition does not hold. */
  readonly fault?: Finding;
  /** The time to wait, if the service limits the rate. */
  readonly pauseMs?: number;
}

/** One look at all conditions. */
async function look(
  context: CheckContext,
  conditions: readonly Condition[],
  timeoutMs: number,
): Promise<Look> {
  const { deployment, mask } = context;
  const replies = new Map<string | undefined, RawReply>();
  try {
    for (const condition of conditions) {
      const options = { retries: 0, timeoutMs, changes: { connection: 'close' } };
      const reply = replies.get(condition.path) ?? (await askFor(context, condition, options));
      replies.set(condition.path, reply);
      const difference = differenceTo(condition, reply, mask);
      if (!difference) continue;
      if (reply.status === 429) return { pauseMs: retryAfter(reply.fields, Date.now()) ?? defaultPauseMs };
      const { reason } = difference;
      if (reply.status < 300 && meetsHeader(condition, reply.fields)) deployment.countForeign(reason);
      const isSilent = reply.status >= 400 && condition.status === undefined;
      const refusal = `${condition.path ?? 'the service'} answered ${statusText(reply.status)}`;
      const details = { ...difference, ...detailsOf(reply) };
      return { fault: deployment.failure(isSilent ? refusal : reason, details) };
    }
    return {};
  } catch (error) {
    context.signal.throwIfAborted();
    const { reason, exitCode, ...details } = findingOfError(error);
    return { fault: deployment.failure(reason, details) };
  }
}

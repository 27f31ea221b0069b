import { retryAfter } from '../client/attempt.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { type Check, type Finding, findingOfError, pass, statusText } from './check.ts';
import { type Condition, differenceTo, meetsHeader } from './condition.ts';
import { askFor } from './first-answer.ts';
import { type CheckContext, detailsOf, type Reply } from './round.ts';

/** The number of looks at the conditions of `--wait-for` before the checks of a round, and after them. */
const samplesBefore = 30;
export const samplesAfter = 10;
/** The most samples that are taken at once. */
const maxAtOnce = 8;
/** The shortest deadline of a sample. */
const minSampleMs = 1000;
/** The pause after a 429 that does not say how long to wait. */
const defaultPauseMs = 1000;

/** Checks that the service is the deployment of `--wait-for`: every condition holds, again and again. */
export const versionCheck: Check<CheckContext> = {
  id: 'reach/version',
  run: async (context) => [
    (await sample(context, samplesBefore)) ??
      pass(`held in ${samplesBefore} looks, each on a new connection`),
  ],
};

/**
 * Looks at every condition of `--wait-for` a number of times, each time on a new connection, because one replica of the
 * new version must not speak for the others. Takes one sample at a time, and waits, if the service limits the rate.
 *
 * @returns what did not hold; undefined if every condition held every time.
 */
export async function sample(context: CheckContext, count: number): Promise<Finding | undefined> {
  const { waitFor, waitMs, timeoutMs } = context.round.options;
  const endMs = monotonicMs() + Math.max(waitMs, timeoutMs);
  const sampleMs = Math.min(timeoutMs, Math.max(waitMs, minSampleMs));
  let atOnce = maxAtOnce;
  for (let left = count; left > 0; ) {
    const size = Math.min(atOnce, left);
    const looks = await Promise.all(Array.from({ length: size }, () => look(context, waitFor, sampleMs)));
    const fault = looks.flatMap((result) => result.fault ?? [])[0];
    if (fault) return fault;
    const pausesMs = looks.flatMap((result) => result.pauseMs ?? []);
    left -= size - pausesMs.length;
    if (pausesMs.length === 0) continue;
    atOnce = 1;
    const pauseMs = Math.max(...pausesMs);
    if (monotonicMs() + pauseMs > endMs)
      return context.round.deployment.failure('the service answered 429 Too Many Requests');
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
  const { deployment, mask } = context.round;
  const replies = new Map<string | undefined, Reply>();
  try {
    for (const condition of conditions) {
      const options = { retries: 0, timeoutMs, changes: { connection: 'close' } };
      const reply = replies.get(condition.path) ?? (await askFor(context, condition, options));
      replies.set(condition.path, reply);
      const difference = differenceTo(condition, reply, mask);
      if (!difference) continue;
      if (reply.status === 429) return { pauseMs: retryAfter(reply.fields, Date.now()) ?? defaultPauseMs };
      const { reason, ...details } = difference;
      if (reply.status < 300 && meetsHeader(condition, reply.fields)) deployment.countForeign(reason);
      const isSilent = reply.status >= 400 && condition.status === undefined;
      const answered = `${condition.path ?? 'the service'} answered ${statusText(reply.status)}`;
      return {
        fault: deployment.failure(isSilent ? answered : reason, { ...detailsOf(reply), ...details }),
      };
    }
    return {};
  } catch (error) {
    context.signal.throwIfAborted();
    const { reason, ...details } = findingOfError(error);
    return { fault: deployment.failure(reason, details) };
  }
}

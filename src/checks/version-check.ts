import type { HttpHeaders } from '../api/http.ts';
import type { Check, CheckContext, RawAnswer } from './check.ts';
import { type Condition, contradictionOf, differenceTo } from './condition.ts';
import { type Finding, fail, findingOfError, pass } from './finding.ts';
import { askFor } from './first-answer.ts';
import { detailsOf } from './round.ts';

/** The conditions of `--wait-for`, and the time of the wait. */
export interface VersionOptions {
  readonly waitFor: readonly Condition[];
  readonly waitMs: number;
}

/** How often the service is compared with the conditions, before the checks of a round and again after them. */
const lookCount = 10;
/** The shortest time limit of a look. A longer one ends with the time of the wait. */
const minLookMs = 1000;

const hint = 'is the rollout done, on every replica?';

/** Makes the check that the service is the deployment of `--wait-for`. */
export function createVersionCheck(options: VersionOptions): Check {
  const passed = pass(`held in ${lookCount} answers in a row, each on a new connection`);
  return {
    id: 'reach/version',
    isPrerequisite: true,
    run: async (context) => (await checkVersion(context, options)) ?? passed,
  };
}

/**
 * Compares the service with every condition, each time on a new connection, because one replica of the new version must
 * not speak for the others.
 *
 * @returns the failure, with the number of answers that differ; undefined if every condition held every time.
 */
export async function checkVersion(
  context: CheckContext,
  { waitFor, waitMs }: VersionOptions,
): Promise<Finding | undefined> {
  const lookMs = Math.min(context.timeoutMs, Math.max(waitMs, minLookMs));
  const faults: Finding[] = [];
  for (let count = 0; count < lookCount; count += 1) {
    try {
      const fault = await look(context, waitFor, lookMs);
      if (fault) faults.push(fault);
    } catch (error) {
      context.signal.throwIfAborted();
      const { exitCode, ...finding } = findingOfError(error);
      return finding;
    }
  }
  const [fault] = faults;
  return fault && fail(`${fault.reason}, in ${faults.length} of ${lookCount} answers`, { ...fault, hint });
}

/** Compares the service with every condition once. Conditions on the same path share a request. */
async function look(
  context: CheckContext,
  conditions: readonly Condition[],
  timeoutMs: number,
): Promise<Finding | undefined> {
  const answers = new Map<string | undefined, RawAnswer>();
  for (const condition of conditions) {
    const options = { timeoutMs, changes: { connection: 'close' } };
    const answer = answers.get(condition.path) ?? (await askFor(context, condition, options));
    answers.set(condition.path, answer);
    const difference = differenceTo(condition, answer, context.mask);
    if (difference) return { ...difference, ...detailsOf(answer) };
  }
  return undefined;
}

/**
 * Finds answers of another deployment among the answers to the checks: a condition on a header, without a path, holds in
 * every answer that has the header.
 */
export function foreignAnswers(
  waitFor: readonly Condition[],
  heads: readonly HttpHeaders[],
): Finding | undefined {
  const conditions = waitFor.filter(({ path }) => path === undefined);
  const reasons = heads.flatMap((headers) => {
    const found = conditions.flatMap((condition) => contradictionOf(condition, headers) ?? []);
    return found.slice(0, 1);
  });
  const [reason] = reasons;
  return reason === undefined
    ? undefined
    : fail(`${reason}, in ${reasons.length} of ${heads.length} answers to the checks`, { hint });
}

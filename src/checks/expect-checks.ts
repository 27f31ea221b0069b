import type { Client } from '../client/client.ts';
import { type CheckRun, detailsOf, type Reply } from './ask.ts';
import { type Check, fail, pass, type Verdict } from './check.ts';
import { type Condition, meetsStatus, unmet } from './condition.ts';
import { askFirst } from './reach-http.ts';

/** @throws UsageError if a path leads out of the service. */
export function checkConditions(client: Client, conditions: readonly Condition[]): void {
  for (const { path } of conditions) if (path !== undefined) client.toRawRequest({ method: 'GET', path });
}

/** The user's own checks, `expect/1` and following, in the order of the flags. */
export function expectChecks(conditions: readonly Condition[]): Check<CheckRun>[] {
  return conditions.map((condition, index) => ({
    id: `expect/${index + 1}`,
    async run(run) {
      const reply = await askFor(run, condition);
      return judgeCondition(run, condition, reply) ?? pass(condition.text, detailsOf(reply));
    },
  }));
}

/** The answer that a condition is about. A status that it expects is not retried. */
export async function askFor(run: CheckRun, condition: Condition): Promise<Reply> {
  const isExpected = (status: number) => meetsStatus(condition, status);
  if (condition.path !== undefined) return run.get(condition.path, { isExpected });
  return (await askFirst(run, isExpected)).reply;
}

/** The failure of a condition that an answer does not meet. */
export function judgeCondition(run: CheckRun, condition: Condition, reply: Reply): Verdict | undefined {
  const problem = unmet(condition, reply, run.mask);
  if (!problem) return undefined;
  const { reason, ...details } = problem;
  return fail(reason, { ...detailsOf(reply), ...details });
}

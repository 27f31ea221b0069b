import type { Attempt } from '../client/attempt.ts';
import type { Client } from '../client/client.ts';
import { type Condition, meetsHeader } from '../input/condition.ts';
import { counted } from '../process/text.ts';
import { type Details, type Finding, fail } from './finding.ts';

/**
 * Counts the answers that come from another deployment than the one that `--wait-for` names, over all rounds of a wait. A
 * condition on a header applies to every answer to its path. If the condition has no path, it applies to every answer.
 */
export class DeploymentTracker {
  private readonly conditions: readonly (Condition & { readonly url: string | undefined })[];
  private answers = 0;
  private reason = '';
  /** The number of answers that came from another deployment. */
  foreignAnswers = 0;

  constructor(waitFor: readonly Condition[], client: Client) {
    this.conditions = waitFor
      .filter(({ header }) => header !== undefined)
      .map((condition) => {
        const { path } = condition;
        return { ...condition, url: path && client.toRawRequest({ method: 'GET', path }).url };
      });
  }

  /** Adds the answer to an attempt, if one came. An error without the header is not foreign: it may come from a proxy. */
  add({ request: { method, url }, response }: Attempt): void {
    if (!response) return;
    const { status, headers } = response;
    this.answers += 1;
    for (const { url: conditionUrl, header } of this.conditions) {
      if (!header || (conditionUrl !== undefined && !(method === 'GET' && conditionUrl === url))) continue;
      const value = headers[header.name];
      if (meetsHeader({ header }, headers) || (status >= 300 && value === undefined)) continue;
      const { name } = header;
      this.countForeign(value === undefined ? `there is no header ${name}` : `${name} is ${value}`);
      return;
    }
  }

  /** Counts an added answer as foreign. @param reason the difference, a clause. */
  countForeign(reason: string): void {
    this.foreignAnswers += 1;
    this.reason = reason;
  }

  /** Makes the failure of `reach/version`. @param reason by default the difference of the last foreign answer. */
  failure(reason = this.reason, details: Details = {}): Finding {
    const { foreignAnswers, answers } = this;
    if (foreignAnswers === 0) return fail(reason, details);
    const count = `${foreignAnswers} of ${counted(answers, 'answer', 'answers')} came from another deployment`;
    const hint = 'is the rollout done, on every replica?';
    return fail(`${reason}; ${count}`, { hint, ...details });
  }
}

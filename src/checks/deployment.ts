import type { Attempt } from '../client/attempt.ts';
import { counted } from '../process/text.ts';
import { type Details, type Finding, fail } from './check.ts';
import { type Condition, meetsHeader } from './condition.ts';

/**
 * Counts the answers that are not of the deployment that `--wait-for` names, over all rounds of a wait. A condition on a
 * header is compared with every answer to its path, or with every answer if it has none.
 */
export class Deployment {
  private readonly conditions: readonly (Condition & { readonly url: string | undefined })[];
  private answers = 0;
  private reason: string | undefined;
  /** How many answers came from another deployment. */
  others = 0;

  /** @param toUrl the URL of a path below the base URL. */
  constructor(waitFor: readonly Condition[], toUrl: (path: string) => string) {
    this.conditions = waitFor
      .filter(({ header }) => header !== undefined)
      .map((condition) => ({ ...condition, url: condition.path && toUrl(condition.path) }));
  }

  /** Adds the answer to an attempt, if one came. An error without the header may be of a proxy, so it says nothing. */
  add({ request: { method, url }, response }: Attempt): void {
    if (!response) return;
    const { status, fields } = response;
    this.answers += 1;
    const other = this.conditions.find(
      (condition) =>
        (condition.url === undefined || (method === 'GET' && condition.url === url)) &&
        !meetsHeader(condition, fields) &&
        (status < 300 || fields[condition.header?.name ?? ''] !== undefined),
    );
    if (!other?.header) return;
    const { name } = other.header;
    this.countOther(fields[name] === undefined ? `there is no header ${name}` : `${name} is ${fields[name]}`);
  }

  /** Counts an answer of another deployment, which was added before. @param reason what it has instead, a clause. */
  countOther(reason: string): void {
    this.others += 1;
    this.reason = reason;
  }

  /** The failure of `reach/version` by a reason, or by the answers that came from another deployment. */
  failure(reason = this.reason ?? 'the service answers', details: Details = {}): Finding {
    const { others, answers } = this;
    const count =
      others === 0
        ? ''
        : `; ${others} of ${counted(answers, 'answer', 'answers')} came from another deployment`;
    return fail(`${reason}${count}`, {
      hint: others === 0 ? undefined : 'is the rollout done, on every replica?',
      ...details,
      exitCode: undefined,
    });
  }
}

import { poll } from '../process/deadline.ts';
import { durationText } from '../process/text.ts';
import { type Round, startCheck } from './ask.ts';
import { fail, pass, type Verdict, verdictOfError } from './check.ts';
import { type Condition, meetsHeader } from './condition.ts';
import { askFor, judgeCondition, reachHttp } from './reach-http.ts';

/** What the wait for a service came to. */
export interface Waited {
  /** The verdict of `reach/http`. */
  readonly http: Verdict;
  /** That of `reach/version`; undefined without conditions, or if the service was not reached. */
  readonly version: Verdict | undefined;
  /** Whether time does not change the answer. */
  readonly isFinal: boolean;
}

const everyMs = 500;
/** The last look may go on after the wait for this long: less is not enough for an answer of a busy machine. */
const minLookMs = 1000;
const maxLookMs = 5000;
const rowLength = 3;

/**
 * Polls the service until it answers and every condition of `--wait-for` holds, three times in a row, each time on a new
 * connection: one replica of the new version must not speak for the others.
 *
 * @param onWaiting gets the reason, once, if the first answer is not good enough.
 * @returns the last verdicts. 401, 403 and an untrusted certificate end the wait, because time does not change them.
 */
export async function waitForService(
  round: Round,
  signal: AbortSignal,
  onWaiting: (why: string) => Promise<void>,
): Promise<Waited | undefined> {
  const { waitMs, waitFor, timeoutMs } = round.options;
  const looks: Waited[] = [];
  const ended = await poll({ forMs: waitMs, everyMs, signal }, async (leftMs) => {
    const lookMs = Math.min(Math.max(leftMs, minLookMs), timeoutMs, maxLookMs);
    for (let row = 0; row < (waitFor.length === 0 ? 1 : rowLength); row += 1) {
      const found = await look(round, signal, lookMs);
      looks.push(found);
      if (isGood(found)) continue;
      if (looks.length === row + 1) await onWaiting((found.version ?? found.http).reason);
      return found.isFinal ? found : undefined;
    }
    return looks.at(-1);
  });
  const last = looks.at(-1);
  if (ended || !last) return ended;
  const { http, version, isFinal } = last;
  const after = `after waiting ${durationText(waitMs)}`;
  if (!version) return { http: { ...http, reason: `${http.reason}, ${after}` }, version, isFinal };
  const held = looks.filter(isGood).length;
  const times = held > 0 ? `; it held in ${held} of ${looks.length} looks` : '';
  return { http, version: { ...version, reason: `${version.reason}, ${after}${times}` }, isFinal };
}

function isGood({ http, version }: Waited): boolean {
  return http.state === 'pass' && (version === undefined || version.state === 'pass');
}

async function look(round: Round, signal: AbortSignal, timeoutMs: number): Promise<Waited> {
  const run = startCheck(round, { signal, timeoutMs, retries: 0, isAlone: true });
  const { verdict: http, reply, isFinal } = await reachHttp(run);
  if (http.state !== 'pass' || round.options.waitFor.length === 0)
    return { http, version: undefined, isFinal };
  for (const condition of round.options.waitFor) {
    const failed = await (condition.path === undefined && reply
      ? Promise.resolve(judgeCondition(run, condition, reply))
      : askFor(run, condition).then((answer) => judgeCondition(run, condition, answer))
    ).catch((error: unknown) => {
      signal.throwIfAborted();
      return verdictOfError(error);
    });
    if (failed) return { http, version: { ...failed, state: 'fail', exitCode: undefined }, isFinal };
  }
  return { http, version: pass(`held ${rowLength} times in a row`), isFinal };
}

/** Counts the answers of a run that come from another deployment than the one that `--wait-for` names by a header. */
export class DeploymentCount {
  private readonly conditions: readonly Condition[];
  private readonly counts = { all: 0, other: 0 };

  constructor(waitFor: readonly Condition[]) {
    this.conditions = waitFor.filter(({ header, path }) => header !== undefined && path === undefined);
  }

  /** An error without the header may come from a proxy, so it says nothing. */
  add({ status, fields }: Parameters<Round['onAnswer']>[0]): void {
    this.counts.all += 1;
    const isOther = this.conditions.some(
      (condition) =>
        !meetsHeader(condition, fields) &&
        (status < 300 || fields[condition.header?.name ?? ''] !== undefined),
    );
    if (isOther) this.counts.other += 1;
  }

  /** The failure of `reach/version`; undefined if there was no such answer. */
  get failure(): Verdict | undefined {
    const { all, other } = this.counts;
    if (other === 0) return undefined;
    const expected = this.conditions.map(({ text }) => text).join(', ');
    return fail(`${other} of ${all} answers come from another deployment`, {
      expected,
      hint: 'is the rollout done, on every replica?',
    });
  }
}

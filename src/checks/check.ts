import type { Operation } from '../api/operations.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, type ExitCode, InterruptedError, messageOf } from '../process/errors.ts';
import type { Latency } from './options.ts';

/**
 * What became of a check. `error`: it could not be carried out, because no answer came or a record that it needs could
 * not be created. `skip`: it does not apply here, or would only repeat what another check says.
 */
export const states = ['pass', 'warn', 'fail', 'skip', 'error'] as const;
export type State = (typeof states)[number];

/** What a check found. Its texts may hold what the service sent; reports make them safe. */
export interface Verdict {
  readonly state: State;
  /** One clause: the observation, the fault, or the reason why the check was skipped. */
  readonly reason: string;
  /** A remedy, one clause. */
  readonly hint?: string | undefined;
  readonly expected?: string | undefined;
  /** The actual value, at most 200 bytes of it. */
  readonly got?: string | undefined;
  /** JSON pointer to the fault in the response body. */
  readonly pointer?: string | undefined;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly status?: number | undefined;
  /** The service's own id of the request. */
  readonly requestId?: string | undefined;
  /** The operation at fault, if it is another than the check's own. */
  readonly operation?: Operation | undefined;
  /** The records that the check created in the service, such as `pet petstore-smoke-… (id 12)`. */
  readonly made?: readonly string[] | undefined;
  /** The records that it could not remove, a clause each; `got` names them too. */
  readonly left?: readonly string[] | undefined;
  /** Set if it passed only after another attempt: the result of the first one. */
  readonly flaky?: string | undefined;
  /** Set if it counts as a failure only because of `--fail-on`. */
  readonly hardened?: true | undefined;
  /** Milliseconds of the request that it judges, if another check had sent that already. */
  readonly requestMs?: number | undefined;
  /** Set if the check never began: the reason, a short clause. */
  readonly barredBy?: string | undefined;
  /** The exit code of the error that ended the check, or of a refused credential. */
  readonly exitCode?: ExitCode | undefined;
}

/** Everything of a verdict but its state and reason. */
export type Details = Partial<Omit<Verdict, 'state' | 'reason'>>;

/** One check of a subject: for `smoke` a service, for `doctor` this machine and the connection to a service. */
export interface Check<Subject> {
  /** Stable. */
  readonly id: string;
  /** The operation that it tests; its stability decides how much a failure counts. */
  readonly operation?: Operation | undefined;
  /** Ids of checks, in the order in which they run. If one of them failed, this check cannot pass and is skipped. */
  readonly needs?: readonly string[] | undefined;
  run(subject: Subject): Promise<Verdict>;
}

export interface CheckResult extends Verdict {
  readonly id: string;
  readonly elapsedMs: number;
  /** If the checks ran several times: the number of runs and of failures, and the latency over all. */
  readonly runs?: number | undefined;
  readonly failures?: number | undefined;
  readonly latency?: Latency | undefined;
}

export function pass(reason: string, details: Details = {}): Verdict {
  return { ...details, state: 'pass', reason };
}

export function warn(reason: string, details: Details = {}): Verdict {
  return { ...details, state: 'warn', reason };
}

export function fail(reason: string, details: Details = {}): Verdict {
  return { ...details, state: 'fail', reason };
}

export function skip(reason: string): Verdict {
  return { state: 'skip', reason };
}

/** Whether a state makes the whole command fail. */
export function isRed({ state }: { readonly state: State }): boolean {
  return state === 'fail' || state === 'error';
}

/** Ends a check with a verdict. */
export class VerdictError extends Error {
  readonly verdict: Verdict;

  constructor(verdict: Verdict) {
    super(verdict.reason);
    this.verdict = verdict;
  }
}

/** The verdict of a check that threw; a check that could not be carried out is an `error`. */
export function verdictOfError(error: unknown): Verdict {
  if (error instanceof VerdictError) return error.verdict;
  if (!(error instanceof CliError)) return { state: 'error', reason: `internal: ${messageOf(error)}` };
  const { method, url, status, requestId, hint } = error.details;
  const { message: reason, exitCode } = error;
  return { state: 'error', reason, hint, method, url, status, requestId, exitCode };
}

/** The reason of checks that a signal prevented. */
export const interrupted = 'the run was interrupted';

/**
 * Runs checks one after another and yields each result. If a check fails, checks that need it are skipped; after the
 * signal was aborted, all remaining ones are.
 *
 * @param results gets every result by its id, for checks that use the results of others.
 */
export async function* runChecks<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
  results = new Map<string, CheckResult>(),
  signal?: AbortSignal,
): AsyncGenerator<CheckResult> {
  for (const check of checks) {
    const { id, operation } = check;
    const barred = signal?.aborted ? { ...skip(interrupted), barredBy: interrupted } : barOf(check, results);
    const startedMs = monotonicMs();
    const verdict = barred ?? (await check.run(subject).catch(toVerdict));
    const elapsedMs = barred ? 0 : Math.max(verdict.requestMs ?? 0, monotonicMs() - startedMs);
    const result = { operation, ...verdict, id, elapsedMs };
    results.set(id, result);
    yield result;
  }
}

/** The verdict of a check that needs a failed one. A failure that counts only because of `--fail-on` bars no check. */
function barOf({ needs = [] }: Check<never>, results: ReadonlyMap<string, CheckResult>): Verdict | undefined {
  const needed = needs.map((id) => results.get(id));
  const failed = needed.find((result) => result && isRed(result) && !result.hardened);
  if (!failed) return undefined;
  return { ...skip(`${failed.id} failed: ${failed.reason}`), barredBy: `${failed.id} failed` };
}

function toVerdict(error: unknown): Verdict {
  if (error instanceof InterruptedError) throw error;
  return verdictOfError(error);
}

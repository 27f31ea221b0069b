import { STATUS_CODES } from 'node:http';
import type { Operation } from '../api/operations.ts';
import { errorMessage } from '../output/error.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, type ExitCode, InterruptedError, messageOf } from '../process/errors.ts';

// The checks of `smoke` (a service) and `doctor` (this machine and the way to a service).
//
// A check is a function that returns findings. `check-table` lists the checks of smoke, and `run-smoke` carries them out, once
// or often: `round` sends their requests, `verdict` makes of the findings of a check its verdict, and `report/` prints
// the verdicts. To add a check, write a function that gets a `CheckContext` and returns findings, and add a line to
// `check-table`. `judge-answer` holds an answer against the contract, and `records` reads the records in it.

/**
 * The states of a check. A check is `flaky` if it passed after another attempt, or if a fault was seen and did not come
 * again. It is an `error` if it could not be carried out, because the description cannot be used or the program has a
 * defect. It is skipped if it does not apply to the service, or if a check that it needs has failed.
 */
export const states = ['pass', 'flaky', 'warn', 'fail', 'error', 'skip'] as const;
export type State = (typeof states)[number];

/** Gravest first. */
export const byGravity: readonly State[] = ['fail', 'error', 'warn', 'flaky', 'pass', 'skip'];

/** The groups of checks of `smoke`, in the order of reports. `run` has the failure of a run that was stopped. */
export const groups = [
  'reach',
  'tls',
  'op',
  'error',
  'lifecycle',
  'auth',
  'latency',
  'expect',
  'write',
  'run',
] as const;

/** The group of a check of `smoke`, by its id. */
export function groupOf(id: string): string {
  return id.split('/', 1)[0] ?? '';
}

/** One observation of a check. Its texts may hold what the service sent; reports make them safe. */
export interface Finding {
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
  /** The cache that answered, by its headers: `Age: 30, X-Cache: HIT`. */
  readonly cache?: string | undefined;
  /** The operation at fault, if it is not that of the check. */
  readonly operation?: Operation | undefined;
  /** The records that the check left in the service, or may have left, a clause each. */
  readonly left?: readonly string[] | undefined;
  /** The exit code of the failure, if it is not that of a failed check. */
  readonly exitCode?: ExitCode | undefined;
}

/** A finding without its state and reason. */
export type Details = Partial<Omit<Finding, 'state' | 'reason'>>;

/** One check of a subject. */
export interface Check<Subject> {
  /** Stable: `group/name` for smoke. */
  readonly id: string;
  /** The operation that it tests. If that is not stable, a failure is a warning. */
  readonly operation?: Operation | undefined;
  /** Ids of checks that run before. If one of them fails, this check is skipped. */
  readonly needs?: readonly string[] | undefined;
  /** True if only an answer shows whether there is something to check, so that `--dry-run` does not list it. */
  readonly isOptional?: boolean | undefined;
  /** Returns its findings. A check without findings had nothing to check, and no report has it. */
  run(subject: Subject): Promise<readonly Finding[]>;
}

/** The result of a check: the gravest of its findings, weighed. */
export interface CheckResult extends Finding {
  readonly id: string;
  readonly elapsedMs: number;
  /** The outcome of the first attempt, if a later one passed. */
  readonly first?: string | undefined;
  /** Set if it is a failure only because of `--strict`. */
  readonly isHardened?: true | undefined;
  /** The reason why the check never began, a short clause; undefined if it began. */
  readonly barredBy?: string | undefined;
  /** The duration of each of its requests. */
  readonly requestsMs?: readonly number[] | undefined;
  /** The number of its runs and of its failures; undefined without `--repeat` or `--for`. */
  readonly runs?: number | undefined;
  readonly failures?: number | undefined;
  /** The latency of its requests over several runs, in milliseconds. */
  readonly latency?: { readonly median: number; readonly max: number } | undefined;
}

/** A result without the name and the time of the check. */
export type Verdict = Omit<CheckResult, 'id' | 'elapsedMs'>;

export function pass(reason: string, details: Details = {}): Finding {
  return { ...details, state: 'pass', reason };
}

export function flaky(reason: string, details: Details = {}): Finding {
  return { ...details, state: 'flaky', reason };
}

export function warn(reason: string, details: Details = {}): Finding {
  return { ...details, state: 'warn', reason };
}

export function fail(reason: string, details: Details = {}): Finding {
  return { ...details, state: 'fail', reason };
}

export function skip(reason: string): Finding {
  return { state: 'skip', reason };
}

/** Whether a state makes the whole command fail. */
export function isRed({ state }: { readonly state: State }): boolean {
  return state === 'fail' || state === 'error';
}

/** Ends a check with a finding. */
export class FindingError extends Error {
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(finding.reason);
    this.finding = finding;
  }
}

/** The finding of a check that threw. It is a failure if no valid answer came, else the check was not carried out. */
export function findingOfError(error: unknown): Finding {
  if (error instanceof InterruptedError) throw error;
  if (error instanceof FindingError) return error.finding;
  if (!(error instanceof CliError)) return { state: 'error', reason: `internal: ${messageOf(error)}` };
  const { method, url, status, requestId, hint } = error.details;
  const { kind, exitCode } = error;
  const reason = errorMessage(error);
  const isUnanswered = kind === 'unavailable' || status !== undefined;
  return { state: isUnanswered ? 'fail' : 'error', reason, hint, method, url, status, requestId, exitCode };
}

/**
 * Examines checks one after another and yields the result of each. If a check fails, checks that need it are skipped. A
 * failure that counts only because of `--strict` keeps no check from running.
 *
 * @param examine carries out a check; returns undefined if there was nothing to check.
 * @param earlier results of checks that ran before.
 */
export async function* runChecks<Subject>(
  checks: readonly Check<Subject>[],
  examine: (check: Check<Subject>) => Promise<Verdict | undefined>,
  earlier: readonly CheckResult[] = [],
): AsyncGenerator<CheckResult> {
  const isObstacle = (result: CheckResult) => isRed(result) && !result.isHardened;
  const failed = new Map(earlier.filter(isObstacle).map((result) => [result.id, result]));
  for (const check of checks) {
    const { id, operation, isOptional } = check;
    const startedMs = monotonicMs();
    const verdict = skipIfBarred(check, failed) ?? (await examine(check));
    const isBarred = verdict?.barredBy !== undefined;
    if (!verdict || (isBarred && isOptional)) continue;
    const result = { operation, ...verdict, id, elapsedMs: isBarred ? 0 : monotonicMs() - startedMs };
    if (isObstacle(result)) failed.set(id, result);
    yield result;
  }
}

/** The verdict of a check that needs a failed one; undefined if it needs none. */
function skipIfBarred(
  { needs = [] }: Check<never>,
  failed: ReadonlyMap<string, CheckResult>,
): Verdict | undefined {
  const obstacle = needs.find((id) => failed.has(id));
  if (obstacle === undefined) return undefined;
  return { ...skip(`${obstacle} failed: ${failed.get(obstacle)?.reason}`), barredBy: `${obstacle} failed` };
}

/** Whether a status is the one of a pattern: `200`, or `2xx` for any of a class. */
export function isStatus(status: number, pattern: string): boolean {
  return new RegExp(`^${pattern.replace('xx', '\\d\\d')}$`).test(String(status));
}

/** A status with its reason phrase: `404 Not Found`. */
export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}

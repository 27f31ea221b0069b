import { STATUS_CODES } from 'node:http';
import type { Operation } from '../api/operations.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, type ExitCode, InterruptedError, messageOf } from '../process/errors.ts';

// The checks of `smoke` (a service) and `doctor` (this machine and the way to a service).
//
// A check is a function that returns findings. `check-table` lists the checks of smoke, and `run-smoke` carries them out, once
// or often: `round` sends their requests, `verdict` makes of the findings of a check its verdict, and `report/` prints
// the verdicts. To add a check, write a function that gets a `CheckContext` and returns findings, and add a line to
// `check-table`. `judge-answer` holds an answer against the contract, and `records` reads the records in it.

/**
 * What became of a check. `flaky`: it passed after another attempt, or a fault was seen and did not come again. `error`:
 * it could not be carried out, because of a description that cannot be used or a defect. `skip`: it does not apply here,
 * or would only repeat another check.
 */
export const states = ['pass', 'flaky', 'warn', 'fail', 'error', 'skip'] as const;
export type State = (typeof states)[number];

/** Gravest first. */
export const byGravity: readonly State[] = ['fail', 'error', 'warn', 'flaky', 'pass', 'skip'];

/** The groups of checks of `smoke`, in the order in which reports show them; `run` is for a run without an end. */
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

/** One thing that a check found. Its texts may hold what the service sent; reports make them safe. */
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
  /** The operation at fault, if it is another than the check's own. */
  readonly operation?: Operation | undefined;
  /** The records that the check left in the service, or may have left, a clause each. */
  readonly left?: readonly string[] | undefined;
  /** The exit code that the failure stands for, if it is another than that of a failed check. */
  readonly exitCode?: ExitCode | undefined;
}

/** Everything of a finding but its state and reason. */
export type Details = Partial<Omit<Finding, 'state' | 'reason'>>;

/** One check of a subject. */
export interface Check<Subject> {
  /** Stable: `group/name` for smoke. */
  readonly id: string;
  /** The operation that it tests; its stability decides how much a failure counts. */
  readonly operation?: Operation | undefined;
  /** Ids of checks that run before. If one of them failed, this check cannot pass and is skipped. */
  readonly needs?: readonly string[] | undefined;
  /** Set if it may turn out that there is nothing to check, so that no list of checks has it. */
  readonly isOptional?: boolean | undefined;
  /** Returns what it found: a check without findings had nothing to check, and no report has it. */
  run(subject: Subject): Promise<readonly Finding[]>;
}

/** The result of a check: the gravest of its findings, weighed. */
export interface Verdict extends Finding {
  /** If it is flaky: what came first. */
  readonly first?: string | undefined;
  /** Set if it counts as a failure only because of `--strict`. */
  readonly isHardened?: true | undefined;
  /** Set if the check never began: the reason, a short clause. */
  readonly barredBy?: string | undefined;
  /** The duration of each of its requests. */
  readonly requestsMs?: readonly number[] | undefined;
}

export interface CheckResult extends Verdict {
  readonly id: string;
  readonly elapsedMs: number;
}

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

/** The finding of a check that threw: no valid answer is a failure, anything else means that it was not carried out. */
export function findingOfError(error: unknown): Finding {
  if (error instanceof InterruptedError) throw error;
  if (error instanceof FindingError) return error.finding;
  if (!(error instanceof CliError)) return { state: 'error', reason: `internal: ${messageOf(error)}` };
  const { method, url, status, requestId, hint } = error.details;
  const { kind, message: reason, exitCode } = error;
  const isUnanswered = kind === 'unavailable' || status !== undefined;
  return { state: isUnanswered ? 'fail' : 'error', reason, hint, method, url, status, requestId, exitCode };
}

/**
 * Examines checks one after another and yields the result of each. If a check fails, checks that need it are skipped. A
 * failure that counts only because of `--strict` keeps no check from running.
 *
 * @param earlier results of checks that ran before.
 * @param whyStopped why no further check is to run, a clause.
 */
export async function* runChecks<Subject>(
  checks: readonly Check<Subject>[],
  examine: (check: Check<Subject>) => Promise<Verdict | undefined>,
  earlier: readonly CheckResult[] = [],
  whyStopped: () => string | undefined = () => undefined,
): AsyncGenerator<CheckResult> {
  const isObstacle = (result: CheckResult) => isRed(result) && !result.isHardened;
  const failed = new Map(earlier.filter(isObstacle).map((result) => [result.id, result]));
  for (const check of checks) {
    const { id, operation } = check;
    const startedMs = monotonicMs();
    const stopped = whyStopped();
    const barred = stopped === undefined ? barredBy(check, failed) : { ...skip(stopped), barredBy: stopped };
    if (barred && check.isOptional) continue;
    const verdict = barred ?? (await examine(check));
    if (verdict === undefined) continue;
    const result = { operation, ...verdict, id, elapsedMs: barred ? 0 : monotonicMs() - startedMs };
    if (isObstacle(result)) failed.set(id, result);
    yield result;
  }
}

/** The verdict of a check that needs a failed one. */
function barredBy(
  { needs = [] }: Check<never>,
  failed: ReadonlyMap<string, CheckResult>,
): Verdict | undefined {
  const needed = needs.find((id) => failed.has(id));
  if (needed === undefined) return undefined;
  return { ...skip(`${needed} failed: ${failed.get(needed)?.reason}`), barredBy: `${needed} failed` };
}

/** A status with its reason phrase: `404 Not Found`. */
export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}

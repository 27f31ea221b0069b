import { STATUS_CODES } from 'node:http';
import type { Operation } from '../api/operations.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, type ExitCode, InterruptedError, messageOf } from '../process/errors.ts';

// The checks of `smoke` (a service) and `doctor` (this machine and the way to a service). This file: what a check is,
// what it finds, and how checks run one after another. `select` makes the list of a smoke run, `run-smoke` carries it
// out once or often, `ask` sends a check's requests and `judge-answer` holds an answer against the contract. The checks
// themselves are in `reach`, `reach-http`, `operation-checks`, `list-faults`, `refusal-checks`, `deprecation`,
// `latency-check` and `write-checks`; `wait` comes before them, and `ownership` knows which records a run may delete. `report/` prints the results.

/**
 * What became of a check. `flaky`: it passed after another attempt. `error`: it could not be carried out, because of a
 * description that cannot be used or a defect. `skip`: it does not apply here, or would only repeat another check.
 */
export const states = ['pass', 'flaky', 'warn', 'fail', 'error', 'skip'] as const;
export type State = (typeof states)[number];

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

export const statistics = ['p50', 'p95', 'max'] as const;
/** Milliseconds. */
export type Latency = Readonly<Record<(typeof statistics)[number], number>>;

/** The group of a check of `smoke`, by its id. */
export function groupOf(id: string): string {
  return id.split('/', 1)[0] ?? '';
}

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
  /** The cache that answered, by its headers: `Age: 30, X-Cache: HIT`. */
  readonly cache?: string | undefined;
  /** The operation at fault, if it is another than the check's own. */
  readonly operation?: Operation | undefined;
  /** The records that the check left in the service, or may have left, a clause each. */
  readonly left?: readonly string[] | undefined;
  /** If it is flaky: what came first. */
  readonly first?: string | undefined;
  /** Set if it counts as a failure only because of `--strict`. */
  readonly hardened?: true | undefined;
  /** Set if the check never began: the reason, a short clause. */
  readonly barredBy?: string | undefined;
  /** The exit code that the failure stands for, if it is another than that of a failed check. */
  readonly exitCode?: ExitCode | undefined;
}

/** Everything of a verdict but its state and reason. */
export type Details = Partial<Omit<Verdict, 'state' | 'reason'>>;

/** One check of a subject. */
export interface Check<Subject> {
  /** Stable: `group/name` for smoke. */
  readonly id: string;
  /** The operation that it tests; its stability decides how much a failure counts. */
  readonly operation?: Operation | undefined;
  /** Ids of checks that run before. If one of them failed, this check cannot pass and is skipped. */
  readonly needs?: readonly string[] | undefined;
  /** Set if no report lists it unless it finds something. */
  readonly isOptional?: boolean | undefined;
  /** Finds a verdict; undefined if there is nothing to check after all. */
  run(subject: Subject): Promise<Verdict | undefined>;
}

export interface CheckResult extends Verdict {
  readonly id: string;
  readonly elapsedMs: number;
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

/** The verdict of a check that threw: no valid answer is a failure, anything else means that it was not carried out. */
export function verdictOfError(error: unknown): Verdict {
  if (error instanceof VerdictError) return error.verdict;
  if (!(error instanceof CliError)) return { state: 'error', reason: `internal: ${messageOf(error)}` };
  const { method, url, status, requestId, hint } = error.details;
  const { kind, message: reason, exitCode } = error;
  const isUnanswered = kind === 'unavailable' || status !== undefined;
  return { state: isUnanswered ? 'fail' : 'error', reason, hint, method, url, status, requestId, exitCode };
}

/** The reason of checks that a signal prevented. */
export const interrupted = 'the run was interrupted';

/**
 * Runs checks one after another and yields each result. If a check fails, checks that need it are skipped; after the
 * signal was aborted, all remaining ones are.
 */
export async function* runChecks<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
  signal?: AbortSignal,
): AsyncGenerator<CheckResult> {
  const failed = new Map<string, CheckResult>();
  for (const check of checks) {
    const { id, operation } = check;
    const startedMs = monotonicMs();
    const barred = signal?.aborted ? barredBy(interrupted) : barOf(check, failed);
    if (barred && check.isOptional) continue;
    const verdict = barred ?? (await check.run(subject).catch(toVerdict));
    if (verdict === undefined) continue;
    const result = { operation, ...verdict, id, elapsedMs: barred ? 0 : monotonicMs() - startedMs };
    if (isRed(result) && !result.hardened) failed.set(id, result);
    yield result;
  }
}

/** The verdict of a check that needs a failed one. A failure that counts only because of `--strict` bars no check. */
function barOf({ needs = [] }: Check<never>, failed: ReadonlyMap<string, CheckResult>): Verdict | undefined {
  const needed = needs.find((id) => failed.has(id));
  return needed === undefined
    ? undefined
    : { ...barredBy(`${needed} failed`), reason: `${needed} failed: ${failed.get(needed)?.reason}` };
}

function barredBy(reason: string): Verdict {
  return { ...skip(reason), barredBy: reason };
}

function toVerdict(error: unknown): Verdict {
  if (error instanceof InterruptedError) throw error;
  return verdictOfError(error);
}

/** A status with its reason phrase: `404 Not Found`. */
export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}

import type { Operation } from '../api/contract.ts';
import { monotonicMs } from '../clock.ts';
import { CliError, type ExitCode, InterruptedError, messageOf } from '../errors.ts';

/**
 * What came of a check. `error`: the check could not be carried out, because no answer came or a record that it needs
 * could not be created. `skip`: the check does not apply here, or would only repeat what another one found.
 */
export const states = ['pass', 'warn', 'fail', 'skip', 'error'] as const;
export type State = (typeof states)[number];

/** What a check found. Texts may hold what the service sent: they are made safe when they are shown. */
export interface Verdict {
  readonly state: State;
  /** One clause: what was seen, what is wrong, or why the check was skipped. */
  readonly reason: string;
  /** What to do about it, one clause. */
  readonly hint?: string | undefined;
  readonly expected?: string | undefined;
  /** What came instead: at most 200 bytes of it. */
  readonly got?: string | undefined;
  /** JSON pointer to what is wrong in the body that came. */
  readonly pointer?: string | undefined;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly status?: number | undefined;
  /** The service's own id of the request. */
  readonly requestId?: string | undefined;
  /** The operation that is to blame, if it is not the check's own. */
  readonly operation?: Operation | undefined;
  /** What the check created in the service, as `pet petstore-smoke-… (id 12)`. */
  readonly made?: readonly string[] | undefined;
  /** It passed after another attempt: what came first. */
  readonly flaky?: string | undefined;
  /** It counts as a failure only because `--fail-on` says so. */
  readonly hardened?: true | undefined;
  /** Of the request that it judges, if that was sent for another check already. */
  readonly requestMs?: number | undefined;
  /** What a command that stops at this failure exits with. */
  readonly exitCode?: ExitCode | undefined;
}

/** Everything of a verdict but its state and reason. */
export type Details = Partial<Omit<Verdict, 'state' | 'reason'>>;

/** One check of a subject: of a service for `smoke`, of this machine and the way to a service for `doctor`. */
export interface Check<Subject> {
  /** Stable. */
  readonly id: string;
  /** The operation that it is about: its stability softens a failure. */
  readonly operation?: Operation | undefined;
  /** Ids of checks, in the order in which they run: if one of them failed, this one cannot pass and is skipped. */
  readonly needs?: readonly string[] | undefined;
  run(subject: Subject): Promise<Verdict>;
}

export interface CheckResult extends Verdict {
  readonly id: string;
  readonly elapsedMs: number;
  /** The check never began; what kept it from that, a clause. */
  readonly barredBy?: string | undefined;
  /** Of several runs: how many there were, in how many it failed, and the milliseconds that it took. */
  readonly runs?: number | undefined;
  readonly failures?: number | undefined;
  readonly latency?: { readonly p50: number; readonly p95: number; readonly max: number } | undefined;
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

/** Whether a state makes the whole run a failure. */
export function isRed({ state }: { readonly state: State }): boolean {
  return state === 'fail' || state === 'error';
}

/** A check that could not be carried out. */
export function verdictOfError(error: unknown): Verdict {
  if (!(error instanceof CliError)) return { state: 'error', reason: `internal: ${messageOf(error)}` };
  const { method, url, status, requestId, hint } = error.details;
  const details = { hint, method, url, status, requestId, exitCode: error.exitCode };
  return { ...details, state: 'error', reason: error.message };
}

/**
 * Runs checks one after another and gives each result as it comes. If a check that others need fails, those are skipped;
 * so is everything after the signal was aborted.
 *
 * @param results gets every result by its id, for checks that look at what others found.
 */
export async function* runChecks<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
  {
    signal,
    results = new Map(),
  }: { readonly signal?: AbortSignal | undefined; readonly results?: Map<string, CheckResult> } = {},
): AsyncGenerator<CheckResult> {
  for (const check of checks) {
    const { id, operation } = check;
    const bar = signal?.aborted ? interruption : barOf(check, results);
    const startedMs = monotonicMs();
    const verdict = bar ? skip(bar.reason) : await check.run(subject).catch(toVerdict);
    const elapsedMs = bar ? 0 : Math.max(verdict.requestMs ?? 0, monotonicMs() - startedMs);
    const result = { operation, ...verdict, id, elapsedMs, barredBy: bar?.barredBy };
    results.set(id, result);
    yield result;
  }
}

interface Bar {
  readonly barredBy: string;
  readonly reason: string;
}

const interruption: Bar = { barredBy: 'the run was interrupted', reason: 'the run was interrupted' };

/** What counts as a failure only because it was asked for keeps no other check from passing. */
function barOf({ needs = [] }: Check<never>, results: ReadonlyMap<string, CheckResult>): Bar | undefined {
  const needed = needs.map((id) => results.get(id));
  const failed = needed.find((result) => result && isRed(result) && !result.hardened);
  return failed && { barredBy: `${failed.id} failed`, reason: `${failed.id} failed: ${failed.reason}` };
}

function toVerdict(error: unknown): Verdict {
  if (error instanceof InterruptedError) throw error;
  return verdictOfError(error);
}

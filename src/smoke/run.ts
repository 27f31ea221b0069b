import { CliError, UnavailableError, UsageError } from '../errors.ts';
import { type Check, type CheckResult, fail, idOf, isRed, skip, type Verdict } from './check.ts';
import type { SmokeOptions } from './options.ts';
import { isSelected } from './select.ts';
import type { Session } from './session.ts';

/** The parts of a session that the run itself moves. */
export interface Running {
  readonly session: Session;
  readonly checks: readonly Check[];
  /** Results so far, by id; the run adds to it. */
  readonly results: Map<string, CheckResult>;
  /** Told of each result that is part of the report. */
  onResult(result: CheckResult): Promise<void>;
}

/** Runs the checks one after another. Behind a gate that did not open, the rest is skipped. */
export async function runChecks(running: Running): Promise<void> {
  const { session, checks } = running;
  let closed: string | undefined;
  for (const check of checks) {
    const isStopped = session.signal.aborted ? 'the run was interrupted' : closed;
    const result = isStopped
      ? toResult(check, skip(isStopped), { elapsedMs: 0, retried: false })
      : await runOne(running, check);
    await keep(running, result);
    if (check.gate && isRed(result)) closed ??= `${result.id} failed: ${result.reason}`;
  }
}

/** Runs one check and gives its result, softened or hardened as the options say. */
export async function runOne({ session }: Pick<Running, 'session'>, check: Check): Promise<CheckResult> {
  const startedMs = performance.now();
  const retriesBefore = session.retries();
  const verdict = await check.run(session).catch((error: unknown) => toVerdict(error, session));
  const measured = {
    elapsedMs: performance.now() - startedMs,
    retried: session.retries() > retriesBefore,
  };
  return toResult(check, weigh(check, verdict, { ...session.options, retried: measured.retried }), measured);
}

async function keep({ session, results, onResult }: Running, result: CheckResult): Promise<void> {
  results.set(result.id, result);
  const isAskedFor = isSelected(result.id, session.options.selection) || result.id === 'write/cleanup';
  if (isAskedFor || isRed(result)) await onResult(result);
}

function toResult(
  check: Check,
  verdict: Verdict,
  { elapsedMs, retried }: { readonly elapsedMs: number; readonly retried: boolean },
): CheckResult {
  const { group, name } = check;
  const operation = verdict.operation ?? check.operation;
  const flaky = retried && verdict.outcome === 'pass';
  return { ...verdict, operation, id: idOf(check), group, name, elapsedMs, flaky };
}

/** A failure of what is not settled yet is a warning; a warning or a flaky pass may be told to count as a failure. */
function weigh(
  check: Check,
  verdict: Verdict,
  { stability, failOn, retried }: Pick<SmokeOptions, 'stability' | 'failOn'> & { readonly retried: boolean },
): Verdict {
  const blamed = verdict.operation ?? check.operation;
  const isSettled = stability === 'all' || !blamed || blamed.stability === 'stable';
  const weighed: Verdict =
    isRed(verdict) && !isSettled
      ? { ...verdict, outcome: 'warn', reason: `${verdict.reason} (${blamed.id} is ${blamed.stability})` }
      : verdict;
  if (weighed.outcome === 'warn' && failOn.includes('warn')) return { ...weighed, outcome: 'fail' };
  if (weighed.outcome === 'pass' && retried && failOn.includes('flaky'))
    return fail(`flaky: passed at the second attempt only: ${weighed.reason}`, weighed);
  return weighed;
}

/** A check that could not be carried out. */
function toVerdict(error: unknown, { signal }: Session): Verdict {
  if (signal.aborted) return skip('the run was interrupted');
  if (error instanceof UsageError) return skip(error.message);
  if (error instanceof UnavailableError || error instanceof CliError) {
    const { method, url, status } = error.details;
    return { outcome: 'error', reason: error.message, method, url, status };
  }
  throw error;
}

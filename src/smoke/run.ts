import { monotonicMs } from '../clock.ts';
import { CliError, messageOf, UsageError } from '../errors.ts';
import { maskUrl } from '../mask.ts';
import { type Check, type CheckResult, fail, idOf, isRed, skip, type Verdict } from './check.ts';
import type { SmokeOptions } from './options.ts';
import { isSelected } from './select.ts';
import type { Session } from './session.ts';

/** The parts of a session that the run itself moves. */
interface Running {
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
  let closed: CheckResult | undefined;
  for (const check of checks) {
    const bar = session.signal.aborted ? interruption : closed && barOf(closed, check);
    const result = bar ? barred(check, bar) : await runOne(running, check);
    await keep(running, result);
    if (result.isUnreachable) closed ??= result;
  }
}

interface Bar {
  readonly barredBy: string;
  readonly reason: string;
}

const interruption: Bar = { barredBy: 'the run was interrupted', reason: 'the run was interrupted' };

/** The checks of TLS look at one handshake, and each has its own word on it. */
function barOf({ id, group, reason }: CheckResult, check: Check): Bar | undefined {
  if (group === 'tls' && check.group === 'tls') return undefined;
  return { barredBy: `${id} failed`, reason: `${id} failed: ${reason}` };
}

function barred(check: Check, { reason, barredBy }: Bar): CheckResult {
  return { ...toResult(check, skip(reason), { elapsedMs: 0, retried: false }), barredBy };
}

/** Runs one check and gives its result, softened or hardened as the options say. */
export async function runOne({ session }: Pick<Running, 'session'>, check: Check): Promise<CheckResult> {
  const startedMs = monotonicMs();
  const retriesBefore = session.retries();
  const remarksBefore = session.remarks.length;
  const found = await check.run(session).catch((error: unknown) => toVerdict(error, session));
  const verdict = masked(withRemarks(found, session.remarks.slice(remarksBefore)), session);
  const measured = {
    elapsedMs: monotonicMs() - startedMs,
    retried: session.retries() > retriesBefore,
  };
  const result = toResult(
    check,
    weigh(check, verdict, { ...session.options, retried: measured.retried }),
    measured,
  );
  // What only counts as a failure because it was asked for keeps nothing from being reached.
  return { ...result, isUnreachable: check.gate === true && isRed(verdict) };
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

/** What could not be checked in full is no failure, and no pass either. */
function withRemarks(verdict: Verdict, remarks: readonly string[]): Verdict {
  if (verdict.outcome !== 'pass' || remarks.length === 0) return verdict;
  return { ...verdict, outcome: 'warn', reason: [verdict.reason, ...new Set(remarks)].join('; ') };
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

/** No secret gets as far as a report, whose own escapes might hide it from a later search. */
function masked(verdict: Verdict, { mask }: Pick<Session, 'mask'>): Verdict {
  const texts = { reason: verdict.reason, expected: verdict.expected, got: verdict.got, url: verdict.url };
  const shown = Object.entries(texts).map(([name, text]) => [name, text && mask(maskUrl(text))]);
  return { ...verdict, ...Object.fromEntries(shown) };
}

/** A check that could not be carried out. */
function toVerdict(error: unknown, { signal }: Session): Verdict {
  if (signal.aborted) return skip('the run was interrupted');
  if (error instanceof UsageError) return skip(error.message);
  if (!(error instanceof CliError)) return { outcome: 'error', reason: `internal: ${messageOf(error)}` };
  const { method, url, status } = error.details;
  return { outcome: 'error', reason: error.message, method, url, status };
}

import { monotonicMs, sleep } from '../process/deadline.ts';
import { InterruptedError, UsageError } from '../process/errors.ts';
import type { Signal } from '../process/io.ts';
import { maskUrl } from '../process/secrets.ts';
import type { Interrupts } from '../process/signals.ts';
import {
  type Check,
  type CheckResult,
  interrupted,
  isRed,
  runChecks,
  skip,
  type Verdict,
  VerdictError,
  verdictOfError,
  warn,
} from './check.ts';
import { cleanupCheck, sweepCheck } from './cleanup.ts';
import { waitForService } from './http.ts';
import { groupOf, type SmokeOptions } from './options.ts';
import { isSelected, planChecks } from './plan.ts';
import { createProbe, type Probe, type SmokeSubject } from './probe.ts';
import { exitCodeOf, mergeRuns, type SmokeReport, totalsOf } from './report/report.ts';
import { SmokeStop } from './stop.ts';
import { durationText } from './text.ts';

/** Shows the results as they come. */
interface Display {
  result(result: CheckResult): Promise<void>;
  /** Called with the results of each run, in place of `result`, if the checks run more than once. */
  run(results: readonly CheckResult[]): Promise<void>;
  /** Shows a line for people about the current activity. */
  notice(line: string): Promise<void>;
}

/**
 * Runs the checks, once or as often as the options say, and cleans up after each run, also after a signal; a second
 * signal ends the cleaning up too.
 *
 * @param target the name of the service in reports.
 */
export async function runSmoke(
  subject: SmokeSubject,
  target: string,
  display: Display,
  interrupts: Interrupts,
): Promise<SmokeReport> {
  const { client, options, now } = subject;
  const checks = planChecks(client.contract, options);
  const stop = new SmokeStop(interrupts, (signal) => void tellStop(display, probe, signal));
  let probe = createProbe(subject, stop);
  const startedAt = now();
  const startedMs = monotonicMs();
  const runs: CheckResult[][] = [];
  try {
    const limit = durationText(options.waitMs);
    probe.late = await waitForService(probe, (problem) =>
      display.notice(`waiting up to ${limit} for the service: ${problem}`),
    );
    const firstMs = monotonicMs();
    runs.push(await runOnce(probe, checks, display));
    const again = checks.filter(({ id }) => id !== sweepCheck.id);
    while (await goesOn(options, runs, stop.stopped, firstMs)) {
      probe = createProbe(subject, stop);
      runs.push(await runOnce(probe, again, display));
    }
    const results = isRepeated(options) ? mergeRuns(runs) : (runs[0] ?? []);
    return {
      target,
      startedAt,
      elapsedMs: monotonicMs() - startedMs,
      write: options.write,
      runs: runs.length,
      results,
      totals: totalsOf(results),
      exitCode: stop.reason ? new InterruptedError(stop.reason).exitCode : exitCodeOf(results),
      signal: stop.reason,
    };
  } finally {
    stop.release();
  }
}

async function runOnce(
  probe: Probe,
  checks: readonly Check<Probe>[],
  display: Display,
): Promise<CheckResult[]> {
  const { options, results, stop } = probe;
  const reported: CheckResult[] = [];
  const report = async (result: CheckResult) => {
    reported.push(result);
    if (!isRepeated(options)) await display.result(result);
  };
  try {
    for await (const result of runChecks(checks.map(weighed), probe, results, stop.stopped))
      if (isSelected(result.id, options) || isRed(result)) await report(result);
  } finally {
    const cleanup = checks.some(({ id }) => groupOf(id) === 'write') ? [weighed(cleanupCheck)] : [];
    probe.signal = stop.cut;
    for await (const result of runChecks(cleanup, probe)) await report(result);
  }
  if (isRepeated(options)) await display.run(reported);
  return reported;
}

async function tellStop(display: Display, { traces }: Probe, signal: Signal): Promise<void> {
  if (traces.isClean) return;
  const again = signal === 'SIGINT' ? '; Ctrl-C again leaves them' : '';
  await display.notice(`stopped: removing the records of this run${again}`);
}

export function isRepeated({ repeat, forMs }: SmokeOptions): boolean {
  return repeat !== undefined || forMs !== undefined;
}

/** Whether there is another run; waits until it should begin. */
async function goesOn(
  { repeat = 1, forMs, everyMs, untilFailure }: SmokeOptions,
  runs: readonly (readonly CheckResult[])[],
  stopped: AbortSignal,
  firstMs: number,
): Promise<boolean> {
  if (stopped.aborted || (untilFailure && runs.at(-1)?.some(isRed))) return false;
  if (forMs === undefined && runs.length >= repeat) return false;
  const elapsedMs = monotonicMs() - firstMs;
  // After a run longer than the interval, skip the missed times.
  const nextMs = everyMs === 0 ? elapsedMs : Math.floor(elapsedMs / everyMs + 1) * everyMs;
  if (forMs !== undefined && nextMs >= forMs) return false;
  if (nextMs > elapsedMs) await sleep(nextMs - elapsedMs, stopped).catch(() => {});
  return !stopped.aborted;
}

/** The check with its verdict weighed by remarks, by retries and by the options. */
function weighed(check: Check<Probe>): Check<Probe> {
  return {
    ...check,
    async run(probe) {
      probe.remarks.clear();
      probe.first = undefined;
      const found = await check.run(probe).catch((error: unknown) => toVerdict(error, probe));
      // A check that could not be completed neither fails nor passes.
      const isWhole = found.state !== 'pass' || probe.remarks.size === 0;
      const whole = isWhole ? found : warn([found.reason, ...probe.remarks].join('; '), found);
      const flaky = whole.state === 'pass' ? probe.first : undefined;
      return masked(weigh(check, { ...whole, flaky }, probe.options), probe);
    },
  };
}

function toVerdict(error: unknown, { signal }: Probe): Verdict {
  if (signal.aborted && !(error instanceof VerdictError)) return skip(interrupted);
  // The contract requires a parameter without a value.
  if (error instanceof UsageError) return skip(error.message);
  return verdictOfError(error);
}

/**
 * Softens a failure of an operation that is not stable to a warning; `--fail-on` turns warnings and flaky passes into
 * failures.
 */
function weigh(check: Check<Probe>, verdict: Verdict, { stability, failOn }: SmokeOptions): Verdict {
  const blamed = verdict.operation ?? check.operation;
  const isSettled = stability === 'all' || !blamed || blamed.stability === 'stable';
  const softened: Verdict =
    isRed(verdict) && !isSettled
      ? { ...verdict, state: 'warn', reason: `${verdict.reason} (${blamed.id} is ${blamed.stability})` }
      : verdict;
  if (softened.state === 'warn' && failOn.includes('warn'))
    return { ...softened, state: 'fail', hardened: true };
  if (softened.flaky !== undefined && failOn.includes('flaky'))
    return {
      ...softened,
      state: 'fail',
      hardened: true,
      reason: `flaky: ${softened.flaky}, then ${softened.reason}`,
      flaky: undefined,
    };
  return softened;
}

/** Masks secrets before the escapes of a report can hide them from a search. */
function masked(verdict: Verdict, { mask }: Probe): Verdict {
  const safe = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(safe) : typeof value === 'string' ? mask(maskUrl(value)) : value;
  const texts = Object.fromEntries(Object.entries(verdict).map(([name, value]) => [name, safe(value)]));
  return { ...verdict, ...texts, state: verdict.state };
}

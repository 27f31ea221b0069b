import { embeddedOrigin } from '../api/http.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { exitCodes, InterruptedError, type Signal } from '../process/errors.ts';
import { type Interrupts, inTwoSteps, StoppedError } from '../process/signals.ts';
import { counted, durationText } from '../process/text.ts';
import { groupOf } from './check.ts';
import { type CheckResult, verdictOf } from './check-result.ts';
import { hasReachPattern, type SmokeOptions } from './check-table.ts';
import { fail, isRed } from './finding.ts';
import { createSmokeReport, type SmokeReport } from './report/smoke-report.ts';
import type { Service } from './round.ts';
import {
  abortLater,
  addWriteChecks,
  type Observer,
  type RoundResult,
  runReadChecks,
  type SmokeSetup,
  stopReasonOf,
} from './run-round.ts';

/** A pending create may still be answered for this long after the checks were stopped. */
const createMs = 2000;

/**
 * Runs the read checks, with `--wait` until they pass, then the write checks once, and cleans up. The first signal stops the
 * checks; the second one also ends the cleanup.
 */
export async function runSmoke(
  service: Service,
  options: SmokeOptions,
  observer: Observer,
  interrupts: Interrupts,
): Promise<SmokeReport> {
  const { maxTimeMs, write, strict } = options;
  const stopController = new AbortController();
  const createController = new AbortController();
  const abandonController = new AbortController();
  let signal: Signal | undefined;
  const steps = {
    stop(name: Signal) {
      signal = name;
      stopController.abort(new StoppedError('the run was interrupted'));
      const choice = signal === 'SIGINT' ? '; Ctrl-C again leaves them' : '';
      if (write) void observer.print(`stopped: removing the records of this run${choice}`);
    },
    abandon: () => abandonController.abort(new StoppedError('stopped by a second signal')),
  };
  if (maxTimeMs !== undefined)
    abortLater(stopController, maxTimeMs, `the time of ${durationText(maxTimeMs)} is over (--max-time)`);
  const { signal: stopped } = stopController;
  const { signal: abandoned } = abandonController;
  stopped.addEventListener('abort', () => abortLater(createController, createMs, 'the run was interrupted'));
  const createSignal = AbortSignal.any([createController.signal, abandoned]);
  const setup: SmokeSetup = { service, options, observer, stopped, createSignal, abandoned };
  const startedAt = service.now();
  const startedMs = monotonicMs();
  return inTwoSteps({ interrupts }, steps, async () => {
    const { rounds, skipReason, ...last } = await runUntilGreen(setup);
    const results = await addWriteChecks(setup, last, skipReason);
    const failure = failureOfCommand(options, results, stopReasonOf(stopped), signal);
    const { baseUrl } = service.client;
    return createSmokeReport({
      target: baseUrl === embeddedOrigin ? 'the embedded store' : baseUrl,
      startedAt,
      elapsedMs: monotonicMs() - startedMs,
      write,
      rounds,
      results: [...results, ...(failure ? [failure] : [])],
      strict,
      signal,
    });
  });
}

/** The pause after the first round of a wait. It doubles after each round, up to the longest pause. */
const firstPauseMs = 1000;
const longestPauseMs = 5000;

interface WaitResult extends RoundResult {
  readonly rounds: number;
  /** The reason why the write checks must not follow, a clause. */
  readonly skipReason?: string;
}

/**
 * Runs rounds of the read checks until they pass or the time of `--wait` is over; without `--wait`, one round. A 401, a 403
 * and a TLS error end the wait, because they do not pass with time.
 */
async function runUntilGreen(setup: SmokeSetup): Promise<WaitResult> {
  const { options, stopped, observer } = setup;
  const { waitMs, strict } = options;
  const endMs = monotonicMs() + waitMs;
  for (let rounds = 1, pauseMs = firstPauseMs; ; rounds += 1, pauseMs *= 2) {
    const round = await runReadChecks(setup);
    const failure = round.results.map((result) => verdictOf(result, strict)).find(isRed);
    if (waitMs === 0 || !failure || stopped.aborted) return { ...round, rounds };
    const [{ isLasting, reason }] = failure.findings;
    const skipReason = 'the read checks did not pass';
    const remainingMs = endMs - monotonicMs();
    if (isLasting || remainingMs <= 0) return { ...round, rounds, skipReason };
    if (rounds === 1)
      await observer.print(`waiting up to ${durationText(waitMs)} for the service: ${failure.id}: ${reason}`);
    await sleep(Math.min(pauseMs, longestPauseMs, remainingMs), stopped).catch(() => {});
    if (stopped.aborted) return { ...round, rounds, skipReason };
  }
}

/**
 * Returns a failure if the checks were stopped, or if no check ran besides reach: the exit code is then not 0, so the report
 * must not be green.
 */
function failureOfCommand(
  options: SmokeOptions,
  results: readonly CheckResult[],
  stopReason: string | undefined,
  signal: Signal | undefined,
): CheckResult | undefined {
  const check = { id: 'run/complete', isPrerequisite: true, elapsedMs: 0, requests: 0 };
  if (stopReason !== undefined) {
    const skips = results.filter(({ skipReason }) => skipReason === stopReason).length;
    const suffix = skips === 0 ? '' : ` before ${counted(skips, 'check', 'checks')}`;
    const exitCode = signal ? new InterruptedError(signal).exitCode : exitCodes['check-failed'];
    const reason = `${signal ? `stopped by ${signal}` : stopReason}${suffix}`;
    return { ...check, findings: [fail(reason, { exitCode })] };
  }
  const isTest = ({ id, findings }: CheckResult) =>
    findings.some(
      ({ state }) =>
        state !== 'skip' && (hasReachPattern(options) || groupOf(id) !== 'reach' || state === 'fail'),
    );
  if (results.some(isTest)) return undefined;
  const reason = 'no check besides reach ran: every one was skipped';
  return { ...check, findings: [fail(reason, { exitCode: exitCodes.usage })] };
}

import { isEmbeddedUrl } from '../api/http.ts';
import { longestTimerMs, monotonicMs, sleep } from '../process/deadline.ts';
import { exitCodes, InterruptedError, type Signal } from '../process/errors.ts';
import { graceMs, type Interrupts, inTwoSteps, Stop } from '../process/signals.ts';
import { durationText } from '../process/text.ts';
import { type Check, type CheckedService, fail, groupOf, isFailure } from './check.ts';
import type { SelectedChecks } from './check-table.ts';
import {
  type CheckResult,
  exitCodeOf,
  resultOf,
  runCheck,
  runChecks,
  skippedResult,
  stopReasonOf,
} from './run-checks.ts';
import type { SmokeReport } from './smoke-report.ts';

/** Why the checks were stopped: by a signal of the user, or because the time of `--max-time` is over. */
type WhyStopped = Signal | 'max-time';

/**
 * Runs the read checks, with `--wait` until they pass, then the write checks once, and cleans up. The first signal stops the
 * checks; the second one also ends the cleanup.
 *
 * @param limits how long failed read checks are repeated, 0 for one round; and the time for all checks, unlimited by default.
 * @param print prints a line for people.
 */
export async function runSmoke(
  service: CheckedService,
  selected: SelectedChecks,
  { waitMs, maxTimeMs }: { readonly waitMs: number; readonly maxTimeMs: number | undefined },
  print: (line: string) => Promise<void>,
  interrupts: Interrupts,
): Promise<SmokeReport> {
  const write = selected.writes.length > 0;
  const stop = new Stop<WhyStopped>();
  const stopBy = (signal: Signal) => {
    stop.trigger(signal, `stopped by ${signal}`);
    const choice = signal === 'SIGINT' ? '; press Ctrl-C again to leave them' : '';
    if (write) void print(`stopped: removing the records of this run${choice}`);
  };
  if (maxTimeMs !== undefined) {
    const why = `the time of ${durationText(maxTimeMs)} is over (--max-time)`;
    setTimeout(() => stop.trigger('max-time', why), Math.min(maxTimeMs, longestTimerMs)).unref();
  }
  const startedAt = new Date();
  const startedMs = monotonicMs();
  return inTwoSteps(interrupts, stop, stopBy, async () => {
    const reads = await runUntilGreen(selected.reads, service, waitMs, stop.stopped, print);
    const writes = await runWriteChecks(selected, service, reads.find(isFailure), stop);
    const ran = [...reads, ...writes];
    const signal = stop.cause === 'max-time' ? undefined : stop.cause;
    const failures = failureIfIncomplete(ran, service, stop, signal);
    const { baseUrl } = service.client;
    return {
      target: isEmbeddedUrl(baseUrl) ? 'the embedded store' : baseUrl,
      startedAt,
      elapsedMs: monotonicMs() - startedMs,
      write,
      results: [...ran, ...failures],
      exitCode: exitCodeOf([...failures, ...ran]),
      signal,
    };
  });
}

/** The pause between two rounds of a wait. */
const pauseMs = 2000;

/**
 * Runs rounds of the read checks until they pass or the time of the wait is over; without a wait, one round. A 401, a 403
 * and a TLS error end the wait, because they do not pass with time.
 */
async function runUntilGreen(
  checks: readonly Check[],
  service: CheckedService,
  waitMs: number,
  stopped: AbortSignal,
  print: (line: string) => Promise<void>,
): Promise<CheckResult[]> {
  const endsAt = monotonicMs() + waitMs;
  for (let isFirst = true; ; isFirst = false) {
    const results = await runChecks(checks, service, stopped);
    const failure = results.find(isFailure);
    const remainingMs = endsAt - monotonicMs();
    if (!failure || failure.endsWait || remainingMs <= 0 || stopped.aborted) return results;
    if (isFirst)
      await print(`waiting up to ${durationText(waitMs)} for the service: ${failure.id}: ${failure.reason}`);
    await sleep(Math.min(pauseMs, remainingMs), stopped).catch(() => {});
    if (stopped.aborted) return results;
  }
}

/** Runs the write checks, if no read check has failed, and removes the records that they made. */
async function runWriteChecks(
  { writes, cleanUp }: SelectedChecks,
  service: CheckedService,
  failed: CheckResult | undefined,
  stop: Stop<WhyStopped>,
): Promise<CheckResult[]> {
  if (writes.length === 0) return [];
  if (failed) return writes.map((check) => skippedResult(check, `${failed.id} failed`));
  const results = await runChecks(writes, service, stop.stopped);
  setTimeout(() => stop.abandon('the time for cleaning up is over'), graceMs).unref();
  return [...results, await runCheck(cleanUp, service, stop.abandoned)];
}

/**
 * Returns a failure if the checks were stopped, or if only the group reach ran. The report then says why the exit code is not 0.
 */
function failureIfIncomplete(
  results: readonly CheckResult[],
  service: CheckedService,
  { stopped }: Stop<WhyStopped>,
  signal: Signal | undefined,
): CheckResult[] {
  const isEnough = ({ id, state }: CheckResult) =>
    state !== 'skip' && (groupOf(id) !== 'reach' || isFailure({ state }));
  const stopReason = stopReasonOf(stopped);
  if (stopReason === undefined && results.some(isEnough)) return [];
  const { 'check-failed': checkFailed, usage } = exitCodes;
  const stopCode = signal ? new InterruptedError(signal).exitCode : checkFailed;
  const finding =
    stopReason === undefined
      ? fail('no check besides reach ran', {
          hint: '`petstore help checks` lists the checks',
          exitCode: usage,
        })
      : fail(stopReason, { exitCode: stopCode });
  return [resultOf({ id: 'run/complete', isPrerequisite: true }, [finding], service)];
}

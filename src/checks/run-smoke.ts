import { isEmbeddedUrl } from '../api/http.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError, exitCodes, type Signal } from '../process/errors.ts';
import type { Stop } from '../process/signals.ts';
import { durationText } from '../process/text.ts';
import { type Check, fail, groupOf, isFailure, type ServiceUnderTest } from './check.ts';
import { type CheckResult, exitCodeOf, resultOf, runCheck, runChecks, skippedResult } from './run-checks.ts';
import type { SelectedChecks } from './select-checks.ts';
import type { SmokeReport } from './smoke-report.ts';

/**
 * Runs the read checks, with `--wait` until they pass, then the write checks once, and cleans up. The first signal stops the
 * checks; the second one also ends the cleanup.
 *
 * @param limits how long failed read checks are repeated, 0 for one round; and the time for all checks, unlimited by default.
 * @param print prints a line for people.
 */
export async function runSmoke(
  service: ServiceUnderTest,
  selected: SelectedChecks,
  { waitMs, maxTimeMs }: { readonly waitMs: number; readonly maxTimeMs: number | undefined },
  print: (line: string) => Promise<void>,
  stop: Stop,
): Promise<SmokeReport> {
  const write = selected.writes.length > 0;
  const tellFirst = (signal: Signal) => {
    const choice = signal === 'SIGINT' ? '; press Ctrl-C again to leave them' : '';
    if (write) void print(`stopped: removing the records of this run${choice}`);
  };
  if (maxTimeMs !== undefined) {
    const why = `the time of ${durationText(maxTimeMs)} is over (--max-time)`;
    const stopLate = () => stop.trigger(new CliError('check-failed', why));
    setTimeout(stopLate, maxTimeMs).unref();
  }
  const startedAt = new Date();
  const startedMs = monotonicMs();
  return stop.inTwoSteps(tellFirst, async () => {
    const reads = await runReadChecks(selected.reads, service, waitMs, stop.stopped, print);
    const writes = await runWriteChecks(selected, service, reads.find(isFailure), stop);
    const ran = [...reads, ...writes];
    const failures = failureIfIncomplete(ran, service, stop);
    const { baseUrl } = service.client;
    return {
      target: isEmbeddedUrl(baseUrl) ? 'the embedded store' : baseUrl,
      startedAt,
      elapsedMs: monotonicMs() - startedMs,
      write,
      results: [...ran, ...failures],
      exitCode: exitCodeOf([...failures, ...ran]),
    };
  });
}

/** The pause between two rounds of a wait. */
const pauseMs = 2000;

/**
 * Runs rounds of the read checks until they pass or the time of the wait is over; without a wait, one round. A 401, a 403
 * and a TLS error end the wait, because they do not pass with time.
 */
async function runReadChecks(
  checks: readonly Check[],
  service: ServiceUnderTest,
  waitMs: number,
  stopped: AbortSignal,
  print: (line: string) => Promise<void>,
): Promise<CheckResult[]> {
  const endsAtMs = monotonicMs() + waitMs;
  for (let isFirst = true; ; isFirst = false) {
    const results = await runChecks(checks, service, stopped, waitMs > 0 ? endsAtMs : undefined);
    const failure = results.find(isFailure);
    const remainingMs = endsAtMs - monotonicMs();
    if (waitMs > 0 && failure?.endsWait) await print(`--wait ends: ${failure.id} does not pass with time`);
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
  service: ServiceUnderTest,
  failed: CheckResult | undefined,
  stop: Stop,
): Promise<CheckResult[]> {
  if (writes.length === 0) return [];
  if (failed) return writes.map((check) => skippedResult(check, `${failed.id} failed`));
  const results = await runChecks(writes, service, stop.stopped);
  return [...results, await runCheck(cleanUp, service, stop.abandoned)];
}

/**
 * Returns a failure if the checks were stopped, or if only the group reach ran. The report then says why the exit code is not 0.
 */
function failureIfIncomplete(
  results: readonly CheckResult[],
  service: ServiceUnderTest,
  { cause }: Stop,
): CheckResult[] {
  const isEnough = ({ id, state }: CheckResult) =>
    state !== 'skip' && (groupOf(id) !== 'reach' || isFailure({ state }));
  if (!cause && results.some(isEnough)) return [];
  const { signal } = cause?.details ?? {};
  const finding = cause
    ? fail(signal ? `stopped by ${signal}` : cause.message, { exitCode: cause.exitCode })
    : fail('no check besides reach ran', {
        hint: '`petstore help checks` lists the checks',
        exitCode: exitCodes.usage,
      });
  return [resultOf({ id: 'run/complete', isPrerequisite: true }, [finding], service)];
}

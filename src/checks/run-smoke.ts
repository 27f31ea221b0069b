import { embeddedOrigin } from '../api/http.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { type ExitCode, exitCodes, InterruptedError, type Signal } from '../process/errors.ts';
import { type Interrupts, StoppedError } from '../process/signals.ts';
import { counted, durationText } from '../process/text.ts';
import { type CheckResult, groupOf } from './check.ts';
import { namesReach, type SmokeOptions } from './check-table.ts';
import { isRed } from './finding.ts';
import { exitCodeOf, type SmokeReport } from './report/smoke-report.ts';
import { Tally } from './report/tally.ts';
import type { Service } from './round.ts';
import {
  abortLater,
  createDeployment,
  type Observer,
  type RoundResult,
  runReadChecks,
  type SmokeRun,
  whyStopped,
  withWriteChecks,
} from './run-round.ts';

/** A pending create may still be answered for this long after the run was stopped. */
const createMs = 2000;

/**
 * Runs the checks, once or as often as the options say, and cleans up after each run, also after a signal; a second
 * signal ends the cleaning up too.
 */
export async function runSmoke(
  service: Service,
  options: SmokeOptions,
  observer: Observer,
  interrupts: Interrupts,
): Promise<SmokeReport> {
  const { maxTimeMs, write, repeat, forMs } = options;
  const stopping = new AbortController();
  const creating = new AbortController();
  const abandoning = new AbortController();
  let signal: Signal | undefined;
  const release = interrupts.take((name) => {
    if (signal) return abandoning.abort(new StoppedError('stopped by a second signal'));
    signal = name;
    stopping.abort(new StoppedError('the run was interrupted'));
    const choice = signal === 'SIGINT' ? '; Ctrl-C again leaves them' : '';
    if (write) void observer.print(`stopped: removing the records of this run${choice}`);
  });
  if (maxTimeMs !== undefined)
    abortLater(stopping, maxTimeMs, `the time of ${durationText(maxTimeMs)} is over (--max-time)`);
  const { signal: stopped } = stopping;
  const { signal: abandoned } = abandoning;
  stopped.addEventListener('abort', () => abortLater(creating, createMs, 'the run was interrupted'));
  const createSignal = AbortSignal.any([creating.signal, abandoned]);
  const run: SmokeRun = { service, options, observer, stopped, createSignal, abandoned };
  const startedAt = service.now();
  const startedMs = monotonicMs();
  const tally = new Tally();
  try {
    const first = await runUntilGreen(run);
    const firstMs = monotonicMs();
    tally.add(await withWriteChecks(run, first));
    while (await hasNext(options, tally.runs, stopped, firstMs))
      tally.add(await withWriteChecks(run, await runReadChecks(run)));
    const outcomes = tally.outcomes(repeat !== undefined || forMs !== undefined);
    const end = endOf(options, outcomes, whyStopped(run), signal);
    const results = [...outcomes, ...(end ? [end] : [])];
    const { baseUrl } = service.client;
    return {
      target: baseUrl === embeddedOrigin ? 'the embedded store' : baseUrl,
      startedAt,
      elapsedMs: monotonicMs() - startedMs,
      write,
      rounds: first.rounds,
      runs: tally.runs,
      results,
      exitCode: end?.exitCode ?? exitCodeOf(results),
      signal,
    };
  } finally {
    release();
  }
}

/** The pause between two rounds is doubled after each round. */
const firstPauseMs = 1000;
const longestPauseMs = 5000;

/**
 * Runs the read checks until they pass or the time of `--wait` is over; without `--wait`, once. 401, 403 and TLS errors
 * end the wait, because time does not change them.
 */
async function runUntilGreen(run: SmokeRun): Promise<RoundResult & { readonly rounds: number }> {
  const { options, stopped, observer } = run;
  const { waitMs } = options;
  const deployment = createDeployment(run);
  const endMs = monotonicMs() + waitMs;
  for (let rounds = 1, pauseMs = firstPauseMs; ; rounds += 1) {
    const result = { ...(await runReadChecks(run, deployment)), rounds };
    const fault = result.results.find(isRed);
    if (waitMs === 0 || !fault || stopped.aborted) return result;
    const leftMs = endMs - monotonicMs();
    const isFinal = fault.exitCode === exitCodes.auth || groupOf(fault.id) === 'tls';
    if (leftMs <= 0 || isFinal) {
      const wait = isFinal ? '' : `, after waiting ${durationText(waitMs)}`;
      const results = result.results.map((check) =>
        groupOf(check.id) === 'reach' && isRed(check)
          ? { ...check, reason: `${check.reason}${wait}` }
          : check,
      );
      return { ...result, results, obstacle: 'the read checks did not pass' };
    }
    const waiting = `waiting up to ${durationText(waitMs)} for the service`;
    if (rounds === 1) await observer.print(`${waiting}: ${fault.id}: ${fault.reason}`);
    // The last round begins when the time is over.
    await sleep(Math.min(pauseMs, leftMs), stopped).catch(() => {});
    if (stopped.aborted) return result;
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

/** Waits until the next run should begin, and says whether there is one. */
async function hasNext(
  { repeat = 1, forMs, everyMs }: SmokeOptions,
  runs: number,
  stopped: AbortSignal,
  firstMs: number,
): Promise<boolean> {
  if (stopped.aborted || (forMs === undefined && runs >= repeat)) return false;
  const elapsedMs = monotonicMs() - firstMs;
  // After a run longer than the interval, skip the missed times.
  const nextMs = everyMs === 0 ? elapsedMs : Math.floor(elapsedMs / everyMs + 1) * everyMs;
  if (forMs !== undefined && nextMs >= forMs) return false;
  if (nextMs > elapsedMs) await sleep(nextMs - elapsedMs, stopped).catch(() => {});
  return !stopped.aborted;
}

/** A failure for a run that was stopped or checked nothing, because a report must not be green if the exit code is not 0. */
function endOf(
  options: SmokeOptions,
  outcomes: readonly CheckResult[],
  why: string | undefined,
  signal: Signal | undefined,
): (CheckResult & { readonly exitCode: ExitCode }) | undefined {
  const failure = { id: 'run/complete', state: 'fail', elapsedMs: 0 } as const;
  if (why !== undefined) {
    const skips = outcomes.filter(({ obstacle }) => obstacle === why).length;
    const rest = skips === 0 ? '' : ` before ${counted(skips, 'check', 'checks')}`;
    const exitCode = signal ? new InterruptedError(signal).exitCode : exitCodes['check-failed'];
    return { ...failure, reason: `${signal ? `stopped by ${signal}` : why}${rest}`, exitCode };
  }
  const isTest = ({ id, state }: CheckResult) =>
    state !== 'skip' && (namesReach(options) || groupOf(id) !== 'reach' || state === 'fail');
  if (outcomes.some(isTest)) return undefined;
  const reason = 'no check beside reach ran: every one was skipped';
  return { ...failure, reason, exitCode: exitCodes.usage };
}

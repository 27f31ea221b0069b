import { embeddedOrigin } from '../api/http.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { type ExitCode, exitCodes, InterruptedError, type Signal } from '../process/errors.ts';
import { poll } from '../process/poll.ts';
import { type Interrupts, inTwoSteps, StoppedError } from '../process/signals.ts';
import { counted, durationText } from '../process/text.ts';
import { groupOf, type Verdict } from './check.ts';
import { hasReachPattern, type SmokeOptions } from './check-table.ts';
import { isRed } from './finding.ts';
import { exitCodeOf, type SmokeReport } from './report/smoke-report.ts';
import { Tally } from './report/tally.ts';
import type { Service } from './round.ts';
import {
  abortLater,
  addWriteChecks,
  createTracker,
  type Observer,
  type RoundResult,
  runReadChecks,
  type SmokeSetup,
  stopReasonOf,
} from './run-round.ts';

/** A pending create may still be answered for this long after the checks were stopped. */
const createMs = 2000;

/**
 * Runs rounds of checks, one or as many as the options say, and cleans up after each round. The first signal stops the
 * checks; the second one also ends the cleanup.
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
  const steps = {
    stop(name: Signal) {
      signal = name;
      stopping.abort(new StoppedError('the run was interrupted'));
      const choice = signal === 'SIGINT' ? '; Ctrl-C again leaves them' : '';
      if (write) void observer.print(`stopped: removing the records of this run${choice}`);
    },
    abandon: () => abandoning.abort(new StoppedError('stopped by a second signal')),
  };
  if (maxTimeMs !== undefined)
    abortLater(stopping, maxTimeMs, `the time of ${durationText(maxTimeMs)} is over (--max-time)`);
  const { signal: stopped } = stopping;
  const { signal: abandoned } = abandoning;
  stopped.addEventListener('abort', () => abortLater(creating, createMs, 'the run was interrupted'));
  const createSignal = AbortSignal.any([creating.signal, abandoned]);
  const setup: SmokeSetup = { service, options, observer, stopped, createSignal, abandoned };
  const startedAt = service.now();
  const startedMs = monotonicMs();
  const tally = new Tally();
  return inTwoSteps({ interrupts }, steps, async () => {
    const first = await runUntilGreen(setup);
    const firstMs = monotonicMs();
    tally.add(await addWriteChecks(setup, first));
    while (await waitForRepetition(options, tally.repetitions, stopped, firstMs))
      tally.add(await addWriteChecks(setup, await runReadChecks(setup)));
    const checkVerdicts = tally.verdicts(repeat !== undefined || forMs !== undefined);
    const failure = failureOfCommand(options, checkVerdicts, stopReasonOf(setup), signal);
    const verdicts = [...checkVerdicts, ...(failure ? [failure] : [])];
    const { baseUrl } = service.client;
    return {
      target: baseUrl === embeddedOrigin ? 'the embedded store' : baseUrl,
      startedAt,
      elapsedMs: monotonicMs() - startedMs,
      write,
      rounds: first.rounds,
      repetitions: tally.repetitions,
      verdicts,
      exitCode: failure?.exitCode ?? exitCodeOf(verdicts),
      signal,
    };
  });
}

/** The pause after the first round of a wait. It doubles after each round, up to the longest pause. */
const firstPauseMs = 1000;
const longestPauseMs = 5000;

type WaitResult = RoundResult & { readonly rounds: number };

/**
 * Runs rounds of the read checks until they pass or the time of `--wait` is over; without `--wait`, one round. A 401, a 403
 * and a TLS error end the wait, because they do not pass with time.
 */
async function runUntilGreen(setup: SmokeSetup): Promise<WaitResult> {
  const { options, stopped, observer } = setup;
  const { waitMs } = options;
  const tracker = createTracker(setup);
  let last: WaitResult | undefined;
  const runRound = async (remainingMs: number) => {
    const result = { ...(await runReadChecks(setup, tracker)), rounds: (last?.rounds ?? 0) + 1 };
    last = result;
    const failure = result.verdicts.find(isRed);
    if (!failure || stopped.aborted) return { value: result, isFinal: true };
    const isFinal = failure.exitCode === exitCodes.auth || groupOf(failure.id) === 'tls';
    const isFirstOfMore = result.rounds === 1 && !isFinal && remainingMs > 0;
    const waiting = `waiting up to ${durationText(waitMs)} for the service`;
    if (isFirstOfMore) await observer.print(`${waiting}: ${failure.id}: ${failure.reason}`);
    return { value: result, isFinal };
  };
  const pauseMs = (count: number) => Math.min(firstPauseMs * 2 ** (count - 1), longestPauseMs);
  const result = await poll(runRound, { pauseMs, limitMs: waitMs, signal: stopped }).catch((error) => {
    if (last && stopped.aborted) return last;
    throw error;
  });
  const failure = result.verdicts.find(isRed);
  if (waitMs === 0 || !failure || stopped.aborted) return result;
  const isFinal = failure.exitCode === exitCodes.auth || groupOf(failure.id) === 'tls';
  const suffix = isFinal ? '' : `, after waiting ${durationText(waitMs)}`;
  const verdicts = result.verdicts.map((verdict) =>
    groupOf(verdict.id) === 'reach' && isRed(verdict)
      ? { ...verdict, reason: `${verdict.reason}${suffix}` }
      : verdict,
  );
  return { ...result, verdicts, obstacle: 'the read checks did not pass' };
}

/**
 * Waits for the start of the next repetition of `--repeat` or `--for`.
 *
 * @param repetitions the number of repetitions that have ended.
 * @param firstMs when the read checks of the first repetition ended.
 * @returns false if there is no next repetition.
 */
async function waitForRepetition(
  { repeat = 1, forMs, everyMs }: SmokeOptions,
  repetitions: number,
  stopped: AbortSignal,
  firstMs: number,
): Promise<boolean> {
  if (stopped.aborted || (forMs === undefined && repetitions >= repeat)) return false;
  const elapsedMs = monotonicMs() - firstMs;
  // If a repetition takes longer than the interval, the starts that it missed are skipped.
  const nextMs = everyMs === 0 ? elapsedMs : Math.floor(elapsedMs / everyMs + 1) * everyMs;
  if (forMs !== undefined && nextMs >= forMs) return false;
  if (nextMs > elapsedMs) await sleep(nextMs - elapsedMs, stopped).catch(() => {});
  return !stopped.aborted;
}

/**
 * Returns a failure if the checks were stopped, or if no check ran beside reach: the exit code is then not 0, so the report
 * must not be green.
 */
function failureOfCommand(
  options: SmokeOptions,
  verdicts: readonly Verdict[],
  stopReason: string | undefined,
  signal: Signal | undefined,
): (Verdict & { readonly exitCode: ExitCode }) | undefined {
  const failure = { id: 'run/complete', state: 'fail', elapsedMs: 0 } as const;
  if (stopReason !== undefined) {
    const skips = verdicts.filter(({ obstacle }) => obstacle === stopReason).length;
    const suffix = skips === 0 ? '' : ` before ${counted(skips, 'check', 'checks')}`;
    const exitCode = signal ? new InterruptedError(signal).exitCode : exitCodes['check-failed'];
    return { ...failure, reason: `${signal ? `stopped by ${signal}` : stopReason}${suffix}`, exitCode };
  }
  const isTest = ({ id, state }: Verdict) =>
    state !== 'skip' && (hasReachPattern(options) || groupOf(id) !== 'reach' || state === 'fail');
  if (verdicts.some(isTest)) return undefined;
  const reason = 'no check beside reach ran: every one was skipped';
  return { ...failure, reason, exitCode: exitCodes.usage };
}

import type { Operation } from '../api/operations.ts';
import { attemptsOf } from '../client/attempt.ts';
import type { CallInput } from '../client/request.ts';
import { sleep } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { durationText } from '../process/text.ts';
import type { Check, CheckContext } from './check.ts';
import { type Finding, fail, pass, statusText } from './finding.ts';
import { inputsFor } from './records.ts';
import { rateLimitPauseMs } from './round.ts';

/** Makes a check for every GET: its median latency must not exceed `--max-latency`. */
export function createLatencyChecks(reads: readonly Operation[], limitMs: number): Check[] {
  return reads.map((operation) => ({
    id: `latency/${operation.id}`,
    operation,
    needs: [`op/${operation.id}`],
    run: (context) => checkLatency(context, operation, limitMs),
  }));
}

const timedCalls = 4;
/** The most records to try, because a record may have been deleted since its list was read. */
const maxRecords = 3;

async function checkLatency(context: CheckContext, operation: Operation, limitMs: number): Promise<Finding> {
  const input = await warmUp(context, operation);
  const timings: Timing[] = [];
  for (let call = 0; call < timedCalls; call += 1) timings.push(await timeCall(context, operation, input));
  const [, second = 0, third = 0] = timings.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  const medianMs = (second + third) / 2;
  const faults = timings.flatMap(({ fault }) => fault ?? []);
  const faultsClause = faults[0] ? `; ${faults.length} of ${timings.length} had no answer: ${faults[0]}` : '';
  const times = timings.map(({ durationMs }) => latencyText(durationMs)).join(', ');
  if (medianMs <= limitMs) return pass(`median ${latencyText(medianMs)} of ${times}${faultsClause}`);
  const readings = `median ${latencyText(medianMs)} of ${times}${faultsClause}`;
  return fail(`the median of four calls is over ${durationText(limitMs)}`, { operation, readings });
}

/**
 * Makes a call that is not timed, because it opens the connection and fills caches.
 *
 * @returns the input of the first call that the service answered well.
 */
async function warmUp(context: CheckContext, operation: Operation): Promise<CallInput> {
  const inputs = (await inputsFor(context, operation)).slice(0, maxRecords);
  for (const input of inputs)
    if ((await timeCall(context, operation, input)).fault === undefined) return input;
  return inputs[0] ?? {};
}

interface Timing {
  /** The time from the first byte sent to the last byte read; infinite without a good answer. */
  readonly durationMs: number;
  /** The reason why there was no good answer, a clause. */
  readonly fault?: string | undefined;
  /** The time to wait before the call is made again, if the service limits the rate. */
  readonly pauseMs?: number | undefined;
}

/** How often a call is made that the service refuses because of its rate limit. */
const maxTries = 5;
/** The longest Retry-After that is waited for. */
const longestPauseMs = 30_000;

/** Times a call. If the service limits the rate, waits and makes the call again: a refusal does not say how fast it is. */
async function timeCall(context: CheckContext, operation: Operation, input: CallInput): Promise<Timing> {
  for (let tries = 1; ; tries += 1) {
    const timing = await timeOnce(context, operation, input);
    const { pauseMs } = timing;
    if (pauseMs === undefined || pauseMs > longestPauseMs || tries === maxTries) return timing;
    await sleep(pauseMs, context.signal);
  }
}

async function timeOnce(context: CheckContext, operation: Operation, input: CallInput): Promise<Timing> {
  const unanswered = (fault: string) => ({ durationMs: Number.POSITIVE_INFINITY, fault });
  try {
    const answer = await context.ask(operation, input, { retries: 0 });
    const { status, attempts } = answer;
    if (!operation.success.includes(status))
      return { ...unanswered(`answered ${statusText(status)}`), pauseMs: rateLimitPauseMs(answer) };
    return { durationMs: attempts[0]?.latencyMs ?? 0 };
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof CliError && attemptsOf(error).length > 0) return unanswered(error.message);
    throw error;
  }
}

function latencyText(durationMs: number): string {
  return durationMs === Number.POSITIVE_INFINITY ? 'without an answer' : durationText(durationMs);
}

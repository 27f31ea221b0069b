import type { Contract } from '../api/contract.ts';
import type { Operation } from '../api/operations.ts';
import type { CallInput } from '../client/request.ts';
import { CliError } from '../process/errors.ts';
import { durationText } from '../process/text.ts';
import { type CheckRun, readsOf, type SmokeOptions } from './ask.ts';
import {
  type Check,
  fail,
  type Latency,
  pass,
  statistics,
  statusText,
  type Verdict,
  VerdictError,
} from './check.ts';
import { inputsFor } from './records.ts';

/** One check for every GET: its latency is within the limit of `--max-latency`. */
export function latencyChecks(
  contract: Contract,
  limit: NonNullable<SmokeOptions['maxLatency']>,
): Check<CheckRun>[] {
  return readsOf(contract).map((operation) => ({
    id: `latency/${operation.id}`,
    operation,
    needs: [`op/${operation.id}`],
    run: (run) => checkLatency(run, operation, limit),
  }));
}

const countedCalls = 4;
/** A record may be gone since its list was read. */
const maxTries = 3;

async function checkLatency(
  run: CheckRun,
  operation: Operation,
  { ms: limitMs, statistic }: NonNullable<SmokeOptions['maxLatency']>,
): Promise<Verdict> {
  const input = await warmUp(run, operation);
  const timesMs: number[] = [];
  let lost: string | undefined;
  for (let call = 0; call < countedCalls; call += 1) {
    const answered = await time(run, operation, input);
    if (typeof answered === 'string') lost ??= answered;
    // A call without an answer is over every limit.
    timesMs.push(typeof answered === 'string' ? Number.POSITIVE_INFINITY : answered);
  }
  const figures = latencyOf(timesMs);
  const texts = statistics.map((each) => `${each} ${timeText(figures[each])}`);
  const without = timesMs.filter((ms) => ms === Number.POSITIVE_INFINITY).length;
  const missing = without === 0 ? '' : `; ${without} of ${timesMs.length} had no answer: ${lost}`;
  const got = `${texts.join(', ')}${missing}`;
  if (figures[statistic] <= limitMs) return pass(got);
  const reason = `${statistic} ${timeText(figures[statistic])} is over the limit${missing}`;
  return fail(reason, { operation, expected: `${statistic} of at most ${durationText(limitMs)}`, got });
}

/** The first call, which opens the connection and fills caches, so that it is not counted. @returns its input. */
async function warmUp(run: CheckRun, operation: Operation): Promise<CallInput> {
  const inputs = (await inputsFor(run, operation)).slice(0, maxTries);
  for (const input of inputs) if (typeof (await time(run, operation, input)) === 'number') return input;
  return inputs[0] ?? {};
}

function timeText(ms: number): string {
  return ms === Number.POSITIVE_INFINITY ? 'without an answer' : durationText(ms);
}

/** Milliseconds of one call; a clause if it had no good answer. */
async function time(run: CheckRun, operation: Operation, input: CallInput): Promise<number | string> {
  try {
    const { status, elapsedMs } = await run.ask(operation, input);
    return operation.success.includes(status) ? elapsedMs : `answered ${statusText(status)}`;
  } catch (error) {
    if (run.signal.aborted || !(error instanceof CliError || error instanceof VerdictError)) throw error;
    return error.message;
  }
}

/** Percentiles of times, by nearest rank. */
function latencyOf(timesMs: readonly number[]): Latency {
  const sorted = [...timesMs].sort((a, b) => a - b);
  const percentile = (percent: number) => sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? 0;
  return { p50: percentile(50), p95: percentile(95), max: percentile(100) };
}

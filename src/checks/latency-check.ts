import type { Operation } from '../api/operations.ts';
import { attemptsOf } from '../client/attempt.ts';
import type { CallInput } from '../client/request.ts';
import { CliError } from '../process/errors.ts';
import { durationText } from '../process/text.ts';
import type { Check, CheckContext } from './check.ts';
import { type Finding, fail, pass, statusText } from './finding.ts';
import { inputsFor } from './records.ts';

/** One check for every GET: the median of its latency is at most `--max-latency`. */
export function latencyChecks(reads: readonly Operation[], limitMs: number): Check[] {
  return reads.map((operation) => ({
    id: `latency/${operation.id}`,
    operation,
    needs: [`op/${operation.id}`],
    run: (context) => checkLatency(context, operation, limitMs),
  }));
}

const countedCalls = 4;
/** A record may be gone since its list was read. */
const maxTries = 3;

async function checkLatency(context: CheckContext, operation: Operation, limitMs: number): Promise<Finding> {
  const input = await warmUp(context, operation);
  const timings: Timing[] = [];
  for (let call = 0; call < countedCalls; call += 1) timings.push(await time(context, operation, input));
  const [, second = 0, third = 0] = timings.map(({ ms }) => ms).sort((a, b) => a - b);
  const medianMs = (second + third) / 2;
  const faults = timings.flatMap(({ fault }) => fault ?? []);
  const missing = faults[0] ? `; ${faults.length} of ${timings.length} had no answer: ${faults[0]}` : '';
  const times = timings.map(({ ms }) => latencyText(ms)).join(', ');
  if (medianMs <= limitMs) return pass(`median ${latencyText(medianMs)} of ${times}${missing}`);
  const reason = `the median is ${latencyText(medianMs)}, over the limit${missing}`;
  return fail(reason, { operation, expected: `at most ${durationText(limitMs)}`, got: times });
}

/** Makes the call that is not counted, because it opens the connection and fills caches. @returns its input. */
async function warmUp(context: CheckContext, operation: Operation): Promise<CallInput> {
  const inputs = (await inputsFor(context, operation)).slice(0, maxTries);
  for (const input of inputs) if ((await time(context, operation, input)).fault === undefined) return input;
  return inputs[0] ?? {};
}

interface Timing {
  /** From the first byte sent to the last byte read; infinite without a good answer. */
  readonly ms: number;
  /** Why there was no good answer, a clause. */
  readonly fault?: string | undefined;
}

async function time(context: CheckContext, operation: Operation, input: CallInput): Promise<Timing> {
  const unanswered = (fault: string) => ({ ms: Number.POSITIVE_INFINITY, fault });
  try {
    const { status, attempts } = await context.ask(operation, input, { retries: 0 });
    if (!operation.success.includes(status)) return unanswered(`answered ${statusText(status)}`);
    return { ms: attempts[0]?.elapsedMs ?? 0 };
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof CliError && attemptsOf(error).length > 0) return unanswered(error.message);
    throw error;
  }
}

function latencyText(ms: number): string {
  return ms === Number.POSITIVE_INFINITY ? 'without an answer' : durationText(ms);
}

import type { Client, RawRequest } from '../client/client.ts';
import { monotonicMs } from '../clock.ts';
import { sleep } from '../deadline.ts';
import { CliError, UnavailableError } from '../errors.ts';
import { statusText } from './answer.ts';
import { exchangeOnce } from './exchange.ts';

interface Waiting {
  readonly client: Client;
  /** The request to knock with. */
  readonly request: RawRequest;
  readonly waitMs: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Told once, when the first knock found nobody. */
  onWaiting(problem: string): Promise<void>;
}

const shortestPauseMs = 20;
const firstPauseMs = 250;
const longestPauseMs = 2000;
/** The last knock comes when the time is nearly over, and must have a chance. */
const shortestKnockMs = 200;
const longestKnockMs = 5000;

/**
 * Knocks until the service answers below 500. An answer that time will not change ends the wait at once: 401, 404, a
 * certificate that is not trusted.
 *
 * @returns what was wrong at the end, where the time ran out.
 */
export async function waitForService(waiting: Waiting): Promise<string | undefined> {
  const { waitMs, signal } = waiting;
  const endMs = monotonicMs() + waitMs;
  let pauseMs = firstPauseMs;
  let isTold = false;
  for (;;) {
    const leftMs = endMs - monotonicMs();
    const problem = await knock(
      waiting,
      Math.min(Math.max(leftMs, shortestKnockMs), waiting.timeoutMs, longestKnockMs),
    );
    if (problem === undefined || signal.aborted) return undefined;
    if (!isTold) await waiting.onWaiting(problem);
    isTold = true;
    const restMs = endMs - monotonicMs();
    if (restMs < shortestPauseMs) return problem;
    await sleep(Math.min(pauseMs, restMs), signal).catch(() => {});
    pauseMs = Math.min(pauseMs * 1.5, longestPauseMs);
  }
}

async function knock({ client, request, signal }: Waiting, timeoutMs: number): Promise<string | undefined> {
  try {
    const { status } = await exchangeOnce(client, request, { signal, timeoutMs });
    return status < 500 ? undefined : `answered ${statusText(status)}`;
  } catch (error) {
    if (error instanceof UnavailableError && error.reason === 'tls') return undefined;
    if (error instanceof CliError || signal.aborted) return (error as Error).message;
    throw error;
  }
}

import type { Contract } from '../api/contract.ts';
import type { Client } from '../client/client.ts';
import { monotonicMs } from '../clock.ts';
import { type ExitCode, exitCodes } from '../errors.ts';
import type { Interrupts } from '../interrupts.ts';
import type { Signal } from '../io.ts';
import { type Check, type CheckResult, idOf, skip } from './check.ts';
import { durationText } from './duration.ts';
import { knocksOf } from './knock.ts';
import type { SmokeOptions } from './options.ts';
import { planChecks } from './plan.ts';
import { runChecks, runOne } from './run.ts';
import { isSelected } from './select.ts';
import { createSession } from './session.ts';
import type { Sockets } from './sockets.ts';
import { type Stops, takeSignals } from './stops.ts';
import { exitCodeOf, type Totals, totalsOf } from './totals.ts';
import { waitForService } from './wait.ts';
import { cleanUp } from './write/cleanup.ts';
import { createLedger, type Ledger } from './write/ledger.ts';

/** What one run came to; every report is made of this. */
export interface SmokeReport {
  /** The base URL, or what else was checked. */
  readonly target: string;
  readonly startedAt: Date;
  readonly elapsedMs: number;
  /** Whether the run was allowed to write. */
  readonly write: boolean;
  readonly results: readonly CheckResult[];
  readonly totals: Totals;
  readonly exitCode: ExitCode;
  /** The signal that ended the run before its time. */
  readonly signal?: Signal | undefined;
}

interface SmokeParts {
  readonly client: Client;
  /** What the reports call the service. */
  readonly target: string;
  readonly sockets: Sockets;
  readonly options: SmokeOptions;
  readonly interrupts: Interrupts;
  /** Masks the secrets of this run. */
  mask(text: string): string;
  now(): Date;
  /** Told, before the first result, the ids that the report may have. */
  onPlan(ids: readonly string[]): Promise<void>;
  onResult(result: CheckResult): Promise<void>;
  /** A line for people about what the run is busy with. */
  onNotice(line: string): Promise<void>;
}

const signalCodes: Readonly<Record<Signal, ExitCode>> = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
};

/**
 * Runs the checks and cleans up behind them, also after a signal; a second signal ends the cleaning too.
 *
 * @throws UsageError where the selection leaves no check.
 */
export async function runSmoke(parts: SmokeParts): Promise<SmokeReport> {
  const { client, target, options, now } = parts;
  const ledger = createLedger();
  const checks = planChecks(client.contract, options, ledger);
  const stops = takeSignals(parts.interrupts, (signal) => void sayStop(parts, ledger, signal));
  const startedAt = now();
  const startedMs = monotonicMs();
  try {
    const results = await runAll(parts, { checks, ledger, stops });
    return {
      target,
      startedAt,
      elapsedMs: monotonicMs() - startedMs,
      write: options.write,
      results,
      totals: totalsOf(results),
      exitCode: stops.signal ? signalCodes[stops.signal] : exitCodeOf(results),
      signal: stops.signal,
    };
  } finally {
    stops.release();
  }
}

/** The checks that a run would be made of. @throws UsageError where the selection leaves none. */
export function listChecks(contract: Contract, options: SmokeOptions): Check[] {
  const checks = planChecks(contract, options, createLedger());
  return checks.filter((check) => isSelected(idOf(check), options.selection));
}

interface Plan {
  readonly checks: readonly Check[];
  readonly ledger: Ledger;
  readonly stops: Stops;
}

async function runAll(parts: SmokeParts, { checks, ledger, stops }: Plan): Promise<CheckResult[]> {
  const reported: CheckResult[] = [];
  const onResult = async (result: CheckResult) => {
    reported.push(result);
    await parts.onResult(result);
  };
  const ids = new Set(checks.map(idOf));
  const cleanup = checks.some(({ group }) => group === 'write') ? [cleanupCheck(ledger, stops)] : [];
  await parts.onPlan([...ids, ...cleanup.map(idOf)]);
  const results = new Map<string, CheckResult>();
  const late = await wait(parts, stops);
  const more = { late, results, isPlanned: (id: string) => ids.has(id) };
  try {
    const session = createSession({ ...parts, ...more, signal: stops.checks });
    await runChecks({ session, checks, results, onResult });
  } finally {
    const session = createSession({ ...parts, ...more, signal: stops.cleaning });
    for (const check of cleanup) await onResult(await runOne({ session }, check));
  }
  return reported;
}

function cleanupCheck(ledger: Ledger, stops: Stops): Check {
  return {
    group: 'write',
    name: 'cleanup',
    async run(session) {
      if (ledger.isUntouched) return skip('nothing was written');
      stops.startCleaning();
      return cleanUp(session, ledger);
    },
  };
}

async function wait({ client, options, onNotice }: SmokeParts, stops: Stops): Promise<string | undefined> {
  const { waitMs, timeoutMs } = options;
  if (waitMs === 0) return undefined;
  const [{ request }] = knocksOf(client);
  return waitForService({
    client,
    request,
    waitMs,
    timeoutMs,
    signal: stops.checks,
    onWaiting: (problem) => onNotice(`waiting up to ${durationText(waitMs)} for the service: ${problem}`),
  });
}

async function sayStop({ onNotice }: SmokeParts, ledger: Ledger, signal: Signal): Promise<void> {
  if (ledger.isUntouched) return;
  const again = signal === 'SIGINT' ? '; Ctrl-C again leaves them' : '';
  await onNotice(`stopped: removing the records of this run${again}`);
}

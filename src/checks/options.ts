import type { CredentialPlace } from '../api/contract.ts';
import type { Condition } from './condition.ts';

/** The groups of checks of `smoke`, in the order in which reports show them; `run` is for a run without an end. */
export const groups = [
  'reach',
  'tls',
  'op',
  'error',
  'lifecycle',
  'auth',
  'latency',
  'expect',
  'write',
  'run',
] as const;

export const statistics = ['p50', 'p95', 'max'] as const;
/** Milliseconds. */
export type Latency = Readonly<Record<(typeof statistics)[number], number>>;

/** The most that a statistic of the latency of an operation may be. */
interface LatencyLimit {
  readonly ms: number;
  readonly statistic: keyof Latency;
}

/** The selection of checks, and their limits. */
export interface SmokeOptions {
  /** Globs of check ids; no `only` means all. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
  /** Whether warnings, flaky passes, and failures of beta and experimental operations are failures. */
  readonly strict: boolean;
  /** Undefined if latency is not measured. */
  readonly maxLatency?: LatencyLimit | undefined;
  readonly write: boolean;
  /** How long to wait for the service to come up; 0 to not wait. */
  readonly waitMs: number;
  /** Conditions that end the wait. */
  readonly waitFor: readonly Condition[];
  /** The user's own checks. */
  readonly expect: readonly Condition[];
  /** How often to run, and for how long; only one of the two is set. */
  readonly repeat?: number | undefined;
  readonly forMs?: number | undefined;
  /** From the start of one run to the start of the next. */
  readonly everyMs: number;
  /** Deadline of one check, with all its requests. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** The place of the profile's credential in requests. */
  readonly credentialPlace: CredentialPlace;
}

export function groupOf(id: string): string {
  return id.split('/', 1)[0] ?? '';
}

import type { CredentialPlace } from '../api/contract.ts';

/** The groups of checks of `smoke`, in the order in which reports show them. */
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
] as const;

export function groupOf(id: string): string {
  return id.split('/', 1)[0] ?? '';
}

/** What an answer must be, as `--wait-for` and `--expect` give it. */
export interface Condition {
  /** As it was written. */
  readonly text: string;
  /** Path below the base URL, or a URL of the same origin; undefined for the service's first operation. */
  readonly path?: string | undefined;
  readonly header?: { readonly name: string; readonly value: string } | undefined;
  /** Undefined for any 2xx. */
  readonly status?: number | undefined;
  /** Values of the JSON body, by pointer (RFC 6901), compared as text. */
  readonly values: readonly { readonly pointer: string; readonly value: string }[];
}

export const statistics = ['p50', 'p95', 'max'] as const;
export type Statistic = (typeof statistics)[number];

/** States that are not failures by themselves, and can be made to count as one. */
export const softStates = ['warn', 'flaky'] as const;
export type SoftState = (typeof softStates)[number];

/** What is to be checked, and how hard. */
export interface SmokeOptions {
  /** Globs of check ids; no `only` means all. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly failOn: readonly SoftState[];
  /** `all`: an experimental or beta operation that fails is a failure too. */
  readonly stability: 'stable' | 'all';
  /** Timed calls of each GET; undefined if latency is not measured. */
  readonly samples?: number | undefined;
  readonly maxLatency?: { readonly ms: number; readonly statistic: Statistic } | undefined;
  /** Fewest days that the certificate must still be valid. */
  readonly tlsMinDays: number;
  readonly write: boolean;
  /** Least age of what earlier runs left behind and this run removes first. */
  readonly sweepMs?: number | undefined;
  /** How long to wait for the service to come up; 0 for not at all. */
  readonly waitMs: number;
  /** What must hold before the wait is over. */
  readonly waitFor: readonly Condition[];
  /** Checks of the user's own. */
  readonly expect: readonly Condition[];
  /** How often to run, and for how long; only one of the two is given. */
  readonly repeat?: number | undefined;
  readonly forMs?: number | undefined;
  /** From the start of one run to the start of the next. */
  readonly everyMs: number;
  readonly untilFailure: boolean;
  /** Deadline of one request or connection. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** Where requests carry the profile's credential. */
  readonly credentialPlace: CredentialPlace;
}

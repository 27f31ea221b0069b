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

/** A requirement of an answer, from `--wait-for` or `--expect`. */
export interface Condition {
  /** The text of the flag. */
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

/** States that are not failures, unless `--fail-on` names them. */
export const softStates = ['warn', 'flaky'] as const;
export type SoftState = (typeof softStates)[number];

/** The selection of checks, and their limits. */
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
  /** Fewest days for which the certificate must still be valid. */
  readonly tlsMinDays: number;
  readonly write: boolean;
  /** Least age of records of earlier runs that this run removes first; undefined to remove none. */
  readonly sweepMs?: number | undefined;
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
  readonly untilFailure: boolean;
  /** Deadline of one request or connection. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** The place of the profile's credential in requests. */
  readonly credentialPlace: CredentialPlace;
}

import type { CredentialPlace } from '../api/contract.ts';
import type { Selection } from './select.ts';

export const statistics = ['p50', 'p95', 'max'] as const;
export type Statistic = (typeof statistics)[number];

/** Results that are no failure by themselves, and may be made one. */
export const softResults = ['warn', 'flaky'] as const;
export type SoftResult = (typeof softResults)[number];

export interface LatencyLimit {
  readonly ms: number;
  readonly statistic: Statistic;
}

/** What is to be checked, and how hard. */
export interface SmokeOptions {
  readonly selection: Selection;
  /** Results that are no failure by themselves and are to count as one. */
  readonly failOn: readonly SoftResult[];
  /** `all`: an experimental or beta operation that fails is a failure too. */
  readonly stability: 'stable' | 'all';
  /** Timed calls of each GET. */
  readonly samples: number;
  readonly maxLatency?: LatencyLimit | undefined;
  /** Fewest days that the certificate must still be valid. */
  readonly tlsMinDays: number;
  readonly write: boolean;
  /** How long to wait for the service to come up; 0 for not at all. */
  readonly waitMs: number;
  /** Deadline of one request or connection. */
  readonly timeoutMs: number;
  /** Where requests carry the profile's credential. */
  readonly credentialPlace: CredentialPlace;
}

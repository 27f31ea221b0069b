import type { State } from './states.ts';

/** What became of a row, and why. */
export interface Outcome {
  readonly state: Exclude<State, 'unprocessed'>;
  /** HTTP status of the answer that decided it. */
  readonly status?: number | undefined;
  /** The service's own code, or this program's word for the reason. */
  readonly code?: string | undefined;
  /** For people, foreign text in it. */
  readonly message?: string | undefined;
  /** How many requests were sent for the row. */
  readonly attempts?: number | undefined;
  /** The service could not be reached or was overloaded: the same row may succeed later. */
  readonly isUnavailable?: boolean | undefined;
}

/** Failures of one kind. */
export interface FailureKind {
  /** As `404 not_found` or `timeout`. */
  readonly kind: string;
  readonly state: 'failed' | 'unknown';
  count: number;
  /** The service could not be reached or was overloaded, for each of them. */
  isUnavailable: boolean;
  /** The first of them. */
  readonly example: { readonly line: number; readonly petId: bigint; readonly message: string };
}

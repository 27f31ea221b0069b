import type { Operation } from '../api/contract.ts';
import type { Session } from './session.ts';

export const groups = ['reach', 'tls', 'op', 'error', 'lifecycle', 'auth', 'latency', 'write'] as const;
export type Group = (typeof groups)[number];

/**
 * What came of a check. `error` is a check that could not be carried out: no answer came, or what it stands on could not
 * be made. `skip` is one that does not apply here, or that would only repeat what another has found.
 */
export const outcomes = ['pass', 'warn', 'fail', 'skip', 'error'] as const;
export type Outcome = (typeof outcomes)[number];

/** What a check found. Texts may hold what the service sent: they are made safe where they are shown. */
export interface Verdict {
  readonly outcome: Outcome;
  /** One clause: what was seen, what is wrong, or why the check was skipped. */
  readonly reason: string;
  readonly expected?: string | undefined;
  /** What came instead: at most 200 bytes of it. */
  readonly got?: string | undefined;
  /** JSON pointer to what is wrong in the body that came. */
  readonly pointer?: string | undefined;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly status?: number | undefined;
  /** The operation that is to blame, where it is not the check's own. */
  readonly operation?: Operation | undefined;
}

export interface Check {
  readonly group: Group;
  readonly name: string;
  /** The operation that it is about: its stability softens a failure. */
  readonly operation?: Operation | undefined;
  /** A failure bars the checks of the groups after it: none of them could pass. */
  readonly gate?: true;
  run(session: Session): Promise<Verdict>;
}

export interface CheckResult extends Verdict {
  /** `group/name`; stable. */
  readonly id: string;
  readonly group: Group;
  readonly name: string;
  readonly elapsedMs: number;
  /** It passed, and needed a second attempt to. */
  readonly flaky: boolean;
  /** It says that no request can be sent to the service. */
  readonly isUnreachable?: boolean | undefined;
  /** It never began; what kept it from that, a clause. */
  readonly barredBy?: string | undefined;
}

/** Where and to what a verdict's answer came. */
export type Details = Partial<Omit<Verdict, 'outcome' | 'reason'>>;

export function pass(reason: string, details: Details = {}): Verdict {
  return { ...details, outcome: 'pass', reason };
}

export function warn(reason: string, details: Details = {}): Verdict {
  return { ...details, outcome: 'warn', reason };
}

export function fail(reason: string, details: Details = {}): Verdict {
  return { ...details, outcome: 'fail', reason };
}

export function skip(reason: string): Verdict {
  return { outcome: 'skip', reason };
}

export function idOf({ group, name }: { readonly group: Group; readonly name: string }): string {
  return `${group}/${name}`;
}

/** A result that makes the run red. */
export function isRed({ outcome }: { readonly outcome: Outcome }): boolean {
  return outcome === 'fail' || outcome === 'error';
}

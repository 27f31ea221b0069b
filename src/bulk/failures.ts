import { maxReasons } from './journal.ts';
import { createBytes, NumberList } from './number-list.ts';
import type { Reason, Rows } from './rows.ts';

/** Failures of one kind, as a report has them. */
export interface FailureKind {
  /** Such as `404 no_entry` or `timeout`. */
  readonly kind: string;
  readonly state: 'failed' | 'unknown';
  readonly count: number;
  /** True if each of them may succeed later. */
  readonly retryable: boolean;
  /** The first of them. */
  readonly example: {
    readonly line: number;
    readonly petId: bigint;
    readonly message: string;
    readonly requestId?: string | undefined;
  };
}

/** Kinds that are counted apart: a service could send a different code for every row. */
const maxKinds = 50;

/** Why rows failed or are unknown: the kind of each, and the whole reason of the first 10,000. */
export class Failures {
  private readonly rows: Rows;
  private readonly kinds: string[] = [];
  /** The index of the kind of each such row, from 1. */
  private readonly kindOfRow = new NumberList(createBytes);
  private readonly reasons = new Map<number, Reason>();

  /** @param earlier those of the sessions before. */
  constructor(rows: Rows, earlier: ReadonlyMap<number, Reason> = new Map()) {
    this.rows = rows;
    for (const [row, reason] of earlier) this.set(row, reason);
  }

  set(row: number, reason: Reason | undefined): void {
    this.reasons.delete(row);
    if (!reason) return;
    const { status, code } = reason;
    const named = [status, code].filter((part) => part !== undefined).join(' ');
    const isKnown = this.kinds.includes(named) || this.kinds.length < maxKinds;
    const kind = isKnown ? named : 'other';
    if (!this.kinds.includes(kind)) this.kinds.push(kind);
    this.kindOfRow.set(row, this.kinds.indexOf(kind) + 1);
    if (this.reasons.size < maxReasons) this.reasons.set(row, reason);
  }

  /** Of a row that failed or is unknown; without its words if there are too many. */
  reasonOf(row: number): Reason {
    const kind = this.kinds[this.kindOfRow.get(row) - 1] ?? 'not_settled';
    return this.reasons.get(row) ?? { code: kind, message: kind, passes: this.rows.isLeft(row) };
  }

  /** The most frequent kind first. @param isCounted leaves rows out */
  byKind(isCounted: (row: number) => boolean = () => true): FailureKind[] {
    const { rows } = this;
    const found = new Map<string, FailureKind & { count: number; retryable: boolean }>();
    for (let row = 0; row < rows.length; row += 1) {
      const state = rows.state(row);
      if ((state !== 'failed' && state !== 'unknown') || !isCounted(row)) continue;
      const key = `${state} ${this.kindOfRow.get(row)}`;
      const retryable = rows.isLeft(row);
      const known = found.get(key);
      if (known) {
        known.count += 1;
        known.retryable &&= retryable;
        continue;
      }
      const { message, requestId, status, code } = this.reasonOf(row);
      const kind = this.kinds[this.kindOfRow.get(row) - 1] ?? [status, code].filter(Boolean).join(' ');
      const example = { line: rows.line(row), petId: rows.id(row), message, requestId };
      found.set(key, { kind, state, count: 1, retryable, example });
    }
    return [...found.values()].sort((one, other) => other.count - one.count);
  }
}

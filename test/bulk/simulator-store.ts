import type { Random } from './simulator-random.ts';

/** A record at a moment: a count, or the number in a name, and a field that no file names. */
export interface Entry {
  readonly value: number;
  readonly rest: number;
}

/** A write that was carried out, by the program or by somebody else: a version of a record. */
export interface Change {
  /** The number of the change, from 1. */
  readonly number: number;
  readonly store: Store;
  readonly id: string;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
  /** The version that this one replaces. */
  readonly replaces: Change | undefined;
  /** Undefined for somebody else. */
  readonly cause: Cause | undefined;
  /** How many requests there had been. */
  readonly at: number;
}

/** The request of the program that makes a change. */
interface Cause {
  readonly command: number;
  /** A gateway may make two changes of one request. */
  readonly request: number;
  readonly method: string;
  /** The version that the command was last shown, when it sent the request. */
  readonly reading: Reading | undefined;
  /** How many requests of the command came since that reading. */
  readonly distance: number;
  /** Whether the service checks a condition of the request. */
  readonly isConditional: boolean;
  /** Whether the command may have read the record in a list alone, without a tag. */
  readonly isListed: boolean;
}

/** A version that a command was shown. `change` is undefined for a record that was there from the beginning, or never. */
export interface Reading {
  readonly change: Change | undefined;
  readonly entry: Entry | undefined;
}

interface StoreClock {
  /** Requests so far. */
  received: number;
  /** Changes so far. */
  changes: Change[];
}

/** The records of one tenant with all their versions, and what an old replica or a cache shows of them. */
export class Store {
  readonly tenant: string | undefined;
  readonly entries = new Map<string, Entry>();
  private readonly clock: StoreClock;
  private readonly first = new Map<string, Entry>();
  private readonly versions = new Map<string, Change[]>();
  private readonly cached = new Map<string, { readonly until: number; readonly at: number }>();

  constructor(tenant: string | undefined, clock: StoreClock) {
    this.tenant = tenant;
    this.clock = clock;
  }

  begin(id: string, entry: Entry): void {
    this.first.set(id, entry);
    this.entries.set(id, entry);
  }

  change(id: string, after: Entry | undefined, cause?: Cause): Change {
    const versions = this.versions.get(id) ?? [];
    const { received: at, changes } = this.clock;
    const before = this.entries.get(id);
    const change: Change = {
      ...{ number: changes.length + 1, store: this, id, before, after, cause, at },
      replaces: versions.at(-1),
    };
    versions.push(change);
    changes.push(change);
    this.versions.set(id, versions);
    if (after) this.entries.set(id, after);
    else this.entries.delete(id);
    return change;
  }

  /** A record as it was when there had been so many requests. */
  readingAt(id: string, at: number): Reading {
    const change = this.versions.get(id)?.findLast((version) => version.at <= at);
    return { change, entry: change ? change.after : this.first.get(id) };
  }

  /** All ids that there ever were. */
  ids(): string[] {
    return [...new Set([...this.first.keys(), ...this.versions.keys()])];
  }

  /** The moment that a reading shows. @param lag in requests. @param url what a cache keeps. */
  moment(kind: ReadingKind, lag: number, url: string, random: Random): number {
    const { received } = this.clock;
    if (kind === 'current' || (kind === 'one of two' && random.chance(0.5))) return received;
    if (kind !== 'cached') return Math.max(0, received - lag);
    const kept = this.cached.get(url);
    if (kept && kept.until > received) return kept.at;
    this.cached.set(url, { at: received, until: received + lag });
    return received;
  }
}

/** How old the readings of a service are. `one of two`: every other one comes from a replica that is behind. */
export type ReadingKind = 'current' | 'behind' | 'one of two' | 'cached';

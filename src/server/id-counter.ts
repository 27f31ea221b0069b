interface IdCounterState {
  readonly next: bigint;
  readonly retired: readonly bigint[];
}

/**
 * Gives ids that count up from 1, each once. An id that somebody else chose is skipped, and remembered after its record
 * is gone, so that it is never given again.
 */
export class IdCounter {
  private next = 1n;
  /** Ids from `#next` on that were in use once; those below it all were, or never will be. */
  private retired = new Set<bigint>();
  private readonly isTaken: (id: bigint) => boolean;

  constructor(isTaken: (id: bigint) => boolean) {
    this.isTaken = isTaken;
  }

  /** The next id to count up to, and the chosen ids from there on that may not be given again. */
  get state(): IdCounterState {
    this.skip();
    return { next: this.next, retired: [...this.retired] };
  }

  set state({ next, retired }: IdCounterState) {
    this.next = next;
    this.retired = new Set(retired);
  }

  take(): bigint {
    this.skip();
    const id = this.next;
    this.next += 1n;
    return id;
  }

  /** Whether a record of this id may be created: it is not there, and never was. */
  isFree(id: bigint): boolean {
    return id >= this.next && !this.retired.has(id) && !this.isTaken(id);
  }

  /** The record of this id is gone. */
  retire(id: bigint): void {
    if (id >= this.next) this.retired.add(id);
  }

  private skip(): void {
    while (this.isTaken(this.next) || this.retired.delete(this.next)) this.next += 1n;
  }
}

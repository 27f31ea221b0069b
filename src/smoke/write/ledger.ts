import { randomUUID } from 'node:crypto';
import type { Noun, OperationId } from '../../api/operations.ts';

/** A record that this run has made and not seen gone. */
export interface Made {
  readonly noun: Noun;
  readonly id: bigint;
  /** The operation that removes it. */
  readonly remove: OperationId;
  /** The name of its id in the operation's path. */
  readonly idName: string;
}

/** What a run has made, so that it can take everything away again. */
export interface Ledger {
  /** A name that no other record has, of at most so many characters. */
  newName(maxLength?: number): string;
  isOwnName(name: unknown): boolean;
  add(made: Made): void;
  drop(made: Made): void;
  /** A request may have made a record of this noun, and its answer does not say which. */
  suspect(noun: Noun): void;
  /** No request was sent that may have made a record. */
  readonly isUntouched: boolean;
  readonly made: readonly Made[];
  readonly suspected: ReadonlySet<Noun>;
}

export function createLedger(): Ledger {
  const names = new Set<string>();
  const made = new Set<Made>();
  const suspected = new Set<Noun>();
  let isUntouched = true;
  return {
    newName(maxLength) {
      const name = `petstore-smoke-${randomUUID()}`.slice(0, maxLength);
      names.add(name);
      return name;
    },
    isOwnName: (name) => typeof name === 'string' && names.has(name),
    add(record) {
      isUntouched = false;
      made.add(record);
    },
    drop: (record) => void made.delete(record),
    suspect(noun) {
      isUntouched = false;
      suspected.add(noun);
    },
    get isUntouched() {
      return isUntouched;
    },
    get made() {
      return [...made];
    },
    suspected,
  };
}

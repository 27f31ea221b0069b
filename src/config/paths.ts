import type { Io } from '../io.ts';

/** Where the program keeps things on this machine; absolute paths. */
export interface Paths {
  readonly configFile: string;
  readonly stateDir: string;
  /** `:memory:`, or the file that holds the embedded store. */
  readonly offlineStore: string;
}

export function resolvePaths(_io: Io): Paths {
  throw new Error('paths: still to come');
}

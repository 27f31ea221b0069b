import type { Io } from '../../io.ts';

/** Longer lines are hard to read, however wide the terminal is. */
const mostColumns = 100;

/** Columns that help is folded to: those of the terminal, also of one that is read by a pager. */
export function helpColumns({ stdout, stderr }: Io): number {
  return Math.min(stdout.columns ?? stderr.columns ?? mostColumns, mostColumns);
}

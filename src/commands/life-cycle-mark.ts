import { builtInContract } from '../api/contract.ts';
import type { OperationId } from '../api/operations.ts';

/**
 * What help says of an operation's life cycle: `(deprecated)`, `(beta)`, `(experimental)`, or nothing. From the table
 * alone, for help opens no config.
 */
export function lifeCycleMark(id: OperationId): string {
  const operation = builtInContract.operations.get(id);
  if (!operation) return '';
  const { deprecated, sunset, stability } = operation;
  const marks = [
    ...(deprecated ? [sunset ? `deprecated, sunset ${sunset}` : 'deprecated'] : []),
    ...(stability === 'stable' ? [] : [stability]),
  ];
  return marks.length === 0 ? '' : `(${marks.join(', ')})`;
}

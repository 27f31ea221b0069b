import { type OperationId, operations } from '../api/operations.ts';

/**
 * What help says of an operation's life cycle: `(deprecated)`, `(beta)`, `(experimental)`, or nothing. From the table
 * alone, for help opens no config and loads no schema.
 */
export function lifeCycleMark(id: OperationId): string {
  const row: (typeof operations)[OperationId] = operations[id];
  const marks = [
    ...('deprecated' in row ? [`deprecated, sunset ${row.sunset}`] : []),
    ...('stability' in row ? [row.stability] : []),
  ];
  return marks.length === 0 ? '' : `(${marks.join(', ')})`;
}

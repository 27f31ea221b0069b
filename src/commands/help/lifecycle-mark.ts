import { type OperationId, rowOf } from '../../api/operations.ts';

/**
 * What help says of an operation's life cycle: `(deprecated, sunset 2027-12-31)`, `(beta)`, `(experimental)`, or nothing.
 * From the table alone, for help opens no config and loads no schema.
 */
export function lifecycleMark(id: OperationId): string {
  const { deprecated, sunset, stability } = rowOf(id);
  const marks = [...(deprecated ? [`deprecated, sunset ${sunset}`] : []), ...(stability ? [stability] : [])];
  return marks.length === 0 ? '' : `(${marks.join(', ')})`;
}

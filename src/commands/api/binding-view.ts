import type { OperationId } from '../../api/operations.ts';
import type { Confidence, Match, Matches } from '../../binding/match.ts';
import type { View } from '../../output/columns.ts';

/** What became of one operation of the table. */
interface BindingRow {
  readonly operation: OperationId;
  readonly state: Match['state'];
  /** Of the operation that is bound, or that came nearest. */
  readonly method: string | null;
  readonly path: string | null;
  readonly confidence: Confidence | null;
  readonly why: string;
}

export const bindingView: View<BindingRow> = {
  noun: 'operations',
  columns: [
    { name: 'operation', value: (row) => row.operation },
    { name: 'state', value: (row) => row.state },
    { name: 'method', value: (row) => row.method },
    { name: 'path', value: (row) => row.path },
    { name: 'confidence', value: (row) => row.confidence },
    { name: 'why', value: (row) => row.why },
  ],
};

export function toRows(matches: Matches): BindingRow[] {
  return [...matches].map(([operation, match]) => {
    const { state, why } = match;
    const { method = null, path = null } = 'operation' in match ? match.operation : {};
    return { operation, state, method, path, confidence: state === 'bound' ? match.confidence : null, why };
  });
}

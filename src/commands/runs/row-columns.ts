import type { NounName } from '../../api/operations.ts';
import type { Column } from '../../output/columns.ts';

/** The members that a row has in every view: in a plan, and among the outcomes of a run. */
export interface PrintedRow {
  /** The id of the record, if the row is a count. */
  readonly petId?: bigint | undefined;
  /** The id of the record, if the row is no count. */
  readonly id?: bigint | undefined;
  /** The difference of two counts. Undefined for fields of records. */
  readonly change?: number | undefined;
  readonly state: string;
  /** The line of the input, from 1; 0 in an undo. */
  readonly line: number;
}

/** The columns that every view of rows has. `change` is empty if the rows are no counts. */
interface RowColumns {
  readonly id: Column<PrintedRow>;
  readonly change: readonly Column<PrintedRow>[];
  readonly state: Column<PrintedRow>;
  readonly line: Column<PrintedRow>;
}

/** @param hasSign whether a positive change is printed with its sign. */
export function rowColumns(noun: NounName, hasSign = false): RowColumns {
  const isCount = noun === 'inventory';
  const changeColumn: Column<PrintedRow> = {
    name: 'change',
    value: ({ change }) => (hasSign && change !== undefined && change > 0 ? `+${change}` : change),
    align: 'right',
  };
  return {
    id: isCount
      ? { name: 'petId', value: ({ petId }) => petId, align: 'right' }
      : { name: 'id', value: ({ id }) => id, align: 'right' },
    change: isCount ? [changeColumn] : [],
    state: { name: 'state', value: ({ state }) => state, isStatus: true },
    line: { name: 'line', value: ({ line }) => line, align: 'right', isHidden: true },
  };
}

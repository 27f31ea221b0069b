import { nouns } from '../../api/nouns.ts';
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

/** The id of a row under the name that its noun has for it. */
export function idMember(noun: NounName, id: bigint): Pick<PrintedRow, 'id' | 'petId'> {
  return { [nouns[noun].idField]: id };
}

/** @param hasSign whether a positive change is printed with its sign. */
export function rowColumns(noun: NounName, hasSign = false): RowColumns {
  const { idField } = nouns[noun];
  const changeColumn: Column<PrintedRow> = {
    name: 'change',
    value: ({ change }) => (hasSign && change !== undefined && change > 0 ? `+${change}` : change),
    align: 'right',
  };
  return {
    id: { name: idField, value: (row) => row[idField], align: 'right' },
    change: noun === 'inventory' ? [changeColumn] : [],
    state: { name: 'state', value: ({ state }) => state, isStatus: true },
    line: { name: 'line', value: ({ line }) => line, align: 'right', isHidden: true },
  };
}

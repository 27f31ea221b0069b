import { nouns } from '../../api/nouns.ts';
import type { NounName } from '../../api/operations.ts';
import { changeOf } from '../../bulk/plan.ts';
import type { Run, RunRow } from '../../bulk/run.ts';
import type { Column, View } from '../../output/columns.ts';
import { isJsonObject, type JsonValue, printJson } from '../../process/exact-json.ts';
import { plannedOf } from '../../writes/decide.ts';
import { shownCode } from '../../writes/reasons.ts';
import { isFields, isSame, toJsonValue, type Value } from '../../writes/value.ts';

/** The words for one value and for several values of a noun, and for the record of a row. */
export function rowWords(name: NounName): { singular: string; plural: string; record: string } {
  if (name === 'inventory') return { singular: 'count', plural: 'counts', record: 'pet' };
  const { singular, plural } = nouns[name];
  return { singular, plural, record: singular };
}

/**
 * A row of a run as it is printed: in a plan, and among the outcomes. A row that is not written has neither `before` nor
 * `after`. `before` is null if the record does not exist, `after` is null if it will be removed. An invalid row and a row
 * that creates a record have no id.
 */
export interface PrintedRow {
  readonly petId?: bigint | undefined;
  readonly id?: bigint | undefined;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  /** The difference of two counts. Undefined for fields of records. */
  readonly change: number | undefined;
  readonly state: string;
  readonly reason: { readonly code: string; readonly message: string } | undefined;
  /** The line of the input, from 1; in an undo that of the row that is undone. */
  readonly line: number;
}

/** @param now what a plan has read of it, if its `before` is of an earlier plan. */
export function toPrintedRow(noun: NounName, row: RunRow, state: string, now?: Value): PrintedRow {
  const outcome = row.state.at === 'settled' ? row.state.outcome : undefined;
  const { before, after } = plannedOf(row) ?? {};
  const id = row.id ?? outcome?.made?.id;
  const isCount = noun === 'inventory';
  // Every row has the same members, because a spread into each of a million rows takes ten seconds.
  return {
    petId: isCount ? id : undefined,
    id: isCount ? undefined : id,
    before: now ?? before,
    after,
    change: changeOf(row, now),
    state,
    reason: outcome?.reason && { code: shownCode(outcome.reason), message: outcome.reason.message },
    line: row.line,
  };
}

/** The row of an invalid record. */
export function toInvalidRow({ line, message }: Run['invalid'][number]): PrintedRow {
  const reason = { code: 'invalid', message };
  return { before: undefined, after: undefined, change: undefined, line, state: 'invalid', reason };
}

/**
 * Returns the columns of a plan or of outcomes.
 *
 * @param isForPeople whether a change has a sign and a removal is a word. Programs get a number and null.
 * @param hasReasons whether state and reason are shown.
 */
export function createRowView(noun: NounName, isForPeople: boolean, hasReasons = true): View<PrintedRow> {
  const isCount = noun === 'inventory';
  const visibility = hasReasons ? {} : ({ isHidden: true } as const);
  const valueAlign = isCount ? ({ align: 'right' } as const) : {};
  const { idField } = nouns[noun];
  const printedValue = (value: Value | undefined, other: Value | undefined) => {
    if (value === undefined || !isFields(value)) return value;
    return isForPeople ? differencesText(value, other) : toJsonValue(value);
  };
  const changeColumn: Column<PrintedRow> = {
    name: 'change',
    value: ({ change }) => (isForPeople && change !== undefined && change > 0 ? `+${change}` : change),
    align: 'right',
  };
  return {
    plural: 'rows',
    columns: [
      { name: idField, value: (row) => row[idField], align: 'right' },
      { name: 'before', value: ({ before, after }) => printedValue(before, after), ...valueAlign },
      {
        name: 'after',
        value: ({ before, after }) =>
          isForPeople && after === null ? 'removed' : printedValue(after, before),
        ...valueAlign,
      },
      ...(isCount ? [changeColumn] : []),
      { name: 'state', value: ({ state }) => state, isStatus: true, ...visibility },
      { name: 'code', value: ({ reason }) => reason?.code, isHidden: true },
      { name: 'reason', value: ({ reason }) => reason?.message, ...visibility },
      { name: 'line', value: ({ line }) => line, align: 'right', isHidden: true },
    ],
  };
}

/** The fields of a value that differ from another value: `status sold, name Rex`. */
function differencesText(value: Exclude<Value, null | number | bigint>, other: Value | undefined): string {
  const otherFields = other !== undefined && isFields(other) ? other : {};
  return Object.entries(value)
    .filter(([name, field]) => !isSame({ [name]: field }, { [name]: otherFields[name] }))
    .map(([name, field]) => `${name} ${fieldText(name, field)}`)
    .join(', ');
}

function fieldText(name: string, field: JsonValue | undefined): string {
  if (name === 'categoryId' && field !== undefined && isJsonObject(field))
    return String(field.name ?? field.id);
  return typeof field === 'string' ? field : field === undefined ? 'none' : printJson(field);
}

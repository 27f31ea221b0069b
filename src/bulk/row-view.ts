import { type NounName, nouns } from '../api/nouns.ts';
import { fieldText, isFields, type RecordValue, toJsonValue } from '../api/record-values.ts';
import { differencesOf } from '../api/same-values.ts';
import { stockColumn } from '../input/field-columns.ts';
import { type InvalidRecord, recordPlace } from '../input/read-rows.ts';
import { type Column, pickColumns, type View } from '../output/columns.ts';
import type { Notice } from '../output/messages.ts';
import type { Printer } from '../output/printer.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { countText, groupDigits, joinFirst, sanitize } from '../process/text.ts';
import { shownCode } from '../writes/reasons.ts';
import { outcomeOf, reasonOf } from '../writes/row.ts';
import { changeOf, type Plan, valueBefore } from './plan.ts';
import type { RunHeader, RunLog } from './run.ts';
import { failureOf, idOfRow, type RunRow } from './run-row.ts';

/** The words for one value and for several values of a noun, and for the record of a row. */
export function rowTerms(name: NounName): { singular: string; plural: string; subject: string } {
  const { singular, plural, isCount } = nouns[name];
  if (isCount) return { singular: 'count', plural: 'counts', subject: 'pet' };
  return { singular, plural, subject: singular };
}

type PrintedRow = ReturnType<typeof toPrintedRow>;

/**
 * Returns a row of a run as a plan and a list of outcomes print it. A row that is not written has neither
 * `before` nor `after`. `before` is null if the record does not exist, `after` is null if it will be removed. A row that
 * creates a record has no id. `change` is the difference of two counts; it is undefined for fields.
 */
function toPrintedRow(noun: NounName, row: RunRow, state: string) {
  const { planned, line } = row;
  const why = reasonOf(row.state);
  const id = idOfRow(row);
  const { isCount } = nouns[noun];
  const reason = why && { code: shownCode(why), message: why.message };
  const before = valueBefore(row);
  const after = planned?.after;
  const [petId, recordId] = isCount ? [id, undefined] : [undefined, id];
  // Every row has the same members, because a spread into each of a million rows takes ten seconds.
  return { petId, id: recordId, before, after, change: changeOf(row), state, reason, line };
}

function toInvalidRow({ line, message }: InvalidRecord): PrintedRow {
  const none = { petId: undefined, id: undefined, before: undefined, after: undefined, change: undefined };
  return { ...none, state: 'invalid', reason: { code: 'invalid', message }, line };
}

/** Returns the columns of a plan or of outcomes. */
export function createRowView(noun: NounName): View<object> {
  const { idField, isCount } = nouns[noun];
  const valueAlign = isCount ? ({ align: 'right' } as const) : {};
  const dataOf = (value: RecordValue | undefined) => (value === undefined ? value : toJsonValue(value));
  const changeColumn: Column<PrintedRow> = {
    name: 'change',
    value: ({ change }) => change,
    text: ({ change = 0 }) => (change > 0 ? `+${change}` : undefined),
    align: 'right',
  };
  const view: View<PrintedRow> = {
    plural: 'rows',
    columns: [
      { name: idField, value: (row) => row[idField], align: 'right' },
      {
        name: 'before',
        value: ({ before }) => dataOf(before),
        text: ({ before, after }) => differencesText(before, after),
        ...valueAlign,
      },
      {
        name: 'after',
        value: ({ after }) => dataOf(after),
        text: ({ before, after }) => (after === null ? 'removed' : differencesText(after, before)),
        ...valueAlign,
      },
      ...(isCount ? [changeColumn] : []),
      { name: 'state', value: ({ state }) => state, isState: true },
      { name: 'code', value: ({ reason }) => reason?.code, isHidden: true },
      {
        name: 'reason',
        // A row without an id is found by its line.
        value: ({ petId, id = petId, reason, line }) =>
          reason && id === undefined ? `line ${line}: ${reason.message}` : reason?.message,
      },
      { name: 'line', value: ({ line }) => line, align: 'right', isHidden: true },
    ],
  };
  return view;
}

/** Lists the fields of a record that differ from another value, `status sold, name Rex`. Counts have no fields. */
function differencesText(value: RecordValue | undefined, other: RecordValue | undefined): string | undefined {
  if (value === undefined || !isFields(value)) return undefined;
  const otherFields = other !== undefined && isFields(other) ? other : {};
  return differencesOf(value, otherFields)
    .map(({ name }) => `${name} ${fieldText(value[name])}`)
    .join(', ');
}

/** The number of rows that cannot be written, invalid rows included. */
export function countProblems({ rows, invalid }: Plan): number {
  return invalid.length + rows.filter(failureOf).length;
}

/** Yields the rows that will be written or cannot be written, and then the invalid rows. */
export function* rowsOfPlan({ noun }: RunHeader, { rows, invalid }: Plan): Generator<PrintedRow> {
  for (const row of rows)
    if (!outcomeOf(row) || failureOf(row)) yield toPrintedRow(noun, row, plannedState(row));
  for (const record of invalid) yield toInvalidRow(record);
}

/** Yields the rows of a run as they are now. */
export function* rowsOfLog({ header, rows }: RunLog): Generator<PrintedRow> {
  for (const row of rows) yield toPrintedRow(header.noun, row, row.state.kind);
}

/** Yields the records that a run has removed, which `create --from` takes: a pet with the count of its entry. */
export function* removedRecords({ rows }: RunLog): Generator<JsonObject> {
  for (const row of rows) {
    const { before = null } = row.planned ?? {};
    if (row.state.kind !== 'applied' || !isFields(before)) continue;
    const entry = row.entryCount === undefined ? {} : { [stockColumn]: row.entryCount };
    yield { id: row.id ?? null, ...(toJsonValue(before) as JsonObject), ...entry };
  }
}

/** The state of a row as a plan shows it. */
function plannedState({ state: { kind } }: RunRow): string {
  return kind === 'unprocessed' ? 'planned' : kind === 'unsettled' ? 'uncertain' : kind;
}

/** The most changes that are shown before the question. */
const maxShownChanges = 20;

/** The largest changes of a plan as a table for stderr. */
export async function largestChangesText(printer: Printer, { noun }: RunHeader, plan: Plan): Promise<string> {
  const sizeOf = (row: RunRow) => Math.abs(Number(changeOf(row) ?? 0));
  const largestChanges = plan.rowsToWrite.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, maxShownChanges);
  const shownRows = largestChanges.map((row) => toPrintedRow(noun, row, plannedState(row)));
  const { idField, isCount } = nouns[noun];
  const names = [idField, 'before', 'after', ...(isCount ? ['change'] : [])];
  const columns = pickColumns(createRowView(noun), names);
  const hiddenCount = plan.rowsToWrite.length - shownRows.length;
  const note = hiddenCount > 0 ? `and ${groupDigits(hiddenCount)} more; --dry-run shows all of them\n` : '';
  return (await printer.tableText(columns, shownRows, 'stderr')) + note;
}

/** The totals of a plan, and the reasons of rows that cannot be written, as notices. */
export function planNotices(header: RunHeader, plan: Plan): Notice[] {
  const { noun } = header;
  const { rowsToWrite, rows } = plan;
  const { subject, plural } = rowTerms(noun);
  const { isCount } = nouns[noun];
  const unchanged = rows.filter((row) => row.state.kind === 'unchanged').length;
  let [up, down] = [0n, 0n];
  for (const row of isCount ? rowsToWrite : []) {
    const change = BigInt(changeOf(row) ?? 0);
    if (change > 0n) up += change;
    else down -= change;
  }
  const facts = [
    ...(up ? [`+${groupDigits(up)}`] : []),
    ...(down ? [`-${groupDigits(down)}`] : []),
    ...(unchanged > 0 ? [`${countText(unchanged, subject, isCount ? 'pets' : plural)} unchanged`] : []),
  ];
  const tail = facts.length > 0 ? `: ${facts.join(', ')}` : '';
  const [action, done] = header.kind === 'delete' ? ['delete', 'deleted'] : ['write', 'written'];
  const rowCounts = `${groupDigits(rowsToWrite.length)} of ${countText(rows.length, 'row', 'rows')}`;
  const notices: Notice[] = [['summary', `plan: ${rowCounts} to ${action}${tail}`]];
  const withEntry = rowsToWrite.filter(({ entryCount }) => entryCount !== undefined);
  if (withEntry.length > 0) {
    const units = groupDigits(withEntry.reduce((sum, { entryCount }) => sum + Number(entryCount), 0));
    notices.push([
      'summary',
      `these pets have ${countText(withEntry.length, 'inventory entry', 'inventory entries')} (${units} in stock), which may be deleted too`,
    ]);
  }
  if (plan.whyNoEntries !== undefined)
    notices.push(['warning', `not all counts that go with these pets are known: ${plan.whyNoEntries}`]);
  const booked = rows.filter((row) => row.state.kind === 'booked');
  const bookings = new Set(booked.map(({ state }) => reasonOf(state)?.message ?? ''));
  if (booked.length > 0)
    notices.push([
      'warning',
      `${countText(booked.length, 'row is', 'rows are')} left out: ${joinFirst([...bookings], 5)}; apply --again books all rows once more`,
    ]);
  for (const { count, first } of groupFailures(rows))
    notices.push([
      'warning',
      `${countText(count, 'row', 'rows')} cannot be ${done}: ${failureText(first, header)}`,
    ]);
  return notices;
}

/** The rows that failed, or are unknown, for the same reason. */
interface FailureGroup {
  readonly state: 'failed' | 'unknown';
  /** Status and code, such as `409 in_use`, or a code alone, such as `timeout`. */
  readonly code: string;
  count: number;
  readonly first: RunRow;
}

/** Groups the rows that failed or are unknown by reason, the largest group first. */
export function groupFailures(rows: Iterable<RunRow>): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const row of rows) {
    const failure = failureOf(row);
    if (!failure) continue;
    const { kind: state, reason } = failure;
    const shown = shownCode(reason);
    const hasStatus = reason.status !== undefined && shown !== String(reason.status);
    const code = hasStatus ? `${reason.status} ${shown}` : shown;
    const group = groups.get(`${state} ${code}`);
    if (group) group.count += 1;
    else groups.set(`${state} ${code}`, { state, code, count: 1, first: row });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

/** Describes a row that failed or is unknown: `line 7, pet 42: …`. An edit has no place: its lines had other numbers in the editor. */
export function failureText({ line, id, state }: RunRow, { kind, noun, format }: RunHeader): string {
  const place = kind === 'edit' ? [] : [recordPlace(format, line)];
  const name = id === undefined ? [] : [`${rowTerms(noun).subject} ${id}`];
  const { message = state.kind, requestId } = reasonOf(state) ?? {};
  const request = requestId === undefined ? '' : ` (request ${requestId})`;
  return sanitize(`${[...place, ...name].join(', ')}: ${message}${request}`);
}

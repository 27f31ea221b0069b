import type { NounName } from '../../api/operations.ts';
import type { Row, Value } from '../../bulk/decide.ts';
import { changeOf, type Plan } from '../../bulk/plan.ts';
import { type FailureGroup, groupFailures } from '../../bulk/report.ts';
import type { Run } from '../../bulk/run.ts';
import type { RunHeader } from '../../bulk/run-header.ts';
import { rowWords } from '../../bulk/value-access.ts';
import { eachAtPace } from '../../client/pace.ts';
import type { Context } from '../../context.ts';
import { pickColumns, type View } from '../../output/columns.ts';
import { inPages } from '../../output/print.ts';
import { type JsonValue, printJson } from '../../process/exact-json.ts';
import { counted, groupDigits, sanitize } from '../../process/text.ts';
import { Names } from '../../records/names.ts';
import { type PrintedRow, rowColumns } from './row-columns.ts';

/**
 * A row of a plan, as it is printed. A row that is not written has neither `now` nor `new`. `now` is null if the record does
 * not exist, `new` is null if the entry will be removed. An invalid row has no id. `state` is `planned`, or the outcome.
 */
interface PlannedRow extends PrintedRow {
  /** Undefined if the name was not read. */
  readonly name: string | undefined;
  readonly now: Value | undefined;
  readonly new: Value | undefined;
  readonly reason: string | undefined;
}

/** The most changes that are shown before the question. */
const maxShownChanges = 20;
/** If a plan has more changes than this, the names of their pets are not read. */
const maxNames = 100;

/**
 * Returns the columns of a plan.
 *
 * @param isForPeople whether a change has a sign and a removal is a word. Programs get a number and null.
 * @param hasProblems whether some of the rows cannot be written: then their state and reason are shown.
 */
export function createPlanView(noun: NounName, isForPeople: boolean, hasProblems = true): View<PlannedRow> {
  const visibility = hasProblems ? {} : ({ isHidden: true } as const);
  const isCount = noun === 'inventory';
  const valueAlign = isCount ? ({ align: 'right' } as const) : {};
  const { id, change, state, line } = rowColumns(noun, isForPeople);
  const removed = isForPeople ? 'removed' : null;
  const printedValue = (value: Value | undefined, otherValue: Value | undefined) =>
    isForPeople && typeof value === 'object' ? differencesText(value, otherValue) : value;
  return {
    plural: 'changes',
    columns: [
      id,
      ...(isCount || noun === 'pets' ? [{ name: 'name', value: ({ name }: PlannedRow) => name }] : []),
      { name: 'now', value: (row) => printedValue(row.now, row.new), ...valueAlign },
      {
        name: 'new',
        value: (row) => (row.new === null ? removed : printedValue(row.new, row.now)),
        ...valueAlign,
      },
      ...change,
      { ...state, ...visibility },
      { name: 'reason', value: ({ reason }) => reason, ...visibility },
      line,
    ],
  };
}

/** The fields of a value that differ from another value: `status sold, name Rex`. */
function differencesText(value: Value, otherValue: Value | undefined): string {
  const otherFields = (otherValue ?? {}) as Readonly<Record<string, JsonValue>>;
  return Object.entries(value ?? {})
    .filter(([name, field]) => printJson(field) !== printJson(otherFields[name] ?? null))
    .map(([name, field]) => `${name} ${typeof field === 'string' ? field : printJson(field)}`)
    .join(', ');
}

/** Prints the plan on stdout: the rows that will be written, and the rows that cannot be written. */
export async function printPlan(context: Context, run: Run, plan: Plan): Promise<void> {
  const printer = await context.printer();
  const isTable = printer.format === 'table';
  const names = await readPetNames(context, run.header, plan.changes.length > maxNames ? [] : plan.changes);
  const view = createPlanView(run.header.noun, isTable, !isTable || countProblems(run, plan) > 0);
  const rows = plannedRows(run, plan, names);
  const isOrdered = invalidOf(run).length === 0;
  await printer.records(inPages(isOrdered ? rows : [...rows].sort((a, b) => a.line - b.line)), view);
}

/** The number of rows that cannot be written, invalid rows included. */
export function countProblems(run: Run, { rows }: Plan): number {
  return invalidOf(run).length + rows.filter(isProblemRow).length;
}

/** The invalid rows to print. A resumed run has printed them before. */
function invalidOf({ invalid, journal }: Run): Run['invalid'] {
  return journal ? [] : invalid;
}

function isProblemRow({ outcome }: Row): boolean {
  return outcome?.state === 'failed' || outcome?.state === 'unknown';
}

/** Yields the rows that will be written or cannot be written, and then the invalid rows. */
function* plannedRows(run: Run, { rows }: Plan, names: ReadonlyMap<bigint, string>): Generator<PlannedRow> {
  for (const row of rows) if (!row.outcome || isProblemRow(row)) yield toPlannedRow(run.header, row, names);
  for (const { line, message } of invalidOf(run))
    yield { now: undefined, new: undefined, name: undefined, line, state: 'invalid', reason: message };
}

function toPlannedRow({ noun }: RunHeader, row: Row, names: ReadonlyMap<bigint, string>): PlannedRow {
  const { id, line, outcome, before, after } = row;
  const isCount = noun === 'inventory';
  // Every row has the same members, because a spread into each of a million rows takes ten seconds.
  return {
    petId: isCount ? id : undefined,
    id: isCount ? undefined : id,
    name: outcome ? undefined : names.get(id),
    now: outcome ? undefined : before,
    new: outcome ? undefined : after,
    change: outcome ? undefined : changeOf(row),
    line,
    state: outcome?.state ?? 'planned',
    reason: outcome?.reason?.message,
  };
}

/** Shows the largest changes on stderr, before the question. */
export async function showLargestChanges(context: Context, header: RunHeader, plan: Plan): Promise<void> {
  const { io } = context;
  const largest = largestChanges(plan);
  const names = await readPetNames(context, header, largest);
  const printed = largest.map((row) => toPlannedRow(header, row, names));
  const columns = pickColumns(createPlanView(header.noun, true, false), undefined);
  await io.stderr.write(await (await context.printer()).tableText(columns, printed, 'stderr'));
  if (plan.changes.length > largest.length)
    await context.tell(
      `and ${groupDigits(plan.changes.length - largest.length)} more; --dry-run shows all of them`,
    );
}

/** The largest changes of counts. Changes of other records have no size: the first ones. */
function largestChanges({ changes }: Plan): readonly Row[] {
  const sizeOf = (row: Row) => Math.abs(changeOf(row) ?? 0);
  return changes.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, maxShownChanges);
}

/** Reads the names of the pets of some rows. A name that cannot be read is left out. */
async function readPetNames(
  context: Context,
  { noun, pace }: RunHeader,
  rows: readonly Row[],
): Promise<ReadonlyMap<bigint, string>> {
  const names = new Map<bigint, string>();
  if (noun !== 'inventory' && noun !== 'pets') return names;
  const reader = new Names(context, await context.client('bulk'));
  await eachAtPace({ max: pace.concurrency }, rows, async ({ id }) => {
    const { name } = await reader.nameOfPet(id);
    if (name !== undefined) names.set(id, name);
  }).catch(() => {});
  return names;
}

/**
 * Prints the totals of the plan on stderr, and the reasons of rows that cannot be written.
 *
 * @param tell prints a line; by default also with --quiet.
 */
export async function printTotals(
  context: Context,
  { noun }: RunHeader,
  { changes, rows }: Plan,
  tell = context.tell,
): Promise<void> {
  const { record, plural } = rowWords(noun);
  const isCount = noun === 'inventory';
  const unchanged = rows.filter(({ outcome }) => outcome?.state === 'unchanged').length;
  const facts = [
    ...(isCount ? describeDirections(changes) : []),
    ...(unchanged > 0 ? [`${counted(unchanged, record, isCount ? 'pets' : plural)} the same`] : []),
  ];
  const tail = facts.length > 0 ? `: ${facts.join(', ')}` : '';
  await tell(
    `plan: ${groupDigits(changes.length)} of ${counted(rows.length, 'row', 'rows')} to write${tail}`,
  );
  for (const [message, count] of reasonsOfUnchanged(rows))
    await context.print(`note: ${counted(count, 'row is', 'rows are')} left out: ${message}`);
  for (const { count, example } of groupFailures(rows))
    await tell(
      `warning: ${counted(count, 'row', 'rows')} cannot be written: ${describeExample(example, record)}`,
    );
}

/** Describes the changes of counts in each direction: `3 pets down -1,208 (2 removed)`. */
function describeDirections(changes: readonly Row[]): string[] {
  const sizeOf = (row: Row) => changeOf(row) ?? 0;
  const raised = changes.filter((row) => row.after !== null && sizeOf(row) >= 0);
  const lowered = changes.filter((row) => row.after === null || sizeOf(row) < 0);
  const describeDirection = (
    rows: readonly Row[],
    direction: string,
    notes: Readonly<Record<string, (row: Row) => boolean>>,
  ) => {
    const units = rows.reduce((sum, row) => sum + BigInt(Math.abs(sizeOf(row))), 0n);
    const parts = Object.entries(notes).flatMap(([note, isNoted]) => {
      const count = rows.filter(isNoted).length;
      return count > 0 ? [`${groupDigits(count)} ${note}`] : [];
    });
    const tail = parts.length > 0 ? ` (${parts.join(', ')})` : '';
    return rows.length === 0
      ? []
      : [`${counted(rows.length, 'pet', 'pets')} ${direction}${groupDigits(units)}${tail}`];
  };
  return [
    ...describeDirection(raised, 'up +', { new: ({ before }) => before === null }),
    ...describeDirection(lowered, 'down -', {
      'to 0': ({ before, after }) => after === 0 && before !== null,
      removed: ({ after }) => after === null,
    }),
  ];
}

/** The reasons of rows that another run has booked, each with the number of rows. */
function reasonsOfUnchanged(rows: readonly Row[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { outcome } of rows) {
    const message = outcome?.state === 'unchanged' ? outcome.reason?.message : undefined;
    if (message !== undefined) counts.set(message, (counts.get(message) ?? 0) + 1);
  }
  return counts;
}

/** Describes the first row of a group of failures: `line 7, pet 42: …`, or `pet 42: …` in an undo. */
export function describeExample(
  { line, id, message, requestId }: FailureGroup['example'],
  record: string,
): string {
  const subject = line > 0 ? `line ${line}, ${record} ${id}` : `${record} ${id}`;
  return sanitize(`${subject}: ${message}${requestId === undefined ? '' : ` (request ${requestId})`}`);
}

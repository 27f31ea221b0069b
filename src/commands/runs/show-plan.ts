import type { NounName } from '../../api/operations.ts';
import type { Row, Value } from '../../bulk/decide.ts';
import { changeOf, type Plan } from '../../bulk/plan.ts';
import { type FailureGroup, groupFailures } from '../../bulk/report.ts';
import type { Run } from '../../bulk/run.ts';
import type { RunHeader } from '../../bulk/run-header.ts';
import { rowWords } from '../../bulk/value-access.ts';
import { eachAtPace } from '../../client/pace.ts';
import type { Context } from '../../context.ts';
import type { Column, View } from '../../output/columns.ts';
import { inPages, Printer } from '../../output/print.ts';
import { type JsonValue, printJson } from '../../process/exact-json.ts';
import { counted, groupDigits, sanitize } from '../../process/text.ts';
import { Names } from '../../records/names.ts';

/**
 * A row of a plan, as it is printed. A row that is not written has neither `now` nor `new`. `now` is null if there is no
 * record, `new` is null if the entry is removed.
 */
interface ChangeRecord {
  /** `petId` for a count. Undefined for an invalid row. */
  readonly petId?: bigint | undefined;
  readonly id?: bigint | undefined;
  /** Undefined if it was not read. */
  readonly name: string | undefined;
  readonly now: Value | undefined;
  readonly new: Value | undefined;
  /** The difference of two counts; fields of a record have none. */
  readonly change?: number | undefined;
  readonly line: number;
  /** `planned`, or why it is not written. */
  readonly state: string;
  readonly reason: string | undefined;
}

/** How many changes are shown before the question. */
const maxShownChanges = 20;
/** With more changes than this, the names of their pets are not read. */
const maxNames = 100;

/**
 * @param isForPeople whether changes have a sign, and removals a word; programs get numbers and null.
 * @param hasProblems whether rows that cannot be written are among them.
 */
function changesView(noun: NounName, isForPeople: boolean, hasProblems = true): View<ChangeRecord> {
  const problems = hasProblems ? {} : ({ isHidden: true } as const);
  const isCount = noun === 'inventory';
  const removed = isForPeople ? 'removed' : null;
  const shownValue = (value: Value | undefined, other: Value | undefined) =>
    isForPeople && typeof value === 'object' ? fieldsText(value, other) : value;
  return {
    plural: 'changes',
    columns: [
      idColumn(noun),
      ...(isCount || noun === 'pets' ? [{ name: 'name', value: ({ name }: ChangeRecord) => name }] : []),
      { name: 'now', value: (row) => shownValue(row.now, row.new), ...(isCount && { align: 'right' }) },
      {
        name: 'new',
        value: (row) => (row.new === null ? removed : shownValue(row.new, row.now)),
        ...(isCount && { align: 'right' }),
      },
      ...(isCount ? [changeColumn(isForPeople)] : []),
      { name: 'state', value: ({ state }) => state, isStatus: true, ...problems },
      { name: 'reason', value: ({ reason }) => reason, ...problems },
      { name: 'line', value: ({ line }) => line, align: 'right', isHidden: true },
    ],
  };
}

/** The column of the id of a row: a count has that of its pet. */
export function idColumn(noun: NounName): Column<Pick<ChangeRecord, 'id' | 'petId'>> {
  return noun === 'inventory'
    ? { name: 'petId', value: ({ petId }) => petId, align: 'right' }
    : { name: 'id', value: ({ id }) => id, align: 'right' };
}

function changeColumn(isForPeople: boolean): Column<ChangeRecord> {
  return {
    name: 'change',
    value: ({ change }) => (isForPeople && change !== undefined && change > 0 ? `+${change}` : change),
    align: 'right',
  };
}

/** The fields that differ: `status sold, name Rex`. */
function fieldsText(value: Value, other: Value | undefined): string {
  const others = (other ?? {}) as Readonly<Record<string, JsonValue>>;
  return Object.entries(value ?? {})
    .filter(([name, field]) => printJson(field) !== printJson(others[name] ?? null))
    .map(([name, field]) => `${name} ${typeof field === 'string' ? field : printJson(field)}`)
    .join(', ');
}

/** Checks `--fields` and `--sort` for a plan before anything is sent. @see Printer.check */
export async function checkPlanView(context: Context, noun: NounName): Promise<void> {
  const printer = await context.printer();
  await printer.requireColumns(changesView(noun, printer.format === 'table'));
}

/** Prints the plan on stdout, in the format asked for: what is written, and what cannot be. */
export async function printPlan(context: Context, run: Run, plan: Plan): Promise<void> {
  const printer = await context.printer();
  const isTable = printer.format === 'table';
  const names = await readPetNames(context, run.header, plan.changes.length > maxNames ? [] : plan.changes);
  const view = changesView(run.header.noun, isTable, !isTable || countProblems(run, plan) > 0);
  const records = changesOf(run, plan, names);
  const isOrdered = invalidOf(run).length === 0;
  await printer.records(inPages(isOrdered ? records : [...records].sort((a, b) => a.line - b.line)), view);
}

/** How many rows of the plan cannot be written. */
export function countProblems(run: Run, { rows }: Plan): number {
  return invalidOf(run).length + rows.filter(isProblemRow).length;
}

/** The invalid rows of a plan; that of a resumed run has none. */
function invalidOf({ invalid, journal }: Run): Run['invalid'] {
  return journal ? [] : invalid;
}

function isProblemRow({ outcome }: Row): boolean {
  return outcome?.state === 'failed' || outcome?.state === 'unknown';
}

/** The rows of a plan that are written or cannot be, and then the invalid ones. */
function* changesOf(run: Run, { rows }: Plan, names: ReadonlyMap<bigint, string>): Generator<ChangeRecord> {
  for (const row of rows) if (!row.outcome || isProblemRow(row)) yield toChangeRecord(run.header, row, names);
  const unwritten = { now: undefined, new: undefined, name: undefined };
  for (const { line, message } of invalidOf(run))
    yield { ...unwritten, line, state: 'invalid', reason: message };
}

function toChangeRecord({ noun }: RunHeader, row: Row, names: ReadonlyMap<bigint, string>): ChangeRecord {
  const { id, line, outcome, before, after } = row;
  const isCount = noun === 'inventory';
  // Every record has the same members: spreading others into a million of them takes ten seconds.
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

/** Shows the largest changes on stderr. */
export async function showLargestChanges(context: Context, header: RunHeader, plan: Plan): Promise<void> {
  const { io, quiet } = context;
  if (quiet) return;
  const color = context.settings.get('color');
  const columns = { fields: undefined, sort: undefined, header: true };
  const printerOptions = { format: 'table', ...columns, color, quiet: true } as const;
  const largest = largestChanges(plan);
  const names = await readPetNames(context, header, largest);
  const records = largest.map((row) => toChangeRecord(header, row, names));
  const view = changesView(header.noun, true, false);
  await new Printer({ ...io, stdout: io.stderr }, printerOptions).records([records], view);
  if (plan.changes.length > largest.length)
    await context.print(
      `and ${groupDigits(plan.changes.length - largest.length)} more; --dry-run shows all of them`,
    );
}

/** The largest changes of counts; the first ones of records, which have no size. */
function largestChanges({ changes }: Plan): readonly Row[] {
  const size = (row: Row) => Math.abs(changeOf(row) ?? 0);
  return [...changes].sort((a, b) => size(b) - size(a)).slice(0, maxShownChanges);
}

/** The names of the pets of a few rows, for people; unreadable ones are left out. */
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

/** Prints the totals of the plan on stderr, and why rows cannot be written. */
export async function printTotals(
  context: Context,
  { noun }: RunHeader,
  { changes, rows }: Plan,
): Promise<void> {
  const { record, plural } = rowWords(noun);
  const isCount = noun === 'inventory';
  const unchanged = rows.filter(({ outcome }) => outcome?.state === 'unchanged').length;
  const facts = [
    ...(isCount ? directionsOf(changes) : []),
    ...(unchanged > 0 ? [`${counted(unchanged, record, isCount ? 'pets' : plural)} the same`] : []),
  ];
  const tail = facts.length > 0 ? `: ${facts.join(', ')}` : '';
  await context.print(
    `plan: ${groupDigits(changes.length)} of ${counted(rows.length, 'row', 'rows')} to write${tail}`,
  );
  for (const [message, count] of reasonsOfUnchanged(rows))
    await context.print(`note: ${counted(count, 'row is', 'rows are')} left out: ${message}`);
  for (const { count, example } of groupFailures(rows))
    await context.print(
      `warning: ${counted(count, 'row', 'rows')} cannot be written: ${exampleText(example, record)}`,
    );
}

/** The changes of counts in each direction: `3 pets down -1,208 (2 removed)`. */
function directionsOf(changes: readonly Row[]): string[] {
  const sizeOf = (row: Row) => changeOf(row) ?? 0;
  const raised = changes.filter((row) => row.after !== null && sizeOf(row) >= 0);
  const lowered = changes.filter((row) => row.after === null || sizeOf(row) < 0);
  const textOf = (
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
    ...textOf(raised, 'up +', { new: ({ before }) => before === null }),
    ...textOf(lowered, 'down -', {
      'to 0': ({ before, after }) => after === 0 && before !== null,
      removed: ({ after }) => after === null,
    }),
  ];
}

/** The reasons for which rows need no write although their records are not as the input says, with the number of rows. */
function reasonsOfUnchanged(rows: readonly Row[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { outcome } of rows) {
    const message = outcome?.state === 'unchanged' ? outcome.reason?.message : undefined;
    if (message !== undefined) counts.set(message, (counts.get(message) ?? 0) + 1);
  }
  return counts;
}

/** The first row of a kind of failure: its line in the input if it has one, its record, and the reason. */
export function exampleText(
  { line, id, message, requestId }: FailureGroup['example'],
  record: string,
): string {
  const place = line > 0 ? `line ${line}, ${record} ${id}` : `${record} ${id}`;
  return sanitize(`${place}: ${message}${requestId === undefined ? '' : ` (request ${requestId})`}`);
}

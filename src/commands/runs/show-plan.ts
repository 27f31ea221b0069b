import type { NounName } from '../../api/operations.ts';
import { changeOf, largestChanges, type Plan } from '../../bulk/plan.ts';
import { type FailureGroup, groupFailures } from '../../bulk/report.ts';
import { fateOf, type Run } from '../../bulk/run.ts';
import type { RunHeader } from '../../bulk/run-header.ts';
import { eachAtPace } from '../../client/pace.ts';
import type { Context } from '../../context.ts';
import { pickColumns, type View } from '../../output/columns.ts';
import { inPages } from '../../output/print.ts';
import { counted, groupDigits, sanitize } from '../../process/text.ts';
import { Names } from '../../records/names.ts';
import { plannedOf, type Row } from '../../writes/decide.ts';
import { createRowView, type PrintedRow, rowWords, toInvalidRow, toPrintedRow } from './row-view.ts';

/** The most changes that are shown before the question. */
const maxShownChanges = 20;
/** If a plan has more changes than this, the names of their pets are not read. */
const maxNames = 100;

/** Returns the columns of a plan. @see createRowView */
export function createPlanView(noun: NounName, isForPeople: boolean, hasProblems = true): View<PrintedRow> {
  return createRowView(noun, isForPeople, true, hasProblems);
}

/** Prints the plan on stdout: the rows that will be written, and the rows that cannot be written. */
export async function printPlan(context: Context, run: Run, plan: Plan): Promise<void> {
  const printer = await context.printer();
  const isTable = printer.content === 'text';
  const names = await readPetNames(context, run.header, plan.changes.length > maxNames ? [] : plan.changes);
  const view = createPlanView(run.header.noun, isTable, !isTable || countProblems(run, plan) > 0);
  const rows = printedRows(run, plan, names);
  const isOrdered = invalidOf(run).length === 0;
  await printer.records(inPages(isOrdered ? rows : [...rows].sort((a, b) => a.line - b.line)), view);
}

/** The number of rows that cannot be written, invalid rows included. */
export function countProblems(run: Run, { rows }: Plan): number {
  return invalidOf(run).length + rows.filter(isProblemRow).length;
}

/** The invalid rows to print. A resumed run has printed them before. */
function invalidOf({ invalid, id }: Run): Run['invalid'] {
  return id === undefined ? invalid : [];
}

function isProblemRow({ state }: Row): boolean {
  return state.at === 'settled' && (state.outcome.state === 'failed' || state.outcome.state === 'unknown');
}

/** Yields the rows that will be written or cannot be written, and then the invalid rows. */
function* printedRows(
  run: Run,
  { rows, readings }: Plan,
  names: ReadonlyMap<bigint, string>,
): Generator<PrintedRow> {
  for (const row of rows)
    if (row.state.at !== 'settled' || isProblemRow(row))
      yield toPrintedRow(run.header.noun, row, readings.get(row), names.get(row.id ?? -1n));
  for (const issue of invalidOf(run)) yield toInvalidRow(issue);
}

/** Shows the largest changes on stderr, before the question. */
export async function showLargestChanges(context: Context, header: RunHeader, plan: Plan): Promise<void> {
  const { io } = context;
  const largest = largestChanges(plan, maxShownChanges);
  const names = await readPetNames(context, header, largest);
  const printed = largest.map((row) =>
    toPrintedRow(header.noun, row, plan.readings.get(row), names.get(row.id ?? -1n)),
  );
  const columns = pickColumns(createPlanView(header.noun, true, false), undefined);
  await io.stderr.write(await (await context.printer()).tableText(columns, printed, 'stderr'));
  if (plan.changes.length > largest.length)
    await context.tell(
      `and ${groupDigits(plan.changes.length - largest.length)} more; --dry-run shows all of them`,
    );
}

/** Reads the names of the pets of some rows. A name that cannot be read is left out. */
async function readPetNames(
  context: Context,
  { noun }: RunHeader,
  rows: readonly Row[],
): Promise<ReadonlyMap<bigint, string>> {
  const names = new Map<bigint, string>();
  if (noun !== 'inventory' && noun !== 'pets') return names;
  const reader = new Names(context, await context.client('bulk'));
  await eachAtPace({ max: context.settings.get('concurrency') }, rows, async ({ id }) => {
    if (id === undefined) return;
    const name = await reader.nameOfPet(id);
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
  plan: Plan,
  tell = context.tell,
): Promise<void> {
  const { changes, rows } = plan;
  const { record, plural } = rowWords(noun);
  const isCount = noun === 'inventory';
  const unchanged = rows.filter((row) => fateOf(row) === 'unchanged').length;
  const facts = [
    ...(isCount ? describeDirections(plan) : []),
    ...(unchanged > 0 ? [`${counted(unchanged, record, isCount ? 'pets' : plural)} the same`] : []),
  ];
  const tail = facts.length > 0 ? `: ${facts.join(', ')}` : '';
  await tell(
    `plan: ${groupDigits(changes.length)} of ${counted(rows.length, 'row', 'rows')} to write${tail}`,
  );
  const stocks = changes.flatMap(({ stock }) => (stock === undefined ? [] : Number(stock)));
  if (stocks.length > 0) {
    const units = groupDigits(stocks.reduce((sum, stock) => sum + stock));
    await tell(
      `with them go ${counted(stocks.length, 'inventory entry', 'inventory entries')} (${units} in stock)`,
    );
  }
  const booked = rows.filter((row) => fateOf(row) === 'booked');
  const [first] = booked;
  if (first?.state.at === 'settled')
    await context.print(
      `note: ${counted(booked.length, 'row is', 'rows are')} left out: ${first.state.outcome.reason?.message}; --again books all once more`,
    );
  for (const { count, example } of groupFailures(rows))
    await tell(
      `warning: ${counted(count, 'row', 'rows')} cannot be written: ${describeExample(example, record)}`,
    );
}

/** Describes the changes of counts in each direction: `3 pets down -1,208 (2 removed)`. */
function describeDirections({ changes, readings }: Plan): string[] {
  const all = changes.map((row) => {
    const { before = null, after = null } = plannedOf(row) ?? {};
    return { before, after, size: changeOf(row, readings.get(row)) ?? 0 };
  });
  const isUp = ({ after, size }: (typeof all)[number]) => after !== null && size >= 0;
  const [ups, downs] = [all.filter(isUp), all.filter((change) => !isUp(change))];
  const describe = (name: string, group: typeof all, notes: readonly (readonly [number, string])[]) => {
    if (group.length === 0) return [];
    const units = group.reduce((sum, { size }) => sum + BigInt(Math.abs(size)), 0n);
    const noted = notes
      .filter(([count]) => count > 0)
      .map(([count, note]) => `${groupDigits(count)} ${note}`);
    const tail = noted.length > 0 ? ` (${noted.join(', ')})` : '';
    return [`${counted(group.length, 'pet', 'pets')} ${name}${groupDigits(units)}${tail}`];
  };
  const isRemoved = ({ after }: (typeof all)[number]) => after === null;
  const toZero = downs.filter(({ before, after }) => after === 0 && before !== null).length;
  return [
    ...describe('up +', ups, [[ups.filter(({ before }) => before === null).length, 'new']]),
    ...describe('down -', downs, [
      [toZero, 'to 0'],
      [downs.filter(isRemoved).length, 'removed'],
    ]),
  ];
}

/** Describes the first row of a group of failures: `line 7, pet 42: …`. */
export function describeExample(
  { line, id, message, requestId }: FailureGroup['example'],
  record: string,
): string {
  const name = id === undefined ? '' : `, ${record} ${id}`;
  return sanitize(
    `line ${line}${name}: ${message}${requestId === undefined ? '' : ` (request ${requestId})`}`,
  );
}

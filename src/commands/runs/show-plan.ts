import { changeOf, largestChanges, type Plan } from '../../bulk/plan.ts';
import { type FailureGroup, groupFailures } from '../../bulk/report.ts';
import { fateOf, type Run } from '../../bulk/run.ts';
import type { RunHeader } from '../../bulk/run-header.ts';
import type { Context } from '../../context.ts';
import { pickColumns } from '../../output/columns.ts';
import { inPages } from '../../output/print.ts';
import { counted, groupDigits, sanitize } from '../../process/text.ts';
import type { Row } from '../../writes/decide.ts';
import { createRowView, type PrintedRow, rowWords, toInvalidRow, toPrintedRow } from './row-view.ts';

/** The most changes that are shown before the question. */
const maxShownChanges = 20;

/** Prints the plan on stdout: the rows that will be written, and the rows that cannot be written. */
export async function printPlan(context: Context, run: Run, plan: Plan): Promise<void> {
  const printer = await context.printer();
  const isTable = printer.content === 'text';
  const view = createRowView(run.header.noun, isTable, !isTable || countProblems(run, plan) > 0);
  const rows = printedRows(run, plan);
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
function* printedRows(run: Run, { rows, readings }: Plan): Generator<PrintedRow> {
  const { noun } = run.header;
  for (const row of rows) {
    const { at } = row.state;
    if (at !== 'settled') yield toPrintedRow(noun, row, at, readings.get(row));
    else if (isProblemRow(row)) yield toPrintedRow(noun, row, fateOf(row));
  }
  for (const issue of invalidOf(run)) yield toInvalidRow(issue);
}

/** Shows the largest changes on stderr, before the question. */
export async function showLargestChanges(context: Context, { noun }: RunHeader, plan: Plan): Promise<void> {
  const { changes, readings } = plan;
  const printed = largestChanges(plan, maxShownChanges).map((row) =>
    toPrintedRow(noun, row, row.state.at, readings.get(row)),
  );
  const columns = pickColumns(createRowView(noun, true, false), undefined);
  await context.io.stderr.write(await (await context.printer()).tableText(columns, printed, 'stderr'));
  if (changes.length > printed.length)
    await context.tell(
      `and ${groupDigits(changes.length - printed.length)} more; --dry-run shows all of them`,
    );
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

/** Describes the changes of counts in each direction: `3 pets down -1,208`. */
function describeDirections({ changes, readings }: Plan): string[] {
  const sizes = changes.map((row) => changeOf(row, readings.get(row)) ?? 0);
  const describe = (name: string, group: readonly number[]) => {
    const units = group.reduce((sum, size) => sum + BigInt(Math.abs(size)), 0n);
    return group.length === 0 ? [] : [`${counted(group.length, 'pet', 'pets')} ${name}${groupDigits(units)}`];
  };
  return [
    ...describe(
      'up +',
      sizes.filter((size) => size >= 0),
    ),
    ...describe(
      'down -',
      sizes.filter((size) => size < 0),
    ),
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

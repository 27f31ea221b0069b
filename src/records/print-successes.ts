import type { Context } from '../context.ts';
import { OutputClosedError } from '../errors.ts';
import type { Attempts } from './attempts.ts';
import type { FilledView } from './noun.ts';

interface Shape<Row> {
  readonly filled: Promise<FilledView<Row>>;
  readonly asList: boolean;
  /** All are to be tried, also where nobody reads any more what comes of it. */
  readonly isWrite: boolean;
}

/** Prints the records of the successes, if there are any, and then throws what failed. */
export async function printSuccesses<Row>(
  context: Context,
  attempts: Attempts<Row | undefined>,
  shape: Shape<Row>,
): Promise<void> {
  const rows = present(attempts.successes());
  try {
    await printRows(context, rows, shape);
  } catch (error) {
    if (!shape.isWrite || !(error instanceof OutputClosedError)) throw error;
    for await (const _ of rows);
  }
  attempts.check();
}

async function printRows<Row>(
  context: Context,
  rows: AsyncGenerator<Row>,
  { filled, asList }: Shape<Row>,
): Promise<void> {
  const printer = await context.printer();
  const first = await rows.next();
  if (first.done) return;
  const { view, note } = await filled;
  if (note) await context.note(note);
  if (asList) await printer.records(onePerPage(first.value, rows), view);
  else await printer.record(first.value, view);
}

/** Leaves the rest open where the printer gives up. */
async function* onePerPage<Row>(first: Row, rest: AsyncGenerator<Row>): AsyncGenerator<Row[]> {
  yield [first];
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield [next.value];
}

/** A write may be answered with a bare 2xx: then there is no record to print. */
async function* present<Row>(rows: AsyncIterable<Row | undefined>): AsyncGenerator<Row> {
  for await (const row of rows) if (row !== undefined) yield row;
}

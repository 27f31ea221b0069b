import type { Context } from '../context.ts';
import type { Attempts } from './attempts.ts';
import type { FilledView } from './noun.ts';

export interface Shape<Row> {
  readonly filled: Promise<FilledView<Row>>;
  readonly asList: boolean;
}

/** Prints the records of the successes, if there are any, and then throws what failed. */
export async function printSuccesses<Row>(
  context: Context,
  attempts: Attempts<Row | undefined>,
  { filled, asList }: Shape<Row>,
): Promise<void> {
  const printer = await context.printer();
  const rows = present(attempts.successes());
  const first = await rows.next();
  if (!first.done) {
    const { view, note } = await filled;
    if (note) await context.notice(note);
    if (asList) await printer.records(onePerPage(first.value, rows), view);
    else await printer.record(first.value, view);
  }
  attempts.check();
}

async function* onePerPage<Row>(first: Row, rest: AsyncGenerator<Row>): AsyncGenerator<Row[]> {
  yield [first];
  for await (const row of rest) yield [row];
}

/** A write may be answered with a bare 2xx: then there is no record to print. */
async function* present<Row>(rows: AsyncIterable<Row | undefined>): AsyncGenerator<Row> {
  for await (const row of rows) if (row !== undefined) yield row;
}

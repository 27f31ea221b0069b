import type { Column } from './columns.ts';
import type { Style } from './style.ts';

/** A print job: the columns, the shape of the records, and the output. */
export interface PrintJob<Entity> {
  readonly columns: readonly Column<Entity>[];
  /** A `list` is printed as a list even if it has only one record. */
  readonly shape: 'list' | 'record';
  readonly header: boolean;
  readonly isTerminal: boolean;
  readonly width: number;
  readonly style: Style;
  /** Returns the value to print in JSON and YAML: the whole record, or the fields that `--fields` names. */
  value(record: Entity): unknown;
}

/** Turns records, which come in non-empty pieces, into text. If reading them fails, the text ends there. */
export type Print = <Entity>(
  job: PrintJob<Entity>,
  pieces: AsyncIterable<readonly Entity[]>,
) => AsyncGenerator<string>;

/** Yields records, and then the remaining pieces of an iterator. */
export async function* piecesOf<Entity>(
  first: readonly Entity[],
  others?: AsyncIterator<readonly Entity[]>,
): AsyncGenerator<readonly Entity[]> {
  if (first.length > 0) yield first;
  for (let next = await others?.next(); next && !next.done; next = await others?.next()) yield next.value;
}

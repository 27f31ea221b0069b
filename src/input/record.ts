import type { JsonItem } from '../process/exact-json.ts';

/** The reason why a record cannot be used. */
export interface Problem {
  /** The reason as a clause. It names the column and the value that are wrong. */
  readonly message: string;
  /** A key that all problems of the same kind share, whatever the values are. By default the message. */
  readonly kind?: string | undefined;
  readonly hint?: string | undefined;
}

/** A record of an input before it is parsed: a row of a table, a line of JSON lines, or an item of a JSON array. */
export interface SplitRecord {
  /** The line on which the record begins, from 1. In a JSON document the number of the record. */
  readonly line: number;
  /** The text of the record, as in the input and without its line end. */
  readonly text: string;
  /** The values of the cells of a table, without quotes and escapes. */
  readonly cells?: readonly string[] | undefined;
  /** The value of an item of a JSON document. */
  readonly item?: JsonItem | undefined;
  readonly problem?: Problem | undefined;
  /** Set if the reading ends here: the record is over the limit, or holds the rest of a truncated file. */
  readonly isBroken?: true | undefined;
}

/** Splits text that comes in pieces. No piece ends within a CRLF. At most one record is held in memory. */
export interface RecordSplitter {
  /** Adds a piece, and returns the records that it completes. Records after a broken record may be missing. */
  push(piece: string): SplitRecord[];
  /** Ends the text, and returns the last records. */
  end(): SplitRecord[];
}

/** The length of the longest record, in characters: 1 MiB of ASCII. */
export const maxRecordLength = 2 ** 20;

export function overlongRecord(line: number): SplitRecord {
  return { line, text: '', problem: { message: 'the record is longer than 1 MiB' }, isBroken: true };
}

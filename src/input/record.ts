/** The reason why a record cannot be used. */
export interface Problem {
  /** The reason as a clause. It names the column and the value that are wrong. */
  readonly message: string;
  /** A key that all problems of the same kind share, whatever the values are. By default the message. */
  readonly kind?: string | undefined;
  readonly hint?: string | undefined;
  /** A command that mends all such records of the input. It reads a file that is named, or stdin. */
  readonly command?: string | undefined;
  /** The values that the command reads, by column, as in the input. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
}

/** A record of an input before it is parsed: a row of a table, a line of JSON lines, or a value of a JSON document. */
export interface SplitRecord {
  /** The line on which the record begins, from 1. In a JSON document the number of the record. */
  readonly line: number;
  /** The values of the cells of a table, without quotes and escapes. */
  readonly cells?: readonly string[] | undefined;
  /** The text of a JSON value. */
  readonly text?: string | undefined;
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
  return { line, problem: { message: 'the record is longer than 1 MiB' }, isBroken: true };
}

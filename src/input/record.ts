/** A position in a text: line and column count from 1, columns in characters. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The reason why a record cannot be used. */
export interface Problem {
  /** The reason as a clause. It names the column and the value that are wrong. */
  readonly message: string;
  /** A key that all problems of the same kind share, whatever the values are. By default the message. */
  readonly kind?: string | undefined;
  /** The name of the column that is wrong. Undefined if the problem concerns the whole record. */
  readonly columnName?: string | undefined;
  /** The flag with which the row would be valid. */
  readonly remedy?: string | undefined;
  readonly hint?: string | undefined;
  /** The values that the command reads, by column, as in the input. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
}

/** A record of an input before it is parsed: a row of CSV, a line of JSONL or an element of a JSON array. */
export interface SplitRecord extends Position {
  /** CSV: the values of the cells, without quotes. */
  readonly cells?: readonly string[] | undefined;
  /** CSV with quotes: the start of each cell. */
  readonly starts?: readonly Position[] | undefined;
  /** JSON: the text of the value. */
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

export function overlongRecord(line: number, column = 1): SplitRecord {
  return { line, column, problem: { message: 'the record is longer than 1 MiB' }, isBroken: true };
}

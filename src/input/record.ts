/** A position in a text: line and column count from 1, columns in characters. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Why a record cannot be used. */
export interface Problem {
  /** Names column and value if one of them is wrong; a clause without a full stop. */
  readonly message: string;
  /** The same for all problems of one kind, whatever the values are. By default the message. */
  readonly kind?: string | undefined;
  /** The name of the column that is wrong; undefined if it is not one column. */
  readonly columnName?: string | undefined;
  /** The flag that would let the row pass. */
  readonly remedy?: string | undefined;
  readonly hint?: string | undefined;
  /** The columns that the command reads, as they are written, if they are there. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
}

/** One record of an input as it is split off: a row of CSV, a line of JSONL or an element of a JSON array. */
export interface SplitRecord extends Position {
  /** CSV: the values of the cells, without quotes. */
  readonly cells?: readonly string[] | undefined;
  /** CSV with quotes: the start of each cell. */
  readonly starts?: readonly Position[] | undefined;
  /** JSON: the text of the value. */
  readonly text?: string | undefined;
  readonly problem?: Problem | undefined;
  /** True if the reading ends here: the record is over the limit, or holds the rest of a truncated file. */
  readonly isBroken?: true | undefined;
}

/** Splits text that comes in pieces, none of which ends within a CRLF; holds at most one record in memory. */
export interface RecordSplitter {
  /** The records that end within the text so far; those after a broken one may be missing. */
  push(piece: string): SplitRecord[];
  /** The records left when the text has ended. */
  end(): SplitRecord[];
}

/** Longest record in characters: 1 MiB of ASCII. */
export const maxRecordLength = 2 ** 20;

export function overlongRecord(line: number, column = 1): SplitRecord {
  return { line, column, problem: { message: 'the record is longer than 1 MiB' }, isBroken: true };
}

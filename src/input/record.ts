/** A position in a text: line and column count from 1, columns in characters. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One record of an input: a row of CSV, a line of JSONL or an element of a JSON array. */
export interface InputRecord extends Position {
  /** CSV: the values of the cells, without quotes. */
  readonly cells?: readonly string[] | undefined;
  /** CSV with quotes: the start of each cell. */
  readonly starts?: readonly Position[] | undefined;
  /** JSON: the text of the value. */
  readonly text?: string | undefined;
  /** Why it cannot be used, a clause without a full stop. */
  readonly problem?: string | undefined;
  /** True if the reading ends here: the record is over the limit, or holds the rest of a truncated file. */
  readonly isBroken?: true | undefined;
}

/** Splits text that comes in pieces, none of which ends within a CRLF; holds at most one record in memory. */
export interface RecordSplitter {
  /** The records that end within the text so far; those after a broken one may be missing. */
  push(piece: string): InputRecord[];
  /** The records left when the text has ended. */
  end(): InputRecord[];
}

/** Longest record in characters: 1 MiB of ASCII. */
export const maxRecordLength = 2 ** 20;

export function overlongRecord(line: number, column = 1): InputRecord {
  return { line, column, problem: 'the record is longer than 1 MiB', isBroken: true };
}

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
  /** True if the problem affects more than this record: it is over the limit, or holds the rest of a truncated file. */
  readonly isBroken?: true | undefined;
}

/** Splits text that comes in pieces; holds at most one record in memory. */
export interface RecordSplitter {
  /** The records that end within the text so far. */
  push(text: string): InputRecord[];
  /** The records left when the text has ended. */
  end(): InputRecord[];
}

/** Longest record in characters: 1 MiB of ASCII. */
export const maxRecordLength = 2 ** 20;
export const overlongProblem = 'the record is longer than 1 MiB';

/** Index after the line end at `end`: LF, CR or CRLF. */
export function afterLineEnd(text: string, end: number): number {
  return text.charCodeAt(end) === 0x0d && text.charCodeAt(end + 1) === 0x0a ? end + 2 : end + 1;
}

/** The end of a text that comes in pieces, from which no record has been taken yet. */
export class OpenText {
  private rest = '';
  private pending = '';

  /**
   * Returns the text to look for records in: all of the open text, or undefined if too little has come since the last
   * look. Otherwise the many small pieces of one long record would be read again and again.
   */
  add(text: string): string | undefined {
    this.pending += text;
    return this.pending.length * 2 < this.rest.length ? undefined : this.take();
  }

  take(): string {
    const work = this.rest + this.pending;
    this.rest = '';
    this.pending = '';
    return work;
  }

  leave(rest: string): void {
    this.rest = rest;
  }
}

/** The text without a last CR: it may be half of a CRLF, and is read together with the next piece. */
export function withoutHalfLineEnd(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

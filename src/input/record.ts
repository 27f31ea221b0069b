/** A place in a text: both count from 1, columns in characters. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One record of an input: a row of CSV, a line of JSONL or an element of a JSON array. */
export interface InputRecord extends Position {
  /** CSV: the cells as they mean, quotes taken off. */
  readonly cells?: readonly string[] | undefined;
  /** CSV with quotes: where each cell begins. */
  readonly starts?: readonly Position[] | undefined;
  /** JSON: the text of the value. */
  readonly text?: string | undefined;
  /** Why it cannot be used, a clause without a full stop. */
  readonly problem?: string | undefined;
  /** The problem is not this record's alone: it is over the limit, or holds the rest of a file that was cut off. */
  readonly isBroken?: true | undefined;
}

/** Splits text that comes in pieces, in memory bounded by one record. */
export interface RecordSplitter {
  /** The records that end within the text so far. */
  push(text: string): InputRecord[];
  /** What is left when the text has ended. */
  end(): InputRecord[];
}

/** Characters that a record may have: 1 MiB of ASCII. */
export const maxRecordLength = 2 ** 20;
export const overlongProblem = 'the record is longer than 1 MiB';

/** Index of what follows the line end at `end`: LF, CR or CRLF. */
export function afterLineEnd(text: string, end: number): number {
  return text.charCodeAt(end) === 0x0d && text.charCodeAt(end + 1) === 0x0a ? end + 2 : end + 1;
}

/** The end of a text that comes in pieces, as far as no record has been taken from it. */
export class OpenText {
  private rest = '';
  private pending = '';

  /**
   * What to look for records in: all that is open; undefined while too little has come since the last look, for many
   * small pieces of one long record would else be read again and again.
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

/** The text without a last CR: it may be half of a CRLF, and is read together with what follows it. */
export function withoutHalfLineEnd(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

import { afterLineEnd, type InputRecord, overlongProblem } from './record.ts';

/** A CSV record beyond the limit: passed over character by character, nothing of it kept, to find where it ends. */
export class OverlongRecord {
  hasEnded = false;
  /** The line after what was passed over. */
  line: number;
  private readonly first: number;
  private readonly delimiter: string;
  private state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  private quoteLine = 0;

  constructor(line: number, delimiter: string) {
    this.line = line;
    this.first = line;
    this.delimiter = delimiter;
  }

  /** Passes over the text from `from` and gives the index after the record, or after the text. */
  skip(text: string, from: number): number {
    let at = from;
    while (at < text.length && !this.hasEnded) {
      const unit = text[at];
      const isLineEnd = unit === '\n' || unit === '\r';
      if (isLineEnd) this.line += 1;
      if (this.state !== 'quoted' && isLineEnd) this.hasEnded = true;
      else if (unit === '"') this.quote();
      else if (this.state !== 'quoted') this.state = unit === this.delimiter ? 'start' : 'plain';
      at = isLineEnd ? afterLineEnd(text, at) : at + 1;
    }
    return at;
  }

  record(): InputRecord {
    const problem = this.state === 'quoted' ? unclosedProblem(this.quoteLine) : overlongProblem;
    return { line: this.first, column: 1, problem, isBroken: true };
  }

  /** A quote right after a closing one is an escaped quote, and the cell goes on. */
  private quote(): void {
    if (this.state === 'quoted') this.state = 'closed';
    else if (this.state === 'start') {
      this.state = 'quoted';
      this.quoteLine = this.line;
    } else if (this.state === 'closed') this.state = 'quoted';
  }
}

export function unclosedProblem(line: number): string {
  return `the quote opened on line ${line} is never closed: all that follows is in it`;
}

import {
  type InputRecord,
  maxRecordLength,
  OpenText,
  overlongProblem,
  type RecordSplitter,
  withoutHalfLineEnd,
} from './record.ts';

/** JSONL: every line that is not blank is one value. */
export function createLineSplitter(): RecordSplitter {
  return new LineSplitter();
}

class LineSplitter implements RecordSplitter {
  private readonly open = new OpenText();
  private line = 1;
  /** The line that is open is beyond the limit: its text is not kept. */
  private isOverlong = false;

  push(text: string): InputRecord[] {
    const work = this.open.add(text);
    return work === undefined ? [] : this.take(withoutHalfLineEnd(work), work);
  }

  end(): InputRecord[] {
    const text = `${this.open.take()}\n`;
    return this.take(text, text);
  }

  private take(text: string, work: string): InputRecord[] {
    const records: InputRecord[] = [];
    let at = 0;
    for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) {
      const content = text.slice(at, index);
      if (this.isOverlong || content.length > maxRecordLength)
        records.push({ line: this.line, column: 1, problem: overlongProblem, isBroken: true });
      else if (content.trim() !== '') records.push({ line: this.line, column: 1, text: content });
      this.isOverlong = false;
      this.line += 1;
      at = index + end.length;
    }
    this.isOverlong ||= text.length - at > maxRecordLength;
    this.open.leave(work.slice(this.isOverlong ? text.length : at));
    return records;
  }
}

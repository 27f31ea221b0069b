import { UsageError } from '../errors.ts';
import {
  type InputRecord,
  maxRecordLength,
  OpenText,
  overlongProblem,
  type Position,
  type RecordSplitter,
  withoutHalfLineEnd,
} from './record.ts';

/**
 * Splits JSON: the elements of one array, or objects one after the other, on any number of lines.
 *
 * @param name of the input, for errors.
 * @throws UsageError if the text is neither or ends too early: then the ends of records are unknown.
 */
export function createJsonSplitter(name: string): RecordSplitter {
  return new JsonSplitter(name);
}

type Expected = 'anything' | 'value or ]' | 'value' | ', or ]' | 'nothing more' | 'object';

class JsonSplitter implements RecordSplitter {
  private readonly name: string;
  private readonly place = new PlaceCounter();
  private expected: Expected = 'anything';
  private value: OpenValue | undefined;

  constructor(name: string) {
    this.name = name;
  }

  push(text: string): InputRecord[] {
    const records: InputRecord[] = [];
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (this.value) {
        if (!this.value.hasEndedAt(unit)) {
          this.place.pass(unit);
          continue;
        }
        records.push(this.value.record(text, at));
        this.value = undefined;
      }
      if (unit > 0x20) this.take(unit, at);
      this.place.pass(unit);
    }
    this.value?.keep(text);
    return records;
  }

  end(): InputRecord[] {
    const open = this.value;
    if (open && !open.isWhole) throw this.unexpected('the text ends', open.start);
    this.value = undefined;
    if (!['anything', 'object', 'nothing more'].includes(this.expected))
      throw this.unexpected('the text ends', this.place.here());
    return open ? [open.record('', 0)] : [];
  }

  /** Takes a character outside a value. */
  private take(unit: number, at: number): void {
    const sign = String.fromCharCode(unit);
    const { expected } = this;
    if (sign === '[' && expected === 'anything') this.expected = 'value or ]';
    else if (sign === ']' && (expected === 'value or ]' || expected === ', or ]'))
      this.expected = 'nothing more';
    else if (sign === ',' && expected === ', or ]') this.expected = 'value';
    else if (sign === '{' && (expected === 'anything' || expected === 'object'))
      this.begin(unit, at, 'object');
    else if (expected.startsWith('value') && !',:]}'.includes(sign)) this.begin(unit, at, ', or ]');
    else throw this.unexpected(`found ${sign}`, this.place.here());
  }

  private begin(unit: number, at: number, after: Expected): void {
    this.expected = after;
    this.value = new OpenValue(this.place.here(), { at, unit });
  }

  private unexpected(found: string, { line, column }: Position): UsageError {
    const wanted = this.value ? 'the value that begins here to be closed' : this.expected;
    const expected = wanted === 'anything' ? 'an array or an object' : wanted;
    return new UsageError(`${this.name}:${line}:${column}: not valid JSON: ${found}, expected ${expected}`);
  }
}

/** A value that has begun: finds its end, and keeps its text up to the limit. */
class OpenValue {
  readonly start: Position;
  private from: number;
  private kept = '';
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private readonly isScalar: boolean;

  constructor(start: Position, { at, unit }: { readonly at: number; readonly unit: number }) {
    this.start = start;
    this.from = at;
    this.isScalar = unit !== 0x22 && unit !== 0x5b && unit !== 0x7b;
    this.enter(unit);
  }

  get isWhole(): boolean {
    return !this.isInString && this.depth === 0;
  }

  /** Whether the value ended before this character. */
  hasEndedAt(unit: number): boolean {
    if (this.isWhole && (!this.isScalar || unit <= 0x20 || unit === 0x2c || unit === 0x5d)) return true;
    this.enter(unit);
    return false;
  }

  keep(text: string): void {
    if (this.kept.length <= maxRecordLength) this.kept += text.slice(this.from);
    this.from = 0;
  }

  record(text: string, end: number): InputRecord {
    const value = this.kept + text.slice(this.from, end);
    return value.length > maxRecordLength
      ? { ...this.start, problem: overlongProblem, isBroken: true }
      : { ...this.start, text: value };
  }

  private enter(unit: number): void {
    if (this.isInString) {
      if (this.isEscaped) this.isEscaped = false;
      else if (unit === 0x5c) this.isEscaped = true;
      else if (unit === 0x22) this.isInString = false;
    } else if (unit === 0x22) this.isInString = true;
    else if (unit === 0x5b || unit === 0x7b) this.depth += 1;
    else if (unit === 0x5d || unit === 0x7d) this.depth -= 1;
  }
}

/** Counts lines and columns over LF, CRLF and CR. */
class PlaceCounter {
  private line = 1;
  private column = 1;
  private before = 0;

  pass(unit: number): void {
    if (unit === 0x0d || (unit === 0x0a && this.before !== 0x0d)) this.line += 1;
    this.column = unit === 0x0a || unit === 0x0d ? 1 : this.column + 1;
    this.before = unit;
  }

  here(): Position {
    return { line: this.line, column: this.column };
  }
}

/** JSONL: every line that is not blank is one value. */
export function createLineSplitter(): RecordSplitter {
  return new LineSplitter();
}

class LineSplitter implements RecordSplitter {
  private readonly open = new OpenText();
  private line = 1;
  /** True if the current line is over the limit: its text is not kept. */
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

import { InputError, messageOf, ValueError } from '../process/errors.ts';
import { type JsonItem, parseItem, parseItems } from '../process/exact-json.ts';

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
  readonly problem?: ValueError | undefined;
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
  return { line, text: '', problem: new ValueError('the record is longer than 1 MiB'), isBroken: true };
}

/** Splits text into its lines that are not blank. */
export function createLineSplitter(): RecordSplitter {
  let line = 1;
  let rest = '';
  const push = (piece: string): SplitRecord[] => {
    const records: SplitRecord[] = [];
    const lines = piece.split(/\r\n|\n|\r/);
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    for (const text of lines) {
      if (text.length > maxRecordLength) return [...records, overlongRecord(line)];
      if (text.trim() !== '') records.push({ line, text });
      line += 1;
    }
    return rest.length > maxRecordLength ? [...records, overlongRecord(line)] : records;
  };
  return { push, end: () => push('\n') };
}

/** Parses the text of a record. @throws ValueError if it is no JSON. */
export function toItem(text: string): JsonItem {
  try {
    return parseItem(text);
  } catch (error) {
    throw new ValueError(`not valid JSON: ${messageOf(error)}`, { rule: 'not valid JSON' });
  }
}

const pageSize = 1000;

/**
 * Splits a JSON document into numbered records: the items of an array, or one value.
 *
 * @throws InputError if it is no JSON.
 */
export function* splitJson(text: string, name: string): Generator<readonly SplitRecord[]> {
  let page: SplitRecord[] = [];
  let line = 0;
  try {
    for (const item of parseItems(text)) {
      line += 1;
      page.push(item.text.length > maxRecordLength ? overlongRecord(line) : { line, text: item.text, item });
      if (page.length < pageSize) continue;
      yield page;
      page = [];
    }
  } catch (error) {
    throw error instanceof SyntaxError
      ? new InputError(`${name}: not valid JSON: ${messageOf(error)}`)
      : error;
  }
  yield page;
}

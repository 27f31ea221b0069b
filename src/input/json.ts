import { InputError, messageOf } from '../process/errors.ts';
import { type JsonItem, parseItem, parseItems } from '../process/exact-json.ts';
import { maxRecordLength, overlongRecord, type RecordSplitter, type SplitRecord } from './record.ts';

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

/** Parses the text of a record, or says why it is no JSON. */
export function toItem(text: string): JsonItem | { readonly problem: string } {
  try {
    return parseItem(text);
  } catch (error) {
    return { problem: `not valid JSON: ${messageOf(error)}` };
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

import { InputError } from '../process/errors.ts';
import { endOfString, isJsonObject, type JsonValue } from '../process/exact-json.ts';
import { maxRecordLength, overlongRecord, type RecordSplitter, type SplitRecord } from './record.ts';

/** Splits JSONL: every line that is not blank is a value. If the last value is not closed, its record is broken. */
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
  const end = (): SplitRecord[] => {
    const start = skipSpace(rest, 0);
    if (!'{['.includes(rest.charAt(start)) || endOfValue(rest, start) !== undefined) return push('\n');
    const problem = { message: 'the value that begins here is never closed' };
    return [{ line, problem, isBroken: true }];
  };
  return { push, end };
}

/**
 * Splits a JSON document into numbered records: the elements of an array, or objects in sequence, on any number of lines.
 *
 * @param name of the input, for errors.
 * @throws InputError if the text is neither, or ends too early.
 */
export function splitJson(text: string, name: string): SplitRecord[] {
  const records: SplitRecord[] = [];
  for (const { start, end } of documentValues(text, name)) {
    const line = records.length + 1;
    if (end - start > maxRecordLength) return [...records, overlongRecord(line)];
    records.push({ line, text: text.slice(start, end) });
  }
  return records;
}

/** The indexes at which a value in a text begins and ends. */
interface Span {
  readonly start: number;
  readonly end: number;
}

function* documentValues(text: string, name: string): Generator<Span> {
  const unexpected = (
    at: number,
    expected: string,
    cause = at < text.length ? `found ${text[at]}` : 'the text ends',
  ) => {
    const line = text.slice(0, at).split(/\r\n|\n|\r/).length;
    return new InputError(`${name}:${line}: not valid JSON: ${cause}, expected ${expected}`);
  };
  const spanAt = (start: number): Span => {
    const end = endOfValue(text, start);
    if (end === undefined)
      throw unexpected(start, 'the value that begins here to be closed', 'the text ends');
    return { start, end };
  };
  let at = skipSpace(text, 0);
  if (text[at] === '[') {
    at = skipSpace(text, at + 1);
    for (let isFirst = true; !isFirst || text[at] !== ']'; isFirst = false) {
      if (at === text.length || ',:]}'.includes(text.charAt(at)))
        throw unexpected(at, isFirst ? 'value or ]' : 'value');
      const span = spanAt(at);
      yield span;
      at = skipSpace(text, span.end);
      if (text[at] === ']') break;
      if (text[at] !== ',') throw unexpected(at, ', or ]');
      at = skipSpace(text, at + 1);
    }
    at = skipSpace(text, at + 1);
    if (at < text.length) throw unexpected(at, 'nothing more');
    return;
  }
  for (let isFirst = true; isFirst || at < text.length; isFirst = false) {
    if (text[at] !== '{') throw unexpected(at, isFirst ? 'an array or an object' : 'object');
    const span = spanAt(at);
    yield span;
    at = skipSpace(text, span.end);
  }
}

/** A member of a JSON object: its name, and the span of its value. */
interface Member extends Span {
  readonly name: string;
}

/** Finds the members of a JSON object. @param text valid JSON */
export function membersOf(text: string): Member[] {
  const members: Member[] = [];
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return members;
  at = skipSpace(text, at + 1);
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at) + 1;
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = endOfValue(text, start) ?? text.length;
    members.push({ name, start, end });
    at = skipSpace(text, end);
    if (text[at] !== ',') break;
    at = skipSpace(text, at + 1);
  }
  return members;
}

/** Finds a list of objects within an object, and returns the path of jq to it: `.data.items`. Undefined if there is none. */
export function findRecords(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const path = /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `.[${JSON.stringify(name)}]`;
    if (Array.isArray(inner) && inner.length > 0 && inner.every(isJsonObject)) return path;
    const innerPath = findRecords(inner);
    if (innerPath !== undefined) return path + innerPath;
  }
  return undefined;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

/** Returns the index after the value that begins at `start`. Undefined if the value is not closed. */
function endOfValue(text: string, start: number): number | undefined {
  const signs = /["[\]{},\s]/g;
  signs.lastIndex = start;
  let depth = 0;
  for (let match = signs.exec(text); match; match = signs.exec(text)) {
    const [sign] = match;
    if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '"') signs.lastIndex = endOfString(text, match.index) + 1;
    else if (depth === 0) return match.index;
    else if (sign === '}' || sign === ']') depth -= 1;
    if (signs.lastIndex > text.length) return undefined;
    if (depth === 0 && '"}]'.includes(sign)) return signs.lastIndex;
  }
  return depth === 0 ? text.length : undefined;
}

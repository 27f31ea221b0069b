/** A number that neither a double nor a bigint can represent exactly; keeps its digits. */
export class ExactNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }

  toString(): string {
    return this.digits;
  }
}

/**
 * A JSON value whose numbers keep every digit: an integer beyond 2^53 is a bigint, any other number that a double would
 * change is an ExactNumber.
 */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | ExactNumber
  | JsonValue[]
  | { [key: string]: JsonValue };

export type JsonObject = { [key: string]: JsonValue };

const maxDepth = 100;
/** Matches text that may be a number that a double changes; a match within a string is a false alarm. */
const longNumber = /[\d.]{16}|\d[eE][+-]?\d\d/;
/** The units of a number, in any order. */
const numberUnits = /[-+.\deE]+/y;
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Characters that JSON strings hold unescaped: ASCII without controls, quote and backslash. */
const plainText = /^[ !#-[\]-~]*$/;

/**
 * The value of a JSON text, numbers exact; a leading BOM is dropped. Takes linear time.
 *
 * @throws SyntaxError if the text is not JSON, is nested deeper than 100, or holds a number that is not finite.
 */
export function parseJson(text: string): JsonValue {
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const hasLongNumber = longNumber.test(body);
  if (!hasLongNumber && body.length <= 2 * maxDepth) return JSON.parse(body) as JsonValue;
  const numbers = scan(body);
  return hasLongNumber && numbers.length > 0 ? parseExact(body, numbers) : (JSON.parse(body) as JsonValue);
}

/**
 * The elements of a long JSON array, parsed in batches of about a mebibyte of text, so that a caller can check the time
 * and signals between them. Undefined if the text is short or not an array: use `parseJson` for it.
 */
export function parseJsonArray(text: string): Iterable<JsonValue[]> | undefined {
  const start = /^[\ufeff\s]*\[/.exec(text)?.[0].length;
  return start === undefined || text.length < 2 * sliceLength ? undefined : arraySlices(text, start);
}

const sliceLength = 2 ** 20;

function* arraySlices(text: string, start: number): Generator<JsonValue[]> {
  let depth = 0;
  let from = start;
  const parse = (slice: string) => {
    const values = parseSlice(slice);
    // `[1,]` and `[,1]` are not JSON, but a cut at the comma hides that from the parser.
    if (values.length === 0) throw new SyntaxError('an element of the array is missing');
    return values;
  };
  for (let at = start; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quote) at = endOfString(text, at);
    else if (unit === openBracket || unit === openBrace) depth += 1;
    else if (unit === closeBracket || unit === closeBrace) depth -= 1;
    else if (unit === comma && depth === 0 && at - from >= sliceLength) {
      yield parse(`[${text.slice(from, at)}]`);
      from = at + 1;
    }
  }
  yield from === start ? parseSlice(`[${text.slice(from)}`) : parse(`[${text.slice(from)}`);
}

/** Parses a slice. The position in a SyntaxError is dropped, because it would be one in the slice. */
function parseSlice(slice: string): JsonValue[] {
  try {
    return parseJson(slice) as JsonValue[];
  } catch (error) {
    throw new SyntaxError((error as Error).message.replace(/ (in JSON )?at position .*$/s, ''));
  }
}

/** JSON text of a value: compact, or indented by `indent` spaces; control characters are written as `\uXXXX`. */
export function printJson(value: unknown, indent = 0): string {
  const text = printValue(value, indent, '\n') ?? 'null';
  return /^[\n\x20-\x7e]*$/.test(text) ? text : escapeUnsafe(text);
}

/**
 * Escapes DEL, C1 and format controls (zero-width, bidirectional): legal in JSON, but unsafe in a terminal or a log. The
 * pattern is here because V8 takes most of a millisecond to create one with Unicode classes.
 */
function escapeUnsafe(text: string): string {
  return text.replace(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, escapeUnits);
}

/**
 * Like `JSON.stringify`, with every digit of bigints and exact numbers. A loop, because it prints each record of a list
 * of a million.
 *
 * @param newline a line break and the indentation of the value itself.
 * @returns undefined for a value that JSON leaves out, such as `undefined`.
 */
function printValue(value: unknown, indent: number, newline: string): string | undefined {
  if (typeof value === 'string') return printText(value);
  if (typeof value === 'bigint' || value instanceof ExactNumber) return value.toString();
  if (typeof value !== 'object' || value === null || value instanceof Date) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const inner = indent > 0 ? newline + ' '.repeat(indent) : '';
  let text = '';
  for (const key in value) {
    const printed = printValue(value[key as keyof typeof value], indent, inner);
    if (printed === undefined && !isList) continue;
    if (text !== '') text += ',';
    text += inner;
    if (!isList) text += printText(key) + (indent > 0 ? ': ' : ':');
    text += printed ?? 'null';
  }
  if (text !== '' && indent > 0) text += newline;
  return isList ? `[${text}]` : `{${text}}`;
}

function printText(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}

/**
 * The start and end of each long number of a text, one after the other. @throws SyntaxError for nesting that is too
 * deep.
 */
function scan(text: string): number[] {
  const numbers: number[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quote) at = endOfString(text, at);
    else if (unit === openBracket || unit === openBrace) depth += 1;
    else if (unit === closeBracket || unit === closeBrace) depth -= 1;
    else if (unit === minus || (unit >= zero && unit <= nine)) {
      numberUnits.lastIndex = at;
      numberUnits.test(text);
      const end = numberUnits.lastIndex;
      // A shorter one has neither 16 digits nor a two-digit exponent.
      if (end - at > 3 && longNumber.test(text.slice(at, end))) numbers.push(at, end);
      at = end - 1;
    }
    if (depth > maxDepth) throw new SyntaxError(`nested deeper than ${maxDepth}`);
  }
  return numbers;
}

/**
 * Parses the text with its long numbers replaced by marked strings, and converts those back into numbers. `JSON.parse`
 * passes the digits to a reviver only since Node 21. The mark is random, so a text cannot contain it on purpose.
 */
function parseExact(text: string, numbers: readonly number[]): JsonValue {
  const mark = `${Math.random()}:`;
  let marked = '';
  let from = 0;
  for (let index = 0; index < numbers.length; index += 2) {
    const start = numbers[index] as number;
    const end = numbers[index + 1] as number;
    const digits = text.slice(start, end);
    // A string there would be a valid key, but a number is not.
    const isKey = /\s*:/y;
    isKey.lastIndex = end;
    if (!jsonNumber.test(digits) || isKey.test(text))
      throw new SyntaxError(`unexpected ${digits.slice(0, 40)}`);
    marked += `${text.slice(from, start)}"${mark}${digits}"`;
    from = end;
  }
  return unmark(JSON.parse(marked + text.slice(from)), mark);
}

function unmark(value: JsonValue, mark: string): JsonValue {
  if (typeof value === 'string') return value.startsWith(mark) ? toNumber(value.slice(mark.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) value[at] = unmark(value[at] as JsonValue, mark);
    return value;
  }
  const fields = value as JsonObject;
  for (const key in fields) fields[key] = unmark(fields[key] as JsonValue, mark);
  return value;
}

function toNumber(digits: string): number | bigint | ExactNumber {
  const value = Number(digits);
  if (!Number.isFinite(value)) throw new SyntaxError(`number ${digits.slice(0, 40)} is not finite`);
  if (/^-?\d+$/.test(digits)) return Number.isSafeInteger(value) ? value : BigInt(digits);
  return String(value) === digits || digits.length < 16 ? value : new ExactNumber(digits);
}

const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const zero = 0x30;
const nine = 0x39;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Index of the quote that closes the string opened at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return at;
    at = text.indexOf('"', at + 1);
  }
  return text.length;
}

/** `\uXXXX` for each UTF-16 unit of a character. */
function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

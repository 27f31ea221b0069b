import { unicodeEscapes } from './text.ts';

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
/** Matches text that may hold a number that a double changes; a match within a string is a false alarm. */
const longNumber = /[\d.](?:[\d.]{15}|[eE][+-]?\d+(?![-\w"]))/;
/** Characters that JSON strings hold unescaped: ASCII without controls, quote and backslash. */
const plainText = /^[ !#-[\]-~]*$/;

/** Parses a text that need not be JSON. @see parseJson */
export function jsonIn(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses a JSON text. Numbers are exact, and a leading BOM is dropped. Takes linear time.
 *
 * @throws SyntaxError if the text is not JSON, is nested deeper than 100, or holds a number that is not finite. The
 *   message has the line and column, and no part of the text: a part of a secret cannot be recognised.
 */
export function parseJson(text: string): JsonValue {
  if (!longNumber.test(text))
    try {
      const value = JSON.parse(text) as JsonValue;
      // Nesting of n levels takes 2n characters.
      if (text.length <= 2 * maxDepth || !isDeeper(value, maxDepth)) return value;
    } catch {
      // The reader below finds the mistake and reports it.
    }
  return new Reader(text).readOnlyItem().value;
}

/** Returns true if a value has more than `depth` arrays and objects nested in each other. */
function isDeeper(value: JsonValue, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, depth - 1));
  for (const key in value) if (isDeeper((value as JsonObject)[key] as JsonValue, depth - 1)) return true;
  return false;
}

/** A record of an input: its value, and its text as in the input. */
export interface JsonItem {
  readonly text: string;
  readonly value: JsonValue;
  /** A key that occurs twice in one of its objects: nobody can say which value is meant. */
  readonly repeatedKey: string | undefined;
}

/** Parses a JSON text as one record. A number keeps its exponent. @throws SyntaxError, as `parseJson`. */
export function parseItem(text: string): JsonItem {
  return new Reader(text, true).readOnlyItem();
}

/** Parses the items of a JSON array, or one value, as records. @throws SyntaxError, as `parseJson`. */
export function parseItems(text: string): Generator<JsonItem> {
  return new Reader(text, true).readItems();
}

/** Prints a value as JSON: compact, or indented by `indent` spaces. Control characters become `\uXXXX`. */
export function printJson(value: unknown, indent = 0): string {
  const text = printValue(value, indent, '\n') ?? 'null';
  return /^[\n\x20-\x7e]*$/.test(text) ? text : escapeUnsafe(text);
}

/**
 * Escapes DEL, C1 and format controls (zero-width, bidirectional): legal in JSON, but unsafe in a terminal or a log. The
 * pattern is created only here, because V8 takes long to create one with Unicode classes.
 */
function escapeUnsafe(text: string): string {
  return text.replace(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, unicodeEscapes);
}

/**
 * Prints a value as `JSON.stringify` does, with every digit of bigints and exact numbers. The loop saves time in a list of a
 * million records.
 *
 * @param newline a line break and the indentation of the value itself.
 * @returns undefined for a value that JSON leaves out, such as `undefined`.
 */
function printValue(value: unknown, indent: number, newline: string): string | undefined {
  if (typeof value === 'string') return printText(value);
  if (typeof value === 'bigint' || value instanceof ExactNumber) return value.toString();
  if (typeof value !== 'object' || value === null || value instanceof Date)
    return Number.isSafeInteger(value) ? `${value}` : JSON.stringify(value);
  const inner = indent > 0 ? newline + ' '.repeat(indent) : '';
  const end = indent > 0 ? newline : '';
  let text = '';
  let separator = inner;
  if (Array.isArray(value)) {
    for (const item of value) {
      text += separator + (printValue(item, indent, inner) ?? 'null');
      separator = `,${inner}`;
    }
    return text === '' ? '[]' : `[${text}${end}]`;
  }
  const colon = indent > 0 ? ': ' : ':';
  for (const key in value) {
    const printed = printValue(value[key as keyof typeof value], indent, inner);
    if (printed === undefined) continue;
    text += separator + printText(key) + colon + printed;
    separator = `,${inner}`;
  }
  return text === '' ? '{}' : `{${text}${end}}`;
}

function printText(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Returns true if two values are numbers of one value: 1e-7 and 0.0000001, 5e0 and 5. */
export function isSameNumber(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  const [value, other] = [a, b].map(normalNumber);
  return value !== undefined && value === other;
}

/** Returns a number as its digits without outer zeros and their exponent, `12e-3`. Returns undefined for any other value. */
function normalNumber(value: JsonValue | undefined): string | undefined {
  if (!isNumber(value) && !(value instanceof ExactNumber)) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(String(value)) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${BigInt(exponent) + BigInt(digits.length - significant.length - fraction.length)}`;
}

export function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}

/** Returns the value at a path of field names, or of indices of arrays. */
export function valueIn(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce(memberOf, value);
}

/** Returns the value at a JSON pointer. @see RFC 6901, 4 */
export function valueAt(body: JsonValue, pointer: string): JsonValue | undefined {
  const segments = pointer.split('/').slice(1);
  return valueIn(
    body,
    segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~')),
  );
}

/** Returns a field of an object or an item of an array. */
function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Returns the JSON pointer of a path of names and indices: `/rows/0` for `['rows', 0]`. */
export function printPointer(path: readonly unknown[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

const blanks = /[ \t\n\r]*/y;
const literal = /true|false|null/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Reads one JSON text from its beginning to its end. @see RFC 8259 */
class Reader {
  private readonly text: string;
  private readonly isInput: boolean;
  private index: number;
  private repeatedKey: string | undefined;

  /** @param isInput true to find keys that occur twice, and to keep exponents */
  constructor(text: string, isInput = false) {
    this.text = text;
    this.isInput = isInput;
    this.index = text.startsWith('\ufeff') ? 1 : 0;
  }

  readOnlyItem(): JsonItem {
    const item = this.readItem(0);
    if (this.next() !== '') throw this.unexpected();
    return item;
  }

  *readItems(): Generator<JsonItem> {
    if (!this.skip('[')) {
      yield this.readOnlyItem();
      return;
    }
    if (!this.skip(']'))
      do yield this.readItem(1);
      while (this.hasMore(']'));
    if (this.next() !== '') throw this.unexpected();
  }

  private readItem(depth: number): JsonItem {
    this.repeatedKey = undefined;
    this.next();
    const start = this.index;
    const value = this.readValue(depth);
    return { text: this.text.slice(start, this.index), value, repeatedKey: this.repeatedKey };
  }

  /** @param depth how many arrays and objects the value is in. */
  private readValue(depth: number): JsonValue {
    const first = this.next();
    if (first === '"') return this.readText();
    if (first === '{' || first === '[') {
      if (depth === maxDepth) throw new SyntaxError(`nested deeper than ${maxDepth}`);
      this.index += 1;
      return first === '{' ? this.readObject(depth + 1) : this.readArray(depth + 1);
    }
    const start = this.index;
    if (this.match(number)) return this.toNumber(start);
    if (!this.match(literal)) throw this.unexpected();
    return first === 'n' ? null : first === 't';
  }

  private readArray(depth: number): JsonValue[] {
    if (this.skip(']')) return [];
    // V8 gives an empty array room for 17 items at the first push, and a literal with one item room for one.
    const items = [this.readValue(depth)];
    while (this.hasMore(']')) items.push(this.readValue(depth));
    return items;
  }

  private readObject(depth: number): JsonObject {
    const object: JsonObject = {};
    if (this.skip('}')) return object;
    do {
      if (this.next() !== '"') throw this.unexpected();
      const key = this.readText();
      if (!this.skip(':')) throw this.unexpected();
      const value = this.readValue(depth);
      if (this.isInput && Object.hasOwn(object, key)) this.repeatedKey ??= key;
      // An assignment would set the prototype.
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      else object[key] = value;
    } while (this.hasMore('}'));
    return object;
  }

  private readText(): string {
    const { text } = this;
    const start = this.index;
    let end = text.indexOf('"', start + 1);
    while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
    if (end === -1) throw this.unexpected(text.length);
    this.index = end + 1;
    const content = text.slice(start + 1, end);
    if (!/[\\\x00-\x1f]/.test(content)) return content;
    try {
      return JSON.parse(text.slice(start, end + 1)) as string;
    } catch {
      throw this.unexpected(start, 'invalid text');
    }
  }

  /** Returns the number from `start` to here. */
  private toNumber(start: number): number | bigint | ExactNumber {
    const digits = this.text.slice(start, this.index);
    const value = Number(digits);
    if (!Number.isFinite(value)) throw this.unexpected(start, 'a number that is not finite');
    if (/[eE]/.test(digits)) {
      // A double may be another number, or 0 in place of a very small one.
      const exact = new ExactNumber(digits);
      const isPlain = !Number.isInteger(value) || Number.isSafeInteger(value);
      const isExact = String(value) === digits || (isPlain && isSameNumber(value, exact));
      return isExact && !this.isInput ? value : exact;
    }
    if (digits.length < 16) return value;
    if (/^[-\d]*$/.test(digits)) return Number.isSafeInteger(value) ? value : BigInt(digits);
    return String(value) === digits ? value : new ExactNumber(digits);
  }

  /** Skips what a sticky pattern matches here. Returns true if it matches. */
  private match(pattern: RegExp): boolean {
    pattern.lastIndex = this.index;
    const isMatch = pattern.test(this.text);
    if (isMatch) this.index = pattern.lastIndex;
    return isMatch;
  }

  /** Skips blanks, and returns the character after them; empty at the end of the text. */
  private next(): string {
    if (this.text.charCodeAt(this.index) <= 0x20) this.match(blanks);
    return this.text.charAt(this.index);
  }

  /** Skips blanks, and then this character if it follows. */
  private skip(character: string): boolean {
    const isNext = this.next() === character;
    if (isNext) this.index += 1;
    return isNext;
  }

  /** Skips a comma, or the end of an array or object. Returns true after a comma. */
  private hasMore(close: string): boolean {
    const isComma = this.skip(',');
    if (!isComma && !this.skip(close)) throw this.unexpected();
    return isComma;
  }

  private unexpected(index = this.index, what = 'an unexpected character'): SyntaxError {
    if (index >= this.text.length) return new SyntaxError('it ends too early');
    const lines = this.text.slice(0, index).split('\n');
    return new SyntaxError(`${what} at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`);
  }
}

/** Returns true if an odd number of backslashes precedes a character. */
function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text[start - 1] === '\\') start -= 1;
  return (at - start) % 2 === 1;
}

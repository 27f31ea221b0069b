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
const longNumber = /[\d.]{16}|[eE][+-]?\d{3}/;
/** Characters that JSON strings hold unescaped: ASCII without controls, quote and backslash. */
const plainText = /^[ !#-[\]-~]*$/;

/** Parses a JSON text; undefined if it is none. @see parseJson */
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
  // Nesting of n levels takes 2n characters, so a text this short is never too deep.
  if (text.length <= 2 * maxDepth && !longNumber.test(text))
    try {
      return JSON.parse(text) as JsonValue;
    } catch {
      // The reader below reports what is wrong.
    }
  return new Reader(text).read();
}

/** A record of an input: its value, and its text as in the input. */
export interface JsonItem {
  readonly text: string;
  readonly value: JsonValue;
  /** A key that one of its objects has twice. Which value is meant, nobody can tell. */
  readonly twice: string | undefined;
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
  return text.replace(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, escapeUnits);
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

/** Returns true if a value is a number or a bigint. */
export function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}

/** Returns the value that a path of field names leads to in nested objects; undefined if there is none. */
export function valueIn(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let inner = value;
  for (const name of path) inner = isJsonObject(inner) ? inner[name] : undefined;
  return inner;
}

/** Reads one JSON text from its beginning to its end. @see RFC 8259 */
class Reader {
  private readonly text: string;
  private readonly isInput: boolean;
  private index: number;
  private twice: string | undefined;

  /** @param isInput whether keys that are there twice, and exponents, matter */
  constructor(text: string, isInput = false) {
    this.text = text;
    this.isInput = isInput;
    this.index = text.charCodeAt(0) === byteOrderMark ? 1 : 0;
  }

  read(): JsonValue {
    const value = this.readValue(0);
    if (this.index < this.text.length) throw this.unexpected();
    return value;
  }

  readOnlyItem(): JsonItem {
    const item = this.readItem(0);
    if (this.index < this.text.length) throw this.unexpected();
    return item;
  }

  *readItems(): Generator<JsonItem> {
    if (this.nextUnit() !== openBracket) {
      yield this.readOnlyItem();
      return;
    }
    this.index += 1;
    if (this.nextUnit() === closeBracket) this.index += 1;
    else
      do yield this.readItem(1);
      while (this.hasMore(closeBracket));
    this.nextUnit();
    if (this.index < this.text.length) throw this.unexpected();
  }

  private readItem(depth: number): JsonItem {
    this.twice = undefined;
    const unit = this.nextUnit();
    const start = this.index;
    const value = this.readBareValue(unit, depth);
    const text = this.text.slice(start, this.index);
    this.nextUnit();
    return { text, value, twice: this.twice };
  }

  /**
   * Reads a value and the spaces around it.
   *
   * @param depth how many arrays and objects it is in.
   */
  private readValue(depth: number): JsonValue {
    const value = this.readBareValue(this.nextUnit(), depth);
    this.nextUnit();
    return value;
  }

  private readBareValue(unit: number, depth: number): JsonValue {
    if (unit === quote) return this.readText();
    if (unit === openBrace || unit === openBracket) {
      if (depth === maxDepth) throw new SyntaxError(`nested deeper than ${maxDepth}`);
      return unit === openBrace ? this.readObject(depth + 1) : this.readArray(depth + 1);
    }
    if (unit === minus || isDigit(unit)) return this.readNumber();
    if (this.skipWord('true')) return true;
    if (this.skipWord('false')) return false;
    if (this.skipWord('null')) return null;
    throw this.unexpected();
  }

  private readArray(depth: number): JsonValue[] {
    this.index += 1;
    if (this.nextUnit() === closeBracket) {
      this.index += 1;
      return [];
    }
    // V8 gives an empty array room for 17 items at the first push. A literal with one item has room for one.
    const items = [this.readValue(depth)];
    for (let at = this.index; this.hasMore(closeBracket); at = this.index) {
      if (this.nextUnit() === closeBracket) throw this.unexpected(at, lastComma);
      items.push(this.readValue(depth));
    }
    return items;
  }

  private readObject(depth: number): JsonObject {
    const object: JsonObject = {};
    this.index += 1;
    let at = this.index;
    if (this.nextUnit() === closeBrace) this.index += 1;
    else
      do {
        const unit = this.nextUnit();
        if (unit === closeBrace) throw this.unexpected(at, lastComma);
        if (unit !== quote) throw this.unexpected();
        const key = this.readText();
        if (this.nextUnit() !== colon) throw this.unexpected();
        this.index += 1;
        const value = this.readValue(depth);
        if (this.isInput && Object.hasOwn(object, key)) this.twice ??= key;
        // An assignment would set the prototype.
        if (key === '__proto__')
          Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
        else object[key] = value;
        at = this.index;
      } while (this.hasMore(closeBrace));
    return object;
  }

  /** Skips a comma, or the end of an array or object. Returns true after a comma. */
  private hasMore(close: number): boolean {
    const unit = this.text.charCodeAt(this.index);
    if (unit !== comma && unit !== close) throw this.unexpected();
    this.index += 1;
    return unit === comma;
  }

  private readText(): string {
    const { text } = this;
    const start = this.index + 1;
    let end = start;
    let isEscaped = false;
    for (let unit = text.charCodeAt(end); unit !== quote; unit = text.charCodeAt(end)) {
      if (unit === backslash) {
        isEscaped = true;
        end += 1;
      } else if (!(unit >= space)) throw this.unexpected(end);
      end += 1;
    }
    this.index = end + 1;
    if (!isEscaped) return text.slice(start, end);
    try {
      return JSON.parse(text.slice(start - 1, end + 1)) as string;
    } catch {
      throw this.unexpected(start - 1, 'invalid text');
    }
  }

  private readNumber(): number | bigint | ExactNumber {
    const { text } = this;
    const start = this.index;
    if (text.charCodeAt(start) === minus) this.index += 1;
    const isZero = text.charCodeAt(this.index) === zero;
    const digits = this.skipDigits();
    if (isZero && digits > 1) throw this.unexpected(start, 'invalid number');
    const isInteger = text.charCodeAt(this.index) !== point && !this.isAtExponent();
    if (text.charCodeAt(this.index) === point) {
      this.index += 1;
      this.skipDigits();
    }
    const hasExponent = this.isAtExponent();
    if (hasExponent) {
      this.index += 1;
      const sign = text.charCodeAt(this.index);
      if (sign === plus || sign === minus) this.index += 1;
      this.skipDigits();
    }
    const number = text.slice(start, this.index);
    const value = Number(number);
    if (!Number.isFinite(value)) throw this.unexpected(start, 'a number that is not finite');
    if (hasExponent && this.isInput) return new ExactNumber(number);
    if (number.length < 16) return value;
    if (isInteger) return Number.isSafeInteger(value) ? value : BigInt(number);
    return String(value) === number ? value : new ExactNumber(number);
  }

  private isAtExponent(): boolean {
    return (this.text.charCodeAt(this.index) | lowerCase) === letterE;
  }

  /** Skips digits, and returns their number: at least one. */
  private skipDigits(): number {
    const start = this.index;
    while (isDigit(this.text.charCodeAt(this.index))) this.index += 1;
    if (this.index === start) throw this.unexpected();
    return this.index - start;
  }

  private skipWord(word: string): boolean {
    if (!this.text.startsWith(word, this.index)) return false;
    this.index += word.length;
    return true;
  }

  /** Skips spaces, and returns the unit after them. NaN at the end of the text. */
  private nextUnit(): number {
    let unit = this.text.charCodeAt(this.index);
    while (unit === space || unit === lineFeed || unit === carriageReturn || unit === tab) {
      this.index += 1;
      unit = this.text.charCodeAt(this.index);
    }
    return unit;
  }

  private unexpected(index = this.index, what?: string): SyntaxError {
    if (index >= this.text.length) return new SyntaxError(endsTooEarly);
    const lines = this.text.slice(0, index).split('\n');
    const place = `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
    return new SyntaxError(`${what ?? 'an unexpected character'} at ${place}`);
  }
}

/** The message of a text that is cut off. */
const endsTooEarly = 'it ends too early';
const lastComma = 'a comma after the last item';

function isDigit(unit: number): boolean {
  return unit >= zero && unit <= nine;
}

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const quote = 0x22;
const plus = 0x2b;
const comma = 0x2c;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const letterE = 0x65;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const byteOrderMark = 0xfeff;
/** The bit in which the lower-case form of a letter differs. */
const lowerCase = 0x20;

/** Writes each UTF-16 unit of a character as `\uXXXX`. */
function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

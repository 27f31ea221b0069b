import { LosslessNumber, parse as parseExact, stringify } from 'lossless-json';

/**
 * A JSON value whose numbers keep every digit: an integer beyond 2^53 is a bigint, any other number that a double would
 * change is a LosslessNumber.
 */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | LosslessNumber
  | JsonValue[]
  | { [key: string]: JsonValue };

export type JsonObject = { [key: string]: JsonValue };

const maxDepth = 100;
const needsExactParser = /[\d.]{16}|\d[eE][+-]?\d\d/;
/** DEL, C1, and format controls (zero-width, bidirectional): legal in JSON, but no terminal or log should get them raw. */
const unsafeInText = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** What stands in a JSON string as it is: ASCII without controls, quote and backslash. */
const plainText = /^[ !#-[\]-~]*$/;

/**
 * The value of a JSON text, numbers exact; a leading BOM is dropped.
 *
 * @throws SyntaxError for text that is no JSON, is nested deeper than 100, or holds a number that is not finite.
 */
export function parseJson(text: string): JsonValue {
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  refuseDeep(body);
  if (!needsExactParser.test(body)) return JSON.parse(body) as JsonValue;
  JSON.parse(body);
  return parseExact(body, null, {
    parseNumber,
    onDuplicateKey: ({ newValue }) => newValue,
  }) as JsonValue;
}

/** JSON text of a value: compact, or indented by `indent` spaces; controls are written as `\uXXXX`. */
export function printJson(value: unknown, indent = 0): string {
  const flat = indent === 0 ? printFlat(value) : undefined;
  if (flat !== undefined) return flat;
  return (stringify(value, null, indent === 0 ? undefined : indent) ?? 'null').replace(
    unsafeInText,
    escapeUnits,
  );
}

/** The text of a record whose fields are plain, as those of nearly all are; it takes a fifth of the time. */
function printFlat(value: unknown): string | undefined {
  if (!isJsonObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  let text = '';
  for (const key in value) {
    const field: unknown = value[key];
    if (field === undefined) continue;
    const printed = printPlain(field);
    if (printed === undefined || !plainText.test(key)) return undefined;
    text += `${text === '' ? '' : ','}"${key}":${printed}`;
  }
  return `{${text}}`;
}

function printPlain(value: unknown): string | undefined {
  if (typeof value === 'string') return plainText.test(value) ? `"${value}"` : undefined;
  const isPlain =
    value === null || typeof value === 'bigint' || typeof value === 'boolean' || Number.isFinite(value);
  return isPlain ? String(value) : undefined;
}

/** Whether a value is a number that neither a double nor a bigint holds exactly. */
export function isExactNumber(value: unknown): value is LosslessNumber {
  return value instanceof LosslessNumber;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber)
  );
}

function parseNumber(digits: string): number | bigint | LosslessNumber {
  const value = Number(digits);
  if (!Number.isFinite(value)) throw new SyntaxError(`number ${digits.slice(0, 40)} is not finite`);
  if (/^-?\d+$/.test(digits)) return Number.isSafeInteger(value) ? value : BigInt(digits);
  return String(value) === digits || digits.length < 16 ? value : new LosslessNumber(digits);
}

function refuseDeep(text: string): void {
  if (text.length <= 2 * maxDepth) return;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) at = endOfString(text, at);
    else if (unit === 0x5b || unit === 0x7b) depth += 1;
    else if (unit === 0x5d || unit === 0x7d) depth -= 1;
    if (depth > maxDepth) throw new SyntaxError(`nested deeper than ${maxDepth}`);
  }
}

/** Index of the quote that closes the string opened at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
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

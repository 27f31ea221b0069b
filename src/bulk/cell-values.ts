import type { ThousandsSeparator } from '../config/values.ts';

const largestId = 9223372036854775807n;
const wholeNumber = /^[1-9]\d{0,18}$/;
/** A double holds every number of this many digits. */
const exactDigits = 15;

export const idRule = 'must be a whole number from 0 to 9223372036854775807, in digits alone';
export const quantityRule = 'must be a whole number from 0 to 9007199254740991, in digits alone';
export const changeRule = 'must be a whole number with or without a sign, such as 24, +24 or -3';

/**
 * The id in the text, or undefined: no sign, point, exponent, separator or leading zero; surrounding spaces are
 * dropped.
 */
export function parseId(text: string): number | bigint | undefined {
  const digits = unpadded(text);
  if (digits.length <= exactDigits) return parseDigits(digits);
  const id = wholeNumber.test(digits) ? BigInt(digits) : undefined;
  return id !== undefined && id <= largestId ? id : undefined;
}

/**
 * The quantity in the text, or undefined. As strict as `parseId`, because `Number('')` is 0 and would empty a shelf.
 */
export function parseQuantity(text: string): number | undefined {
  const digits = unpadded(text);
  if (digits.length <= exactDigits) return parseDigits(digits);
  const quantity = wholeNumber.test(digits) ? Number(digits) : Number.NaN;
  return Number.isSafeInteger(quantity) ? quantity : undefined;
}

/** The change in the text, or undefined: a quantity with an optional sign. */
export function parseChange(text: string): number | undefined {
  const trimmed = unpadded(text);
  const sign = trimmed.charAt(0);
  const isSigned = sign === '+' || sign === '-';
  const digits = isSigned ? trimmed.slice(1) : trimmed;
  // A space between sign and digits is not a space around the cell.
  const size = digits === digits.trim() ? parseQuantity(digits) : undefined;
  return size === undefined || size === 0 ? size : sign === '-' ? -size : size;
}

/**
 * `1.234.567` without its separators. A text that is not grouped in threes is returned unchanged, and later rejected.
 */
export function withoutThousands(text: string, separator: ThousandsSeparator): string {
  // No-break spaces (U+00A0, U+202F) are also in use as separators.
  const plain = separator === ' ' ? text.trim().replace(/[\u00a0\u202f]/g, ' ') : text.trim();
  const mark = separator === '.' ? '\\.' : separator;
  return new RegExp(`^[+-]?[1-9]\\d{0,2}(${mark}\\d{3})+$`).test(plain)
    ? plain.replaceAll(separator, '')
    : text;
}

/** `trim` takes longer than checking both ends. */
function unpadded(text: string): string {
  const last = text.length - 1;
  return text.charCodeAt(0) > 0x20 && text.charCodeAt(last) > 0x20 && text.charCodeAt(last) < 0x80
    ? text
    : text.trim();
}

/** At most 15 digits, no leading zero except in 0 itself; three times as fast as a regular expression and Number. */
function parseDigits(text: string): number | undefined {
  if (text.length === 0 || (text.length > 1 && text.charCodeAt(0) === 0x30)) return undefined;
  let value = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

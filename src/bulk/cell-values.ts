import { exactDigits, toChange, toId, toQuantity } from '../api/values.ts';
import type { ThousandsSeparator } from '../config/setting-values.ts';

export const idRule = 'must be a whole number from 0 to 9223372036854775807, in digits alone';
export const quantityRule = 'must be a whole number from 0 to 9007199254740991, in digits alone';
export const changeRule = 'must be a whole number with or without a sign, such as 24, +24 or -3';

/** The id in a cell, or undefined; spaces around it are dropped. */
export function cellId(text: string): number | bigint | undefined {
  const digits = unpadded(text);
  return digits.length <= exactDigits ? toQuantity(digits) : toId(digits);
}

/** The quantity in a cell, or undefined; as above. */
export function cellQuantity(text: string): number | undefined {
  return toQuantity(unpadded(text));
}

/** The change in a cell, or undefined; as above. */
export function cellChange(text: string): number | undefined {
  return toChange(unpadded(text));
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

import { idRequirement, toChange, toId, toQuantity, withoutLeadingZeros } from '../api/record-values.ts';
import { ValueError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';

// A number on the command line has only digits. In files, which other programs write, numbers have many forms (`parseFile…`).

/** Values of `--thousands`. */
export const thousandsSeparators = ['.', ',', ' ', "'"] as const;
type ThousandsSeparator = (typeof thousandsSeparators)[number];

/** Values of `--decimal`. */
export const decimalMarks = ['.', ','] as const;

/** The notation of the numbers in an input, by `--thousands` and `--decimal`. */
export interface NumberNotation {
  readonly thousands?: ThousandsSeparator | undefined;
  readonly decimal?: (typeof decimalMarks)[number] | undefined;
}

const plainNotation: NumberNotation = {};

const countRule = `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`;
const changeRule = 'must be a whole number with or without a sign in front, such as 24, +24 or -3';

/** Parses digits. @throws ValueError for any other text, such as `12.0` or `1e3`, and for a number out of range. */
export function parseInteger(text: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
  const number = toQuantity(text);
  if (number === undefined || number < least || number > most)
    throw new ValueError(`must be a whole number from ${least} to ${most}`);
  return number;
}

/** Parses a count. @throws ValueError as `parseInteger`. */
export function parseQuantity(text: string): number {
  return parseInteger(text);
}

/** Parses digits with or without a sign: `+5`, `-3`, `2`. @throws ValueError for any other text. */
export function parseChange(text: string): number {
  const change = toChange(text);
  if (change === undefined) throw new ValueError('must be an integer such as +5 or -5');
  return change;
}

/** Parses an id. @throws ValueError for any text but an integer from 0 to 9223372036854775807. */
export function parseId(text: string): bigint {
  if (/^0\d+$/.test(text)) throw new ValueError('must not begin with a zero');
  const id = toId(text);
  if (id === undefined) throw new ValueError(idRequirement);
  return id;
}

/** Parses an id of a file. @throws ValueError as `parseId`. */
export function parseFileId(value: JsonValue): bigint {
  const text = String(value);
  // Most ids are digits, and a file may have a million.
  const id = toId(text) ?? toId(plainNumber(text, plainNotation));
  if (id === undefined) throw new ValueError(idRequirement);
  return id;
}

/** Parses a count of a file. @param notation undefined if the command has no flags for it @throws ValueError for any other value. */
export function parseFileCount(value: JsonValue, notation?: NumberNotation): number {
  return parseFileNumber(value, { toNumber: toQuantity, rule: countRule }, notation);
}

/** Parses a change of a count, with or without a sign in front. @throws ValueError for any other value. */
export function parseFileChange(value: JsonValue, notation: NumberNotation): number {
  return parseFileNumber(value, { toNumber: toChange, rule: changeRule }, notation);
}

function parseFileNumber(
  value: JsonValue,
  { toNumber, rule }: { readonly toNumber: (text: string) => number | undefined; readonly rule: string },
  notation?: NumberNotation,
): number {
  const text = value === null ? '' : String(value);
  // JSON numbers have one notation (RFC 8259, 6), in which 8.000 is 8.
  const ownNotation = typeof value === 'string' ? (notation ?? plainNotation) : plainNotation;
  const number = toNumber(text) ?? toNumber(plainNumber(text, ownNotation));
  if (number === undefined) throw new ValueError(rule, notation && numberHint(text, notation));
  return number;
}

const groupedNumber = /^[+-]?\d{1,3}([.,' \u00a0\u202f])\d{3}(?:(\1)\d{3})*(?:(?!\1)([.,])0+)?$/;

/** Returns the flags with which a text is a number. Without them `8.000` is none, because its mark has two meanings. */
function numberHint(text: string, { thousands, decimal }: NumberNotation): string | undefined {
  if (toChange(text.trim()) !== undefined)
    return 'if the rows are changes, add --relative --delivery <number>';
  const [, mark, secondMark, point] = groupedNumber.exec(text.trim()) ?? [];
  if (mark === undefined || thousands !== undefined) return undefined;
  const flagValue = mark === "'" ? `"'"` : mark.trim() || '" "';
  if (point !== undefined) return `give --thousands ${flagValue} --decimal ${point}`;
  const mayBePoint = /[.,]/.test(mark) && secondMark === undefined && decimal === undefined;
  const asPoint = mayBePoint ? `--decimal ${flagValue} if a fraction follows the mark, or ` : '';
  return `give ${asPoint}--thousands ${flagValue} if it separates thousands`;
}

const separatorClasses: Readonly<Record<ThousandsSeparator, string>> = {
  '.': '\\.',
  ',': ',',
  ' ': '[ \\u00a0\\u202f]',
  "'": "'",
};

/**
 * Removes separators, a fraction of zeros and leading zeros from a number. A text that is not a number stays unchanged, and so does
 * one with two meanings, such as `8.000`.
 */
function plainNumber(text: string, { thousands, decimal }: NumberNotation): string {
  const [, sign = '', size = ''] = /^([+-]?)(.*)$/s.exec(text.trim()) ?? [];
  if (thousands === undefined && decimal === undefined && /^[1-9]\d{0,2}[.,]000$/.test(size)) return text;
  const decimals = decimal ?? ['.', ','].filter((mark) => mark !== thousands).join('');
  // A longer number may have been rounded.
  const [, whole = size] = new RegExp(`^(.{0,20}\\d)[${decimals}]0+$`, 's').exec(size) ?? [];
  if (whole !== size && /\d{16}/.test(whole)) return text;
  const separator = thousands === undefined ? undefined : separatorClasses[thousands];
  const isGrouped = separator !== undefined && new RegExp(`^[1-9]\\d{0,2}(${separator}\\d{3})+$`).test(whole);
  const digits = isGrouped ? whole.replace(new RegExp(separator, 'g'), '') : whole;
  return sign + withoutLeadingZeros(digits);
}

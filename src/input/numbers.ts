import { countRequirement, idRequirement, toChange, toId, toQuantity } from '../api/record-values.ts';
import { ValueError } from '../process/errors.ts';
import { isNumber, type JsonValue } from '../process/exact-json.ts';

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

const changeRule = 'must be a whole number with or without a sign in front, such as 24, +24 or -3';

/** Makes a parser of digits. It throws ValueError for any other text, such as `12.0` or `1e3`, and for a number out of range. */
export function integerFrom(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const number = toQuantity(text);
    if (number === undefined || number < least || number > most)
      throw new ValueError(`must be a whole number from ${least} to ${most}`);
    return number;
  };
}

export const parseQuantity = integerFrom(0);

/** Parses digits with or without a sign: `+5`, `-3`, `2`. @throws ValueError for any other text. */
export function parseChange(text: string): number {
  const change = toChange(text);
  if (change === undefined) throw new ValueError(changeRule);
  return change;
}

/** Parses an id. @throws ValueError for any text but an integer from 0 to 9223372036854775807. */
export function parseId(text: string): bigint {
  const id = toId(text);
  if (id === undefined) throw new ValueError(idRequirement);
  return id;
}

/** Parses an id of a file. @throws ValueError as `parseId`. */
export function parseFileId(value: JsonValue): bigint {
  const text = numberText(value);
  // Most ids are digits, and a file may have a million.
  const id = toId(text) ?? toId(plainNumber(text, {}));
  if (id === undefined) throw new ValueError(idRequirement);
  return id;
}

/** Parses a count of a file. @param notation undefined if the command has no flags for it @throws ValueError for any other value. */
export function parseFileCount(value: JsonValue, notation?: NumberNotation): number {
  return parseFileNumber(value, toQuantity, countRequirement, notation);
}

/** Parses a change of a count, with or without a sign in front. @throws ValueError for any other value. */
export function parseFileChange(value: JsonValue, notation: NumberNotation): number {
  return parseFileNumber(value, toChange, changeRule, notation);
}

function parseFileNumber(
  value: JsonValue,
  toNumber: (text: string) => number | undefined,
  rule: string,
  notation?: NumberNotation,
): number {
  const text = numberText(value);
  // JSON numbers have one notation (RFC 8259, 6), in which 8.000 is 8.
  const number =
    toNumber(text) ?? toNumber(plainNumber(text, typeof value === 'string' ? notation : { decimal: '.' }));
  if (number === undefined) throw new ValueError(rule, { hint: notation && numberHint(text, notation) });
  return number;
}

/** Returns the text of a cell, or of a number or a text in JSON. Any other value, such as `[3]`, is not a number. */
function numberText(value: JsonValue): string {
  return typeof value === 'string' || isNumber(value) ? String(value) : '';
}

/** Returns the flags with which a text is a number, or both if a mark may have two meanings, as in `8.000`. */
function numberHint(text: string, { thousands, decimal }: NumberNotation): string | undefined {
  if ((thousands ?? decimal) !== undefined) return undefined;
  const grouped = /^[+-]?[1-9]\d{0,2}([.,' \u00a0\u202f])\d{3}(?:\1\d{3})*(?:(?!\1)([.,])0+)?$/;
  const [, mark, pointAfterIt] = grouped.exec(text.trim()) ?? [];
  const asThousands = mark && `--thousands ${mark === "'" ? `"'"` : mark.trim() || '" "'}`;
  if (pointAfterIt) return `give ${asThousands} --decimal ${pointAfterIt}`;
  const [point] = /(?<=^[+-]?\d{1,3})[.,](?=\d{3}$|0+$)/.exec(text.trim()) ?? [];
  const ways = [
    ...(asThousands ? [`${asThousands} if it separates thousands`] : []),
    ...(point ? [`--decimal ${point} if a fraction follows it`] : []),
  ];
  return ways.length > 0 ? `give ${ways.join(', or ')}` : undefined;
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
function plainNumber(text: string, { thousands, decimal }: NumberNotation = {}): string {
  const separator = thousands === undefined ? '' : separatorClasses[thousands];
  const point = decimal ?? (thousands === '.' ? ',' : '.');
  const number = new RegExp(`^([+-]?)([1-9]\\d{0,2}(?:${separator}\\d{3})+|\\d+)(?:\\${point}(0+))?$`);
  const [, sign = '', whole, zeros = ''] = number.exec(text.trim()) ?? [];
  const isAmbiguous = zeros === '000' && whole !== '0' && (thousands ?? decimal) === undefined;
  if (whole === undefined || isAmbiguous) return text;
  const digits = whole.replace(/\D/g, '');
  // A longer number with a fraction may have been rounded.
  return zeros !== '' && digits.length > 15 ? text : sign + digits.replace(/^0+(?=\d)/, '');
}

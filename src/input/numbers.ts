import type { NounName } from '../api/operations.ts';
import { toId, toQuantity, withoutLeadingZeros } from '../api/values.ts';
import type { DecimalMark, ThousandsSeparator } from '../config/setting-values.ts';
import { type InputRecord, quoteValue, valueText } from './read-records.ts';
import type { Problem } from './record.ts';

/** How the numbers of an input are written, as `--thousands` and `--decimal` say. Null is unknown. */
interface NumberMarks {
  readonly thousands: ThousandsSeparator | null;
  readonly decimal: DecimalMark | null;
}

export const noMarks: NumberMarks = { thousands: null, decimal: null };

/** JSON numbers have one notation. @see RFC 8259, 6 */
const jsonMarks: NumberMarks = { thousands: null, decimal: '.' };

/** What a number must be, and a way on. */
export interface NumberFault {
  readonly rule: string;
  readonly hint?: string | undefined;
  /** A command that mends all such values of an input. */
  readonly command?: string | undefined;
}

const idRule = 'must be a whole number from 0 to 9223372036854775807';
const countRule = 'must be a whole number from 0 to 9007199254740991';
const changeRule = 'must be a whole number with or without a sign, such as 24, +24 or -3';
const unclearRule = (number: string, thousands: string) =>
  `can be ${number} with a fraction of zeros, or ${thousands} with a separator of thousands`;

/**
 * Reads an id: digits up to 9223372036854775807. A fraction of zeros is dropped while a double is exact, up to 2^53.
 *
 * @param noun the noun whose list has the ids, for the hint at a name.
 */
export function readId(text: string, noun: Exclude<NounName, 'inventory'>): bigint | NumberFault {
  // Most ids are digits, and a file may have a million.
  return toId(text) ?? readUnusualId(text, noun);
}

function readUnusualId(text: string, noun: NounName): bigint | NumberFault {
  const digits = withoutLeadingZeros(text.trim());
  const [, whole = digits] = /^(\d{1,15})[.,]0+$/.exec(digits) ?? [];
  return toId(whole) ?? { rule: idRule, ...wayOn(digits, noun) };
}

function wayOn(text: string, noun: NounName): Omit<NumberFault, 'rule'> {
  if (/^\p{L}/u.test(text))
    return { hint: `a file needs ids in place of names: \`petstore ${noun} list\` shows both` };
  if (/^\d([.,]\d+)?e\+?\d+$/i.test(text) || /^\d{16,}[.,]0+$|^\d{16,}000$/.test(text))
    return { hint: 'a spreadsheet or a script has rounded this id: import the column as text' };
  return markedAsText(text);
}

/** Returns the way on from digits that a spreadsheet has marked as text. */
function markedAsText(text: string): Omit<NumberFault, 'rule'> {
  if (/^="+\d+"+$/.test(text))
    return { hint: 'a formula keeps these digits as text', command: `sed -E 's/"?="+([0-9]+)"+/\\1/g'` };
  if (/^'\d+$/.test(text))
    return { hint: 'an apostrophe marks these digits as text', command: `sed -E "s/'([0-9])/\\1/g"` };
  return {};
}

/** Reads a count: digits up to 9007199254740991. */
export function readCount(text: string, marks: NumberMarks): number | NumberFault {
  return toQuantity(text) ?? readDigits(text.trim(), marks);
}

function readDigits(text: string, marks: NumberMarks): number | NumberFault {
  const digits = wholeDigits(text, marks);
  if (typeof digits !== 'string') return digits;
  return toQuantity(withoutLeadingZeros(digits)) ?? { rule: countRule, ...markedAsText(text) };
}

/** Reads a change of a count: a count with or without a sign before or behind it. SAP writes `3-`. */
export function readChange(text: string, marks: NumberMarks): number | NumberFault {
  const [, before, size = '', behind] = /^([+-]?)(.*?)([+-]?)$/s.exec(text.trim()) ?? [];
  const count = before && behind ? { rule: changeRule } : readDigits(size, marks);
  if (typeof count === 'object') return count.rule === countRule ? { ...count, rule: changeRule } : count;
  return count === 0 || (before || behind) !== '-' ? count : -count;
}

/** Whether a text has the separator of `--thousands`, in one of the characters that are in use for it. */
export function hasSeparator(text: string, separator: ThousandsSeparator): boolean {
  return new RegExp(separatorClasses[separator]).test(text);
}

const separatorClasses: Readonly<Record<ThousandsSeparator, string>> = {
  '.': '\\.',
  ',': ',',
  ' ': '[ \\u00a0\\u202f]',
  "'": "['\\u2019]",
};

/**
 * Returns the digits of a number without separators and without a fraction of zeros. Returns the text as it is if it is
 * none, and a fault if the marks leave open what it means.
 */
function wholeDigits(text: string, { thousands, decimal }: NumberMarks): string | NumberFault {
  if (/^\d*$/.test(text)) return text;
  if (thousands === null && decimal === null && /^[1-9]\d{0,2}[.,]000$/.test(text)) {
    const [whole = ''] = text.split(/[.,]/);
    return { rule: unclearRule(whole, `${whole}000`) };
  }
  const decimals = decimal ?? ['.', ','].filter((mark) => mark !== thousands).join('');
  const [, whole = text] = new RegExp(`^(.*\\d)[${decimals}]0+$`, 's').exec(text) ?? [];
  if (thousands === null) return whole;
  const separator = separatorClasses[thousands];
  const isGrouped = new RegExp(`^[1-9]\\d{0,2}(${separator}\\d{3})+$`).test(whole);
  return isGrouped ? whole.replace(new RegExp(separator, 'g'), '') : whole;
}

/** Returns the marks for a value of a record: those of the input, unless the value is a JSON number. */
export function marksOf({ json, values }: InputRecord, index: number, marks: NumberMarks): NumberMarks {
  return json !== undefined && !values[index]?.startsWith('"') ? jsonMarks : marks;
}

/** Makes the problem of a number in a record. */
export function numberProblem(
  record: InputRecord,
  index: number,
  { rule, hint, command }: NumberFault,
): Problem {
  const name = record.names[index] ?? '';
  const value = valueText(record, index);
  const isEmpty = value.trim() === '';
  const subject = isEmpty ? `${name} is empty` : `${name} ${quoteValue(value)}`;
  return { message: `${subject}: ${rule}`, kind: `${name} ${isEmpty} ${rule} ${hint ?? ''}`, hint, command };
}

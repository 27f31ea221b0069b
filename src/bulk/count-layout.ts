import { toChange, toId, toQuantity, withoutLeadingZeros } from '../api/values.ts';
import { type CountField, countFields, isColumnNumber, normaliseName } from '../config/column-map.ts';
import { type ThousandsSeparator, thousandsSeparators } from '../config/setting-values.ts';
import {
  type InputRecord,
  isProblem,
  quoteValue,
  type RowFields,
  type RowLayout,
  type RowParser,
  valueText,
} from '../input/read-records.ts';
import type { Problem } from '../input/record.ts';
import type { Intent } from './decide.ts';
import type { RunFlags } from './run-header.ts';

/** A row of counts: the count that a pet is to have, or a change to add to it. */
export interface CountRow {
  readonly line: number;
  readonly id: bigint;
  readonly intent: Intent;
}

const idRule = 'must be a whole number from 0 to 9223372036854775807, in digits alone';
const quantityRule = 'must be a whole number from 0 to 9007199254740991, in digits alone';
const changeRule = 'must be a whole number with or without a sign, such as 24, +24 or -3';

/** The column names for each field. */
const aliases: Readonly<Record<CountField, readonly string[]>> = {
  petId: ['petid', 'id', 'pet'],
  quantity: ['quantity', 'qty', 'stock', 'count'],
  expected: ['expected'],
};
/** The column names that only changes have. */
const changeNames = ['change', 'delta'];

/** The layout of files of counts, and with `relative` of changes. */
export function countLayout(flags: RunFlags): RowLayout<CountRow> {
  const { map, relative, sum } = flags;
  const numbers = Object.values(map).filter(isColumnNumber).map(Number);
  const isNumbered = numbers.length > 0;
  return {
    isHeader: (cells) =>
      isNumbered ? cells.length >= Math.max(...numbers) : !isProblem(findColumns(cells, flags)),
    columnsWithoutHeader: (cells) => (isNumbered ? cells.map((_, index) => String(index + 1)) : undefined),
    parserOf(names) {
      const columns = findColumns(names, flags);
      return isProblem(columns) ? columns : createParser(names, columns, flags);
    },
    merge(first, second) {
      const [earlier, intent] = [first.intent, second.intent];
      const change = earlier.kind === 'add' && intent.kind === 'add' ? earlier.change + intent.change : 0;
      if (intent.kind === 'add' && sum && Number.isSafeInteger(change))
        return { ...first, intent: { kind: 'add', change } };
      const [text, earlierText] = [describeIntent(intent), describeIntent(earlier)];
      if (intent.kind === 'set' && text === earlierText) return undefined;
      return {
        message: `pet ${second.id} has ${text} on line ${second.line} and ${earlierText} on line ${first.line}`,
        remedy: relative && !sum ? 'if they are several deliveries, --sum adds them up' : undefined,
      };
    },
    fieldsOf: countFieldsOf,
  };
}

/** The columns of a row of counts that the command reads. */
export function countFieldsOf({ id, intent }: Pick<CountRow, 'id' | 'intent'>): RowFields {
  if (intent.kind === 'add') return { petId: id, change: intent.change };
  const { value, expected } = intent;
  return {
    petId: id,
    quantity: value as number,
    ...(expected !== undefined && { expected: expected as number }),
  };
}

/** The index of each field among the columns of a row. */
interface Columns {
  readonly petId: number;
  readonly quantity: number;
  readonly expected: number | undefined;
}

/** Finds the columns by their names, or says which column is missing or ambiguous. */
function findColumns(names: readonly string[], { map, relative }: RunFlags): Columns | Problem {
  const hint =
    'name the columns with --map petId=<column>,quantity=<column>, or their numbers if there is no header';
  const normalised = names.map(normaliseName);
  const indexes: Partial<Record<CountField, number>> = {};
  for (const field of countFields) {
    const mapped = map[field];
    const synonyms =
      field === 'quantity' && relative ? [...changeNames, ...aliases.quantity] : aliases[field];
    const wanted = mapped === undefined ? synonyms : [normaliseName(mapped)];
    const matches = normalised.flatMap((name, index) => (wanted.includes(name) ? [index] : []));
    const [match, another] = matches;
    if (match !== undefined && another !== undefined) {
      const columns = matches.map((index) => names[index]);
      const isSame = normalised[match] === normalised[another];
      const fault = isSame
        ? `duplicate column ${columns[0]}`
        : `the columns ${columns.join(' and ')} may both be ${field}`;
      return { message: fault, hint };
    }
    if (match !== undefined) indexes[field] = match;
    else if (mapped !== undefined) return { message: `no column ${mapped}, which --map names`, hint };
  }
  const { petId, quantity, expected } = indexes;
  if (petId === undefined) return { message: 'no column petId (or id, pet)', hint };
  if (quantity !== undefined) return { petId, quantity, expected };
  if (relative) return { message: 'no column change (or delta, quantity)', hint };
  const change = names.find((_, index) => changeNames.includes(normalised[index] ?? ''));
  if (change === undefined) return { message: 'no column quantity (or qty, stock, count)', hint };
  return {
    message: `no column quantity (or qty, stock, count); ${change} is a column for --relative`,
    hint: 'if the rows are changes, add --relative',
  };
}

function createParser(
  names: readonly string[],
  { petId, quantity, expected }: Columns,
  { relative, thousands }: RunFlags,
): RowParser<CountRow> {
  const numberAt = (record: InputRecord, index: number) => {
    const text = valueText(record, index).trim();
    return thousands === null ? text : withoutThousands(text, thousands);
  };
  return (record) => {
    const invalid = (index: number, rule: string, remedy?: string): Problem => {
      const value = valueText(record, index);
      const what = value.trim() === '' ? `${names[index]} is empty` : `${names[index]} ${quoteValue(value)}`;
      const fields = {
        petId: valueText(record, petId),
        [relative ? 'change' : 'quantity']: valueText(record, quantity),
        ...(expected !== undefined && { expected: valueText(record, expected) }),
      };
      const kind = `${names[index]} ${value.trim() === ''} ${rule}`;
      return { message: `${what}: ${rule}`, kind, columnName: names[index], remedy, fields };
    };
    const { line } = record;
    const id = toId(withoutLeadingZeros(valueText(record, petId).trim()));
    if (id === undefined) return invalid(petId, idRule);
    const digits = numberAt(record, quantity);
    if (relative) {
      const change = toChange(withoutLeadingZeros(digits));
      if (change === undefined) return invalid(quantity, changeRule, remedyFor(digits));
      return { line, id, intent: { kind: 'add', change } };
    }
    const value = toQuantity(withoutLeadingZeros(digits));
    if (value === undefined) return invalid(quantity, quantityRule, remedyFor(digits));
    if (expected === undefined || valueText(record, expected).trim() === '')
      return { line, id, intent: { kind: 'set', value } };
    const expectedValue = toQuantity(withoutLeadingZeros(numberAt(record, expected)));
    if (expectedValue === undefined) return invalid(expected, quantityRule);
    return { line, id, intent: { kind: 'set', value, expected: expectedValue } };
  };
}

/** `5`, `+5`, or `5 (expected 3)`. */
function describeIntent(intent: Intent): string {
  if (intent.kind === 'add') return `${intent.change < 0 ? '' : '+'}${intent.change}`;
  return `${intent.value}${intent.expected === undefined ? '' : ` (expected ${intent.expected})`}`;
}

/** What would make a number valid. */
function remedyFor(text: string): string | undefined {
  const separator = thousandsSeparators.find((candidate) => withoutThousands(text, candidate) !== text);
  if (separator !== undefined) {
    const word = separator === '.' || separator === ',' ? separator : JSON.stringify(separator);
    return `if that separates the thousands, add --thousands ${word}`;
  }
  return /^[+-]\d+$/.test(text) ? 'if the rows are changes, add --relative' : undefined;
}

/** `1.234.567` without its separators. A text that is not grouped in threes is returned unchanged, and later refused. */
function withoutThousands(text: string, separator: ThousandsSeparator): string {
  // No-break spaces (U+00A0, U+202F) are also in use as separators.
  const plain = separator === ' ' ? text.replace(/[\u00a0\u202f]/g, ' ') : text;
  const mark = separator === '.' ? '\\.' : separator;
  return new RegExp(`^[+-]?[1-9]\\d{0,2}(${mark}\\d{3})+$`).test(plain)
    ? plain.replaceAll(separator, '')
    : text;
}

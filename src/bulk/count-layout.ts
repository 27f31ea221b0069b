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

/** A row of an input of counts: it sets the count of a pet, or adds to it. */
export interface CountRow {
  readonly line: number;
  readonly id: bigint;
  readonly intent: Intent;
}

const idRule = 'must be a whole number from 0 to 9223372036854775807, in digits alone';
const quantityRule = 'must be a whole number from 0 to 9007199254740991, in digits alone';
const changeRule = 'must be a whole number with or without a sign, such as 24, +24 or -3';

/** The names of the column of each field. */
const columnNames: Readonly<Record<CountField, readonly string[]>> = {
  petId: ['petid', 'id', 'pet'],
  quantity: ['quantity', 'qty', 'stock', 'count'],
  expected: ['expected'],
};
/** Further names of the column of changes, with `relative`. */
const changeColumnNames = ['change', 'delta'];

/** Makes the layout of an input of counts, or of changes with `relative`. */
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
      if (sum && first.intent.kind === 'add' && second.intent.kind === 'add') {
        const change = first.intent.change + second.intent.change;
        if (Number.isSafeInteger(change)) return { ...first, intent: { kind: 'add', change } };
      }
      const firstText = describeIntent(first.intent);
      const secondText = describeIntent(second.intent);
      if (second.intent.kind === 'set' && firstText === secondText) return undefined;
      return {
        message: `pet ${second.id} has ${secondText} on line ${second.line} and ${firstText} on line ${first.line}`,
        remedy: relative && !sum ? 'if they are several deliveries, --sum adds them up' : undefined,
      };
    },
    fieldsOf: countFieldsOf,
  };
}

/** The columns that the command reads, with the values of a row of counts. */
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
      field === 'quantity' && relative ? [...changeColumnNames, ...columnNames.quantity] : columnNames[field];
    const candidates = mapped === undefined ? synonyms : [normaliseName(mapped)];
    const matches = normalised.flatMap((name, index) => (candidates.includes(name) ? [index] : []));
    const [match, secondMatch] = matches;
    if (match !== undefined && secondMatch !== undefined) {
      const columns = matches.map((index) => names[index]);
      const isSame = normalised[match] === normalised[secondMatch];
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
  const change = names.find((_, index) => changeColumnNames.includes(normalised[index] ?? ''));
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
      const isEmpty = value.trim() === '';
      const subject = isEmpty ? `${names[index]} is empty` : `${names[index]} ${quoteValue(value)}`;
      const fields = {
        petId: valueText(record, petId),
        [relative ? 'change' : 'quantity']: valueText(record, quantity),
        ...(expected !== undefined && { expected: valueText(record, expected) }),
      };
      const kind = `${names[index]} ${isEmpty} ${rule}`;
      return { message: `${subject}: ${rule}`, kind, columnName: names[index], remedy, fields };
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

/** Describes an intent: `5`, `+5`, or `5 (expected 3)`. */
function describeIntent(intent: Intent): string {
  if (intent.kind === 'add') return `${intent.change < 0 ? '' : '+'}${intent.change}`;
  return `${intent.value}${intent.expected === undefined ? '' : ` (expected ${intent.expected})`}`;
}

/** The flag that makes a number valid. Undefined if no flag does. */
function remedyFor(text: string): string | undefined {
  const separator = thousandsSeparators.find((candidate) => withoutThousands(text, candidate) !== text);
  if (separator !== undefined) {
    const word = separator === '.' || separator === ',' ? separator : JSON.stringify(separator);
    return `if that separates the thousands, add --thousands ${word}`;
  }
  return /^[+-]\d+$/.test(text) ? 'if the rows are changes, add --relative' : undefined;
}

/** Removes the separators of `1.234.567`. Returns the text unchanged if its digits are not grouped in threes. */
function withoutThousands(text: string, separator: ThousandsSeparator): string {
  // No-break spaces (U+00A0, U+202F) are also in use as separators.
  const plain = separator === ' ' ? text.replace(/[\u00a0\u202f]/g, ' ') : text;
  const pattern = separator === '.' ? '\\.' : separator;
  return new RegExp(`^[+-]?[1-9]\\d{0,2}(${pattern}\\d{3})+$`).test(plain)
    ? plain.replaceAll(separator, '')
    : text;
}

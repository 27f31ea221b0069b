import { type CountField, countFields, isColumnNumber, normaliseName } from '../config/column-map.ts';
import { decimalMarks, thousandsSeparators } from '../config/setting-values.ts';
import {
  hasSeparator,
  marksOf,
  type NumberFault,
  numberProblem,
  readChange,
  readCount,
  readId,
} from '../input/numbers.ts';
import {
  type Alternative,
  isProblem,
  type RowFields,
  type RowLayout,
  type RowParser,
  valueText,
} from '../input/read-records.ts';
import type { Problem } from '../input/record.ts';
import type { Intent } from '../writes/decide.ts';
import type { RunFlags } from './run-header.ts';

/** A row of an input of counts: it sets the count of a pet, or adds to it. */
export interface CountRow {
  readonly line: number;
  readonly id: bigint;
  readonly intent: CountIntent;
}

type CountIntent = Extract<Intent, { kind: 'set' | 'add' }>;

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
      return isProblem(columns) ? columns : createParser(columns, flags);
    },
    noun: 'pet',
    mayRepeat: !relative,
    ...(sum && { addUp }),
    alternatives: (problems) => alternativesTo(flags, problems),
    fieldsOf: countFieldsOf,
  };
}

/** Adds up two rows of one pet, such as its two places. */
function addUp(first: CountRow, second: CountRow): CountRow | Problem {
  const fields = countFieldsOf(second);
  const tooLarge = {
    message: `the rows of pet ${second.id} add up to more than ${Number.MAX_SAFE_INTEGER}`,
    fields,
  };
  if (first.intent.kind === 'add' && second.intent.kind === 'add') {
    const change = first.intent.change + second.intent.change;
    return Number.isSafeInteger(change) ? { ...first, intent: { kind: 'add', change } } : tooLarge;
  }
  if (first.intent.kind !== 'set' || second.intent.kind !== 'set') return tooLarge;
  const value = Number(first.intent.value) + Number(second.intent.value);
  if (first.intent.expected !== second.intent.expected)
    return { message: `the rows of pet ${second.id} that are added up expect different counts`, fields };
  return Number.isSafeInteger(value) ? { ...first, intent: { ...first.intent, value } } : tooLarge;
}

/** The ways to read an input that no flag has chosen yet, and that concern a value with a problem. */
function alternativesTo(flags: RunFlags, problems: readonly Problem[]): Alternative<CountRow>[] {
  const { thousands, decimal, relative, sum } = flags;
  const names = { '.': 'the points', ',': 'the commas', ' ': 'the spaces', "'": 'the apostrophes' };
  const shellWords: Record<string, string> = { ' ': '" "', "'": `"'"` };
  const values = problems.map(({ fields = {} }) => Object.values(fields).join('\n')).join('\n');
  const decimals = decimal === null && thousands === null ? decimalMarks : [];
  const separators = thousands === null ? thousandsSeparators : [];
  const ways: (readonly [flag: string, flags: Partial<RunFlags>])[] = [
    ...decimals
      .filter((mark) => hasSeparator(values, mark))
      .map(
        (mark) => [`--decimal ${mark} if ${names[mark]} end the whole number`, { decimal: mark }] as const,
      ),
    ...separators
      .filter((separator) => hasSeparator(values, separator))
      .map((separator) => {
        const flag = `--thousands ${shellWords[separator] ?? separator}`;
        return [`${flag} if ${names[separator]} separate thousands`, { thousands: separator }] as const;
      }),
  ];
  if (!relative) ways.push(['--relative --delivery <number> if the rows are changes', { relative: true }]);
  if (!sum) ways.push(['--sum if the rows of a pet add up', { sum: true }]);
  return ways.map(([flag, further]) => ({ flag, layout: countLayout({ ...flags, ...further }) }));
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
    hint: 'if the rows are changes, add --relative --delivery <number>',
  };
}

/** Rows that set the same count below this share their intent. */
const maxSharedCount = 10_000;

function createParser(
  { petId, quantity, expected }: Columns,
  { relative, thousands, decimal }: RunFlags,
): RowParser<CountRow> {
  const marks = { thousands, decimal };
  // Most counts are small and repeat: 40 MB for a million rows.
  const setIntents: CountIntent[] = [];
  const setTo = (value: number): CountIntent => {
    if (value >= maxSharedCount) return { kind: 'set', value };
    setIntents[value] ??= { kind: 'set', value };
    return setIntents[value];
  };
  return (record) => {
    const invalid = (index: number, fault: NumberFault): Problem => {
      const fields = {
        petId: valueText(record, petId),
        [relative ? 'change' : 'quantity']: valueText(record, quantity),
        ...(expected !== undefined && { expected: valueText(record, expected) }),
      };
      return { ...numberProblem(record, index, fault), fields };
    };
    const { line } = record;
    const id = readId(valueText(record, petId), 'pets');
    if (typeof id === 'object') return invalid(petId, id);
    const text = valueText(record, quantity);
    const quantityMarks = marksOf(record, quantity, marks);
    if (relative) {
      const change = readChange(text, quantityMarks);
      if (typeof change === 'object') return invalid(quantity, change);
      return { line, id, intent: { kind: 'add', change } };
    }
    const value = readCount(text, quantityMarks);
    if (typeof value === 'object') return invalid(quantity, value);
    if (expected === undefined || valueText(record, expected).trim() === '')
      return { line, id, intent: setTo(value) };
    const expectedValue = readCount(valueText(record, expected), marksOf(record, expected, marks));
    if (typeof expectedValue === 'object') return invalid(expected, expectedValue);
    return { line, id, intent: { kind: 'set', value, expected: expectedValue } };
  };
}

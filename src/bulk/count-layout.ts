import type { Fields, RecordValue } from '../api/record-values.ts';
import type { InputField } from '../input/field-columns.ts';
import { type NumberNotation, parseFileChange, parseFileCount, parseFileId } from '../input/numbers.ts';
import type { InputRecord, RowLayout } from '../input/read-records.ts';
import { parseAt, ValueError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import type { Intent } from '../writes/decide.ts';
import { newRow, type RunRow } from './row.ts';
import type { RunFlags } from './run.ts';

/** A row of a file of counts: it sets the count of a pet, or adds to it. */
export type CountRow = RunRow & { readonly id: bigint; readonly intent: CountIntent };

type CountIntent = Extract<Intent, { kind: 'set' | 'add' }>;

const changeColumns = ['change', 'delta'];
const countColumns = ['quantity', 'qty', 'stock', 'count'];

/** Rows that set the same count share one intent, if the count is below this. */
const maxSharedCount = 10_000;

/** Makes the layout of an input of counts, or of changes with `relative`. */
export function countLayout({ map, relative, sum, ...notation }: RunFlags): RowLayout<CountRow> {
  const field = (name: string, columns: readonly string[], isRequired: boolean): InputField => {
    const column = map[name];
    return column === undefined
      ? { name, columns, isRequired }
      : { name, columns: [column], isRequired: true };
  };
  const quantityColumns = relative ? [...changeColumns, ...countColumns] : countColumns;
  const fields = [
    field('petId', ['petId', 'id', 'pet'], true),
    field('quantity', quantityColumns, true),
    field('expected', ['expected'], false),
  ];
  // Most counts are small and repeat, so that shared intents save 40 MB for a million rows.
  const sharedIntents: CountIntent[] = [];
  const setTo = (value: number): CountIntent => {
    if (value >= maxSharedCount) return { kind: 'set', value };
    sharedIntents[value] ??= { kind: 'set', value };
    return sharedIntents[value];
  };
  const toIntent = (count: number): CountIntent => (relative ? { kind: 'add', change: count } : setTo(count));
  return {
    noun: 'pet',
    fields,
    missingHint: 'name the columns with --map petId=<column>,quantity=<column>',
    toRow: (record) => toCountRow(record, notation, relative ? parseFileChange : parseFileCount, toIntent),
    mayRepeat: !relative,
    conflictHint: '--sum adds up the rows of a pet',
    ...(sum && { addUp }),
  };
}

/** @throws ValueError that names the column. */
function toCountRow(
  record: InputRecord,
  notation: NumberNotation,
  parseCount: typeof parseFileChange,
  toIntent: (count: number) => CountIntent,
): CountRow {
  const { line, text, values, columns } = record;
  const readField = <Parsed>(field: string, read: (value: JsonValue, notation: NumberNotation) => Parsed) => {
    const value = values[field] ?? '';
    return parseAt(columns[field] ?? field, value, () => read(value, notation));
  };
  const id = readField('petId', parseFileId);
  const plain = toIntent(readField('quantity', parseCount));
  const intent = hasExpected(values) ? { ...plain, expected: readField('expected', parseFileCount) } : plain;
  return newRow({ line, id, intent, text });
}

/** @throws ValueError for a row that ends before the column, because it is cut off. */
function hasExpected(values: Fields): boolean {
  if (!('expected' in values)) return false;
  const { expected } = values;
  if (expected === undefined) throw new ValueError('the row ends before the column expected');
  return expected !== null && String(expected).trim() !== '';
}

/** Adds up two rows of one pet, such as of two warehouses. @throws ValueError if they expect different counts, or the sum is too large. */
function addUp(first: CountRow, second: CountRow): CountRow {
  const [intent, other] = [first.intent, second.intent];
  if (intent.expected !== other.expected)
    throw new ValueError(`the rows of pet ${second.id} that are added up expect different counts`);
  const sum = Number(countOf(intent)) + Number(countOf(other));
  if (!Number.isSafeInteger(sum))
    throw new ValueError(`the rows of pet ${second.id} add up to more than ${Number.MAX_SAFE_INTEGER}`);
  const summed = intent.kind === 'add' ? { ...intent, change: sum } : { ...intent, value: sum };
  return { ...first, intent: summed, text: [first.text ?? [], second.text ?? []].flat() };
}

function countOf(intent: CountIntent): RecordValue {
  return intent.kind === 'add' ? intent.change : intent.value;
}

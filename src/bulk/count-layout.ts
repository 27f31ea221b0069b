import { builtInContract, type Contract } from '../api/contract.ts';
import type { Fields, RecordValue } from '../api/record-values.ts';
import type { InputField } from '../input/field-columns.ts';
import { type NumberNotation, parseFileChange, parseFileCount, parseFileId } from '../input/numbers.ts';
import type { InputRecord, RowLayout } from '../input/read-records.ts';
import { parseAt, ValueError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { compactName } from '../process/text.ts';
import type { Intent } from '../writes/row.ts';
import type { RunFlags } from './run.ts';
import { createRow, type RunRow } from './run-row.ts';

/** A row of a file of counts: it sets the count of a pet, or adds to it. */
export type CountRow = RunRow & { readonly id: bigint; readonly intent: CountIntent };

type CountIntent = Extract<Intent, { kind: 'set' | 'add' }>;

const changeColumns = ['change', 'delta'];
const countColumns = ['quantity', 'qty', 'stock', 'count'];

/** Rows that set the same count share one intent, if the count is below this. */
const maxSharedCount = 10_000;

/**
 * Makes the layout of an input of counts, or of changes with `relative`. The columns may have the names of the service too, except
 * those that it gives to something else: an entry may have an `id` of its own.
 */
export function createCountLayout(
  { map = {}, relative, sum, ...notation }: RunFlags,
  contract: Contract = builtInContract,
): RowLayout<CountRow> {
  const ofEntries = [...contract.operations.values()].filter(({ noun }) => noun === 'inventory');
  const others = ofEntries.flatMap(({ recordForm }) => recordForm.furtherFields.map(compactName));
  const field = (name: string, isRequired: boolean, columns: readonly string[]): InputField => {
    const column = map[name];
    if (column !== undefined) return { name, columns: [column], isRequired: true };
    const wireNames = ofEntries.flatMap(({ recordForm }) => recordForm.names[name] ?? []);
    const own = columns.filter((each) => each === name || !others.includes(compactName(each)));
    return { name, columns: [...new Set([...own, ...wireNames])], isRequired };
  };
  // Most counts are small and repeat, so that shared intents save 40 MB for a million rows.
  const sharedIntents: CountIntent[] = [];
  const toIntent = (count: number): CountIntent => {
    if (relative) return { kind: 'add', change: count };
    if (count >= maxSharedCount) return { kind: 'set', value: count };
    sharedIntents[count] ??= { kind: 'set', value: count };
    return sharedIntents[count];
  };
  /** @throws ValueError that names the column. */
  const toRow = ({ line, text, values, columns }: InputRecord): CountRow => {
    const read = <Parsed>(name: string, parse: (value: JsonValue, notation: NumberNotation) => Parsed) => {
      const value = values[name] ?? '';
      return parseAt(columns[name] ?? name, value, () => parse(value, notation));
    };
    const id = read('petId', parseFileId);
    const plain = toIntent(read('quantity', relative ? parseFileChange : parseFileCount));
    const intent = hasExpected(values) ? { ...plain, expected: read('expected', parseFileChange) } : plain;
    return createRow({ line, id, intent, text });
  };
  return {
    noun: 'pet',
    fields: [
      field('petId', true, ['petId', 'id', 'pet']),
      field('quantity', true, relative ? [...changeColumns, ...countColumns] : countColumns),
      field('expected', false, ['expected']),
    ],
    exported: ['name', 'status'],
    missingHint: 'name the columns with --map petId=<column>,quantity=<column>; changes need --relative',
    toRow,
    mayRepeat: !relative,
    conflictHint: '--sum adds up the rows of a pet',
    ...(sum && { addUp }),
  };
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
    throw new ValueError(`pet ${second.id}: rows that expect different counts cannot be added up`);
  const sum = Number(countOf(intent)) + Number(countOf(other));
  if (!Number.isSafeInteger(sum))
    throw new ValueError(`the rows of pet ${second.id} add up to more than ${Number.MAX_SAFE_INTEGER}`);
  const summed = intent.kind === 'add' ? { ...intent, change: sum } : { ...intent, value: sum };
  return { ...first, intent: summed, text: [first.text ?? [], second.text ?? []].flat() };
}

function countOf(intent: CountIntent): RecordValue {
  return intent.kind === 'add' ? intent.change : intent.value;
}

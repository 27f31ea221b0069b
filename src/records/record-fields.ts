import { type Field, type FieldKind, type NamedNoun, type Noun, referenceFields } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import type { ServiceRecord } from '../api/record-values.ts';
import type { RecordOf } from '../api/schemas.ts';
import { parseQuantity } from '../input/numbers.ts';
import type { Column, View } from '../output/columns.ts';
import { flagName, joinFirst } from '../process/text.ts';
import { parseDate, parseIdOrName, parseText, parseTruth } from './parse-values.ts';

/** How people write the values of a kind of field. */
interface FieldKindRules {
  /** The value in the syntax of a flag, such as `n` in `--quantity <n>`. A flag without it takes no value, and nobody is asked. */
  readonly placeholder?: string;
  readonly offers?: 'status';
  /** Parses a flag or an answer. @throws ValueError. */
  readonly parse: (text: string) => unknown;
  /** True if the answer to a question for it may be empty. */
  readonly isOptional?: true;
  readonly column?: Pick<Column<ServiceRecord>, 'align' | 'isStatus' | 'isTime'>;
}

const asText = (text: string) => text;

export const fieldKinds: Readonly<Record<FieldKind, FieldKindRules>> = {
  name: { placeholder: 'name', parse: parseText },
  text: { placeholder: 'text', parse: asText, isOptional: true },
  reference: { placeholder: 'id or name', parse: parseIdOrName, column: { align: 'right' } },
  status: { placeholder: 'status', offers: 'status', parse: parseText, column: { isStatus: true } },
  quantity: { placeholder: 'n', parse: parseQuantity, column: { align: 'right' } },
  date: { placeholder: 'date', parse: parseDate, isOptional: true, column: { isTime: true } },
  truth: { parse: parseTruth },
};

/** Returns the noun whose names can replace the ids of a noun, or undefined if only ids are accepted. */
export function namedNoun({ idName }: Noun): NamedNoun | undefined {
  return referenceFields[idName];
}

/** Finds a field by its name in a request or by its column. */
export function findField({ fields }: Noun, name: string): Field | undefined {
  return fields.find((field) => field.name === name || field.column === name);
}

export function columnOf({ column, name }: Pick<Field, 'name' | 'column'>): string {
  return column ?? name;
}

/** `--ship-date` for `shipDate`. */
export function flagOf(field: Field): string {
  return flagName(columnOf(field));
}

/** A record with the name of the record that it refers to, if the view shows it. */
export interface NamedRecord extends ServiceRecord {
  readonly referenceName?: string | undefined;
}

/**
 * Creates the view of a noun: its id, its fields, and the name of the record that it refers to. Only `--fields` shows the ids behind
 * names, and further fields of a bound service.
 *
 * @param operation the operation that returns the records.
 * @param showsNames whether names are printed without `--fields` too.
 */
export function createView(
  { plural, idField, fields, reference }: Noun,
  operation: Operation,
  showsNames: boolean,
): View<NamedRecord> {
  const columns: Column<NamedRecord>[] = [];
  const add = (column: Column<NamedRecord>, kind: FieldKind = 'text') => {
    if (columns.every(({ name }) => name !== column.name))
      columns.push({ ...column, ...fieldKinds[kind].column });
  };
  const nameOf = ({ referenceName }: NamedRecord) => referenceName;
  const idColumn: Pick<Field, 'name' | 'kind' | 'column'> = { name: idField, kind: 'reference' };
  for (const { name, kind, column = name } of [idColumn, ...fields]) {
    const isReference = name === reference?.field;
    // A service may send the name of a category with its id.
    if (isReference && column === reference.column)
      add({
        name: column,
        value: (record) => record.fields[column] ?? nameOf(record) ?? record.fields[name],
      });
    else add({ name: column, value: ({ fields }) => fields[name] }, kind);
    if (isReference) add({ name: reference.column, value: nameOf, ...(!showsNames && { isHidden: true }) });
  }
  for (const { name, kind } of fields)
    add({ name, value: ({ fields }) => fields[name], isHidden: true }, kind);
  for (const name of operation.records.furtherFields)
    add({ name, value: ({ fields }) => fields[name], isHidden: true });
  return { plural, columns, data: ({ original }) => original };
}

/** The most ids that a message lists. */
export const maxListedIds = 20;

/** `pet 3 (Rex)`, or `2 pets: 3 (Rex), 4 (Mia)`. */
export function nameAll(
  { singular, plural }: Noun,
  ids: readonly bigint[],
  titleOf: (id: bigint) => string | undefined = () => undefined,
): string {
  const names = ids.map((id) => {
    const title = titleOf(id);
    return title === undefined ? `${id}` : `${id} (${title})`;
  });
  if (ids.length === 1) return `${singular} ${names[0]}`;
  return `${ids.length} ${plural}: ${joinFirst(names, maxListedIds)}`;
}

/** Returns true if an order is open and overdue: the day of its ship date, in UTC, is over. */
export function isOverdue(order: RecordOf<'orders'>): boolean {
  return isDueBefore(order, new Date().setUTCHours(0, 0, 0, 0));
}

/** Returns true if an order is open and ships before a moment. @param momentMs in milliseconds of Unix time */
export function isDueBefore({ complete, shipDate }: RecordOf<'orders'>, momentMs: number): boolean {
  return complete !== true && typeof shipDate === 'string' && Date.parse(shipDate) < momentMs;
}

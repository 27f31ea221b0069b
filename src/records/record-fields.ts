import { type Contract, fieldBounds } from '../api/contract.ts';
import type { Field, FieldKind, Noun, NounName } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { categoryName, isDay, type ServiceRecord, toDateTime, toInstant } from '../api/record-values.ts';
import type { Bounds, RecordOf } from '../api/schemas.ts';
import { parseFileCount, parseFileId, parseId } from '../input/numbers.ts';
import type { Column, View } from '../output/columns.ts';
import { parseAt, ValueError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { flagName, foldCase, joinFirst, momentOf } from '../process/text.ts';

/** How people write the values of a kind of field. */
interface FieldKindRules {
  /** The value in the syntax of a flag, such as `n` in `--quantity <n>`. Without it the flag has no value, and no question is asked. */
  readonly placeholder?: string;
  readonly offers?: 'status';
  /**
   * Converts a value of a file, an editor, a flag or an answer to the form of the service.
   *
   * @throws ValueError if the service does not take it.
   */
  readonly toService: (value: JsonValue, bounds: Bounds | undefined) => JsonValue;
  readonly column?: Pick<Column<ServiceRecord>, 'align' | 'isState' | 'isTime'>;
}

export const fieldKinds: Readonly<Record<FieldKind, FieldKindRules>> = {
  name: { placeholder: 'name', toService: requireText },
  text: { placeholder: 'text', toService: requireText },
  reference: { placeholder: 'id or name', toService: parseFileId, column: { align: 'right' } },
  status: {
    placeholder: 'status',
    offers: 'status',
    toService: (value, bounds) => toServiceSpelling(requireText(value), bounds?.enum),
    column: { isState: true },
  },
  quantity: {
    placeholder: 'n',
    toService: (value) => parseFileCount(value),
    column: { align: 'right' },
  },
  date: {
    placeholder: 'date',
    toService: (value, bounds) => toServiceDate(requireText(value).trim(), bounds),
    column: { isTime: true },
  },
  truth: { toService: (value) => parseBoolean(String(value)) },
};

/**
 * Converts a value of a field to the form of the service. The name of a category stays.
 *
 * @throws ValueError.
 */
export function toServiceValue(
  { name, kind }: Field,
  value: JsonValue,
  contract: Contract,
  noun: NounName,
): JsonValue {
  if (name === 'categoryId' && typeof value === 'string' && !isIdText(value)) return value;
  return fieldKinds[kind].toService(value, fieldBounds(contract, noun, name));
}

function requireText(value: JsonValue): string {
  if (typeof value !== 'string') throw new ValueError('must be a string');
  return value;
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

/** Returns the reference whose names a view can show. One name is not worth the whole list of pets, but the list of categories is short. */
export function shownReference({ reference }: Noun, { isList }: Operation): Noun['reference'] {
  return isList || reference?.field === 'categoryId' ? reference : undefined;
}

/**
 * Creates the view of a noun: its id, its fields, and the name of the record that it refers to. Only `--fields` shows the ids behind
 * names, and further fields of a bound service.
 *
 * @param operation the operation that returns the records.
 * @param showsNames whether names are printed without `--fields` too.
 */
export function createView(noun: Noun, operation: Operation, showsNames: boolean): View<NamedRecord> {
  const { plural, idField, fields } = noun;
  const reference = shownReference(noun, operation);
  const columns: Column<NamedRecord>[] = [];
  const add = (column: Column<NamedRecord>, kind: FieldKind = 'text') => {
    if (columns.every(({ name }) => name !== column.name))
      columns.push({ ...column, ...fieldKinds[kind].column });
  };
  const nameOf = ({ referenceName }: NamedRecord) => referenceName;
  const idColumn: Pick<Field, 'name' | 'kind' | 'column'> = { name: idField, kind: 'reference' };
  for (const { name, kind, column = name } of [idColumn, ...fields]) {
    const isReference = name === reference?.field;
    if (isReference && column === reference.column)
      add({
        name: column,
        value: ({ fields: own, referenceName }) =>
          // A service may show the whole category beside its id.
          typeof own[column] === 'string' ? own[column] : (referenceName ?? own[name] ?? own[categoryName]),
        // A file has the id if the service has no list in which the name could be found again.
        text: (record) => record.fields[categoryName] as string | undefined,
      });
    else add({ name: column, value: ({ fields }) => fields[name] }, kind);
    if (isReference) add({ name: reference.column, value: nameOf, ...(!showsNames && { isHidden: true }) });
  }
  for (const { name, kind } of fields)
    add({ name, value: ({ fields }) => fields[name], isHidden: true }, kind);
  for (const name of operation.recordForm.furtherFields)
    add({ name, value: ({ fields }) => fields[name], isHidden: true });
  return { plural, columns, data: ({ original }) => original };
}

export const maxListedIds = 20;

/** `pet 3 (Rex)`, or `2 pets: 3 (Rex), 4 (Mia)`. */
export function recordsText(
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

/** Returns true unless an order says that it is complete. */
export function isOpenOrder({ complete }: RecordOf<'orders'>): boolean {
  return complete !== true;
}

/** Returns true if an order is open and overdue: the day of its ship date, in UTC, has passed. */
export function isOverdue(order: RecordOf<'orders'>): boolean {
  return isDueBefore(order, new Date().setUTCHours(0, 0, 0, 0));
}

/** Returns true if an order is open and ships before a moment. @param momentMs in milliseconds of Unix time */
export function isDueBefore(order: RecordOf<'orders'>, momentMs: number): boolean {
  return isOpenOrder(order) && shipMoment(order) < momentMs;
}

/** Returns the moment of a ship date, or NaN if it has none, or is another text. */
export function shipMoment({ shipDate }: RecordOf<'orders'>): number {
  return momentOf(shipDate ?? '');
}

/** The id of a record, or a name that is looked up. */
export type IdOrName = bigint | string;

/** Returns true if a text is meant as an id and not as a name. A text without a letter, such as `-5` or `1.0`, is a mistyped id. */
function isIdText(text: string): boolean {
  return /^[\d\s.,+-]*$/.test(text);
}

/** Leaves out the names that do not find a record: names of several records, and names that look like ids. */
export function withoutAmbiguous(nameById: ReadonlyMap<bigint, string>): ReadonlyMap<bigint, string> {
  const counts = new Map<string, number>();
  for (const name of nameById.values()) counts.set(foldCase(name), (counts.get(foldCase(name)) ?? 0) + 1);
  return new Map([...nameById].filter(([, name]) => !isIdText(name) && counts.get(foldCase(name)) === 1));
}

/** Parses an id. A text with a letter is a name. @throws ValueError for a mistyped id. */
export function parseIdOrName(text: string): IdOrName {
  return isIdText(text) ? parseId(text) : text;
}

/** Parses a date, and returns its first moment in milliseconds of Unix time. @throws ValueError as `parseDate`. */
export function parseMoment(text: string): number {
  return toInstant(parseDate(text)) as number;
}

/** Parses a date: a day, as `YYYY-MM-DD`, `today`, `tomorrow`, `+3d` or `+1w`; or a date-time (RFC 3339). @throws ValueError. */
function parseDate(text: string): string {
  const [, count, unit] = /^\+(\d{1,4})([dw])$/.exec(text) ?? [];
  const days =
    count === undefined ? ['today', 'tomorrow'].indexOf(text) : Number(count) * (unit === 'w' ? 7 : 1);
  if (days >= 0) {
    const now = new Date();
    const day = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + days);
    return new Date(day).toISOString().slice(0, 10);
  }
  if (toInstant(text) === undefined)
    throw new ValueError(
      'must be a date such as 2027-01-15, 2027-01-15T09:00:00Z, today, tomorrow, +3d or +1w',
    );
  return text;
}

/** Returns the choice of the service that a text means. Case and outer spaces do not matter. @throws ValueError if there is none. */
function toServiceSpelling(text: string, choices: readonly string[] | undefined): string {
  if (choices === undefined || choices.includes(text)) return text;
  const match = choices.find((choice) => foldCase(choice) === foldCase(text.trim()));
  if (match === undefined) throw new ValueError(`must be one of ${choices.join(', ')}`);
  return match;
}

/**
 * Converts a date to the form of the service: a day, or a date-time.
 *
 * @throws ValueError as `parseDate`, and for a time if the service has only days.
 */
function toServiceDate(text: string, bounds: Bounds | undefined): string {
  const date = parseDate(text);
  if (bounds?.format !== 'date') return toDateTime(date);
  if (!isDay(date)) throw new ValueError('must be a day such as 2027-01-15: the service takes no times');
  return date;
}

/** Parses `true` or `false` in any case, because spreadsheets write TRUE and FALSE. @throws ValueError for any other text. */
export function parseBoolean(text: string): boolean {
  const truth = text.trim().toLowerCase();
  if (truth !== 'true' && truth !== 'false') throw new ValueError('must be true or false');
  return truth === 'true';
}

/** Returns the text. @throws ValueError if it is blank, because it is most likely an unset variable of a script. */
export function parseText(text: string): string {
  if (text.trim() === '') throw new ValueError('must not be empty');
  return text;
}

/** Returns the statuses of the service in its order. Without a list it accepts any text. */
export function statusesOf(contract: Contract, noun: NounName): readonly string[] | undefined {
  return fieldBounds(contract, noun, 'status')?.enum;
}

/** Returns statuses of the command line in the spelling of the service. @throws UsageError for an unknown status. */
export function toServiceStatuses(
  contract: Contract,
  noun: NounName,
  statuses: readonly string[] | undefined,
): string[] | undefined {
  const choices = statusesOf(contract, noun);
  return statuses?.map((text) => parseAt('--status', text, () => toServiceSpelling(text, choices)));
}

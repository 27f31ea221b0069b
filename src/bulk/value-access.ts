import { type Noun, nouns } from '../api/nouns.ts';
import type { NounName } from '../api/operations.ts';
import { comparedValues, isSameValue } from '../api/values.ts';
import type { Answer, Client } from '../client/client.ts';
import type { Pace } from '../client/pace.ts';
import { entryInput, readRecord } from '../client/read-record.ts';
import { CliError, UsageError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import type { Fields, Row, Value } from './decide.ts';

/** The words for one value and for several values of a noun, for the record of a row, and for what a run does to a value. */
export function rowWords(name: NounName): { singular: string; plural: string; record: string; verb: string } {
  if (name === 'inventory') return { singular: 'count', plural: 'counts', record: 'pet', verb: 'set' };
  const { singular, plural } = nouns[name];
  return { singular, plural, record: singular, verb: 'change' };
}

/** A reading of one record. */
export interface Reading {
  /** Undefined if the record does not exist. */
  readonly record: JsonObject | undefined;
  /** The strong ETag. Only a record that was read alone has one. */
  readonly etag?: string | undefined;
}

/**
 * Access to the values of one noun at one service: counts, or the fields of records. It reads one value or all of them, and
 * writes one.
 */
export interface ValueAccess {
  readonly noun: NounName;
  /** Whether a single record can be read. */
  readonly canGet: boolean;
  /** Whether all records can be read. */
  readonly canList: boolean;
  /** Whether a record can be removed. */
  readonly canRemove: boolean;
  /** Whether a record must be read right before it is written, because its other fields are sent with it. */
  readonly readsFirst: boolean;
  /** Reads one record. @throws CliError if the record cannot be read. */
  read(id: bigint): Promise<Reading>;
  /** Reads all records, page by page. */
  list(): AsyncGenerator<readonly JsonObject[]>;
  idOf(record: JsonObject): bigint;
  /** The value of a record that is compared with the row: the count, or the fields that the row names. */
  valueOf(row: Row, record: JsonObject | undefined): Value;
  /**
   * Writes a value in one attempt. Creates the record if the reading has no record. Removes it if the value is null.
   *
   * @param reading the last reading of the record.
   * @param ifMatch the strong ETag that the record must have.
   */
  write(row: Row, value: Value, reading: Reading, ifMatch: string | undefined): Promise<Answer<unknown>>;
}

/** @throws UsageError if the service cannot read or write such values. */
export function createValueAccess(client: Client, noun: NounName, pace: Pace): ValueAccess {
  const { operations } = client.contract;
  const { idField, operations: ids }: Noun = nouns[noun];
  const { get, list, update } = ids;
  const canGet = operations.has(get);
  const canList = operations.has(list);
  if (!operations.has(update))
    throw new UsageError(`the service does not offer ${update}`, 'see `petstore api operations`', 'unbound');
  if (!canGet && !canList)
    throw new UsageError(
      `the service offers neither ${get} nor ${list}, so nothing can be planned`,
      noun === 'inventory' ? '`petstore inventory set` sets single counts' : undefined,
      'unbound',
    );
  const isCount = noun === 'inventory';
  const access: ValueAccess = {
    noun,
    canGet: canGet || !isCount,
    canList,
    canRemove: isCount && operations.has('deleteInventory'),
    readsFirst: !isCount || operations.get(update)?.takesChangesOnly === false,
    async read(id) {
      try {
        const { value, etag } = await readRecord(client, noun, id, { pace });
        return { record: value, etag };
      } catch (error) {
        if (!(error instanceof CliError) || error.kind !== 'not-found') throw error;
        return { record: undefined };
      }
    },
    list: () => client.list(list, {}, { pace, whole: true }),
    idOf: (record) => BigInt(record[idField] as bigint),
    valueOf(row, record) {
      if (record === undefined) return null;
      return isCount ? (record.quantity as number | bigint) : fieldsOf(row, record);
    },
    async write(row, value, { record }, ifMatch) {
      const { id } = row;
      const options = { pace, retries: 0, ifMatch };
      if (value === null) return client.call(ids.delete, { id }, options);
      if (!isCount) {
        const now = access.valueOf(row, record) as Fields;
        const changes = Object.entries(value).filter(([name, field]) => !isSameValue(field, now[name]));
        const body = Object.fromEntries(changes);
        return client.call(update, { id, body, before: record, values: body }, options);
      }
      if (record === undefined && operations.has(ids.create)) {
        // The user did not ask for the pet, so a notice about it is skipped.
        const entry = await entryInput(client, id, value as number, { pace, skipsNotices: true });
        return client.call(ids.create, entry, options);
      }
      const before = access.readsFirst && record ? { before: record } : {};
      return client.call(update, { id, body: { quantity: value }, ...before }, options);
    },
  };
  return access;
}

/** The fields of a record that a row names, in the words of the row if they mean the same. */
function fieldsOf(row: Row, record: JsonObject): Fields {
  const [rowFields = {}, ...otherFields] = fieldSetsOf(row);
  const entries = Object.entries(rowFields).map(([name, value]): [string, JsonValue] => {
    const field = record[name] ?? null;
    if (name === 'categoryId' && isJsonObject(value))
      return [name, categoryOf(record, [value, ...otherFields.flatMap((fields) => fields[name] ?? [])])];
    return [name, field];
  });
  return Object.fromEntries(entries);
}

/** The fields of a row: to set, expected, and before and after in the last plan. */
function fieldSetsOf({ intent, before, after }: Row): Fields[] {
  const values = intent.kind === 'set' ? [intent.value, intent.expected, before, after] : [];
  return values.filter((value): value is Fields => typeof value === 'object' && value !== null);
}

/** The category of a record: the reference of a row that means the same, because a service may show the id alone. */
function categoryOf(record: JsonObject, references: readonly JsonValue[]): JsonValue {
  const isSame = (reference: JsonValue) => {
    const { expected, actual } = comparedValues('categoryId', reference, record);
    return isSameValue(expected, actual);
  };
  const { categoryId: id = null, category: name = null } = record;
  return references.find(isSame) ?? (id === null ? { name } : name === null ? { id } : { id, name });
}

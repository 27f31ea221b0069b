import type { HttpResponse } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import { looseResultSchemas } from '../api/schemas.ts';
import { isSameValue } from '../api/values.ts';
import { contentOf } from '../binding/adapt.ts';
import { messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';
import { idFieldOf, messageIn, otherRecord, readJson, resultOf, toRecord } from './response.ts';

// A success is read, not believed: whether the answer of a write shows what was asked.

/** What the user wants to be true after a write. */
export interface WriteIntent {
  /** Of the record; undefined for a create that leaves the id to the service. */
  readonly id: bigint | undefined;
  /** The fields that the user set, by our names; an undefined value is not compared. Empty for a delete. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** What the answer of a write shows. */
export interface Judgement {
  /**
   * - `asked`: the record with every value that the user set, or nothing where that is a success;
   * - `accepted`: the service will do it later, or not (202);
   * - `other`: the record with another value;
   * - `nothing`: neither, so that only reading the record tells.
   */
  readonly shows: 'asked' | 'accepted' | 'other' | 'nothing';
  /** The record in the answer, by our names, if it has one. */
  readonly record?: JsonObject | undefined;
  /** The id of the record, if the answer or the intent names one. */
  readonly id?: bigint | undefined;
  /** Why it is `other` or `nothing`, a clause: `the service answered quantity 0, not 10`. */
  readonly reason?: string | undefined;
}

/**
 * Judges the answer of a write with a status of success.
 *
 * @param mask masks secrets in what the reason quotes.
 * @see RFC 9110, 15.3
 */
export function judgeWrite(
  operation: Operation,
  { id, values }: WriteIntent,
  response: HttpResponse,
  mask: (text: string) => string,
): Judgement {
  const { status, body } = response;
  if (status === 202) return { shows: 'accepted', id };
  const isDelete = operation.method === 'DELETE';
  if (isDelete && status !== 200 && status !== 204)
    return { shows: 'nothing', id, reason: `the service answered ${status} to a DELETE` };
  if (body.length === 0) return { shows: 'asked', id };
  let answer: JsonValue | undefined;
  let content: JsonValue | undefined;
  let record: JsonObject;
  try {
    answer = readJson(response, mask);
    content = contentOf(operation, answer);
    record = toRecord(operation, content);
  } catch (error) {
    const words = messageIn(answer);
    const why =
      words === undefined
        ? messageOf(error)
        : `the service answered ${status} and says: ${shorten(mask(words), 200)}`;
    return { shows: 'nothing', id: id ?? idIn(operation, content ?? answer), reason: mask(why) };
  }
  const fault = otherRecord(operation, id, record);
  if (fault !== undefined) return { shows: 'nothing', id, reason: mask(fault) };
  if (isDelete && (record[idFieldOf(operation)] === undefined || !hasFields(operation, record)))
    return { shows: 'nothing', id, reason: 'the answer is not the deleted record' };
  const { shows, reason } = judgeRecord(values, record, mask);
  return {
    shows,
    record,
    id: id ?? idIn(operation, record),
    reason: reason && `the service answered ${reason}`,
  };
}

/** Whether a record is more than its id, as in `{"id": 1, "deleted": false}`. */
function hasFields(operation: Operation, record: JsonObject): boolean {
  const names = Object.keys(looseResultSchemas[resultOf[operation.noun]].entries);
  return names.some((name) => name !== idFieldOf(operation) && name in record);
}

/** Judges a record by the values that the user set. The reason is the values alone, masked: `quantity 0, not 10`. */
export function judgeRecord(
  values: WriteIntent['values'],
  record: JsonObject,
  mask: (text: string) => string,
): Judgement {
  const clauses: string[] = [];
  let isShown = false;
  for (const name in values) {
    const value = values[name] as JsonValue | undefined;
    if (value === undefined) continue;
    const { wanted, seen } = compared(name, value, record);
    if (isSameValue(wanted, seen)) continue;
    isShown ||= seen !== undefined;
    clauses.push(
      seen === undefined ? `no ${name}` : `${name} ${textOf(seen, mask)}, not ${textOf(wanted, mask)}`,
    );
  }
  if (clauses.length === 0) return { shows: 'asked', record };
  return { shows: isShown ? 'other' : 'nothing', record, reason: clauses.join('; ') };
}

/** The two values of a field to compare. The user's category may be an id, a name, or `{id, name}`. */
function compared(
  field: string,
  value: JsonValue,
  record: JsonObject,
): { readonly wanted: JsonValue; readonly seen: JsonValue | undefined } {
  if (field !== 'categoryId' || (typeof value !== 'string' && !isJsonObject(value)))
    return { wanted: value, seen: record[field] };
  const { id, name } = isJsonObject(value) ? value : { id: undefined, name: value };
  const { categoryId, category } = record;
  if (id !== undefined && categoryId !== undefined && categoryId !== null)
    return { wanted: id, seen: categoryId };
  return { wanted: name ?? id ?? null, seen: category ?? categoryId };
}

function textOf(value: JsonValue, mask: (text: string) => string): string {
  return shorten(mask(typeof value === 'string' ? value : printJson(value)), 100);
}

/** The id in a body that need not be a record: `{"id": 5}`, or 5 itself. */
function idIn(operation: Operation, content: JsonValue | undefined): bigint | undefined {
  const id = isJsonObject(content) ? content[idFieldOf(operation)] : content;
  return typeof id === 'bigint' || Number.isSafeInteger(id) ? BigInt(id as number | bigint) : undefined;
}

/** The id of the record that a create made, by its answer: the last segment of Location. */
export function locatedId({ fields }: Pick<HttpResponse, 'fields'>): bigint | undefined {
  const [location] = [fields.location ?? ''].flat();
  const segment = /\/(\d{1,19})\/?(?:[?#].*)?$/.exec(location ?? '')?.[1];
  return segment === undefined ? undefined : BigInt(segment);
}

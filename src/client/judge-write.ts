import type { HttpResponse } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { looseResultSchemas } from '../api/schemas.ts';
import { comparedValues, isSameValue } from '../api/values.ts';
import { messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';
import { messageIn, otherRecord, parseRecord, readJson } from './read-answer.ts';
import { contentOf } from './wire.ts';

// A status of success is not enough: the answer of a write must also show what the user wanted.

/** What the user wants to be true after a write. */
export interface WriteIntent {
  /** The id of the record; undefined for a create that leaves it to the service. */
  readonly id: bigint | undefined;
  /** The fields that the user set, by our names; an undefined value is not compared. Empty for a delete. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** What the answer of a write shows. */
export interface Judgement {
  /**
   * - `intent`: the record with every value that the user set, or no body at all;
   * - `accepted`: the service will do it later, or not (202);
   * - `other`: the record with another value;
   * - `nothing`: not the record, so that the client must read it to know.
   */
  readonly shows: 'intent' | 'accepted' | 'other' | 'nothing';
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
  if (body.length === 0) return { shows: 'intent', id };
  let answer: JsonValue | undefined;
  let content: JsonValue | undefined;
  let record: JsonObject;
  try {
    answer = readJson(response, mask);
    content = contentOf(operation, answer);
    record = parseRecord(operation, content);
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
  if (isDelete && (record[nouns[operation.noun].idField] === undefined || !hasFields(operation, record)))
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
  const names = Object.keys(looseResultSchemas[nouns[operation.noun].schema].entries);
  return names.some((name) => name !== nouns[operation.noun].idField && name in record);
}

/** Judges a record by the values that the user set. The reason is the values alone, masked: `quantity 0, not 10`. */
export function judgeRecord(
  values: WriteIntent['values'],
  record: JsonObject,
  mask: (text: string) => string,
): Judgement {
  const clauses: string[] = [];
  let isOther = false;
  for (const name in values) {
    const value = values[name] as JsonValue | undefined;
    if (value === undefined) continue;
    const { expected, actual } = comparedValues(name, value, record);
    if (isSameValue(expected, actual)) continue;
    isOther ||= actual !== undefined;
    clauses.push(
      actual === undefined
        ? `no ${name}`
        : `${name} ${quoteValue(actual, mask)}, not ${quoteValue(expected, mask)}`,
    );
  }
  if (clauses.length === 0) return { shows: 'intent', record };
  return { shows: isOther ? 'other' : 'nothing', record, reason: clauses.join('; ') };
}

function quoteValue(value: JsonValue, mask: (text: string) => string): string {
  return shorten(mask(typeof value === 'string' ? value : printJson(value)), 100);
}

/** The id in a body that need not be a record: `{"id": 5}`, or 5 itself. */
function idIn(operation: Operation, content: JsonValue | undefined): bigint | undefined {
  const id = isJsonObject(content) ? content[nouns[operation.noun].idField] : content;
  return typeof id === 'bigint' || Number.isSafeInteger(id) ? BigInt(id as number | bigint) : undefined;
}

/** The id of the record that a create made, by its answer: the last segment of Location. */
export function idInLocation({ headers }: Pick<HttpResponse, 'headers'>): bigint | undefined {
  const [location] = [headers.location ?? ''].flat();
  const segment = /\/(\d{1,19})\/?(?:[?#].*)?$/.exec(location ?? '')?.[1];
  return segment === undefined ? undefined : BigInt(segment);
}

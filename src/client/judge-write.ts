import type { Contract } from '../api/contract.ts';
import { type HttpHeaders, type HttpResponse, headerValue } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { type Operation, type OperationId, operations } from '../api/operations.ts';
import { looseResultSchemas } from '../api/schemas.ts';
import { comparedValues, isSameValue } from '../api/values.ts';
import { messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import type { Mask } from '../process/secrets.ts';
import { shorten } from '../process/text.ts';
import type { Attempt } from './attempt.ts';
import { messageIn } from './error-body.ts';
import { otherRecord, parseRecord, readJson } from './read-answer.ts';
import { contentOf } from './wire.ts';

// A status of success is not enough: the response of a write must also show what the user asked for.

/** The state that the user wants after a write. */
export interface SentWrite {
  /** The id of the record; undefined for a create that leaves it to the service. */
  readonly id: bigint | undefined;
  /** The fields that the user set, by our names. An undefined value is not compared. Empty for a delete. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** What a response says of a write. */
export interface Judgement {
  /** The record in the answer, by our names, if it has one. */
  readonly value?: JsonObject | undefined;
  /** The id of the record that was written, if the response or the intent names one. */
  readonly id?: bigint | undefined;
  /** Why a success does not show what the user set, a clause: `the service answered quantity 0, not 10`. A 202 has none. */
  readonly fault?: string | undefined;
}

/**
 * Judges a write by its response, which has a status of success. There is no fault without a body, and with a 202.
 *
 * @param mask masks the secrets in texts that the reason quotes.
 * @see RFC 9110, 15.3
 */
export function judgeWrite(
  operation: Operation,
  { id, values }: SentWrite,
  response: HttpResponse,
  mask: Mask,
): Judgement {
  const { status } = response;
  if (status === 202) return { id };
  const isDelete = operation.method === 'DELETE';
  // Descriptions often leave out the responses of a DELETE: then any success is one.
  if (isDelete && status !== 200 && !operation.success.includes(status))
    return { id, fault: `the service answered ${status} to a DELETE` };
  if (response.body.length === 0) return { id };
  let body: JsonValue | undefined;
  let content: JsonValue | undefined;
  let record: JsonObject;
  try {
    body = readJson(response, mask);
    content = contentOf(operation, body);
    record = parseRecord(operation, content);
  } catch (error) {
    const words = messageIn(body);
    const why =
      words === undefined
        ? messageOf(error)
        : `the service answered ${status} and says: ${shorten(mask(words), 200)}`;
    return { id: id ?? idIn(operation, content ?? body), fault: mask(why) };
  }
  const otherFault = otherRecord(operation, id, record);
  if (otherFault !== undefined) return { id, fault: mask(otherFault) };
  if (isDelete && (record[nouns[operation.noun].idField] === undefined || !hasFields(operation, record)))
    return { id, fault: 'the answer is not the deleted record' };
  const others = otherValues(operation, values, record, mask);
  return {
    value: record,
    id: id ?? idIn(operation, record),
    fault: others.length === 0 ? undefined : `the service answered ${others.join('; ')}`,
  };
}

/** Returns true if a record has a field besides its id. `{"id": 1, "deleted": false}` has none of ours. */
function hasFields(operation: Operation, record: JsonObject): boolean {
  const names = Object.keys(looseResultSchemas[nouns[operation.noun].schema].entries);
  return names.some((name) => name !== nouns[operation.noun].idField && name in record);
}

/** Lists the fields of a record that do not have what the user set: `quantity 0, not 10`. */
function otherValues(
  { body }: Operation,
  values: SentWrite['values'],
  record: JsonObject,
  mask: Mask,
): string[] {
  const clauses: string[] = [];
  for (const name in values) {
    const value = values[name] as JsonValue | undefined;
    if (value === undefined || body?.fields[name]?.isWriteOnly) continue;
    const { expected, actual } = comparedValues(name, value, record);
    if (isSameValue(expected, actual)) continue;
    clauses.push(
      actual === undefined
        ? `no ${name}`
        : `${name} ${valueText(actual, mask)}, not ${valueText(expected, mask)}`,
    );
  }
  return clauses;
}

function valueText(value: JsonValue | undefined, mask: Mask): string {
  return shorten(mask(typeof value === 'string' ? value : printJson(value)), 100);
}

/** Returns the id in a body that may be no record: `{"id": 5}` or `5`. */
function idIn(operation: Operation, content: JsonValue | undefined): bigint | undefined {
  const id = isJsonObject(content) ? content[nouns[operation.noun].idField] : content;
  return typeof id === 'bigint' || Number.isSafeInteger(id) ? BigInt(id as number | bigint) : undefined;
}

/**
 * Returns the id of the record that a create has made, as the Location of its answer names it. Undefined if the Location is
 * no record of the noun below the base URL.
 */
export function locatedId(
  { contract, baseUrl }: { readonly contract: Contract; readonly baseUrl: string },
  operation: OperationId,
  { headers, attempts }: { readonly headers: HttpHeaders; readonly attempts: readonly Attempt[] },
): bigint | undefined {
  const location = headerValue(headers, 'location');
  const url = attempts.at(-1)?.request.url ?? baseUrl;
  if (location === undefined || !URL.canParse(location, url)) return undefined;
  const { origin, pathname } = new URL(location, url);
  const base = new URL(baseUrl);
  const { noun } = operations[operation];
  const { get, create } = nouns[noun].operations;
  // A service without a reading of one record has its records below the path of the create.
  const path = contract.operations.get(get)?.path ?? `${contract.operations.get(create)?.path}/{id}`;
  const [before = '', behind = ''] = (base.pathname.replace(/\/$/, '') + path).split(/\{[^}]*\}/);
  if (origin !== base.origin || !pathname.startsWith(before)) return undefined;
  const rest = pathname.slice(before.length).replace(/\/$/, '');
  const id = rest.endsWith(behind) ? rest.slice(0, rest.length - behind.length) : '';
  return /^\d{1,19}$/.test(id) ? BigInt(id) : undefined;
}

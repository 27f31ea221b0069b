import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { int64Max } from '../api/values.ts';
import { fromWire } from '../client/read-answer.ts';
import type { CallInput } from '../client/request.ts';
import { CliError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import { withArticle } from '../process/text.ts';
import type { CheckAnswer, CheckContext } from './check.ts';
import { FindingError, skip } from './finding.ts';
import { idParameter } from './round.ts';

/** Returns the records in the answer of a list, with our field names; empty if the body is not an array. */
export function recordsOf({ operation, json = null }: CheckAnswer): JsonObject[] {
  const records = fromWire(operation, json);
  return Array.isArray(records) ? records.filter(isJsonObject) : [];
}

/** Returns the record in an answer, with our field names; undefined if the body is not an object. */
export function recordOf({ operation, json = null }: CheckAnswer): JsonObject | undefined {
  const record = fromWire(operation, json);
  return isJsonObject(record) ? record : undefined;
}

/** Returns the ids of the records in the answer of a list. */
export function idsOf(answer: CheckAnswer): bigint[] {
  return idsIn(answer, nouns[answer.operation.noun].idName);
}

/** Returns the value of a field as an id; undefined if it is not an integer. */
function jsonId(value: JsonValue | undefined): bigint | undefined {
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  return isInteger ? BigInt(value) : undefined;
}

/**
 * Finds ids for an operation, and the list that shows them. Tries the list of its noun first, then every list whose records
 * have a field that refers to the noun.
 *
 * @throws FindingError with a skip if no list shows an id that the operation takes.
 */
export async function findIds(
  context: CheckContext,
  operation: Operation,
): Promise<{ readonly list: Operation; readonly ids: readonly bigint[] }> {
  const lists = context.reads.filter(({ isList }) => isList);
  const name = nouns[operation.noun].idName;
  for (const list of new Set([...lists.filter(({ noun }) => noun === operation.noun), ...lists])) {
    const answer = await context.askOnce(list).catch((error) => {
      if (!(error instanceof CliError)) throw error;
    });
    const ids = answer ? idsIn(answer, name).filter((id) => isAcceptedId(operation, id)) : [];
    if (ids.length > 0) return { list, ids };
  }
  throw new FindingError(skip(`no list shows ${withArticle(name)} that ${operation.id} takes`));
}

/** Whether an operation takes an id: an int64 from 0, within the bounds of its parameter. */
function isAcceptedId(operation: Operation, id: bigint): boolean {
  const { minimum = 0n, maximum = int64Max } = idParameter(operation)?.bounds ?? {};
  return id >= 0n && id >= minimum && id <= maximum;
}

/** Returns inputs for an operation: one for each id that a list shows, or an empty input if the operation takes no id. */
export async function inputsFor(context: CheckContext, operation: Operation): Promise<CallInput[]> {
  if (!idParameter(operation)) return [{}];
  const { ids } = await findIds(context, operation);
  return ids.map((id) => ({ id }));
}

/**
 * Returns the ids in the records of a list that belong to an id name such as `petId`: the ids of pets from a list of pets,
 * and the values of the field `petId` from any other list.
 */
export function idsIn(answer: CheckAnswer, name: string): bigint[] {
  const { idName, idField } = nouns[answer.operation.noun];
  const ids = recordsOf(answer).map((record) =>
    jsonId(record[name] ?? (idName === name ? record[idField] : undefined)),
  );
  return ids.filter((id) => id !== undefined);
}

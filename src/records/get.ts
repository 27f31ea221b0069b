import type { OperationId } from '../api/operations.ts';
import { readRecord } from '../client/read-record.ts';
import type { Context } from '../context.ts';
import { cellText, type View } from '../output/columns.ts';
import type { Output } from '../output/print.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError, unansweredError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { secondsText } from '../process/text.ts';
import { type Access, openAccess } from './access.ts';
import { Batch } from './batch.ts';
import type { FieldCondition, IdOrName } from './parse-values.ts';
import { openView } from './print-records.ts';
import { namedNoun, type RecordNoun, recordView } from './record-nouns.ts';

/**
 * Reads records, to be printed in the order of their ids. A lone record is not printed as a list.
 *
 * @throws CliError if no record could be read.
 */
export async function getRecords(
  context: Context,
  noun: RecordNoun,
  idsOrNames: readonly IdOrName[],
  until?: FieldCondition | undefined,
): Promise<Output> {
  const access = await openAccess(context, noun, await readOperation(context, noun));
  const ids = await resolveIds(access, idsOrNames);
  const records = until && (await waitUntil(access, ids, until));
  const read = async (id: bigint | CliError) => {
    if (typeof id !== 'bigint') throw id;
    return records?.get(id) ?? (await readRecord(access.client, noun.name, id)).value;
  };
  const batch = new Batch(ids, read, { unit: noun.plural, atOnce: context.settings.get('concurrency') });
  const [found, { view, readNames }] = await Promise.all([batch.inOrder(), openView(access, false)]);
  const error = batch.error();
  const [first] = found;
  if (first === undefined) throw error;
  const notes = new Set<string | undefined>();
  for (const record of found) notes.add(await readNames(record));
  for (const note of notes) if (note !== undefined) await context.warn(note);
  return ids.length > 1 ? { pages: [found], view, error } : { record: first, view, error };
}

/** The operation that reads a record. A service that has only a list is asked for that. */
async function readOperation(
  context: Context,
  { operations: { get, list } }: RecordNoun,
): Promise<OperationId> {
  const { operations } = await context.contract();
  return !operations.has(get) && operations.has(list) ? list : get;
}

/** Returns the columns of `get`. */
export async function getView(context: Context, noun: RecordNoun): Promise<View<object>> {
  return recordView(context, noun, await readOperation(context, noun));
}

/** Returns the id of each argument. An unknown name gives its error, so that the other records are still printed. */
async function resolveIds(
  { names, noun }: Access,
  idsOrNames: readonly IdOrName[],
): Promise<(bigint | CliError)[]> {
  const ids: (bigint | CliError)[] = [];
  for (const idOrName of idsOrNames) {
    const id = await names.idOf(namedNoun(noun), idOrName).catch((error: unknown) => {
      if (error instanceof CliError && error.kind === 'not-found') return error;
      throw error;
    });
    ids.push(id);
  }
  return ids;
}

const pollMs = 2000;
/** The least time for the last reading. */
const leastReadMs = 100;

/**
 * Polls each record until the condition holds for it, and returns the records as they were then.
 *
 * @throws CliError `unavailable` if the condition does not hold for all records within --timeout.
 */
async function waitUntil(
  access: Access,
  ids: readonly (bigint | CliError)[],
  condition: FieldCondition,
): Promise<ReadonlyMap<bigint, JsonObject>> {
  const { context, noun } = access;
  const limitMs = context.settings.get('timeout');
  const endMs = monotonicMs() + limitMs;
  const records = new Map<bigint, JsonObject>();
  for (const id of ids) {
    if (typeof id !== 'bigint') continue;
    const record = await poll(access, id, condition, endMs);
    if (typeof record === 'string')
      throw unansweredError(
        'timeout',
        `${condition.field} of ${noun.singular} ${id} was not ${condition.value} within ${secondsText(limitMs)}: ${record}`,
        { retryable: true, hint: 'allow more time with --timeout' },
      );
    records.set(id, record);
  }
  return records;
}

/**
 * Reads a record at once, then after each pause, and once more right before the time is over. The last reading gets twice
 * the time that the reading before it took.
 *
 * @returns the record if the condition holds; otherwise a clause that says why it did not hold at the last reading.
 */
async function poll(
  access: Access,
  id: bigint,
  condition: FieldCondition,
  endMs: number,
): Promise<JsonObject | string> {
  for (let isLast = false; ; ) {
    const beganMs = monotonicMs();
    const record = await readIfHolds(access, id, condition, Math.max(endMs - beganMs, 1));
    const nowMs = monotonicMs();
    if (typeof record !== 'string' || isLast || nowMs >= endMs) return record;
    const pauseMs = endMs - nowMs - Math.max(leastReadMs, 2 * (nowMs - beganMs));
    isLast = pauseMs <= pollMs;
    await sleep(Math.max(0, Math.min(pollMs, pauseMs)), access.context.interrupts.signal);
  }
}

/** Reads a record. Returns it if the condition holds; otherwise a clause that says why not. */
async function readIfHolds(
  { client, noun }: Access,
  id: bigint,
  { field, value }: FieldCondition,
  timeoutMs: number,
): Promise<JsonObject | string> {
  try {
    const { value: record } = await readRecord(client, noun.name, id, { timeoutMs });
    if (!Object.hasOwn(record, field)) return `it has no ${field}`;
    const text = cellText(record[field]);
    // A field without a value does not meet the condition, not even `--until field=`.
    return text !== '' && text === value ? record : `${field} is ${text || 'empty'}`;
  } catch (error) {
    if (!(error instanceof CliError) || error.kind !== 'unavailable') throw error;
    return error.message;
  }
}

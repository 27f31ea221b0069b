import { readRecord } from '../client/read-record.ts';
import type { Context } from '../context.ts';
import { cellText } from '../output/columns.ts';
import { monotonicMs } from '../process/deadline.ts';
import { CliError, unansweredError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { type Access, openAccess, type RecordNoun } from './noun.ts';
import type { FieldCondition, IdOrName } from './parse-values.ts';
import { poll } from './poll.ts';
import { printResults } from './print-records.ts';
import { Work } from './work.ts';

/** Prints the records with these ids: one as a lone record, several as a list, in the order of the ids. */
export async function getRecords<Entity>(
  context: Context,
  noun: RecordNoun<Entity>,
  idsOrNames: readonly IdOrName[],
  until?: FieldCondition | undefined,
): Promise<void> {
  const { get, list } = noun.operations;
  const { operations } = await context.contract();
  const operation = !operations.has(get) && operations.has(list) ? list : get;
  const access = await openAccess(context, noun, operation);
  const ids = await resolveEach(access, idsOrNames);
  const resolvedIds = ids.filter((id) => typeof id === 'bigint');
  const records = until && (await waitUntil(access, resolvedIds, until));
  const read = async (id: bigint | CliError) => {
    if (typeof id !== 'bigint') throw id;
    return records?.get(id) ?? (await readRecord<Entity>(access.client, access.operation.noun, id)).value;
  };
  const atOnce = context.settings.get('concurrency');
  const work = new Work(ids, read, { unit: noun.plural, atOnce });
  await printResults(access, work.results, { asList: ids.length > 1 });
  const error = work.error();
  if (error) throw error;
}

/** The ids; for an unknown name an error, so that the other records are still printed. */
async function resolveEach<Entity>(
  access: Access<Entity>,
  idsOrNames: readonly IdOrName[],
): Promise<(bigint | CliError)[]> {
  const ids: (bigint | CliError)[] = [];
  for (const idOrName of idsOrNames) {
    const resolution = await access.names.idsOf(access.noun.named, [idOrName]).catch((error: unknown) => {
      if (error instanceof CliError && error.kind === 'not-found') return [error];
      throw error;
    });
    ids.push(...resolution);
  }
  return ids;
}

const pollMs = 2000;

/**
 * Polls each record until the condition holds for it, and returns the records as they were then.
 *
 * @throws CliError `unavailable` if the condition does not hold for one of them within --timeout, which is for all together.
 */
async function waitUntil<Entity>(
  access: Access<Entity>,
  ids: readonly bigint[],
  { field, value }: FieldCondition,
): Promise<ReadonlyMap<bigint, Entity>> {
  const { context, noun } = access;
  const records = new Map<bigint, Entity>();
  const limitMs = context.settings.get('timeout');
  const endMs = monotonicMs() + limitMs;
  for (const id of ids) {
    let why = '';
    const readIfHolds = async (leftMs: number): Promise<Entity | undefined> => {
      const answer = await readRecord<Entity>(access.client, access.operation.noun, id, {
        timeoutMs: leftMs,
      }).catch((error: unknown) => {
        if (!(error instanceof CliError) || error.kind !== 'unavailable') throw error;
        why = error.message;
      });
      if (!answer) return undefined;
      const cell = new Map<string, JsonValue>(Object.entries(answer.value as object)).get(field);
      // A field without a value does not meet the condition, not even `--until field=`.
      if (cell !== undefined && cell !== null && cellText(cell) === value) return answer.value;
      why = cell === undefined ? `it has no ${field}` : `${field} is ${cellText(cell) || 'empty'}`;
      return undefined;
    };
    const forMs = Math.max(endMs - monotonicMs(), 0);
    const record = await poll({ forMs, everyMs: pollMs, signal: context.interrupts.signal }, readIfHolds);
    if (record === undefined)
      throw unansweredError(
        'timeout',
        `${field} of ${noun.singular} ${id} was not ${value} within ${limitMs / 1000} s: ${why}`,
        { retryable: true, hint: 'allow more time with --timeout' },
      );
    records.set(id, record);
  }
  return records;
}

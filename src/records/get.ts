import type { Context } from '../context.ts';
import { cellText } from '../output/columns.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError, UnavailableError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { type Access, type Noun, openAccess, readRecord } from './noun.ts';
import { printResults } from './print.ts';
import type { Condition, IdOrName } from './values.ts';
import { Work } from './work.ts';

/** Prints the records with these ids: one as a lone record, several as a list, in the order of the ids. */
export async function getRecords<Entity>(
  context: Context,
  noun: Noun<Entity>,
  given: readonly IdOrName[],
  until?: Condition | undefined,
): Promise<void> {
  const { get, list } = noun.operations;
  const { operations } = await context.contract();
  const operation = noun.read && !operations.has(get) && operations.has(list) ? list : get;
  const access = await openAccess(context, noun, operation, given.length);
  const ids = await resolveEach(access, given);
  const found = ids.filter((id) => typeof id === 'bigint');
  const held = until && (await waitUntil(access, found, until));
  const read = async (id: bigint | CliError) => {
    if (typeof id !== 'bigint') throw id;
    return held?.get(id) ?? (await readRecord(access, id)).value;
  };
  const atOnce = (await context.settings()).get('concurrency');
  const work = new Work(ids, read, { unit: noun.many, atOnce });
  await printResults(access, work.results, ids.length > 1);
  work.check();
}

/** The ids; for an unknown name an error, so that the other records are still printed. */
async function resolveEach<Entity>(
  access: Access<Entity>,
  given: readonly IdOrName[],
): Promise<(bigint | CliError)[]> {
  const ids: (bigint | CliError)[] = [];
  for (const each of given) {
    const one = await access.names.idsOf(access.noun.named, [each]).catch((error: unknown) => {
      if (error instanceof CliError && error.kind === 'not-found') return [error];
      throw error;
    });
    ids.push(...one);
  }
  return ids;
}

const pollMs = 2000;

/** The records as they were when the condition held for each of them. @throws UnavailableError as `pollUntil` does */
async function waitUntil<Entity>(
  access: Access<Entity>,
  ids: readonly bigint[],
  until: Condition,
): Promise<ReadonlyMap<bigint, Entity>> {
  const held = new Map<bigint, Entity>();
  const limitMs = (await access.context.settings()).get('timeout');
  const endMs = monotonicMs() + limitMs;
  for (const id of ids) held.set(id, await pollUntil(access, id, until, { limitMs, endMs }));
  return held;
}

/**
 * Polls a record until the condition holds, and returns it.
 *
 * @param limitMs the value of --timeout, for all records together.
 * @param endMs when that time is over.
 * @throws UnavailableError if the condition does not hold by then.
 */
async function pollUntil<Entity>(
  access: Access<Entity>,
  id: bigint,
  { field, value }: Condition,
  { limitMs, endMs }: { readonly limitMs: number; readonly endMs: number },
): Promise<Entity> {
  const { context, noun } = access;
  for (;;) {
    let why: string;
    try {
      const record = (await readRecord(access, id, { timeoutMs: Math.max(endMs - monotonicMs(), 1) })).value;
      const found = new Map<string, JsonValue>(Object.entries(record as object)).get(field);
      // A field without a value does not meet the condition, not even `--until field=`.
      if (found !== undefined && found !== null && cellText(found) === value) return record;
      why = found === undefined ? `it has no ${field}` : `${field} is ${cellText(found) || 'empty'}`;
    } catch (error) {
      if (!(error instanceof CliError) || error.kind !== 'unavailable') throw error;
      why = error.message;
    }
    const leftMs = endMs - monotonicMs();
    await sleep(Math.min(pollMs, Math.max(0, leftMs)), context.interrupts.signal);
    if (leftMs <= pollMs)
      throw new UnavailableError(
        `get ${noun.one} ${id}: ${field} was not ${value} within ${limitMs / 1000} s: ${why}`,
        { reason: 'timeout', sent: true, retryable: true, hint: 'allow more time with --timeout' },
      );
  }
}

import { offeredOperation } from '../api/contract.ts';
import type { Client } from '../client/client.ts';
import { monotonicMs } from '../clock.ts';
import type { Context } from '../context.ts';
import { sleep } from '../deadline.ts';
import { CliError, UnavailableError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import { cellText } from '../output/columns.ts';
import { attemptEach } from './many.ts';
import { resolveIds } from './names.ts';
import type { Noun } from './noun.ts';
import type { Condition, IdOrName } from './values.ts';
import { clientFor, printSuccesses } from './write.ts';

/** Prints the records with these ids: one as a lone record, several as a list, in the order of the ids. */
export async function getRecords<Row>(
  context: Context,
  noun: Noun<Row>,
  given: readonly IdOrName[],
  until?: Condition | undefined,
): Promise<void> {
  await (await context.printer()).check(noun.view);
  const contract = await context.contract();
  const [usual] = noun.reading;
  if (!noun.reading.some((id) => contract.operations.has(id))) offeredOperation(contract, usual);
  const client = await clientFor(context, given.length);
  const ids = await resolveEach(context, client, noun, given);
  const found = ids.filter((id) => typeof id === 'bigint');
  const held = until && (await waitUntil(context, client, noun, found, until));
  const read = async (id: bigint | CliError) => {
    if (typeof id !== 'bigint') throw id;
    return held?.get(id) ?? (await noun.read(context, client, id)).value;
  };
  const atOnce = (await context.settings()).get('concurrency');
  const attempts = attemptEach(ids, read, { noun: noun.many, total: ids.length, atOnce });
  await printSuccesses(context, noun, client, { attempts, asList: ids.length > 1, isWrite: false });
}

/** The ids; for an unknown name an error, so that the other records are still printed. */
async function resolveEach<Row>(
  context: Context,
  client: Client,
  noun: Noun<Row>,
  given: readonly IdOrName[],
): Promise<(bigint | CliError)[]> {
  const ids: (bigint | CliError)[] = [];
  for (const each of given) {
    const one = await resolveIds(context, client, noun.named, [each]).catch((error: unknown) => {
      if (error instanceof CliError && error.kind === 'not-found') return [error];
      throw error;
    });
    ids.push(...one);
  }
  return ids;
}

const pollMs = 2000;

/**
 * Polls the records until the condition holds for each of them, and returns them as they were then. A missing field
 * does not meet the condition.
 *
 * @throws UnavailableError if it does not hold within --timeout.
 */
async function waitUntil<Row>(
  context: Context,
  client: Client,
  noun: Noun<Row>,
  ids: readonly bigint[],
  { field, value }: Condition,
): Promise<ReadonlyMap<bigint, Row>> {
  const held = new Map<bigint, Row>();
  const timeoutMs = (await context.settings()).get('timeout');
  const endMs = monotonicMs() + timeoutMs;
  for (const id of ids) {
    let last = 'it could not be read';
    for (;;) {
      const leftMs = endMs - monotonicMs();
      try {
        const record = (await noun.read(context, client, id, { timeoutMs: Math.max(leftMs, 1) })).value;
        const found = (record as Readonly<Record<string, JsonValue | undefined>>)[field];
        if (found !== undefined && found !== null && cellText(found) === value) {
          held.set(id, record);
          break;
        }
        last = found === undefined ? `it has no ${field}` : `${field} is ${cellText(found) || 'empty'}`;
      } catch (error) {
        if (!(error instanceof CliError) || error.kind !== 'unavailable') throw error;
        last = error.message;
      }
      if (monotonicMs() + pollMs >= endMs) {
        await sleep(Math.max(0, endMs - monotonicMs()), context.interrupts.signal);
        throw new UnavailableError(
          `get ${noun.one} ${id}: ${field} was not ${value} within ${timeoutMs / 1000} s: ${last}`,
          { reason: 'timeout', sent: true, retryable: true, hint: 'give it longer with --timeout' },
        );
      }
      await sleep(pollMs, context.interrupts.signal);
    }
  }
  return held;
}

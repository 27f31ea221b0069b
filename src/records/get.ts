import { offeredOperation } from '../api/contract.ts';
import type { Context } from '../context.ts';
import { attemptEach } from './many.ts';
import { resolveIds } from './names.ts';
import type { Noun } from './noun.ts';
import type { IdOrName } from './values.ts';
import { clientFor, printSuccesses } from './write.ts';

/** Prints the records with these ids: one as a lone record, several as a list, in the order of the ids. */
export async function getRecords<Row>(
  context: Context,
  noun: Noun<Row>,
  given: readonly IdOrName[],
): Promise<void> {
  await (await context.printer()).check(noun.view);
  const contract = await context.contract();
  const [usual] = noun.reading;
  if (!noun.reading.some((id) => contract.operations.has(id))) offeredOperation(contract, usual);
  const client = await clientFor(context, given.length);
  const ids = given.every((id) => typeof id === 'bigint')
    ? given
    : await resolveIds(context, client, noun.named, given);
  const read = async (id: bigint) => (await noun.read(context, client, id)).value;
  const atOnce = (await context.settings()).get('concurrency');
  const attempts = attemptEach(ids, read, { noun: noun.many, total: ids.length, atOnce });
  await printSuccesses(context, noun, client, { attempts, asList: ids.length > 1, isWrite: false });
}

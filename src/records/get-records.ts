import { offeredOperation } from '../api/contract.ts';
import type { Context } from '../context.ts';
import { attemptEach } from './attempts.ts';
import { clientFor } from './client-for.ts';
import type { Noun } from './noun.ts';
import { printSuccesses } from './print-successes.ts';

/** Prints the records with these ids: one as a lone record, several as a list, in the order of the ids. */
export async function getRecords<Row>(
  context: Context,
  noun: Noun<Row>,
  ids: readonly bigint[],
): Promise<void> {
  await (await context.printer()).check(noun.view);
  const contract = await context.contract();
  const [usual] = noun.reading;
  if (!noun.reading.some((id) => contract.operations.has(id))) offeredOperation(contract, usual);
  const client = await clientFor(context, ids.length);
  const filled = noun.fillView(context, client);
  const read = async (id: bigint) => (await noun.read(context, client, id)).value;
  const atOnce = (await context.settings()).get('concurrency');
  const attempts = attemptEach(ids, read, { noun: noun.many, total: ids.length, atOnce });
  await printSuccesses(context, attempts, { filled, asList: ids.length > 1, isWrite: false });
}

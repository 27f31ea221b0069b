import { offeredOperation } from '../api/contract.ts';
import type { Operation, OperationId } from '../api/operations.ts';
import type { Client } from '../client/client.ts';
import type { ClientUse, Context } from '../context.ts';
import { Names } from './names.ts';
import { type RecordNoun, viewOf } from './record-nouns.ts';

/** The records of one noun at one service, for one verb. */
export interface Access {
  readonly context: Context;
  readonly client: Client;
  readonly noun: RecordNoun;
  /** The names of the service that the client calls. */
  readonly names: Names;
  /** The operation that the verb is about. */
  readonly operation: Operation;
}

/**
 * Checks everything that can be wrong before the first request, and opens the client.
 *
 * @throws UsageError for a field to print that the noun lacks, or an operation that the service does not offer.
 */
export async function openAccess(
  context: Context,
  noun: RecordNoun,
  operationId: OperationId,
  use: ClientUse = 'records',
): Promise<Access> {
  const operation = offeredOperation(await context.contract(), operationId);
  await (await context.printer()).check(viewOf(noun, operation));
  const client = await context.client(use);
  return { context, client, noun, names: new Names(context, client), operation };
}

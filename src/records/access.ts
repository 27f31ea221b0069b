import { offeredOperation } from '../api/contract.ts';
import type { Operation, OperationId } from '../api/operations.ts';
import type { Client } from '../client/client.ts';
import type { ClientUse, Context } from '../context.ts';
import { Names } from './names.ts';
import type { RecordNoun } from './record-nouns.ts';

/** The access of one verb to the records of one noun at one service. */
export interface Access {
  readonly context: Context;
  readonly client: Client;
  readonly noun: RecordNoun;
  /** The names of the pets and categories of that service. */
  readonly names: Names;
  /** The operation that the verb is about. */
  readonly operation: Operation;
}

/**
 * Opens the client.
 *
 * @throws UsageError if the service does not offer the operation.
 */
export async function openAccess(
  context: Context,
  noun: RecordNoun,
  operationId: OperationId,
  use: ClientUse = 'records',
): Promise<Access> {
  const operation = offeredOperation(await context.contract(), operationId);
  const client = await context.client(use);
  return { context, client, noun, names: new Names(context, client), operation };
}

import { offeredOperation } from '../api/contract.ts';
import type { Operation, OperationId } from '../api/operations.ts';
import type { CallOptions } from '../client/call.ts';
import type { Answer, Client } from '../client/client.ts';
import type { Context } from '../context.ts';
import { type EditableNoun, inputFor, type Noun, viewOf } from './noun.ts';

/** Access of a verb to the records of one noun at one service. */
export interface Access<Entity> {
  readonly context: Context;
  readonly client: Client;
  readonly noun: Noun<Entity>;
  /** The operation that the verb is about. */
  readonly operation: Operation;
}

/** Access for a create or an update. */
export interface EditAccess<Entity> extends Access<Entity> {
  readonly noun: EditableNoun<Entity>;
}

/**
 * Checks everything that can be wrong before the first request, and opens the client.
 *
 * @param requests how many will be sent, if they are known.
 * @throws UsageError for a field to print that the noun lacks, or an operation that the service does not offer.
 */
export async function openAccess<Entity, Kind extends Noun<Entity>>(
  context: Context,
  noun: Kind & Noun<Entity>,
  operationId: OperationId,
  requests = 1,
): Promise<Access<Entity> & { readonly noun: Kind }> {
  await (await context.printer()).check(viewOf(noun));
  const operation = offeredOperation(await context.contract(), operationId);
  return { context, client: await clientFor(context, requests), noun, operation };
}

/** With at least this many requests, the transport that starts slower and runs faster pays off. */
const manyRequests = 20;

export function clientFor(context: Context, requests: number): Promise<Client> {
  return context.client(requests < manyRequests ? 'few' : 'many');
}

export function readRecord<Entity>(
  { context, client, noun }: Access<Entity>,
  id: bigint,
  options?: CallOptions,
): Promise<Answer<Entity>> {
  if (noun.read) return noun.read(context, client, id, options);
  const { get } = noun.operations;
  return client.call(get, inputFor(get, id) as never, options) as Promise<Answer<Entity>>;
}

import type { InventoryItem, PetStatus } from '../api/schemas.ts';
import type { Answer, Client } from '../client/client.ts';
import { ApiError, CliError, UnavailableError } from '../errors.ts';
import type { Outcome } from './outcome.ts';
import type { Pace } from './pace.ts';
import { RowCall } from './row-call.ts';
import { type Stop, StoppedError } from './stop.ts';
import type { StopRules } from './stop-rules.ts';

/** What a row wants of the service. */
export interface RowTarget {
  readonly petId: bigint;
  readonly quantity: number;
  /** Where the pet has no entry, one is made. */
  readonly mayCreate: boolean;
  /** Of the entry as the plan saw it: another one is not overwritten. */
  readonly etag?: string | undefined;
  /** The count that it must have now; looked at once more where there is no ETag to hold it. */
  readonly expected?: number | undefined;
}

export interface RowWriter {
  readonly client: Client;
  readonly pace: Pace;
  readonly stop: Stop;
  readonly rules: StopRules;
  /** For an entry that is made: its status is that of its pet. */
  readPetStatus(petId: bigint): Promise<PetStatus>;
}

/** Sets one pet's count, and gives what became of it; undefined where the run stopped before that was settled. */
export async function writeRow(writer: RowWriter, target: RowTarget): Promise<Outcome | undefined> {
  const call = new RowCall(writer, target.etag);
  try {
    const { expected, etag } = target;
    const turned =
      expected === undefined || etag !== undefined ? undefined : await checkExpected(writer, target, call);
    return turned ?? accept(writer, target, await send(writer, target, call));
  } catch (error) {
    if (error instanceof StoppedError) return call.interrupted();
    if (!(error instanceof CliError)) throw error;
    // Turned away by a service that is overloaded, and then the run stopped: the row is as it was.
    if (writer.stop.reason && error instanceof ApiError && (error.status === 429 || error.status === 503))
      return undefined;
    return refuse(writer, target, error);
  }
}

/** Reads the count again just before it is overwritten, where the row expects one. */
async function checkExpected(
  writer: RowWriter,
  target: RowTarget,
  call: RowCall,
): Promise<Outcome | undefined> {
  const { petId, quantity, expected } = target;
  const answer = await writer.client.call('getInventory', { petId }, call);
  const found = answer.value.quantity;
  call.ifMatch = answer.etag;
  if (found === expected) return undefined;
  return found === quantity ? { state: 'unchanged' } : unexpected(found, expected);
}

export function unexpected(found: number | bigint | undefined, expected: number | undefined): Outcome {
  const now = found === undefined ? 'the pet has no inventory entry' : `the count is ${found} now`;
  return { state: 'failed', code: 'unexpected_count', message: `${now}, not ${expected} as expected` };
}

async function send(
  writer: RowWriter,
  target: RowTarget,
  call: RowCall,
): Promise<Answer<InventoryItem | undefined>> {
  const { client } = writer;
  const { petId, quantity, mayCreate } = target;
  try {
    return await client.call('updateInventory', { petId, body: { quantity } }, call);
  } catch (error) {
    const isMissing = error instanceof ApiError && error.kind === 'not-found';
    if (!isMissing || !mayCreate || !client.contract.operations.has('createInventory')) throw error;
    const status = await writer.readPetStatus(petId);
    return await client.call('createInventory', { body: { petId, quantity, status } }, call);
  }
}

function accept(
  writer: RowWriter,
  { quantity }: RowTarget,
  answer: Answer<InventoryItem | undefined>,
): Outcome {
  const { value, status, attempts } = answer;
  if (value === undefined || Number(value.quantity) === quantity) {
    writer.rules.succeeded();
    return { state: 'applied', status, attempts };
  }
  writer.rules.failed();
  const message = `the service answered the quantity ${value.quantity}, not ${quantity}`;
  return { state: 'failed', status, code: 'other_quantity', message, attempts };
}

async function refuse(writer: RowWriter, target: RowTarget, error: CliError): Promise<Outcome> {
  if (error instanceof ApiError && error.status === 412) {
    const found = await readNow(writer.client, target.petId);
    // Somebody set just this count, or the answer to an earlier attempt of ours was lost.
    if (found === target.quantity)
      return { state: (error.details.attempts ?? 1) > 1 ? 'applied' : 'unchanged', status: 412 };
    writer.rules.failed(error);
    const message = `the entry has changed since the plan${found === undefined ? '' : `: its quantity is ${found} now`}`;
    return { state: 'failed', status: 412, code: 'changed', message, attempts: error.details.attempts };
  }
  writer.rules.failed(error);
  const { status, attempts } = error.details;
  const code = error instanceof UnavailableError ? error.reason : error.details.code;
  return {
    state: isUnknown(error) ? 'unknown' : 'failed',
    status,
    code,
    message: reasonOf(error),
    isUnavailable: error.kind === 'unavailable',
    attempts,
  };
}

/** A request that was sent and not answered may have been applied; a redirect is an answer. */
function isUnknown(error: CliError): boolean {
  return error instanceof UnavailableError && error.sent && error.reason !== 'redirect';
}

async function readNow(client: Client, petId: bigint): Promise<number | bigint | undefined> {
  if (!client.contract.operations.has('getInventory')) return undefined;
  return client.call('getInventory', { petId }).then(
    ({ value }) => value.quantity,
    () => undefined,
  );
}

/** The message without what all rows have in common: the operation, the method and the URL. */
function reasonOf({ message, details: { method, url } }: CliError): string {
  const request = `${method} ${url}: `;
  const at = message.indexOf(request);
  return at === -1 ? message : message.slice(at + request.length);
}

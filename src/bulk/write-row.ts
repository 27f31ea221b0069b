import type { InventoryItem, PetStatus } from '../api/schemas.ts';
import type { Answer, Client } from '../client/client.ts';
import { ApiError, CliError, UnavailableError } from '../errors.ts';
import { isJsonObject } from '../json.ts';
import { type Count, describeNow, isMissing, readEntry, readNow } from './entry.ts';
import type { Outcome } from './outcome.ts';
import type { Pace } from './pace.ts';
import { RowCall } from './row-call.ts';
import { type Stop, StoppedError } from './stop.ts';
import type { StopRules } from './stop-rules.ts';

/** What a row wants of the service. */
export interface RowTarget {
  readonly petId: bigint;
  /** Null: the entry is taken away. */
  readonly quantity: number | null;
  /** Where the pet has no entry, one is made. */
  readonly mayCreate: boolean;
  /** Of the entry as the plan saw it: another one is not overwritten. */
  readonly etag?: string | undefined;
  /** The count that it must have now, null for no entry; looked at once more where there is no ETag to hold it. */
  readonly expected?: number | null | undefined;
  /** Whether an earlier session of the run may have sent it: what is as it should be may be so by that. */
  readonly mayHaveBeenSent: boolean;
}

interface RowWriter {
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
    if (turned) return turned;
    call.isWrite = true;
    const { value, status, attempts } = await send(writer, target, call);
    return accept(writer, target, { quantity: value?.quantity, status, attempts });
  } catch (error) {
    if (error instanceof StoppedError) return call.interrupted();
    if (!(error instanceof CliError)) throw error;
    // Turned away by a service that is overloaded, and then the run stopped: the row is as it was.
    if (writer.stop.reason && error instanceof ApiError && (error.status === 429 || error.status === 503))
      return undefined;
    return acceptOther(writer, target, error) ?? refuse(writer, target, error);
  }
}

/** Reads the count again just before it is overwritten, where the row expects one; where it cannot be, the plan's look must do. */
async function checkExpected(
  writer: RowWriter,
  target: RowTarget,
  call: RowCall,
): Promise<Outcome | undefined> {
  const { petId, quantity, expected } = target;
  if (!writer.client.contract.operations.has('getInventory')) return undefined;
  const { count, etag } = await readEntry(writer.client, petId, call);
  call.ifMatch = etag;
  if (count === expected) return undefined;
  return count === quantity ? asWanted(target) : unexpected(count, expected);
}

/** What a row comes to whose count is as it should be before this session has sent it. */
function asWanted({ mayHaveBeenSent }: RowTarget, attempts = 1): Outcome {
  return { state: mayHaveBeenSent || attempts > 1 ? 'applied' : 'unchanged' };
}

export function unexpected(found: Count, expected: number | null | undefined): Outcome {
  const now = found === null ? 'the pet has no inventory entry' : `the count is ${found} now`;
  const message = `${now}, not ${expected === null ? 'none' : expected} as expected`;
  return { state: 'failed', code: 'unexpected_count', message };
}

/** What a service says of a write that it has done. */
interface Answered {
  /** Undefined where the answer has none. */
  readonly quantity: number | bigint | undefined;
  readonly status: number;
  readonly attempts: number;
}

async function send(
  writer: RowWriter,
  target: RowTarget,
  call: RowCall,
): Promise<Answer<InventoryItem | undefined>> {
  const { client } = writer;
  const { petId, quantity, mayCreate, expected } = target;
  if (quantity === null) return client.call('deleteInventory', { petId }, call);
  const create = async () => {
    const status = await writer.readPetStatus(petId);
    return client.call('createInventory', { body: { petId, quantity, status } }, call);
  };
  const canCreate = mayCreate && client.contract.operations.has('createInventory');
  // Creating, unlike setting, overwrites nobody's entry.
  if (canCreate && expected === null) return create();
  try {
    return await client.call('updateInventory', { petId, body: { quantity } }, call);
  } catch (error) {
    if (!canCreate || !isMissing(error)) throw error;
    return await create();
  }
}

function accept(writer: RowWriter, { quantity }: RowTarget, answer: Answered): Outcome {
  const { quantity: set, status, attempts } = answer;
  if (quantity === null || set === undefined || Number(set) === quantity) {
    writer.rules.succeeded();
    return { state: 'applied', status, attempts };
  }
  writer.rules.failed();
  const message = `the service answered the quantity ${set}, not ${quantity}`;
  return { state: 'failed', status, code: 'other_quantity', message, attempts };
}

/**
 * Takes an answer of success that is JSON of another shape for what it is: a service need not answer with the entry, and
 * only a quantity that stands there can contradict.
 */
function acceptOther(writer: RowWriter, target: RowTarget, error: CliError): Outcome | undefined {
  if (!(error instanceof UnavailableError) || error.answer === undefined) return undefined;
  const { method, status = 200, attempts = 1 } = error.details;
  // What was read before the write says nothing about it.
  if (method === 'GET') return undefined;
  const quantity = isJsonObject(error.answer) ? error.answer.quantity : undefined;
  if (quantity !== undefined && typeof quantity !== 'number') return undefined;
  return accept(writer, target, { quantity, status, attempts });
}

async function refuse(writer: RowWriter, target: RowTarget, error: CliError): Promise<Outcome> {
  const { status, attempts } = error.details;
  if (target.quantity === null && isMissing(error))
    return { ...asWanted(target, attempts), status, attempts };
  if (error instanceof ApiError && error.status === 412) {
    const found = await readNow(writer.client, target.petId, new RowCall(writer));
    // Somebody set just this count, or the answer to an earlier attempt of ours was lost.
    if (found === target.quantity) return { ...asWanted(target, attempts), status };
    writer.rules.failed(error);
    const message = `the entry has changed since the plan${describeNow(found)}`;
    return { state: 'failed', status, code: 'changed', message, attempts };
  }
  writer.rules.failed(error);
  const named = error.details.code ?? (status === undefined ? error.kind : undefined);
  const code = error instanceof UnavailableError ? error.reason : named;
  return {
    state: isUnknown(error) ? 'unknown' : 'failed',
    status,
    code,
    message: reasonOf(error),
    isUnavailable: error.kind === 'unavailable',
    attempts,
  };
}

/** A write that was sent and not answered may have been applied; a redirect is an answer. */
function isUnknown(error: CliError): boolean {
  const isWrite = error.details.method !== 'GET';
  return error instanceof UnavailableError && isWrite && error.sent && error.reason !== 'redirect';
}

/** The message without what all rows have in common: the operation, the method and the URL. */
function reasonOf({ message, details: { method, url } }: CliError): string {
  const request = `${method} ${url}: `;
  const at = message.indexOf(request);
  return at === -1 ? message : message.slice(at + request.length);
}

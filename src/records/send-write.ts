import { shownUrl } from '../api/http.ts';
import { operations } from '../api/operations.ts';
import type { CallOptions } from '../client/call.ts';
import type { Answer } from '../client/client.ts';
import { type Judgement, judgeRecord, locatedId } from '../client/judge-write.ts';
import type { CallInput } from '../client/request.ts';
import { CliError, type ErrorKind, messageOf } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { type Access, type RecordOperation, readRecord } from './noun.ts';

/** A request for one record as data; it can be sent or shown. */
export interface Write {
  readonly operation: RecordOperation;
  /** The record's id by the name that the operation has for it, and the body. */
  readonly input: CallInput;
  readonly options?: CallOptions;
  /** The change to report on a terminal after the write: `pet 3: status available -> sold`. */
  readonly change?: {
    /** Such as `pet 3`. */
    readonly subject: string;
    readonly before: object;
    /** The fields that the write may change. */
    readonly names: readonly string[];
  };
}

/** A write that has succeeded. */
export interface WriteSuccess<Entity> {
  /** Undefined for a delete, and if the service shows none. */
  readonly record: Entity | undefined;
  /** True if the service will do the write later, or not (202). */
  readonly isAccepted: boolean;
}

/**
 * Sends a write. If its answer does not show what was asked, the record is read once, and decides.
 *
 * @throws CliError `failed` if the record is not as asked; `unavailable` if it cannot be read; and what `client.call`
 *   throws.
 */
export async function sendWrite<Entity>(access: Access<Entity>, write: Write): Promise<WriteSuccess<Entity>> {
  const { operation, input, options } = write;
  const answer = (await access.client.call(operation, input, options)) as Answer<Entity | undefined>;
  const judgement: Judgement = answer.judgement ?? { shows: 'asked' };
  const { shows, id } = judgement;
  if (shows === 'asked')
    return { record: answer.value ?? (await readCreated(access, write, answer)), isAccepted: false };
  if (shows === 'accepted') return { record: undefined, isAccepted: true };
  const place = id ?? locatedId(answer);
  if (place === undefined)
    throw errorOf(answer, 'unavailable', `${judgement.reason}, and it does not say which record it is about`);
  const subject = `${access.noun.one} ${place}`;
  const isDelete = operations[operation].method === 'DELETE';
  let record: Entity;
  try {
    record = (await readRecord(access, place)).value;
  } catch (error) {
    if (!(error instanceof CliError) || error.kind === 'interrupted' || error.kind === 'terminated')
      throw error;
    if (error.kind !== 'not-found')
      throw errorOf(
        answer,
        'unavailable',
        `${judgement.reason}, and ${subject} cannot be read: ${messageOf(error)}`,
      );
    if (isDelete) return { record: undefined, isAccepted: false };
    throw errorOf(answer, 'failed', `the service answered ${answer.status}, but ${subject} does not exist`);
  }
  if (isDelete)
    throw errorOf(answer, 'failed', `the service answered ${answer.status}, but ${subject} is still there`);
  const { reason } = judgeRecord((input.values ?? input.body ?? {}) as JsonObject, record as JsonObject);
  if (reason === undefined) return { record, isAccepted: false };
  throw errorOf(answer, 'failed', `the service answered ${answer.status}, but ${subject} has ${reason}`);
}

/** The record that Location names, if the answer to a create has no body; undefined if it cannot be read. */
async function readCreated<Entity>(
  access: Access<Entity>,
  { operation }: Write,
  answer: Answer<Entity | undefined>,
): Promise<Entity | undefined> {
  const id =
    operations[operation].method === 'POST' ? (answer.judgement?.id ?? locatedId(answer)) : undefined;
  if (id === undefined) return undefined;
  return readRecord(access, id).then(
    ({ value }) => value,
    () => undefined,
  );
}

function errorOf({ status, attempts }: Answer<unknown>, kind: ErrorKind, message: string): CliError {
  const request = attempts.at(-1)?.request;
  const isOpen = kind === 'unavailable';
  return new CliError(kind, isOpen ? `${message}; the write may or may not have been applied` : message, {
    status,
    method: request?.method,
    url: request && shownUrl(request.url),
    attempts,
    requestId: attempts.at(-1)?.requestId,
    retryable: false,
    ...(isOpen && { applied: 'unknown' }),
  });
}

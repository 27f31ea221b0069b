import { shownUrl } from '../api/http.ts';
import { operations } from '../api/operations.ts';
import { retryDelay } from '../client/attempt.ts';
import type { CallOptions } from '../client/call.ts';
import type { Answer } from '../client/client.ts';
import { type Judgement, judgeRecord, locatedId } from '../client/judge-write.ts';
import { readRecord } from '../client/read-record.ts';
import type { CallInput } from '../client/request.ts';
import { sleep } from '../process/deadline.ts';
import { CliError, type ErrorKind, InterruptedError } from '../process/errors.ts';
import { type JsonObject, printJson } from '../process/exact-json.ts';
import type { Access, RecordOperation } from './noun.ts';

/** A request for one record as data; it can be sent or shown. */
export interface Write {
  readonly operation: RecordOperation;
  /** The record's id by the name that the operation has for it, and the body. */
  readonly input: CallInput;
  readonly options?: CallOptions;
  /** The change to report on a terminal after the write: `pet 3: status available -> sold`. */
  readonly change?:
    | {
        /** The record, such as `pet 3`. */
        readonly subject: string;
        readonly before: object;
        /** The fields that the write may change. */
        readonly names: readonly string[];
      }
    | undefined;
}

/**
 * Makes a write for a record as it is now; may read from the service.
 *
 * @param refusal the 412 of the write before, because somebody else has changed the record in between; throws it if
 *   that write must not be made again.
 */
export type PrepareWrite = (refusal?: CliError) => Promise<Write> | Write;

/** A write that has succeeded. */
export interface WriteSuccess<Entity> {
  /** The write that was made last. */
  readonly write: Write;
  /** The record as it is now; undefined for a delete, and if the service shows none. */
  readonly record: Entity | undefined;
  /** True if the service has accepted the write but may not have done it (202). */
  readonly isAccepted: boolean;
}

/** How often a write is made again after 412. */
const maxAgain = 3;

/**
 * Sends a write of a record as it is now. If somebody else has changed the record in between (412), it is prepared and
 * sent again, three times. If the record is still as it was, its ETag is not to be relied on: the write is prepared
 * once more and sent without it.
 *
 * @throws as `sendWrite`.
 */
export async function sendPrepared<Entity>(
  access: Access<Entity>,
  prepare: PrepareWrite,
): Promise<WriteSuccess<Entity>> {
  let write = await prepare();
  for (let again = 0; ; again += 1) {
    try {
      return await sendWrite(access, write);
    } catch (error) {
      const isOvertaken = error instanceof CliError && error.details.status === 412;
      if (!isOvertaken || write.options?.ifMatch === undefined || again === maxAgain) throw error;
      const last = write;
      write = await prepare(error);
      if (isSameRecord(last, write)) write = withoutTag(await prepare(error), last);
      // Those who change one record at the same time do not meet again and again.
      else await sleep(retryDelay(again + 1), access.context.interrupts.signal);
    }
  }
}

/** Whether the record that a write is for is still the one that the write before was for. */
function isSameRecord(before: Write, write: Write): boolean {
  return printJson(before.input.before) === printJson(write.input.before);
}

/** The write without If-Match, if its record is still the one of the write before. */
function withoutTag(write: Write, before: Write): Write {
  if (!isSameRecord(before, write)) return write;
  return { ...write, options: { ...write.options, ifMatch: undefined } };
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
  const judgement: Judgement = answer.judgement ?? { shows: 'intent' };
  const { shows } = judgement;
  if (shows === 'accepted') return { write, record: undefined, isAccepted: true };
  const record =
    shows === 'intent'
      ? (answer.value ?? (await readCreated(access, write, answer)))
      : await readBack(access, write, answer, judgement);
  return { write, record, isAccepted: false };
}

/** Reads the record of a write whose answer does not show what was asked. @throws as `sendWrite` */
async function readBack<Entity>(
  access: Access<Entity>,
  { operation, input }: Write,
  answer: Answer<Entity | undefined>,
  { id = locatedId(answer), reason }: Judgement,
): Promise<Entity | undefined> {
  if (id === undefined)
    throw writeError(answer, 'unavailable', `${reason}; it has no id to read the record by`);
  const subject = `${access.noun.singular} ${id}`;
  const isDelete = operations[operation].method === 'DELETE';
  const failed = (what: string) =>
    writeError(answer, 'failed', `the service answered ${answer.status}, but ${subject} ${what}`);
  let record: Entity;
  try {
    record = (await readRecord<Entity>(access.client, access.operation.noun, id)).value;
  } catch (error) {
    if (!(error instanceof CliError) || error instanceof InterruptedError) throw error;
    if (error.kind !== 'not-found')
      throw writeError(answer, 'unavailable', `${reason}, and ${subject} cannot be read: ${error.message}`);
    if (isDelete) return undefined;
    throw failed('does not exist');
  }
  if (isDelete) throw failed('is still there');
  const values = (input.values ?? input.body ?? {}) as JsonObject;
  const { reason: difference } = judgeRecord(values, record as JsonObject, access.context.secrets.mask);
  if (difference !== undefined) throw failed(`has ${difference}`);
  return record;
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
  return readRecord<Entity>(access.client, access.operation.noun, id).then(
    ({ value }) => value,
    () => undefined,
  );
}

function writeError({ status, attempts }: Answer<unknown>, kind: ErrorKind, message: string): CliError {
  const request = attempts.at(-1)?.request;
  return new CliError(kind, message, {
    status,
    method: request?.method,
    url: request && shownUrl(request.url),
    attempts,
    requestId: attempts.at(-1)?.requestId,
    retryable: false,
    ...(kind === 'unavailable' && { applied: 'unknown' }),
  });
}

import { type HttpRequest, shownUrl } from '../api/http.ts';
import type { OperationId } from '../api/operations.ts';
import { retryDelay } from '../client/attempt.ts';
import type { Answer, Client } from '../client/client.ts';
import { idInLocation, type Judgement, judgeRecord } from '../client/judge-write.ts';
import type { Pace } from '../client/pace.ts';
import { readRecord } from '../client/read-record.ts';
import type { CallInput } from '../client/request.ts';
import { sleep } from '../process/deadline.ts';
import { CliError, type ErrorKind, InterruptedError } from '../process/errors.ts';
import { type JsonObject, printJson } from '../process/exact-json.ts';
import type { Access } from './access.ts';

/** The request of a write, as data. It can be sent, or printed by a dry run. */
export interface Write {
  readonly operation: OperationId;
  readonly input: CallInput;
  /** The ETag of the record as it was read. With it the write fails if the record has changed since. */
  readonly ifMatch?: string | undefined;
}

/**
 * Prepares a write for a record as it is now. It may read the record.
 *
 * @param refusal the error 412 of the previous write: somebody has changed the record since it was read.
 * @throws the refusal, if the write must not be repeated.
 */
export type PrepareWrite = (refusal?: CliError) => Promise<Write> | Write;

/** The result of a write that has succeeded. */
export interface WriteResult {
  /** The last write that was sent. */
  readonly write: Write;
  /** The record after the write. Undefined for a delete, and if the service does not return it. */
  readonly record: JsonObject | undefined;
  /** Whether the service has accepted the write but may not have done it yet (202). */
  readonly isAccepted: boolean;
}

/** Returns the request of a write, without a credential. */
export function requestOf(client: Client, { operation, input, ifMatch }: Write): HttpRequest {
  return client.toRequest(operation, input, { ifMatch });
}

/** How often a write is repeated after 412. */
const maxRepeats = 3;

/**
 * Writes a record as it is now. If somebody else has changed the record since it was read (412), the write is prepared and
 * sent again, three times at most. If a 412 came although the record is unchanged, its ETag is unreliable: the write is
 * prepared again and sent without it. If the answer does not show the values that were sent, the record is read once, and
 * that record decides.
 *
 * @throws CliError `failed` if the record does not have the values that were sent; `unavailable` if it cannot be read; and
 *   the errors of `client.call`.
 */
export async function writeWithRepeats(
  access: Access,
  prepare: PrepareWrite,
  pace?: Pace,
): Promise<WriteResult> {
  let write = await prepare();
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await send(access, write, pace);
    } catch (error) {
      const isOvertaken = error instanceof CliError && error.details.status === 412;
      if (!isOvertaken || write.ifMatch === undefined || repeats === maxRepeats) throw error;
      const before = printJson(write.input.before);
      const isUnchanged = () => printJson(write.input.before) === before;
      write = await prepare(error);
      // A random pause keeps two writers of one record from colliding again.
      if (!isUnchanged()) await sleep(retryDelay(repeats + 1), access.context.interrupts.signal);
      else {
        write = await prepare(error);
        if (isUnchanged()) write = { ...write, ifMatch: undefined };
      }
    }
  }
}

async function send(access: Access, write: Write, pace: Pace | undefined): Promise<WriteResult> {
  const { operation, input, ifMatch } = write;
  const call = access.client.call(operation, input, { ifMatch, pace });
  const answer = (await call) as Answer<JsonObject | undefined>;
  const judgement: Judgement = answer.judgement ?? { shows: 'intent' };
  const { shows } = judgement;
  if (shows === 'accepted') return { write, record: undefined, isAccepted: true };
  const record =
    shows === 'intent'
      ? (answer.value ?? (await readCreated(access, write, answer)))
      : await readBack(access, write, answer, judgement);
  return { write, record, isAccepted: false };
}

/** Reads the record of a write whose answer does not show the values that were sent. @throws as `writeWithRepeats`. */
async function readBack(
  { client, context, noun }: Access,
  { operation, input }: Write,
  answer: Answer<unknown>,
  { id = idInLocation(answer), reason }: Judgement,
): Promise<JsonObject | undefined> {
  if (id === undefined)
    throw writeError(answer, 'unavailable', `${reason}; it has no id to read the record by`);
  const subject = `${noun.singular} ${id}`;
  const isDelete = operation === noun.operations.delete;
  const failure = (predicate: string) =>
    writeError(answer, 'failed', `the service answered ${answer.status}, but ${subject} ${predicate}`);
  let record: JsonObject;
  try {
    record = (await readRecord(client, noun.name, id)).value;
  } catch (error) {
    if (!(error instanceof CliError) || error instanceof InterruptedError) throw error;
    if (error.kind !== 'not-found')
      throw writeError(answer, 'unavailable', `${reason}, and ${subject} cannot be read: ${error.message}`);
    if (isDelete) return undefined;
    throw failure('does not exist');
  }
  if (isDelete) throw failure('is still there');
  const values = (input.values ?? input.body ?? {}) as JsonObject;
  const { reason: difference } = judgeRecord(values, record, context.secrets.mask);
  if (difference !== undefined) throw failure(`has ${difference}`);
  return record;
}

/** Reads the record that Location names, if the answer to a create has no body. Undefined if it cannot be read. */
async function readCreated(
  { client, noun }: Access,
  { operation }: Write,
  answer: Answer<unknown>,
): Promise<JsonObject | undefined> {
  if (operation !== noun.operations.create) return undefined;
  const id = answer.judgement?.id ?? idInLocation(answer);
  if (id === undefined) return undefined;
  return readRecord(client, noun.name, id).then(
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

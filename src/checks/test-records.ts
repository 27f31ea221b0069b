import { canBeginAfterId } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { ListId } from '../api/operations.ts';
import { authorOf } from '../client/error-body.ts';
import { otherRecord } from '../client/read-answer.ts';
import { messageOf } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { Stop, StoppedError } from '../process/signals.ts';
import { counted } from '../process/text.ts';
import { type Intent, newState, type Outcome } from '../writes/decide.ts';
import { createRecordPort, requestDetails } from '../writes/port.ts';
import { type Settled, settle } from '../writes/settle.ts';
import type { CheckAnswer, CheckContext } from './check.ts';
import { type Finding, FindingError, fail, flaky, pass, statusText, warn } from './finding.ts';
import { jsonId, recordOf } from './records.ts';
import { cacheOf } from './round.ts';
import type { WritableNoun } from './writable-nouns.ts';

/**
 * A record that the write checks created, or may have created. A record is deleted only if its create answered with its id,
 * and a read right before the delete shows the name that the create sent.
 */
export interface TestRecord {
  readonly noun: WritableNoun;
  /** The fields that the create sends. */
  readonly fields: JsonObject;
  /** The record that this record refers to. A record without a name belongs to smoke if its parent does. */
  readonly parent: CreatedRecord | undefined;
  /** Undefined if no answer has told it. */
  readonly id?: bigint | undefined;
  /** Why it is not known whether it was made, a clause. */
  readonly why?: string | undefined;
}

/** A test record whose create answered with the id. */
export interface CreatedRecord extends TestRecord {
  readonly id: bigint;
}

/** What became of a write of a test record. */
type SettledRecord = Settled & { readonly outcome: Outcome };

/** Writes a test record by the loop of all writes. @throws StoppedError if it was stopped before anything was sent. */
export async function writeRecord(
  { client, signal, timeoutMs, retries, sendsEtags }: CheckContext,
  { noun, id }: Pick<TestRecord, 'noun' | 'id'>,
  intent: Intent,
): Promise<SettledRecord> {
  const port = createRecordPort(client, noun.nounName, { sendsEtags });
  const stop = new Stop<unknown>();
  const stopNow = () => stop.stop(signal.reason);
  if (signal.aborted) stopNow();
  else signal.addEventListener('abort', stopNow, { once: true });
  // As in an undo, a record is removed if it has what is expected, whatever else it has got since.
  const rules = { mayCreate: false, isUndo: true, createsByPut: port.createsByPut };
  const limits = { rules, retries, retriesUnreachable: false, stop, timeoutMs };
  const settled = await settle(port, { line: 0, id, intent, state: newState }, limits);
  const { outcome } = settled;
  if (!outcome) throw settled.error ?? new StoppedError();
  return { ...settled, outcome };
}

/** Makes the failure of a write that was not applied, or may not have been. @param step such as `create`. */
export function failureOf(
  { client }: CheckContext,
  { noun }: TestRecord,
  step: 'create' | 'update' | 'delete',
  { outcome, attempted }: SettledRecord,
): Finding {
  const { message = 'it was not written', status, requestId } = outcome.reason ?? {};
  const operation = client.contract.operations.get(nouns[noun.nounName].operations[step]);
  const answered = status === undefined ? '' : `answered ${statusText(status)}: `;
  return fail(`${step}: ${answered}${message}`, {
    ...(attempted && requestDetails(attempted)),
    status,
    requestId,
    operation,
  });
}

/**
 * Says how a write was answered that was applied all the same: by an error, by a success that does not show it, or only by a
 * further attempt. Undefined if the first answer shows it.
 */
export function doubtOf(
  { client }: CheckContext,
  { noun }: TestRecord,
  step: 'create' | 'update' | 'delete',
  { attempted, retries }: SettledRecord,
): Finding | undefined {
  const { status, error } = attempted ?? {};
  if (attempted?.verdict === 'unclear')
    return warn(`${step}: ${attempted.why}, although the ${noun.name} was written`);
  if (!error) return retries > 0 ? flaky(`${step}: written in ${retries + 1} attempts`) : undefined;
  const answer = status === undefined ? error.message : `answered ${statusText(status)}`;
  return fail(`${step}: ${answer}, although the ${noun.name} was written`, {
    ...(attempted && requestDetails(attempted)),
    status,
    operation: client.contract.operations.get(nouns[noun.nounName].operations[step]),
  });
}

/** Whether a record shows our name now. @throws CliError if it cannot be read. */
async function isOurs(context: CheckContext, { noun, id, fields, parent }: CreatedRecord): Promise<boolean> {
  const record = (await readRecord(context, noun, id)).record;
  if (!record) return false;
  if (noun.isNamed) return record.name === fields.name;
  return parent !== undefined && jsonId(record.petId) === parent.id && isOurs(context, parent);
}

/**
 * Deletes a test record if it exists.
 *
 * @returns what was seen of it; undefined if it did not exist.
 * @throws FindingError if the record may belong to another client, or still exists afterwards. CliError if it cannot be
 * read.
 */
export async function removeRecord(
  context: CheckContext,
  record: CreatedRecord,
): Promise<Finding[] | undefined> {
  const { noun, id, fields, parent } = record;
  const foreign = new FindingError(fail(`not deleted, because ${noun.name} ${id} is not certainly ours`));
  if (!noun.isNamed && !(parent && (await isOurs(context, parent)))) throw foreign;
  const marks = noun.isNamed ? { name: fields.name } : { petId: parent?.id };
  const settled = await writeRecord(context, record, { kind: 'remove', expected: marks });
  const { state, reason } = settled.outcome;
  if (state === 'failed' && reason?.code === 'changed') throw foreign;
  if (state !== 'applied' && state !== 'unchanged')
    throw new FindingError(failureOf(context, record, 'delete', settled));
  const current = await readRecord(context, noun, id);
  const doubt = doubtOf(context, record, 'delete', settled);
  if (!current.record) return state === 'unchanged' ? undefined : [doubt ?? []].flat();
  const cache = current.answer && cacheOf(current.answer.headers);
  const suffix = cache === undefined ? '' : `, from a cache (${cache})`;
  throw new FindingError(
    fail(
      state === 'unchanged'
        ? `delete: a read does not find ${noun.name} ${id}, and its list shows it`
        : `gone: its delete was answered as a success, and a read still shows it${suffix}`,
    ),
  );
}

/** The present record, and the answer that shows it. */
interface CurrentRecord {
  /** Undefined if the record does not exist. */
  readonly record?: JsonObject | undefined;
  /** The answer of its GET. Undefined if there is no such GET. */
  readonly answer?: CheckAnswer | undefined;
}

/** Reads the record with this id: by its GET, or in its list if there is no such GET or the GET does not find it. */
export async function readRecord(
  context: CheckContext,
  noun: WritableNoun,
  id: bigint,
): Promise<CurrentRecord> {
  const get = context.client.contract.operations.get(nouns[noun.nounName].operations.get);
  if (!get) return findInList(context, noun, id);
  const answer = await context.ask(get, { id }, { changes: { 'cache-control': 'no-cache' } });
  const record = recordOf(answer);
  if (!answer.error) {
    if (record && !otherRecord(get, id, record)) return { record, answer };
    throw new FindingError(fail(`a read of ${noun.name} ${id} is not answered with that record`));
  }
  if (![404, 405, 410].includes(answer.status)) throw answer.error;
  const { record: listed, isComplete } = await findInList(context, noun, id);
  // A gateway without a way to the service says nothing about the record.
  if (!listed && !isComplete && authorOf(answer) === 'gateway') throw answer.error;
  return { record: listed, answer };
}

/** The result of a search for a record in its list. */
interface ListSearch {
  readonly record?: JsonObject;
  /** False if the record may be on a page that was not read. */
  readonly isComplete: boolean;
}

/** The most pages that a search reads. */
const maxPages = 20;

/** Searches a list for the record with this id: on one page if the list can begin at an id, else on the first pages. */
export async function findInList(
  { client }: CheckContext,
  { list }: WritableNoun,
  id: bigint,
): Promise<ListSearch> {
  if (!list) return { isComplete: false };
  const beginsAtId = canBeginAfterId(list) && id > 0n;
  const options = beginsAtId ? { after: id - 1n, limit: 1 } : {};
  let pages = 0;
  for await (const page of client.list(list.id as ListId, {}, options)) {
    const record = (page as readonly JsonObject[]).find(
      (candidate) => jsonId(candidate[nouns[list.noun].idField]) === id,
    );
    if (record) return { record, isComplete: true };
    pages += 1;
    if (beginsAtId || pages === maxPages) return { isComplete: beginsAtId };
  }
  return { isComplete: list.paging?.kind !== 'unknown' || list.paging.by === undefined };
}

/** Deletes the test records. The finding names each record that is left, or may be left because its id is unknown. */
export async function cleanUp(context: CheckContext, records: ReadonlySet<TestRecord>): Promise<Finding> {
  const leftovers: string[] = [];
  let removed = 0;
  // The newest come first, because a record may refer to an older one.
  for (const record of [...records].reverse()) {
    const { noun, fields, id, parent, why } = record;
    const name = noun.isNamed ? `${fields.name} ` : parent ? `of ${parent.noun.name} ${parent.id} ` : '';
    const label = `${noun.name} ${name}(id ${id ?? 'unknown'})`;
    if (id === undefined) {
      leftovers.push(`perhaps ${label}: ${why ?? 'no answer to its create says whether it was made'}`);
      continue;
    }
    try {
      if (await removeRecord(context, { ...record, id })) removed += 1;
    } catch (error) {
      leftovers.push(`${label}: ${messageOf(error)}`);
    }
  }
  if (leftovers.length === 0)
    return pass(removed === 0 ? 'nothing was left to remove' : `${removed} removed`);
  const count = counted(leftovers.length, 'record is', 'records are');
  return fail(`${count} or may be left: ${leftovers.join('; ')}`, {
    hint: 'delete the records that are named here',
    leftovers,
  });
}

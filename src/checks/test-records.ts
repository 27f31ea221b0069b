import { canBeginAfterId } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { ListId } from '../api/operations.ts';
import { otherRecord } from '../client/read-answer.ts';
import { messageOf } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import type { CheckContext } from './check.ts';
import { type Finding, FindingError, fail, pass } from './finding.ts';
import { jsonId, recordOf } from './records.ts';
import { cacheOf } from './round.ts';
import type { WritableNoun } from './writable-nouns.ts';

/**
 * A record that the write checks created, or may have created. A record is deleted only if its create answered with its id,
 * and a read right before the delete shows the name that the create sent.
 */
export interface TestRecord {
  readonly noun: WritableNoun;
  /** The fields that the create sent. */
  readonly body: JsonObject;
  /** The record that this record refers to. A record without a name belongs to smoke if its parent does. */
  readonly parent: CreatedRecord | undefined;
  /** Undefined if no answer has the id. */
  readonly id?: bigint | undefined;
  /** The id that its create answered with, as JSON, if it is no integer, so that no command can name the record. */
  readonly otherId?: string | undefined;
}

/** A test record whose create answered with the id. */
export interface CreatedRecord extends TestRecord {
  readonly id: bigint;
}

/**
 * Reads a record and says who owns it now: smoke, another client, or nobody because the record does not exist.
 *
 * @throws CliError if the record cannot be read.
 */
export async function ownerOf(
  context: CheckContext,
  { noun, id, body, parent }: CreatedRecord,
): Promise<'smoke' | 'other' | 'nobody'> {
  const record = (await currentRecord(context, noun, id))?.record;
  if (!record) return 'nobody';
  if (noun.isNamed) return record.name === body.name ? 'smoke' : 'other';
  const isOfParent = parent !== undefined && jsonId(record.petId) === parent.id;
  return isOfParent && (await ownerOf(context, parent)) === 'smoke' ? 'smoke' : 'other';
}

/**
 * Deletes a test record if it exists.
 *
 * @returns whether it existed.
 * @throws FindingError if the record may belong to another client, or still exists afterwards. CliError if it cannot be
 * read.
 */
export async function removeTestRecord(context: CheckContext, created: CreatedRecord): Promise<boolean> {
  const { noun, id } = created;
  const owner = await ownerOf(context, created);
  if (owner === 'nobody') return false;
  if (owner === 'other')
    throw new FindingError(fail(`not deleted, because ${noun.name} ${id} is not certainly ours`));
  // The record may be gone after an error, and may still exist after a success, so it is read again in any case.
  const answer = await context
    .ask(noun.remove, { id })
    .then(
      ({ error, status }) =>
        error ? `${error.message} (${status})` : 'its delete was answered as a success',
      messageOf,
    );
  const current = await currentRecord(context, noun, id);
  if (!current) return true;
  const cache = current.cache === undefined ? '' : `, from a cache (${current.cache})`;
  throw new FindingError(fail(`${answer}, and a read still shows it${cache}`));
}

/**
 * Reads the record with this id: by its GET, or in its list if the contract has no such GET or the GET does not find it.
 *
 * @returns the record, and the cache that answered; undefined if the record does not exist.
 */
export async function currentRecord(
  context: CheckContext,
  noun: WritableNoun,
  id: bigint,
): Promise<{ readonly record: JsonObject; readonly cache?: string | undefined } | undefined> {
  const { get } = noun;
  if (get) {
    const answer = await context.ask(get, { id }, { changes: { 'cache-control': 'no-cache' } });
    const record = recordOf(answer);
    if (!answer.error) {
      if (record && !otherRecord(get, id, record)) return { record, cache: cacheOf(answer.headers) };
      throw new FindingError(fail(`a read of ${noun.name} ${id} is not answered with that record`));
    }
    if (![404, 405, 410].includes(answer.status)) throw answer.error;
    const { record: listed, isComplete } = await findInList(context, noun, id);
    // A gateway without a way to the service says nothing about the record.
    if (!listed && !isComplete && answer.attempts.at(-1)?.author === 'gateway') throw answer.error;
    return listed && { record: listed };
  }
  const { record } = await findInList(context, noun, id);
  return record && { record };
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
  context: CheckContext,
  { list }: WritableNoun,
  id: bigint,
): Promise<ListSearch> {
  if (!list) return { isComplete: false };
  const beginsAtId = canBeginAfterId(list) && id > 0n;
  const options = { ...(beginsAtId && { after: id - 1n, limit: 1 }), ...context.callOptions() };
  let pages = 0;
  for await (const page of context.client.list(list.id as ListId, {}, options)) {
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
    const { noun, body, id, otherId, parent } = record;
    const name = noun.isNamed ? `${body.name} ` : parent ? `of ${parent.noun.name} ${parent.id} ` : '';
    const label = `${noun.name} ${name}(id ${id ?? otherId ?? 'unknown'})`;
    if (id === undefined) {
      leftovers.push(
        otherId === undefined
          ? `perhaps ${label}: no answer to its create says whether it was made`
          : `${label}: it was made, and is not removed, because its id is no integer`,
      );
      continue;
    }
    try {
      if (await removeTestRecord(context, { ...record, id })) removed += 1;
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

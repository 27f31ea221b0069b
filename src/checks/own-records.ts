import { canSeek } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import type { ListId } from '../api/operations.ts';
import { otherRecord } from '../client/response.ts';
import { messageOf } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import type { CheckContext } from './check.ts';
import { type Finding, FindingError, fail, pass } from './finding.ts';
import { jsonId, recordOf } from './records.ts';
import { cacheOf } from './round.ts';
import type { WritableNoun } from './writable-nouns.ts';

/**
 * A record that a create of this run made, or may have made. It is ours if the create answered with its id, and a read
 * right before the delete shows the name that we gave it: nothing else is ever deleted.
 */
export interface PossibleRecord {
  readonly noun: WritableNoun;
  /** The fields that its create sent. A record without a name is ours if its pet is. */
  readonly body: JsonObject;
  /** The record that it refers to. */
  readonly parent: CreatedRecord | undefined;
  /** Undefined if no answer named it. */
  readonly id?: bigint | undefined;
}

/** A record of which a create answered with the id. */
export interface CreatedRecord extends PossibleRecord {
  readonly id: bigint;
}

/** Reads a record and says whether it is ours, right now. @throws CliError if it cannot be read. */
export async function ownerOf(
  context: CheckContext,
  { noun, id, body, parent }: CreatedRecord,
): Promise<'us' | 'other' | 'nobody'> {
  const record = (await currentRecord(context, noun, id))?.record;
  if (!record) return 'nobody';
  if (noun.isNamed) return record.name === body.name ? 'us' : 'other';
  const isOfParent = parent !== undefined && jsonId(record.petId) === parent.id;
  return isOfParent && (await ownerOf(context, parent)) === 'us' ? 'us' : 'other';
}

/**
 * Deletes a record of ours, if it is there. Returns whether it was.
 *
 * @throws FindingError if it is not certainly ours, or is still there; CliError if that cannot be read.
 */
export async function removeOwnRecord(context: CheckContext, created: CreatedRecord): Promise<boolean> {
  const { noun, id } = created;
  const owner = await ownerOf(context, created);
  if (owner === 'nobody') return false;
  if (owner === 'other')
    throw new FindingError(fail(`not deleted, because ${noun.name} ${id} is not certainly ours`));
  // The service may have removed it, whatever it answered.
  const outcome = await context
    .ask(noun.remove, { id })
    .then(
      ({ error, status }) =>
        error ? `${error.message} (${status})` : 'its delete was answered as a success',
      messageOf,
    );
  const current = await currentRecord(context, noun, id);
  if (!current) return true;
  const cache = current.cache === undefined ? '' : `, from a cache (${current.cache})`;
  throw new FindingError(fail(`${outcome}, and a read still shows it${cache}`));
}

/**
 * The record with this id: from its GET, or from its list if the contract has no such GET or the GET does not find it.
 * Undefined if it does not exist.
 */
export async function currentRecord(
  context: CheckContext,
  noun: WritableNoun,
  id: bigint,
): Promise<{ readonly record: JsonObject; readonly cache?: string | undefined } | undefined> {
  const { get } = noun;
  if (get) {
    const reply = await context.ask(get, { id });
    const record = recordOf(reply);
    if (!reply.error) {
      if (record && !otherRecord(get, id, record)) return { record, cache: cacheOf(reply.fields) };
      throw new FindingError(fail(`a read of ${noun.name} ${id} is not answered with that record`));
    }
    if (![404, 405, 410].includes(reply.status)) throw reply.error;
  }
  const { record } = await findInList(context, noun, id);
  return record && { record };
}

const maxPages = 20;

/** What a list shows of a record. */
interface ListLook {
  readonly record?: JsonObject;
  /** False if the record may be on a page that was not read. */
  readonly isWhole: boolean;
}

/** The record with this id in its list: at its place if the list can begin there, else on the first pages. */
export async function findInList(
  context: CheckContext,
  { list }: WritableNoun,
  id: bigint,
): Promise<ListLook> {
  if (!list) return { isWhole: false };
  const isSought = canSeek(list) && id > 0n;
  const options = { ...(isSought && { after: id - 1n, limit: 1 }), ...context.callOptions() };
  let pages = 0;
  for await (const page of context.client.list(list.id as ListId, {}, options)) {
    const records = page as readonly object[] as readonly JsonObject[];
    const record = records.find((candidate) => jsonId(candidate[nouns[list.noun].idField]) === id);
    if (record) return { record, isWhole: true };
    pages += 1;
    if (isSought || pages === maxPages) return { isWhole: isSought };
  }
  return { isWhole: list.paging?.kind !== 'unknown' || list.paging.by === undefined };
}

/** Removes every record of ours, and names those that it could not remove, or that may have been made. */
export async function cleanUp(context: CheckContext, records: ReadonlySet<PossibleRecord>): Promise<Finding> {
  const left: string[] = [];
  let removed = 0;
  // Records that refer to others were created after them.
  for (const record of [...records].reverse()) {
    const { noun, body, id } = record;
    const name = noun.isNamed ? `${body.name} ` : '';
    const label = `${noun.name} ${name}(id ${id ?? 'unknown'})`;
    if (id === undefined) {
      left.push(`perhaps ${label}: no answer to its create says whether it was made`);
      continue;
    }
    try {
      if (await removeOwnRecord(context, { ...record, id })) removed += 1;
    } catch (error) {
      left.push(`${label}: ${messageOf(error)}`);
    }
  }
  if (left.length === 0) return pass(removed === 0 ? 'nothing was left to remove' : `${removed} removed`);
  return fail(`${counted(left.length, 'record is', 'records are')} or may be left: ${left.join('; ')}`, {
    expected: 'every record of this run removed',
    hint: 'delete what is named here',
    left,
  });
}

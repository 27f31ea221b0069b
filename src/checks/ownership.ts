import { otherRecord } from '../client/response.ts';
import { messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import { type Finding, FindingError, fail, pass, skip } from './check.ts';
import { demand, type Kind, kinds } from './kinds.ts';
import { jsonId, recordOf } from './records.ts';
import { type CheckContext, cacheOf } from './round.ts';

/**
 * A create that was sent. A record is ours if a create of this run answered with its id, and a read right before the
 * delete shows the name that we gave it: nothing else is ever deleted.
 */
export interface Creation {
  readonly kind: Kind;
  /** The name that we gave; for a record without one, that of its pet is read. */
  readonly name: string | undefined;
  /** The record that it refers to. */
  readonly parent: Creation | undefined;
  /** Undefined if no answer named it. */
  readonly id: bigint | undefined;
  /** `none`: it has made nothing. `maybe`: its answer was lost, or names no record of ours. */
  readonly effect: 'none' | 'maybe' | 'made';
}

/** The creates of one run. */
export class Ownership {
  private readonly creations: Creation[] = [];

  /** Adds a create that is about to be sent; the returned function records what came of it. */
  begin(sent: Pick<Creation, 'kind' | 'name' | 'parent'>) {
    const at = this.creations.push({ ...sent, id: undefined, effect: 'maybe' }) - 1;
    return (effect: Creation['effect'], id?: bigint): Creation => {
      const creation = { ...sent, id, effect };
      this.creations[at] = creation;
      return creation;
    };
  }

  /** Records that a record is gone. */
  end(gone: Creation): void {
    const at = this.creations.findIndex(({ kind, id }) => kind === gone.kind && id === gone.id);
    if (at !== -1) this.creations[at] = { ...gone, effect: 'none' };
  }

  /** What may still be in the service, records that refer to others first. */
  get rest(): Creation[] {
    const left = this.creations.filter(({ effect }) => effect !== 'none');
    return kinds.toReversed().flatMap((kind) => left.filter((creation) => creation.kind === kind));
  }

  get wasUsed(): boolean {
    return this.creations.length > 0;
  }
}

/** Reads a record and says whether it is ours, right now. @throws CliError if it cannot be read. */
export async function ownerOf(
  context: CheckContext,
  { kind, id, name, parent }: Creation,
): Promise<'us' | 'other' | 'nobody'> {
  if (id === undefined) return 'other';
  const record = (await currentRecord(context, kind, id))?.record;
  if (!record) return 'nobody';
  if (kind.isNamed) return record.name === name ? 'us' : 'other';
  const isOfParent = parent?.id !== undefined && jsonId(record.petId) === parent.id;
  return isOfParent && (await ownerOf(context, parent)) === 'us' ? 'us' : 'other';
}

/**
 * Deletes a record of ours, if it is there.
 *
 * @throws FindingError if it is not certainly ours, or is still there; CliError if that cannot be read.
 */
export async function removeOwn(context: CheckContext, creation: Creation): Promise<'removed' | 'missing'> {
  const { kind, id } = creation;
  const owner = await ownerOf(context, creation);
  if (owner === 'nobody') return 'missing';
  if (owner === 'other')
    throw new FindingError(fail(`not deleted, because ${kind.name} ${id} is not certainly ours`));
  // The service may have removed it, whatever it answered.
  const answered = await context
    .ask(demand(context.round.client.contract, kind.remove), { [kind.idName]: id })
    .then(
      ({ error, status }) =>
        error ? `${error.message} (${status})` : 'its delete was answered as a success',
      messageOf,
    );
  const rest = await currentRecord(context, kind, id as bigint);
  if (!rest) return 'removed';
  const cache = rest.cache === undefined ? '' : `, from a cache (${rest.cache})`;
  throw new FindingError(fail(`${answered}, and a read still shows it${cache}`));
}

/**
 * The record with this id: from its GET, or from its list if the contract has no such GET or the GET does not find it.
 * Undefined if it does not exist.
 */
export async function currentRecord(context: CheckContext, kind: Kind, id: bigint) {
  const operation = context.round.client.contract.operations.get(kind.get);
  if (operation) {
    const reply = await context.ask(operation, { [kind.idName]: id });
    const record = recordOf(operation, reply);
    if (!reply.error) {
      if (record && !otherRecord(operation, id, record)) return { record, cache: cacheOf(reply.fields) };
      throw new FindingError(fail(`a read of ${kind.name} ${id} is not answered with that record`));
    }
    if (![404, 405, 410].includes(reply.status)) throw reply.error;
  }
  const { record } = await findInList(context, kind, id);
  return record && { record, cache: undefined };
}

const maxPages = 20;

/** What a list shows of a record. */
interface ListLook {
  readonly record: JsonObject | undefined;
  /** False if the record may be on a page that was not read. */
  readonly isWhole: boolean;
}

/** The record with this id in its list: at its place if the list can begin there, else on the first pages. */
export async function findInList(context: CheckContext, kind: Kind, id: bigint): Promise<ListLook> {
  const { client } = context.round;
  const operation = client.contract.operations.get(kind.list);
  if (!operation) return { record: undefined, isWhole: false };
  const canSeek = operation.ordered && id > 0n;
  const range = canSeek ? { after: id - 1n, limit: 1 } : {};
  let pages = 0;
  for await (const page of client.list(kind.list, {}, { ...range, ...context.callOptions() })) {
    for (const record of page as readonly unknown[])
      if (isJsonObject(record) && jsonId(record[kind.idField]) === id) return { record, isWhole: true };
    pages += 1;
    if (canSeek || pages === maxPages) return { record: undefined, isWhole: canSeek };
  }
  const isCut = operation.paging?.kind === 'unknown' && operation.paging.by !== undefined;
  return { record: undefined, isWhole: !isCut };
}

/** The record in a report: `pet petstore-smoke-… (id 12)`. */
function describeCreation({ kind, name, id }: Creation): string {
  const idText = id === undefined ? 'id unknown' : `id ${id}`;
  return `${kind.name} ${name === undefined ? '' : `${name} `}(${idText})`;
}

/** Removes every record of ours, and names those that it could not remove, or that may have been made. */
export async function cleanUp(context: CheckContext, ownership: Ownership): Promise<Finding> {
  if (!ownership.wasUsed) return skip('nothing was written');
  const left: string[] = [];
  let removed = 0;
  for (const creation of ownership.rest) {
    const what = describeCreation(creation);
    if (creation.id === undefined) {
      left.push(`perhaps ${what}: no answer to its create says whether it was made`);
      continue;
    }
    try {
      if ((await removeOwn(context, creation)) === 'removed') removed += 1;
      ownership.end(creation);
    } catch (error) {
      left.push(`${creation.effect === 'maybe' ? 'perhaps ' : ''}${what}: ${messageOf(error)}`);
    }
  }
  const done = removed === 0 ? 'nothing was left to remove' : `${removed} removed`;
  if (left.length === 0) return pass(done);
  return fail(`${counted(left.length, 'record is', 'records are')} or may be left: ${left.join('; ')}`, {
    expected: 'every record of this run removed',
    hint: 'delete what is named here',
    left,
  });
}

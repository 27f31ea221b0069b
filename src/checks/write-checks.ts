import type { Contract } from '../api/contract.ts';
import { fieldValue } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import { isSameValue } from '../api/values.ts';
import { attemptsOf, mayHaveBeenApplied } from '../client/attempt.ts';
import { toAcceptedInput } from '../client/request.ts';
import { sleep } from '../process/deadline.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { excerpt } from '../process/text.ts';
import {
  type Check,
  type Finding,
  FindingError,
  fail,
  findingOfError,
  flaky,
  pass,
  skip,
  statusText,
} from './check.ts';
import { documentedAnswer, faultOf, judge } from './judge-answer.ts';
import { demand, type Kind, kinds, minNameLength, newName, parentOf } from './kinds.ts';
import { foreignPlace } from './list-checks.ts';
import { type Creation, currentRecord, findInList, type Ownership, ownerOf, removeOwn } from './ownership.ts';
import { jsonId, recordOf } from './records.ts';
import type { CheckContext, Reply } from './round.ts';

/** What the write checks of one run share. */
export interface Writing {
  /** Gets the records that the run creates. */
  readonly ownership: Ownership;
  /** Aborted later than the checks, so that the answer to a create can still name the record to remove. */
  readonly createSignal: AbortSignal;
}

/** The full life of a record of each kind: create, read back, in its list, update, read back, delete, gone. */
export function writeChecks(contract: Contract, writing: Writing): Check<CheckContext>[] {
  const parents = new Map<Kind, Promise<Creation>>();
  return kinds.map((kind) => ({
    id: `write/${kind.name}`,
    operation: contract.operations.get(kind.create),
    needs: familyOf(kind, contract)
      .slice(1)
      .map(({ name }) => `write/${name}`),
    async run(context) {
      const obstacle = obstacleTo(kind, contract);
      return obstacle === undefined ? live({ ...writing, context, parents }, kind) : [skip(obstacle)];
    },
  }));
}

/** Why records of a kind cannot be made and removed safely; undefined if they can. */
function obstacleTo(kind: Kind, contract: Contract): string | undefined {
  const { operations, missing } = contract;
  const family = familyOf(kind, contract);
  const lacking = family.flatMap(({ create, remove }) => [create, remove]).find((id) => !operations.has(id));
  if (lacking) return `${lacking}: ${missing.get(lacking) ?? 'the contract lacks it'}`;
  const unreadable = family.find(({ get, list }) => !operations.has(get) && !operations.has(list));
  if (unreadable) return `a ${unreadable.name} cannot be read back, so it would not certainly be ours`;
  const maxLength = Math.min(...family.map((member) => maxLengthOf(member, contract)));
  if (maxLength < minNameLength)
    return `names may have only ${maxLength} characters, too few to be certainly ours`;
  return undefined;
}

/** A kind and those that its records refer to, the nearest first. */
function familyOf(kind: Kind, contract: Contract): Kind[] {
  const parent = parentOf(kind, contract);
  return parent ? [kind, ...familyOf(parent, contract)] : [kind];
}

function maxLengthOf({ create, isNamed }: Kind, { operations }: Contract): number {
  return isNamed ? Number(operations.get(create)?.body?.bounds.name?.maxLength ?? Infinity) : Infinity;
}

interface Life extends Writing {
  readonly context: CheckContext;
  /** Records that others refer to, each created once in a run. */
  readonly parents: Map<Kind, Promise<Creation>>;
}

async function live(life: Life, kind: Kind): Promise<Finding[]> {
  const { context, ownership } = life;
  const parent = await parentFor(life, kind);
  const body = draft(context, kind, parent);
  // A service may create an inventory entry together with its pet, so that it is there already.
  if (kind.name === 'inventory' && parent)
    await removeOwn(context, { kind, name: undefined, parent, id: parent.id, effect: 'maybe' });
  const created = await createOwn(life, kind, body, parent);
  const late = await checkListed(context, created);
  const isUpdated = await update(context, created, body);
  await expectOurs(context, created);
  await remove(context, created);
  ownership.end(created);
  return [
    pass(isUpdated ? 'created, read, updated, read, deleted, gone' : 'created, read, deleted, gone'),
    ...late,
  ];
}

/** The record that those of a kind refer to. */
function parentFor(life: Life, kind: Kind): Promise<Creation> | undefined {
  const parent = parentOf(kind, life.context.round.client.contract);
  if (!parent) return undefined;
  const creation = life.parents.get(parent) ?? makeParent(life, parent);
  life.parents.set(parent, creation);
  return creation;
}

async function makeParent(life: Life, kind: Kind): Promise<Creation> {
  const grandparent = await parentFor(life, kind);
  try {
    return await createOwn(life, kind, draft(life.context, kind, grandparent), grandparent);
  } catch (error) {
    const { reason, ...finding } = findingOfError(error);
    throw new FindingError({ ...finding, reason: `no ${kind.name} to work with: ${reason}` });
  }
}

/** The record to create. */
function draft(
  { round: { client, now } }: CheckContext,
  kind: Kind,
  parent: Creation | undefined,
): JsonObject {
  const { contract } = client;
  const body = {
    ...(kind.isNamed && { name: newName(now(), maxLengthOf(kind, contract)) }),
    ...(parent?.id !== undefined && { [parent.kind.idName]: parent.id }),
    ...kind.fields,
  };
  return toAcceptedInput(demand(contract, kind.create), { body }).body as JsonObject;
}

/** Creates a record, and makes sure that it is ours. */
async function createOwn(
  { context, ownership, createSignal }: Life,
  kind: Kind,
  body: JsonObject,
  parent: Creation | undefined,
): Promise<Creation> {
  const operation = demand(context.round.client.contract, kind.create);
  const name = typeof body.name === 'string' ? body.name : undefined;
  const settle = ownership.begin({ kind, name, parent });
  const reply = await context.ask(operation, { body }, { signal: createSignal }).catch((error) => {
    if (!mayHaveBeenApplied(operation.method, attemptsOf(error))) settle('none');
    throw error;
  });
  const isRefused = !mayHaveBeenApplied(operation.method, reply.attempts);
  const id = reply.status < 300 ? idOf(operation, kind, reply) : undefined;
  const created = settle(isRefused ? 'none' : id === undefined ? 'maybe' : 'made', id);
  compare(context, operation, 'create', body, reply);
  if (id === undefined) {
    const reason = 'create: the answer does not say what was created';
    throw faultOf(context, operation, reply, reason, { expected: 'its id' });
  }
  checkLocation(context, operation, reply, id);
  try {
    await readBack(context, created, body);
    return created;
  } catch (error) {
    settle('maybe', id);
    throw error;
  }
}

/** The id of a new record: from its body, else from the end of its Location. */
function idOf(operation: Operation, { idField }: Kind, reply: Reply): bigint | undefined {
  return jsonId(recordOf(operation, reply)?.[idField]) ?? idInLocation(reply);
}

function idInLocation({ fields }: Reply): bigint | undefined {
  const digits = /(?<!\d)(\d+)\/?$/.exec(fieldValue(fields, 'location') ?? '')?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

function checkLocation(context: CheckContext, operation: Operation, reply: Reply, id: bigint): void {
  const expected = `a Location that ends with ${id}`;
  const location = fieldValue(reply.fields, 'location');
  const here = new URL(reply.url);
  const place =
    location !== undefined && URL.canParse(location, here.href)
      ? foreignPlace(new URL(location, here), here)
      : undefined;
  if (place)
    throw faultOf(context, operation, reply, `create: the Location ${place.reason}`, {
      expected: place.expected,
      hint: place.hint,
      got: location,
    });
  const isPromised = documentedAnswer(operation, reply.status)?.hasLocation;
  if (location === undefined && isPromised)
    throw faultOf(context, operation, reply, 'create: the answer has no Location', { expected });
  const named = idInLocation(reply);
  if (location !== undefined && named !== undefined && named !== id)
    throw faultOf(context, operation, reply, 'create: the Location names another record', {
      expected,
      got: location,
    });
}

const listLooks = 3;
const listPauseMs = 1000;

/** Checks that a new record is in its list; a service may take a moment for that. */
async function checkListed(context: CheckContext, { kind, id }: Creation): Promise<Finding[]> {
  const operation = context.round.client.contract.operations.get(kind.list);
  if (!operation || id === undefined) return [];
  for (let look = 0; look < listLooks; look += 1) {
    if (look > 0) await sleep(listPauseMs, context.signal);
    const { record, isWhole } = await findInList(context, kind, id);
    if (record && look > 0) return [flaky(`create: ${kind.list} shows the ${kind.name} only after a while`)];
    if (record || !isWhole) return [];
  }
  throw new FindingError(fail(`create: ${kind.list} does not show ${kind.name} ${id}`, { operation }));
}

/**
 * Updates a record as `petstore` does it: the fields that are not ours go back as they came.
 *
 * @returns false if the contract has no update, or an update without the changed fields.
 */
async function update(context: CheckContext, created: Creation, body: JsonObject): Promise<boolean> {
  const { kind, id } = created;
  const operation = context.round.client.contract.operations.get(kind.update);
  const fields = operation?.body?.fields;
  const change = Object.fromEntries(
    Object.entries(kind.change).filter(([field]) => !fields || Object.hasOwn(fields, field)),
  );
  if (!operation || id === undefined || Object.keys(change).length === 0) return false;
  const before = operation.partial ? undefined : (await currentRecord(context, kind, id))?.record;
  const reply = await context.ask(operation, { [kind.idName]: id, body: change, before });
  const changed = { ...body, ...change };
  compare(context, operation, 'update', changed, reply);
  await readBack(context, created, changed);
  return true;
}

/** Only what shows our name is changed and deleted. */
async function expectOurs(context: CheckContext, created: Creation): Promise<void> {
  if ((await ownerOf(context, created)) !== 'us')
    throw new FindingError(fail(`${created.kind.name} ${created.id} does not show the name that we gave`));
}

/** Deletes a record that was just shown to be ours, and checks that its GET and its list no longer have it. */
async function remove(context: CheckContext, { kind, id }: Creation): Promise<void> {
  const { contract } = context.round.client;
  const operation = demand(contract, kind.remove);
  const reply = await context.ask(operation, { [kind.idName]: id });
  // The client counts a 404 as a success if an earlier attempt may have been applied.
  const isGone = reply.status === 404 && reply.error === undefined;
  if (!isGone) judge(context, operation, reply, { step: 'delete' });
  const read = contract.operations.get(kind.get);
  if (read) {
    const rest = await context.ask(read, { [kind.idName]: id });
    const isStatus = (status: number) => status === 404 || status === 410;
    if (!isStatus(rest.status))
      throw faultOf(context, read, rest, `gone: answered ${statusText(rest.status)}`, {
        expected: '404 or 410',
      });
  }
  if (id !== undefined && (await findInList(context, kind, id)).record)
    throw new FindingError(
      fail(`gone: ${kind.list} still has ${kind.name} ${id}`, {
        operation: contract.operations.get(kind.list),
      }),
    );
}

/** Reads a record and compares it with the fields that were sent. */
async function readBack(context: CheckContext, created: Creation, sent: JsonObject): Promise<void> {
  const { kind, id } = created;
  const operation = context.round.client.contract.operations.get(kind.get);
  const reply = operation && (await context.ask(operation, { [kind.idName]: id }));
  // A read that is missing or retired is the matter of its own check; the list then shows the record.
  if (!operation || !reply || (reply.status === 410 && operation.deprecated))
    return expectOurs(context, created);
  compare(context, operation, 'read back', sent, reply);
}

/**
 * Checks that each field that was sent comes back unchanged; the service may add others. An answer that is documented
 * to have no body passes.
 */
function compare(
  context: CheckContext,
  operation: Operation,
  step: string,
  sent: JsonObject,
  reply: Reply,
): void {
  judge(context, operation, reply, { step });
  const record = recordOf(operation, reply);
  if (!record) return;
  // A category may be sent as an object or a name, and answered as an id.
  const answered = (field: string) =>
    field === 'categoryId' && typeof sent[field] !== 'bigint'
      ? (record[field] ?? record.category)
      : record[field];
  const wrong = Object.keys(sent).find((field) => !isSameValue(idOrValue(sent[field]), answered(field)));
  if (wrong === undefined) return;
  const text = (value: JsonObject[string] | undefined) =>
    value === undefined ? 'no such field' : excerpt(printJson(value), context.round.mask);
  throw faultOf(context, operation, reply, `${step}: ${wrong} is not what was sent`, {
    pointer: `/${wrong}`,
    expected: text(sent[wrong]),
    got: text(record[wrong]),
  });
}

function idOrValue(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) ? (value.id ?? value.name) : value;
}

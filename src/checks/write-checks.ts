import type { Contract } from '../api/contract.ts';
import { fieldValue } from '../api/http.ts';
import type { Operation } from '../api/operations.ts';
import { isSameValue } from '../api/values.ts';
import { toAcceptedInput } from '../client/request.ts';
import { CliError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { excerpt } from '../process/text.ts';
import type { CheckRun, Reply } from './ask.ts';
import {
  type Check,
  fail,
  pass,
  skip,
  statusText,
  type Verdict,
  VerdictError,
  verdictOfError,
} from './check.ts';
import { documentedAnswer, faultOf, judge } from './judge-answer.ts';
import { demand, type Kind, kinds, minNameLength, newName, parentOf } from './kinds.ts';
import { type Creation, findInList, type Ownership, ownerOf, removeOwn } from './ownership.ts';
import { jsonId, recordOf } from './records.ts';

/** The full life of a record of each kind: create, read back, update, read back, delete, gone. */
export function writeChecks(contract: Contract, ownership: Ownership): Check<CheckRun>[] {
  const parents = new Map<Kind, Promise<Creation>>();
  return kinds.map((kind) => ({
    id: `write/${kind.name}`,
    operation: contract.operations.get(kind.create),
    needs: familyOf(kind, contract)
      .slice(1)
      .map(({ name }) => `write/${name}`),
    async run(run) {
      const obstacle = obstacleTo(kind, contract);
      return obstacle === undefined ? live({ run, ownership, parents }, kind) : skip(obstacle);
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
  const maxLength = Math.min(...family.map((each) => maxLengthOf(each, contract)));
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

interface Life {
  readonly run: CheckRun;
  readonly ownership: Ownership;
  /** Records that others refer to, each created once in a run. */
  readonly parents: Map<Kind, Promise<Creation>>;
}

async function live(life: Life, kind: Kind): Promise<Verdict> {
  const { run, ownership } = life;
  const parent = await parentFor(life, kind);
  const body = draft(run, kind, parent);
  // A service may create an inventory entry together with its pet, so that it is there already.
  if (kind.name === 'inventory' && parent)
    await removeOwn(run, { kind, name: undefined, parent, id: parent.id, effect: 'maybe' });
  const created = await createOwn(life, kind, body, parent);
  const isUpdated = await update(run, created, body);
  await expectOurs(run, created);
  await remove(run, created);
  ownership.end(created);
  return pass(isUpdated ? 'created, read, updated, read, deleted, gone' : 'created, read, deleted, gone');
}

/** The record that those of a kind refer to. */
function parentFor(life: Life, kind: Kind): Promise<Creation> | undefined {
  const parent = parentOf(kind, life.run.client.contract);
  if (!parent) return undefined;
  const known = life.parents.get(parent) ?? makeParent(life, parent);
  life.parents.set(parent, known);
  return known;
}

async function makeParent(life: Life, kind: Kind): Promise<Creation> {
  const grandparent = await parentFor(life, kind);
  try {
    return await createOwn(life, kind, draft(life.run, kind, grandparent), grandparent);
  } catch (error) {
    const { reason, ...verdict } = verdictOfError(error);
    throw new VerdictError({ ...verdict, reason: `no ${kind.name} to work with: ${reason}` });
  }
}

/** The record to create. */
function draft(
  { client: { contract }, now }: CheckRun,
  kind: Kind,
  parent: Creation | undefined,
): JsonObject {
  const body = {
    ...(kind.isNamed && { name: newName(now(), maxLengthOf(kind, contract)) }),
    ...(parent?.id !== undefined && { [parent.kind.idName]: parent.id }),
    ...kind.fields,
  };
  return toAcceptedInput(demand(contract, kind.create), { body }).body as JsonObject;
}

/** Creates a record, and makes sure that it is ours. */
async function createOwn(
  { run, ownership }: Life,
  kind: Kind,
  body: JsonObject,
  parent: Creation | undefined,
): Promise<Creation> {
  const operation = demand(run.client.contract, kind.create);
  const name = typeof body.name === 'string' ? body.name : undefined;
  const settle = ownership.begin({ kind, name, parent });
  const reply = await run.ask(operation, { body }, { signal: run.createSignal }).catch((error) => {
    const isUnsent =
      error instanceof VerdictError || (error instanceof CliError && error.details.applied === undefined);
    if (isUnsent) settle('none');
    throw error;
  });
  const isRefused = reply.error !== undefined && reply.error.details.applied === undefined;
  const id = reply.status < 300 ? idOf(operation, kind, reply) : undefined;
  const created = settle(isRefused ? 'none' : id === undefined ? 'maybe' : 'made', id);
  compare(run, operation, 'create', body, reply);
  if (id === undefined) {
    const reason = 'create: the answer does not say what was created';
    throw faultOf(run, operation, reply, reason, { expected: 'its id' });
  }
  checkLocation(run, operation, reply, id);
  try {
    await readBack(run, created, body);
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

function checkLocation(run: CheckRun, operation: Operation, reply: Reply, id: bigint): void {
  const expected = `a Location that ends with ${id}`;
  const location = fieldValue(reply.fields, 'location');
  const isPromised = documentedAnswer(operation, reply.status)?.hasLocation;
  if (location === undefined && isPromised)
    throw faultOf(run, operation, reply, 'create: the answer has no Location', { expected });
  const named = idInLocation(reply);
  if (location !== undefined && named !== undefined && named !== id)
    throw faultOf(run, operation, reply, 'create: the Location names another record', {
      expected,
      got: location,
    });
}

/** @returns false if the contract has no update, or an update without the changed fields. */
async function update(run: CheckRun, created: Creation, body: JsonObject): Promise<boolean> {
  const { kind, id } = created;
  const operation = run.client.contract.operations.get(kind.update);
  const offered = operation?.body?.fields;
  const change = Object.fromEntries(
    Object.entries(kind.change).filter(([field]) => !offered || Object.hasOwn(offered, field)),
  );
  if (!operation || Object.keys(change).length === 0) return false;
  const changed = { ...body, ...change };
  const isCount = kind.name === 'inventory' && !operation.body?.fields;
  const whole = isCount ? { quantity: changed.quantity ?? 0 } : changed;
  const required = operation.body?.required ?? [];
  const patch = Object.entries(changed).filter(([name]) => name in change || required.includes(name));
  const sent = operation.method === 'PATCH' ? Object.fromEntries(patch) : whole;
  const reply = await run.ask(operation, { [kind.idName]: id, body: sent });
  compare(run, operation, 'update', changed, reply);
  await readBack(run, created, changed);
  return true;
}

/** Only what shows our name is changed and deleted. */
async function expectOurs(run: CheckRun, created: Creation): Promise<void> {
  if ((await ownerOf(run, created)) !== 'us')
    throw new VerdictError(fail(`${created.kind.name} ${created.id} does not show the name that we gave`));
}

/** Deletes a record that was just shown to be ours, and checks that its GET and its list no longer have it. */
async function remove(run: CheckRun, { kind, id }: Creation): Promise<void> {
  const { contract } = run.client;
  const operation = demand(contract, kind.remove);
  const reply = await run.ask(operation, { [kind.idName]: id });
  // The client counts a 404 as a success if an earlier attempt may have been applied.
  const isGone = reply.status === 404 && reply.error === undefined;
  if (!isGone) judge(run, operation, reply, { step: 'delete' });
  const read = contract.operations.get(kind.get);
  if (read) {
    const found = await run.ask(read, { [kind.idName]: id });
    const isStatus = (status: number) => status === 404 || status === 410;
    if (!isStatus(found.status))
      throw faultOf(run, read, found, `gone: answered ${statusText(found.status)}`, {
        expected: '404 or 410',
      });
  }
  if (id !== undefined && (await findInList(run, kind, id)))
    throw new VerdictError(
      fail(`gone: ${kind.list} still has ${kind.name} ${id}`, {
        operation: contract.operations.get(kind.list),
      }),
    );
}

/** Reads a record and compares it with the fields that were sent. */
async function readBack(run: CheckRun, created: Creation, sent: JsonObject): Promise<void> {
  const { kind, id } = created;
  const operation = run.client.contract.operations.get(kind.get);
  const reply = operation && (await run.ask(operation, { [kind.idName]: id }));
  // A read that is missing or retired is the matter of its own check; the list then shows the record.
  if (!operation || !reply || (reply.status === 410 && operation.deprecated)) return expectOurs(run, created);
  compare(run, operation, 'read back', sent, reply);
}

/**
 * Checks that each field that was sent comes back unchanged; the service may add others. An answer that is documented
 * to have no body passes.
 */
function compare(run: CheckRun, operation: Operation, step: string, sent: JsonObject, reply: Reply): void {
  judge(run, operation, reply, { step });
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
    value === undefined ? 'no such field' : excerpt(printJson(value), run.mask);
  throw faultOf(run, operation, reply, `${step}: ${wrong} is not what was sent`, {
    pointer: `/${wrong}`,
    expected: text(sent[wrong]),
    got: text(record[wrong]),
  });
}

function idOrValue(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) ? (value.id ?? value.name) : value;
}

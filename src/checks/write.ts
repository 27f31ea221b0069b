import { isDeepStrictEqual } from 'node:util';
import type { Contract } from '../api/contract.ts';
import { fieldValue } from '../api/http.ts';
import type { Operation, OperationId } from '../api/operations.ts';
import { toAcceptedInput } from '../client/request.ts';
import { UnavailableError } from '../process/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { type Check, fail, isRed, pass, skip, type Verdict, VerdictError, verdictOfError } from './check.ts';
import { proveOwn, readById } from './cleanup.ts';
import {
  type Creation,
  describeCreation,
  type Kind,
  kinds,
  newName,
  parentOf,
  type Stored,
  shortestName,
} from './creations.ts';
import { judge } from './judge.ts';
import { detailsOf, jsonId, type Probe, type Reply, recordOf } from './probe.ts';
import { excerpt } from './text.ts';

/** The full life of a record of each kind: create, read back, update, read back, delete, gone. */
export function writeChecks(contract: Contract): Check<Probe>[] {
  const { operations, missing } = contract;
  return kinds.map((kind) => ({
    id: `write/${kind.name}`,
    operation: operations.get(kind.create),
    async run(probe) {
      const family = lineage(kind, contract);
      const needed = family.flatMap(({ create, remove }) => [create, remove]);
      const lacking = needed.find((id) => !operations.has(id));
      if (lacking) return skip(`${lacking}: ${missing.get(lacking) ?? 'the contract lacks it'}`);
      const maxLength = Math.min(...family.map((each) => maxLengthOf(each, contract)));
      if (maxLength < shortestName)
        return skip(`names may have only ${maxLength} characters, too few to be certainly ours`);
      const unsafe = family.find(({ create }) => demand(probe, create).body?.choosesId);
      if (unsafe)
        return skip(
          `${unsafe.create}: the caller chooses the id, which may be that of somebody else's record`,
        );
      const { creations } = probe.traces;
      const before = creations.length;
      const verdict = await live(probe, kind).catch((error) => {
        if (probe.signal.aborted && !(error instanceof VerdictError)) throw error;
        return verdictOfError(error);
      });
      const made = creations.slice(before).map(describeCreation);
      return isRed(verdict) && made.length > 0 ? { ...verdict, made } : verdict;
    },
  }));
}

/** A kind and those that its records refer to, the nearest first. */
function lineage(kind: Kind, contract: Contract): Kind[] {
  const parent = parentOf(kind, contract);
  return parent ? [kind, ...lineage(parent, contract)] : [kind];
}

function maxLengthOf({ create, isNamed }: Kind, { operations }: Contract): number {
  return isNamed ? Number(operations.get(create)?.body?.bounds.name?.maxLength ?? Infinity) : Infinity;
}

/** The id of a record that others refer to, created once in a run. */
function parentId(probe: Probe, kind: Kind): Promise<bigint> {
  const { parents } = probe.traces;
  const id = parents.get(kind) ?? makeParent(probe, kind);
  parents.set(kind, id);
  return id;
}

/** @throws VerdictError that blames the check of this kind, if that has failed too. */
async function makeParent(probe: Probe, kind: Kind): Promise<bigint> {
  const body = await draft(probe, kind);
  try {
    return (await createOwn(probe, kind, body)).id;
  } catch (error) {
    if (!(error instanceof VerdictError || error instanceof UnavailableError)) throw error;
    const before = probe.results.get(`write/${kind.name}`);
    if (before && isRed(before)) throw new VerdictError(skip(`${before.id} says what is wrong`));
    throw new VerdictError({ state: 'error', reason: `no ${kind.name} to work with: ${error.message}` });
  }
}

async function live(probe: Probe, kind: Kind): Promise<Verdict> {
  const body = await draft(probe, kind);
  // A service may create an inventory entry together with its pet; it belongs to this run.
  if (kind.name === 'inventory') await makeRoom(probe, { kind, id: jsonId(body.petId) ?? 0n });
  const created = await createOwn(probe, kind, body);
  const etag = await readBack(probe, created, body);
  const isUpdated = await update(probe, created, body, etag);
  created.mayBeGone = true;
  await remove(probe, created);
  await expectGone(probe, created);
  created.isGone = true;
  return pass(isUpdated ? 'created, read, updated, read, deleted, gone' : 'created, read, deleted, gone');
}

/** The record to create. */
async function draft(probe: Probe, kind: Kind): Promise<JsonObject> {
  const { contract } = probe.client;
  const parent = parentOf(kind, contract);
  const body = {
    ...(kind.isNamed && { name: newName(probe.now(), maxLengthOf(kind, contract)) }),
    ...(parent && { [parent.idName]: await parentId(probe, parent) }),
    ...kind.fields,
  };
  return toAcceptedInput(demand(probe, kind.create), { body }).body as JsonObject;
}

async function makeRoom(probe: Probe, entry: Stored): Promise<void> {
  const found = await readById(probe, entry);
  if (!found || found.status === 404 || found.status === 410) return;
  judge(probe, demand(probe, entry.kind.get), found, { step: 'read' });
  await remove(probe, entry);
  await expectGone(probe, entry);
}

/** Creates a record, and makes sure that the answer does not name a record of somebody else. */
async function createOwn(probe: Probe, kind: Kind, body: JsonObject): Promise<Creation & Stored> {
  const { traces, stop } = probe;
  const operation = demand(probe, kind.create);
  const request = probe.toRequest(operation, { body });
  const name = typeof body.name === 'string' ? body.name : undefined;
  const creation = traces.add({ kind, name, isOpen: true });
  const reply = await probe.send(request, { signal: stop.creating });
  // A 408 may come after the record was created.
  const isRefused = reply.status >= 400 && reply.status < 500 && reply.status !== 408;
  const id = isRefused ? undefined : idOf(kind, operation, reply);
  // An attempt that only a gateway answered may have created a record nevertheless.
  const mayBeAnother = reply.first !== undefined;
  creation.id = id;
  const step: Step = { name: afterFirst('create', reply), operation };
  if (id === undefined) {
    creation.isOpen = !isRefused || mayBeAnother;
    judge(probe, operation, reply, { step: step.name });
    const details = { ...detailsOf(reply), operation, expected: 'its id' };
    throw new VerdictError(fail('create: the answer does not say what was created', details));
  }
  compare(probe, step, body, reply);
  creation.isOpen = mayBeAnother;
  const proof = await proveOwn(probe, { kind, id });
  if (proof === 'own') return Object.assign(creation, { id });
  creation.isOpen = true;
  const what = `${kind.name} ${id}`;
  const reasons = {
    gone: `${what} was created and cannot be found`,
    foreign: `the answer names ${what}, which is somebody else's`,
    unknown: `${what} cannot be read back, so it is not certainly ours`,
  };
  throw new VerdictError(fail(`create: ${reasons[proof]}`, { operation }));
}

/** The id of a new record: from its body, else from the end of its Location. */
function idOf({ idField }: Kind, operation: Operation, reply: Reply): bigint | undefined {
  const digits = /(?<!\d)(\d+)\/?$/.exec(fieldValue(reply.fields, 'location') ?? '')?.[1];
  return jsonId(recordOf(operation, reply)?.[idField]) ?? (digits ? BigInt(digits) : undefined);
}

/** @returns false if the contract has no update, or an update without the changed fields. */
async function update(
  probe: Probe,
  created: Stored,
  body: JsonObject,
  etag: string | undefined,
): Promise<boolean> {
  const { kind, id } = created;
  const operation = probe.client.contract.operations.get(kind.update);
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
  const request = probe.toRequest(operation, { [kind.idName]: id, body: sent });
  const fields = { ...request.fields, ...(etag && { 'if-match': etag }) };
  const reply = await probe.send({ ...request, fields });
  // After a retry, the record may have another ETag because the first attempt was applied: reading it back tells.
  if (reply.first === undefined || reply.status !== 412)
    compare(probe, { name: afterFirst('update', reply), operation }, changed, { ...reply, asked: id });
  await readBack(probe, created, changed);
  return true;
}

function demand(probe: Probe, id: OperationId): Operation {
  const operation = probe.client.contract.operations.get(id);
  if (!operation) throw new Error(`the contract lacks ${id}`);
  return operation;
}

/** Sends a delete. After a retry, the record may be gone because the first attempt was applied. */
async function remove(probe: Probe, { kind, id }: Stored): Promise<void> {
  const operation = demand(probe, kind.remove);
  const reply = await probe.call(operation, { [kind.idName]: id });
  if (reply.first === undefined || reply.status !== 404) judge(probe, operation, reply, { step: 'delete' });
}

/**
 * Reads a record and compares it with the fields that were sent. Skipped if the contract has no such GET, or if it is
 * gone (410).
 *
 * @returns its ETag, if it has one.
 */
async function readBack(probe: Probe, created: Stored, sent: JsonObject): Promise<string | undefined> {
  const reply = await readById(probe, created);
  if (!reply) return undefined;
  const operation = demand(probe, created.kind.get);
  if (reply.status === 410 && operation.deprecated) return undefined;
  compare(probe, { name: 'read back', operation }, sent, reply);
  return fieldValue(reply.fields, 'etag');
}

/** Checks that the GET of a record says that it is gone. */
async function expectGone(probe: Probe, created: Stored): Promise<void> {
  const reply = await readById(probe, created);
  const isStatus = (status: number) => status === 404 || status === 410;
  if (!reply || isStatus(reply.status)) return;
  judge(probe, demand(probe, created.kind.get), reply, { isStatus, statuses: '404 or 410', step: 'gone' });
}

/** A part of a record's life. */
interface Step {
  /** Its name in a report. */
  readonly name: string;
  readonly operation: Operation;
}

/** The step, and the result of its first attempt if there was another: that one may have been applied. */
function afterFirst(step: string, { first }: Reply): string {
  return first === undefined ? step : `${step}, after ${first}`;
}

/**
 * Checks that each field that was sent comes back unchanged; the service may add others. An answer that is documented
 * to have no body passes.
 *
 * @throws VerdictError
 */
function compare(probe: Probe, { name, operation }: Step, sent: JsonObject, reply: Reply): void {
  const body = judge(probe, operation, reply, { step: name });
  if (!isJsonObject(body)) return;
  const answered = (field: string) =>
    field === 'categoryId' && typeof sent[field] !== 'bigint' ? (body[field] ?? body.category) : body[field];
  const idOrValue = (value: JsonValue | undefined) =>
    isJsonObject(value) ? (value.id ?? value.name) : value;
  const wrong = Object.keys(sent).find((field) => !isSame(idOrValue(sent[field]), answered(field)));
  if (wrong === undefined) return;
  throw new VerdictError(
    fail(`${name}: ${wrong} is not what was sent`, {
      ...detailsOf(reply),
      operation,
      pointer: `/${wrong}`,
      expected: excerpt(printJson(sent[wrong]), probe.mask),
      got: wrong in body ? excerpt(printJson(body[wrong]), probe.mask) : 'no such field',
    }),
  );
}

/** Two texts of the same moment are equal. */
function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'bigint';
  // biome-ignore lint/suspicious/noDoubleEquals: a number and a bigint of one value are the same integer
  if (isNumber(one) && isNumber(other)) return one == other;
  if (one === other || isDeepStrictEqual(one, other)) return true;
  const isDate = (value: unknown): value is string =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  return isDate(one) && isDate(other) && Date.parse(one) === Date.parse(other);
}

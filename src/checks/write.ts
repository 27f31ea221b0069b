import { isDeepStrictEqual } from 'node:util';
import type { Contract } from '../api/contract.ts';
import { fieldValue } from '../api/http.ts';
import type { Operation, OperationId } from '../api/operations.ts';
import { fitBody, toUpdateBody } from '../api/shapes.ts';
import type { CallInput } from '../client/request.ts';
import { UnavailableError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../json.ts';
import { type Check, fail, isRed, pass, skip, type Verdict, verdictOfError } from './check.ts';
import { judge } from './judge.ts';
import {
  describeCreation,
  type Kind,
  kinds,
  type Made,
  newName,
  proveOwn,
  shortestName,
  type Traces,
} from './made.ts';
import { detailsOf, jsonOf, type Probe, type Reply, toId } from './probe.ts';
import { excerpt } from './text.ts';

/**
 * The full life of a record of each kind: create, read back, update, read back, delete, gone.
 *
 * @param creating aborts a pending create; it comes later than the other signal, so that the answer can still name the
 *   record to remove.
 */
export function writeChecks(
  { operations, missing }: Contract,
  traces: Traces,
  creating: AbortSignal,
): Check<Probe>[] {
  let life: Life | undefined;
  return Object.values(kinds).map((kind) => ({
    id: `write/${kind.name}`,
    operation: operations.get(kind.create),
    async run(probe) {
      const lacking = neededBy(kind, operations).find((id) => !operations.has(id));
      if (lacking) return skip(`${lacking}: ${missing.get(lacking) ?? 'the contract lacks it'}`);
      life ??= createLife(probe, traces, creating);
      const before = traces.creations.length;
      const verdict = await checkKind(life, kind);
      const made = traces.creations.slice(before).map(describeCreation);
      return isRed(verdict) && made.length > 0 ? { ...verdict, made } : verdict;
    },
  }));
}

/** The operations that a check needs, including those for the records that its record refers to. */
function neededBy(kind: Kind, operations: Contract['operations']): OperationId[] {
  const own = [kind.create, kind.remove];
  if (kind === kinds.category) return own;
  const pet = kind === kinds.pet ? own : [...own, kinds.pet.create, kinds.pet.remove];
  return refersToCategory(operations.get(kinds.pet.create))
    ? [...pet, kinds.category.create, kinds.category.remove]
    : pet;
}

/** False if the pets of a bound service have no category, or have it as an object. */
function refersToCategory(operation: Operation | undefined): boolean {
  const offered = operation?.body?.fields;
  return offered === undefined || Object.hasOwn(offered, 'categoryId');
}

/** The shared state of the checks of one run. */
interface Life {
  readonly probe: Probe;
  readonly traces: Traces;
  readonly creating: AbortSignal;
  /** Records that others refer to, each created once. */
  categoryId(): Promise<bigint>;
  petId(): Promise<bigint>;
}

/** A step had an unexpected result. */
class StepFailure extends Error {
  readonly verdict: Verdict;

  constructor(step: string, verdict: Verdict) {
    super(`${step}: ${verdict.reason}`);
    this.verdict = { ...verdict, reason: this.message };
  }
}

/** A record that a check needs could not be created. */
class FixtureFailure extends Error {
  readonly kind: Kind;

  constructor(kind: Kind, reason: string) {
    super(reason);
    this.kind = kind;
  }
}

function createLife(probe: Probe, traces: Traces, creating: AbortSignal): Life {
  const fixtures = new Map<Kind, Promise<bigint>>();
  const fixture = (kind: Kind) => {
    const id = fixtures.get(kind) ?? makeFixture(life, kind);
    fixtures.set(kind, id);
    return id;
  };
  const life: Life = {
    probe,
    traces,
    creating,
    categoryId: () => fixture(kinds.category),
    petId: () => fixture(kinds.pet),
  };
  return life;
}

async function makeFixture(life: Life, kind: Kind): Promise<bigint> {
  try {
    const { body } = await draft(life, kind);
    const made = await create(life, kind, body);
    await demandOwn(life, made);
    return made.id;
  } catch (error) {
    const isExpected = error instanceof StepFailure || error instanceof UnavailableError;
    throw isExpected ? new FixtureFailure(kind, error.message) : error;
  }
}

async function checkKind(life: Life, kind: Kind): Promise<Verdict> {
  const { results, signal } = life.probe;
  const named = kind === kinds.category ? [kinds.category] : [kinds.category, kinds.pet];
  const maxLength = Math.min(...named.map((each) => maxLengthOf(life, each)));
  if (maxLength < shortestName)
    return skip(`names may have only ${maxLength} characters, too few to be certainly ours`);
  try {
    return await live(life, kind);
  } catch (error) {
    if (error instanceof StepFailure) return error.verdict;
    if (!(error instanceof FixtureFailure)) {
      if (signal.aborted) throw error;
      return verdictOfError(error);
    }
    const before = results.get(`write/${error.kind.name}`);
    if (before && isRed(before)) return skip(`${before.id} says what is wrong`);
    return { state: 'error', reason: `no ${error.kind.name} to work with: ${error.message}` };
  }
}

async function live(life: Life, kind: Kind): Promise<Verdict> {
  const { probe, traces } = life;
  const { body, change } = await draft(life, kind);
  if (kind === kinds.inventory) await makeRoom(life, kind, toId(body.petId) ?? 0n);
  const made = await create(life, kind, body);
  await demandOwn(life, made);
  const etag = await readBack(probe, kind, { id: made.id, sent: body });
  const updated = await update(probe, { made, body, change, etag });
  await remove(probe, demand(probe, kind.remove), { [kind.idName]: made.id });
  await expectGone(probe, kind, made.id);
  traces.made.delete(made);
  return pass(updated ? 'created, read, updated, read, deleted, gone' : 'created, read, deleted, gone');
}

interface Draft {
  /** The record to create. */
  readonly body: JsonObject;
  /** The fields to change in it. */
  readonly change: JsonObject;
}

/** Adds the record to be created to the traces. */
async function draft(life: Life, kind: Kind): Promise<Draft> {
  const { probe, traces } = life;
  const isNamed = kind === kinds.category || kind === kinds.pet;
  const drafted = await draftOf(life, kind, isNamed ? newName(probe.now(), maxLengthOf(life, kind)) : '');
  traces.creations.push({ kind, name: isNamed ? String(drafted.body.name) : undefined });
  const offered = probe.client.contract.operations.get(kind.update)?.body?.fields;
  const change = Object.entries(drafted.change).filter(
    ([field]) => !offered || Object.hasOwn(offered, field),
  );
  return { body: fitBody(demand(probe, kind.create), drafted.body), change: Object.fromEntries(change) };
}

async function draftOf(life: Life, { name: kind }: Kind, name: string): Promise<Draft> {
  if (kind === 'category')
    return {
      body: { name, description: 'made by petstore smoke, removed at its end' },
      change: { description: 'changed by petstore smoke' },
    };
  if (kind === 'pet')
    return {
      body: {
        name,
        ...(refersToCategory(demand(life.probe, kinds.pet.create)) && {
          categoryId: await life.categoryId(),
        }),
        status: 'available',
      },
      change: { status: 'pending' },
    };
  const petId = await life.petId();
  if (kind === 'inventory')
    return { body: { petId, quantity: 3, status: 'available' }, change: { quantity: 7 } };
  return {
    body: { petId, quantity: 1, shipDate: '2030-01-01T00:00:00Z', complete: false },
    change: { quantity: 2, complete: true },
  };
}

function maxLengthOf({ probe }: Life, { create }: Kind): number {
  const operation = probe.client.contract.operations.get(create);
  return Number(operation?.body?.bounds.name?.maxLength ?? Infinity);
}

/** A service may create an inventory entry together with its pet; the entry belongs to this run and is removed. */
async function makeRoom({ probe }: Life, kind: Kind, petId: bigint): Promise<void> {
  const get = probe.client.contract.operations.get(kind.get);
  if (!get) return;
  const input = { [kind.idName]: petId };
  const { status } = await probe.send(probe.toRequest(get, input));
  if (get.success.includes(status)) await remove(probe, demand(probe, kind.remove), input);
}

async function create({ probe, traces, creating }: Life, kind: Kind, body: JsonObject): Promise<Made> {
  const step = { step: 'create', operation: demand(probe, kind.create) };
  const request = probe.toRequest(step.operation, { body });
  const creation = traces.creations.findLast((each) => each.kind === kind);
  const wasSuspected = traces.suspected.has(kind);
  traces.suspected.add(kind);
  const reply = await probe.send(request, { signal: creating });
  const isRefused = reply.status >= 400 && reply.status < 500;
  const id = isRefused ? undefined : idOf(kind, reply);
  // An attempt that only a gateway answered may have created a record nevertheless.
  const isSettled = reply.first === undefined && (isRefused || id !== undefined);
  if (id === undefined) {
    if (isSettled && !wasSuspected) traces.suspected.delete(kind);
    bodyOf(probe, step, reply);
    const details = { ...detailsOf(reply), operation: step.operation, expected: 'its id' };
    throw new StepFailure('create', fail('the answer does not say what was created', details));
  }
  if (creation) creation.id = id;
  const made = { kind, id };
  traces.made.add(made);
  compare(probe, step, { sent: body, reply });
  if (isSettled && !wasSuspected) traces.suspected.delete(kind);
  return made;
}

/** The id of a new record: from its body, else from the end of its Location. */
function idOf({ idField }: Kind, reply: Reply): bigint | undefined {
  const body = jsonOf(reply);
  const digits = /(?<!\d)(\d+)\/?$/.exec(fieldValue(reply.fields, 'location') ?? '')?.[1];
  return (isJsonObject(body) ? toId(body[idField]) : undefined) ?? (digits ? BigInt(digits) : undefined);
}

/** Proves ownership before the record is changed or deleted: an answer may name a record of somebody else. */
async function demandOwn({ probe, traces }: Life, made: Made): Promise<void> {
  const proof = await proveOwn(probe, traces, made);
  if (proof === 'own') return;
  traces.suspected.add(made.kind);
  const what = `${made.kind.name} ${made.id}`;
  const reasons = {
    gone: `${what} was created and cannot be found`,
    foreign: `the answer names ${what}, which is somebody else's`,
    unknown: `${what} cannot be read back, so it is not certainly ours`,
  };
  throw new StepFailure('create', fail(reasons[proof], { operation: demand(probe, made.kind.create) }));
}

interface Change extends Draft {
  readonly made: Made;
  readonly etag: string | undefined;
}

/** @returns false if the contract has no update, or an update without the changed fields. */
async function update(probe: Probe, { made: { kind, id }, body, change, etag }: Change): Promise<boolean> {
  const operation = probe.client.contract.operations.get(kind.update);
  if (!operation || Object.keys(change).length === 0) return false;
  const changed = { ...body, ...change };
  const whole = kind === kinds.inventory ? { quantity: changed.quantity ?? 0 } : changed;
  const sent =
    operation.method === 'PATCH' ? toUpdateBody(operation, body, change) : fitBody(operation, whole);
  const request = probe.toRequest(operation, { [kind.idName]: id, body: sent });
  const fields = { ...request.fields, ...(etag && { 'if-match': etag }) };
  const reply = await probe.send({ ...request, fields });
  compare(probe, { step: 'update', operation }, { sent: changed, reply });
  await readBack(probe, kind, { id, sent: changed });
  return true;
}

function demand(probe: Probe, id: OperationId): Operation {
  const operation = probe.client.contract.operations.get(id);
  if (!operation) throw new Error(`the contract lacks ${id}`);
  return operation;
}

interface Step {
  /** Its name in a report. */
  readonly step: string;
  readonly operation: Operation;
}

/** The body of a documented answer; undefined if none is documented. @throws StepFailure */
function bodyOf(probe: Probe, { step, operation }: Step, reply: Reply): JsonValue | undefined {
  const judgement = judge(probe, operation, reply);
  if ('fault' in judgement) throw new StepFailure(step, judgement.fault);
  return judgement.body;
}

/** Sends a delete. After a retry, the record may be gone because the first attempt was applied. */
async function remove(probe: Probe, operation: Operation, input: CallInput): Promise<void> {
  const reply = await probe.send(probe.toRequest(operation, input));
  if (reply.first !== undefined && reply.status === 404) return;
  bodyOf(probe, { step: 'delete', operation }, reply);
}

/**
 * Reads a record and compares it with the fields that were sent. Skipped if the contract has no such GET, or if it is
 * gone (410).
 *
 * @returns its ETag, if it has one.
 */
async function readBack(
  probe: Probe,
  kind: Kind,
  { id, sent }: { readonly id: bigint; readonly sent: JsonObject },
): Promise<string | undefined> {
  const operation = probe.client.contract.operations.get(kind.get);
  if (!operation) return undefined;
  const reply = await probe.send(probe.toRequest(operation, { [kind.idName]: id }));
  if (reply.status === 410 && operation.deprecated) return undefined;
  compare(probe, { step: 'read back', operation }, { sent, reply });
  return fieldValue(reply.fields, 'etag');
}

/** Checks that the GET of a record says that it is gone. */
async function expectGone(probe: Probe, kind: Kind, id: bigint): Promise<void> {
  const operation = probe.client.contract.operations.get(kind.get);
  if (!operation) return;
  const reply = await probe.send(probe.toRequest(operation, { [kind.idName]: id }));
  const isGone = (status: number) => status === 404 || status === 410;
  if (isGone(reply.status)) return;
  const judgement = judge(probe, operation, reply, { isStatus: isGone, statuses: '404 or 410' });
  if ('fault' in judgement) throw new StepFailure('gone', judgement.fault);
}

/**
 * Checks that each field that was sent comes back unchanged; the service may add others. An answer that is documented
 * to have no body passes.
 *
 * @throws StepFailure
 */
function compare(
  probe: Probe,
  { step, operation }: Step,
  { sent, reply }: { readonly sent: JsonObject; readonly reply: Reply },
): void {
  const body = bodyOf(probe, { step, operation }, reply);
  if (!isJsonObject(body)) return;
  const wrong = Object.keys(sent).find((field) => !isSame(sent[field], body[field]));
  if (wrong === undefined) return;
  throw new StepFailure(
    step,
    fail(`${wrong} is not what was sent`, {
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

import { type Contract, takesField } from '../api/contract.ts';
import { fieldValue } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { isSameValue } from '../api/values.ts';
import { attemptsOf, mayHaveBeenApplied } from '../client/attempt.ts';
import { toAcceptedInput } from '../client/request.ts';
import { sleep } from '../process/deadline.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { excerpt } from '../process/text.ts';
import {
  type Check,
  type Details,
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
import { type Kind, kindsOf, maxNameLength, newName } from './kinds.ts';
import { foreignPlace } from './list-checks.ts';
import {
  type CreatedRecord,
  type Creation,
  currentRecord,
  findInList,
  ownerOf,
  removeOwn,
} from './ownership.ts';
import { jsonId, recordOf } from './records.ts';
import type { CheckContext, Reply } from './round.ts';

/** What the write checks of one run share. */
export interface Writing {
  /** Gets the creates of the run, and loses those whose record is certainly not there. */
  readonly creations: Set<Creation>;
  /** Aborted later than the checks, so that the answer to a create can still name the record to remove. */
  readonly createSignal: AbortSignal;
}

/** The full life of a record of each kind: create, read back, in its list, update, read back, delete, gone. */
export function writeChecks(contract: Contract, writing: Writing): Check<CheckContext>[] {
  const parents = new Map<Kind, Promise<CreatedRecord>>();
  return [...kindsOf(contract)].map(([name, kind]) => {
    const id = `write/${name}`;
    if (typeof kind === 'string') return { id, run: async () => [skip(kind)] };
    const needs = ancestorsOf(kind).map((ancestor) => `write/${ancestor.name}`);
    return {
      ...{ id, operation: kind.create, needs },
      run: (context) => checkLife({ ...writing, context, parents }, kind),
    };
  });
}

/** The kinds that the records of a kind refer to, the nearest first. */
function ancestorsOf({ parent }: Kind): Kind[] {
  return parent ? [parent, ...ancestorsOf(parent)] : [];
}

interface Life extends Writing {
  readonly context: CheckContext;
  /** Records that others refer to, each created once in a run. */
  readonly parents: Map<Kind, Promise<CreatedRecord>>;
}

async function checkLife(life: Life, kind: Kind): Promise<Finding[]> {
  const { context, creations } = life;
  const parent = await parentFor(life, kind);
  const body = draftRecord(context, kind, parent);
  // A service may create an inventory entry together with its pet, so that it is there already.
  if (kind.name === 'inventory' && parent)
    await removeOwn(context, { kind, name: undefined, parent, id: parent.id });
  const created = await createRecord(life, kind, body, parent);
  const delays = await checkListed(context, created);
  const isUpdated = await update(context, created, body);
  await expectOurs(context, created);
  await removeRecord(context, created);
  creations.delete(created);
  return [
    pass(isUpdated ? 'created, read, updated, read, deleted, gone' : 'created, read, deleted, gone'),
    ...delays,
  ];
}

/** The record that those of a kind refer to. */
function parentFor(life: Life, { parent }: Kind): Promise<CreatedRecord> | undefined {
  if (!parent) return undefined;
  const created = life.parents.get(parent) ?? createParent(life, parent);
  life.parents.set(parent, created);
  return created;
}

async function createParent(life: Life, kind: Kind): Promise<CreatedRecord> {
  const grandparent = await parentFor(life, kind);
  try {
    const body = draftRecord(life.context, kind, grandparent);
    return await createRecord(life, kind, body, grandparent);
  } catch (error) {
    const finding = findingOfError(error);
    throw new FindingError({ ...finding, reason: `no ${kind.name} to work with: ${finding.reason}` });
  }
}

/** The record to create. */
function draftRecord(
  { round }: CheckContext,
  { create, isNamed, fields }: Kind,
  parent: CreatedRecord | undefined,
): JsonObject {
  const body = {
    ...(isNamed && { name: newName(round.now(), maxNameLength(create)) }),
    ...(parent && { [parent.kind.idName]: parent.id }),
    ...fields,
  };
  return toAcceptedInput(create, { body }).body as JsonObject;
}

/** Creates a record, and makes sure that it is ours. */
async function createRecord(
  { context, creations, createSignal }: Life,
  kind: Kind,
  body: JsonObject,
  parent: CreatedRecord | undefined,
): Promise<CreatedRecord> {
  const { create } = kind;
  const name = typeof body.name === 'string' ? body.name : undefined;
  const creation: Creation = { kind, name, parent };
  creations.add(creation);
  const reply = await context.ask(create, { body }, { signal: createSignal }).catch((error) => {
    if (!mayHaveBeenApplied(create.method, attemptsOf(error))) creations.delete(creation);
    throw error;
  });
  const id = reply.status < 300 ? createdIdOf(create, reply) : undefined;
  if (id === undefined) {
    if (!mayHaveBeenApplied(create.method, reply.attempts)) creations.delete(creation);
    compare(context, create, 'create', body, reply);
    const reason = 'create: the answer does not say what was created';
    throw faultOf(context, create, reply, reason, { expected: 'its id' });
  }
  const created = { ...creation, id };
  creations.delete(creation);
  creations.add(created);
  compare(context, create, 'create', body, reply);
  checkLocation(context, create, reply, id);
  await checkReadBack(context, created, body);
  return created;
}

/** The id of a new record: from its body, else from the end of its Location. */
function createdIdOf(create: Operation, reply: Reply): bigint | undefined {
  return jsonId(recordOf(create, reply)?.[nouns[create.noun].idField]) ?? idInLocation(reply);
}

function idInLocation({ fields }: Reply): bigint | undefined {
  const digits = /(?<!\d)(\d+)\/?$/.exec(fieldValue(fields, 'location') ?? '')?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

function checkLocation(context: CheckContext, create: Operation, reply: Reply, id: bigint): void {
  const location = fieldValue(reply.fields, 'location');
  const expected = `a Location that ends with ${id}`;
  const wrong = (clause: string, details: Details) =>
    faultOf(context, create, reply, `create: the ${clause}`, { expected, ...details });
  if (location === undefined) {
    if (!documentedAnswer(create, reply.status)?.hasLocation) return;
    throw wrong('answer has no Location', {});
  }
  const here = new URL(reply.url);
  const place = URL.canParse(location, here.href) && foreignPlace(new URL(location, here), here);
  if (place)
    throw wrong(`Location ${place.reason}`, { expected: place.expected, hint: place.hint, got: location });
  if ((idInLocation(reply) ?? id) !== id) throw wrong('Location names another record', { got: location });
}

const listLooks = 3;
const listPauseMs = 1000;

/** Checks that a new record is in its list; a service may take a moment for that. */
async function checkListed(context: CheckContext, { kind, id }: CreatedRecord): Promise<Finding[]> {
  const { list, name } = kind;
  if (!list) return [];
  for (let look = 0; look < listLooks; look += 1) {
    if (look > 0) await sleep(listPauseMs, context.signal);
    const { record, isWhole } = await findInList(context, kind, id);
    if (record && look > 0) return [flaky(`create: ${list.id} shows the ${name} only after a while`)];
    if (record || !isWhole) return [];
  }
  throw new FindingError(fail(`create: ${list.id} does not show ${name} ${id}`, { operation: list }));
}

/**
 * Updates a record as `petstore` does it: the fields that are not ours go back as they came.
 *
 * @returns false if the contract has no update, or an update without the changed fields.
 */
async function update(context: CheckContext, created: CreatedRecord, body: JsonObject): Promise<boolean> {
  const { kind, id } = created;
  const { update: operation } = kind;
  if (!operation) return false;
  const change = Object.fromEntries(
    Object.entries(kind.change).filter(([field]) => takesField(operation, field)),
  );
  if (Object.keys(change).length === 0) return false;
  const before = operation.partial ? undefined : (await currentRecord(context, kind, id))?.record;
  const reply = await context.ask(operation, { id, body: change, before });
  const changed = { ...body, ...change };
  compare(context, operation, 'update', changed, reply);
  await checkReadBack(context, created, changed);
  return true;
}

/** Only what shows our name is changed and deleted. */
async function expectOurs(context: CheckContext, created: CreatedRecord): Promise<void> {
  if ((await ownerOf(context, created)) !== 'us')
    throw new FindingError(fail(`${created.kind.name} ${created.id} does not show the name that we gave`));
}

/** Deletes a record that was just shown to be ours, and checks that its GET and its list no longer have it. */
async function removeRecord(context: CheckContext, { kind, id }: CreatedRecord): Promise<void> {
  const input = { id };
  const reply = await context.ask(kind.remove, input);
  // The client counts a 404 as a success if an earlier attempt may have been applied.
  const isGone = reply.status === 404 && reply.error === undefined;
  if (!isGone) judge(context, kind.remove, reply, { step: 'delete' });
  const { get, list } = kind;
  const later = get && (await context.ask(get, input));
  if (later && later.status !== 404 && later.status !== 410)
    throw faultOf(context, get, later, `gone: answered ${statusText(later.status)}`, {
      expected: '404 or 410',
    });
  if ((await findInList(context, kind, id)).record)
    throw new FindingError(fail(`gone: ${list?.id} still has ${kind.name} ${id}`, { operation: list }));
}

/** Reads a record and compares it with the fields that were sent. */
async function checkReadBack(context: CheckContext, created: CreatedRecord, sent: JsonObject): Promise<void> {
  const { get } = created.kind;
  const reply = get && (await context.ask(get, { id: created.id }));
  // A read that is missing or retired is the matter of its own check; the list then shows the record.
  if (!reply || (reply.status === 410 && get.deprecated)) return expectOurs(context, created);
  compare(context, get, 'read back', sent, reply);
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
  const field = Object.keys(sent).find((name) => !isSameValue(idOrValue(sent[name]), answered(name)));
  if (field === undefined) return;
  const textOf = (value: JsonValue | undefined) =>
    value === undefined ? 'no such field' : excerpt(printJson(value), context.round.mask);
  throw faultOf(context, operation, reply, `${step}: ${field} is not what was sent`, {
    pointer: `/${field}`,
    expected: textOf(sent[field]),
    got: textOf(record[field]),
  });
}

function idOrValue(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) ? (value.id ?? value.name) : value;
}

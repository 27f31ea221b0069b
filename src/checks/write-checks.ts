import { type Contract, takesField } from '../api/contract.ts';
import { fieldValue } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { isSameValue } from '../api/values.ts';
import { attemptsOf, mayHaveBeenApplied } from '../client/attempt.ts';
import { toAcceptedInput } from '../client/request.ts';
import { sleep } from '../process/deadline.ts';
import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import type { Check, CheckContext, Reply } from './check.ts';
import {
  type Finding,
  FindingError,
  fail,
  findingOfError,
  flaky,
  pass,
  skip,
  statusText,
} from './finding.ts';
import { documentedAnswer, judge } from './judge-answer.ts';
import { type Kind, kindsOf, newName } from './kinds.ts';
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
import { faultOf } from './round.ts';

/**
 * The full life of a record of each kind: create, read back, in its list, update, read back, delete, gone.
 *
 * @param creations gets the creates of the run, and loses those whose record is certainly not there.
 */
export function writeChecks(contract: Contract, creations: Set<Creation>): Check[] {
  const parents = new Map<Kind, CreatedRecord>();
  return [...kindsOf(contract)].map(([name, kind]) => {
    const id = `write/${name}`;
    if (typeof kind === 'string') return { id, run: async () => [skip(kind)] };
    const needs = ancestorsOf(kind).map((ancestor) => `write/${ancestor.name}`);
    return {
      ...{ id, operation: kind.create, needs },
      run: (context) => checkLife({ context, creations, parents }, kind),
    };
  });
}

/** The kinds that the records of a kind refer to, the nearest first. */
function ancestorsOf({ parent }: Kind): Kind[] {
  return parent ? [parent, ...ancestorsOf(parent)] : [];
}

interface Life {
  readonly context: CheckContext;
  readonly creations: Set<Creation>;
  /** Records that others refer to, each created once in a run. */
  readonly parents: Map<Kind, CreatedRecord>;
}

async function checkLife(life: Life, kind: Kind): Promise<Finding[]> {
  const { context, creations } = life;
  const parent = await parentFor(life, kind);
  // A service may create an inventory entry together with its pet, so that it is there already.
  if (kind.name === 'inventory' && parent)
    await removeOwn(context, { kind, name: undefined, parent, id: parent.id });
  const { created, body } = await createRecord(life, kind, parent);
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
async function parentFor(life: Life, { parent: kind }: Kind): Promise<CreatedRecord | undefined> {
  if (!kind) return undefined;
  const parent = life.parents.get(kind) ?? (await createParent(life, kind));
  life.parents.set(kind, parent);
  return parent;
}

async function createParent(life: Life, kind: Kind): Promise<CreatedRecord> {
  const grandparent = await parentFor(life, kind);
  try {
    return (await createRecord(life, kind, grandparent)).created;
  } catch (error) {
    const finding = findingOfError(error);
    throw new FindingError({ ...finding, reason: `no ${kind.name} to work with: ${finding.reason}` });
  }
}

/** Creates a record, and makes sure that it is ours. @returns the record, and the fields that were sent. */
async function createRecord(
  { context, creations }: Life,
  kind: Kind,
  parent: CreatedRecord | undefined,
): Promise<{ readonly created: CreatedRecord; readonly body: JsonObject }> {
  const { create, isNamed, fields } = kind;
  const draft = {
    ...(isNamed && { name: newName(create, context.now()) }),
    ...(parent && { [nouns[parent.kind.create.noun].idName]: parent.id }),
    ...fields,
  };
  const body = toAcceptedInput(create, { body: draft }).body as JsonObject;
  const creation: Creation = { kind, name: draft.name, parent };
  creations.add(creation);
  const reply = await context.ask(create, { body }, { signal: context.createSignal }).catch((error) => {
    if (!mayHaveBeenApplied(create.method, attemptsOf(error))) creations.delete(creation);
    throw error;
  });
  const id = reply.status < 300 ? createdIdOf(reply) : undefined;
  if (id !== undefined || !mayHaveBeenApplied(create.method, reply.attempts)) creations.delete(creation);
  const created = id === undefined ? undefined : { ...creation, id };
  if (created) creations.add(created);
  compare(reply, 'create', body);
  if (!created) throw fault(reply, 'create: the answer does not say what was created', 'its id');
  checkLocation(reply, created.id);
  await checkReadBack(context, created, body);
  return { created, body };
}

function fault(reply: Reply, reason: string, expected: string): FindingError {
  return new FindingError(faultOf(reply, reason, { expected }));
}

/** The id of a new record: from its body, else from the end of its Location. */
function createdIdOf(reply: Reply): bigint | undefined {
  return jsonId(recordOf(reply)?.[nouns[reply.operation.noun].idField]) ?? idInLocation(reply);
}

function idInLocation({ fields }: Reply): bigint | undefined {
  const digits = /(?<!\d)(\d+)\/?$/.exec(fieldValue(fields, 'location') ?? '')?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

function checkLocation(reply: Reply, id: bigint): void {
  const location = fieldValue(reply.fields, 'location');
  const expected = `a Location that ends with ${id}`;
  if (location === undefined) {
    if (!documentedAnswer(reply)?.hasLocation) return;
    throw fault(reply, 'create: the answer has no Location', expected);
  }
  const here = new URL(reply.url);
  const place = URL.canParse(location, here.href) && foreignPlace(new URL(location, here), here);
  if (place) {
    const details = { ...place.details, got: location };
    throw new FindingError(faultOf(reply, `create: the Location ${place.reason}`, details));
  }
  if ((idInLocation(reply) ?? id) === id) return;
  const details = { expected, got: location };
  throw new FindingError(faultOf(reply, 'create: the Location names another record', details));
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
 * @param body the fields that its create sent.
 * @returns false if the contract has no update, or an update without the changed fields.
 */
async function update(context: CheckContext, created: CreatedRecord, body: JsonObject): Promise<boolean> {
  const { kind, id } = created;
  const { update: operation } = kind;
  if (!operation) return false;
  const entries = Object.entries(kind.change).filter(([field]) => takesField(operation, field));
  if (entries.length === 0) return false;
  const change = Object.fromEntries(entries);
  const before = operation.partial ? undefined : (await currentRecord(context, kind, id))?.record;
  const changed = { ...body, ...change };
  compare(await context.ask(operation, { id, body: change, before }), 'update', changed);
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
  const { remove, get, list, name } = kind;
  const reply = await context.ask(remove, { id });
  // The client counts a 404 as a success if an earlier attempt may have been applied.
  const isGone = reply.status === 404 && reply.error === undefined;
  if (!isGone) judge(reply, { step: 'delete' });
  const later = get && (await context.ask(get, { id }));
  if (later && later.status !== 404 && later.status !== 410)
    throw fault(later, `gone: answered ${statusText(later.status)}`, '404 or 410');
  if ((await findInList(context, kind, id)).record)
    throw new FindingError(fail(`gone: ${list?.id} still has ${name} ${id}`, { operation: list }));
}

/** Reads a record and compares it with the fields that were sent. */
async function checkReadBack(context: CheckContext, created: CreatedRecord, sent: JsonObject): Promise<void> {
  const { get } = created.kind;
  const reply = get && (await context.ask(get, { id: created.id }));
  // A read that is missing or retired is the matter of its own check; the list then shows the record.
  if (!reply || (reply.status === 410 && get.deprecated)) return expectOurs(context, created);
  compare(reply, 'read back', sent);
}

/**
 * Checks that each field that was sent comes back unchanged; the service may add others. An answer that is documented
 * to have no body passes.
 */
function compare(reply: Reply, step: string, sent: JsonObject): void {
  judge(reply, { step });
  const record = recordOf(reply);
  if (!record) return;
  // A category may be sent as an object or a name, and answered as an id.
  const answered = (field: string) =>
    field === 'categoryId' && typeof sent[field] !== 'bigint'
      ? (record[field] ?? record.category)
      : record[field];
  const field = Object.keys(sent).find((name) => !isSameValue(idOrValue(sent[name]), answered(name)));
  if (field === undefined) return;
  const textOf = (value: JsonValue | undefined) => (value === undefined ? 'no such field' : printJson(value));
  const details = { pointer: `/${field}`, expected: textOf(sent[field]), got: textOf(record[field]) };
  throw new FindingError(faultOf(reply, `${step}: ${field} is not what was sent`, details));
}

function idOrValue(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) ? (value.id ?? value.name) : value;
}

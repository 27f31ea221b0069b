import { type Contract, takesField } from '../api/contract.ts';
import { fieldValue } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { comparedValues, isSameValue } from '../api/values.ts';
import { attemptsOf, mayHaveBeenApplied } from '../client/attempt.ts';
import { idInLocation } from '../client/judge-write.ts';
import { toAcceptedInput } from '../client/request.ts';
import { sleep } from '../process/deadline.ts';
import { type JsonObject, printJson } from '../process/exact-json.ts';
import type { Check, CheckContext, Reply } from './check.ts';
import {
  type Details,
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
import { faultOfTarget } from './list-checks.ts';
import {
  type CreatedRecord,
  currentRecord,
  findInList,
  ownerOf,
  type PossibleRecord,
  removeOwnRecord,
} from './own-records.ts';
import { jsonId, recordOf } from './records.ts';
import { faultOf } from './round.ts';
import { newName, type WritableNoun, writableNouns } from './writable-nouns.ts';

/** The context of a write check, with the records of its run. */
interface WriteContext extends CheckContext {
  /** Gets what the creates made, or may have made, and loses what is certainly not there. */
  readonly records: Set<PossibleRecord>;
  /** Records that others refer to, each created once in a run. */
  readonly parents: Map<WritableNoun, Promise<CreatedRecord>>;
}

/**
 * The full life of a record of each noun: create, read back, in its list, update, read back, delete, gone.
 *
 * @param records gets what the creates of the run made, or may have made.
 */
export function writeChecks(contract: Contract, records: Set<PossibleRecord>): Check[] {
  const parents = new Map<WritableNoun, Promise<CreatedRecord>>();
  return [...writableNouns(contract)].map(([name, noun]) => {
    const id = `write/${name}`;
    if (typeof noun === 'string') return { id, run: async () => skip(noun) };
    const needs = ancestorsOf(noun).map((ancestor) => `write/${ancestor.name}`);
    return {
      ...{ id, operation: noun.create, needs },
      run: (context) => checkLifeCycle({ ...context, records, parents }, noun),
    };
  });
}

/** The nouns of the records that those of a noun refer to, the nearest first. */
function ancestorsOf({ parent }: WritableNoun): WritableNoun[] {
  return parent ? [parent, ...ancestorsOf(parent)] : [];
}

async function checkLifeCycle(context: WriteContext, noun: WritableNoun): Promise<Finding[]> {
  const parent = await parentFor(context, noun);
  // A service may create an inventory entry together with its pet, so that it is there already.
  if (noun.name === 'inventory' && parent)
    await removeOwnRecord(context, { noun, body: {}, parent, id: parent.id });
  const created = await createRecord(context, noun, parent);
  const delays = await checkListed(context, created);
  const isUpdated = await update(context, created);
  await expectOurs(context, created);
  await checkRemoval(context, created);
  context.records.delete(created);
  return [
    pass(isUpdated ? 'created, read, updated, read, deleted, gone' : 'created, read, deleted, gone'),
    ...delays,
  ];
}

/** The record that those of a noun refer to. */
function parentFor(
  context: WriteContext,
  { parent: noun }: WritableNoun,
): Promise<CreatedRecord> | undefined {
  if (!noun) return undefined;
  const parent = context.parents.get(noun) ?? createParent(context, noun);
  context.parents.set(noun, parent);
  return parent;
}

async function createParent(context: WriteContext, noun: WritableNoun): Promise<CreatedRecord> {
  const grandparent = await parentFor(context, noun);
  try {
    return await createRecord(context, noun, grandparent);
  } catch (error) {
    const finding = findingOfError(error);
    throw new FindingError({ ...finding, reason: `no ${noun.name} to work with: ${finding.reason}` });
  }
}

/** Creates a record, and makes sure that it is ours. */
async function createRecord(
  context: WriteContext,
  noun: WritableNoun,
  parent: CreatedRecord | undefined,
): Promise<CreatedRecord> {
  const { create, isNamed, fields } = noun;
  const { records, createSignal, now } = context;
  const name = isNamed && { name: newName(create, now()) };
  const reference = parent && { [nouns[parent.noun.nounName].idName]: parent.id };
  const input = toAcceptedInput(create, { body: { ...name, ...reference, ...fields } });
  const body = input.body as JsonObject;
  const possible: PossibleRecord = { noun, body, parent };
  records.add(possible);
  const reply = await context.ask(create, { body }, { signal: createSignal }).catch((error) => {
    if (!mayHaveBeenApplied(create.method, attemptsOf(error))) records.delete(possible);
    throw error;
  });
  const id = reply.status < 300 ? createdIdOf(reply) : undefined;
  if (id !== undefined || !mayHaveBeenApplied(create.method, reply.attempts)) records.delete(possible);
  const created = id === undefined ? undefined : { ...possible, id };
  if (created) records.add(created);
  compare(reply, 'create', body);
  if (!created)
    throw fault(reply, 'create: the answer does not say what was created', { expected: 'its id' });
  checkLocation(reply, created.id);
  await checkReadBack(context, created, body);
  return created;
}

function fault(reply: Reply, reason: string, details: Details): FindingError {
  return new FindingError(faultOf(reply, reason, details));
}

/** The id of a new record: from its body, else from the end of its Location. */
function createdIdOf(reply: Reply): bigint | undefined {
  return jsonId(recordOf(reply)?.[nouns[reply.operation.noun].idField]) ?? idInLocation(reply);
}

function checkLocation(reply: Reply, id: bigint): void {
  const location = fieldValue(reply.fields, 'location');
  const expected = `a Location that ends with ${id}`;
  if (location === undefined) {
    if (!documentedAnswer(reply)?.hasLocation) return;
    throw fault(reply, 'create: the answer has no Location', { expected });
  }
  const here = new URL(reply.url);
  const place = URL.canParse(location, here.href) && faultOfTarget(new URL(location, here), here);
  if (place) throw fault(reply, `create: the Location ${place.reason}`, { ...place.details, got: location });
  if ((idInLocation(reply) ?? id) === id) return;
  throw fault(reply, 'create: the Location names another record', { expected, got: location });
}

const listLooks = 3;
const listPauseMs = 1000;

/** Checks that a new record is in its list; a service may take a moment for that. */
async function checkListed(context: CheckContext, { noun, id }: CreatedRecord): Promise<Finding[]> {
  const { list, name } = noun;
  if (!list) return [];
  for (let look = 0; look < listLooks; look += 1) {
    if (look > 0) await sleep(listPauseMs, context.signal);
    const { record, isWhole } = await findInList(context, noun, id);
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
async function update(context: CheckContext, created: CreatedRecord): Promise<boolean> {
  const { noun, id, body } = created;
  const { update: operation, change: fields } = noun;
  if (!operation) return false;
  const entries = Object.entries(fields).filter(([field]) => takesField(operation, field));
  if (entries.length === 0) return false;
  const change: JsonObject = Object.fromEntries(entries);
  const before = operation.partial ? undefined : (await currentRecord(context, noun, id))?.record;
  const changed = { ...body, ...change };
  compare(await context.ask(operation, { id, body: change, before }), 'update', changed);
  await checkReadBack(context, created, changed);
  return true;
}

/** Checks that a record shows the name that we gave, because only such a record may be deleted. */
async function expectOurs(context: CheckContext, created: CreatedRecord): Promise<void> {
  if ((await ownerOf(context, created)) !== 'us')
    throw new FindingError(fail(`${created.noun.name} ${created.id} does not show the name that we gave`));
}

/** Deletes a record that was just shown to be ours, and checks that its GET and its list no longer have it. */
async function checkRemoval(context: CheckContext, { noun, id }: CreatedRecord): Promise<void> {
  const { remove, get, list, name } = noun;
  const reply = await context.ask(remove, { id });
  // The client counts a 404 as a success if an earlier attempt may have been applied.
  const isGone = reply.status === 404 && reply.error === undefined;
  if (!isGone) judge(reply, { step: 'delete' });
  const later = get && (await context.ask(get, { id }));
  if (later && later.status !== 404 && later.status !== 410)
    throw fault(later, `gone: answered ${statusText(later.status)}`, { expected: '404 or 410' });
  if ((await findInList(context, noun, id)).record)
    throw new FindingError(fail(`gone: ${list?.id} still has ${name} ${id}`, { operation: list }));
}

/** Reads a record and compares it with the fields that were sent. */
async function checkReadBack(context: CheckContext, created: CreatedRecord, sent: JsonObject): Promise<void> {
  const { get } = created.noun;
  const reply = get && (await context.ask(get, { id: created.id }));
  // If the contract has no such GET, or it is retired, the list shows the record.
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
  for (const [name, value] of Object.entries(sent)) {
    const { expected, actual } = comparedValues(name, value, record);
    if (isSameValue(expected, actual)) continue;
    const got = actual === undefined ? 'no such field' : printJson(actual);
    const details = { pointer: `/${name}`, expected: printJson(expected), got };
    throw fault(reply, `${step}: ${name} is not what was sent`, details);
  }
}

import { type Contract, takesField } from '../api/contract.ts';
import { headerValue } from '../api/http.ts';
import { nouns } from '../api/nouns.ts';
import { comparedValues, isSameValue } from '../api/values.ts';
import { mayHaveBeenApplied } from '../client/answers.ts';
import { attemptsOf } from '../client/attempt.ts';
import { toAcceptedInput } from '../client/request.ts';
import { sleep } from '../process/deadline.ts';
import { type JsonObject, printJson } from '../process/exact-json.ts';
import { type Check, type CheckAnswer, type CheckContext, createSkippedCheck } from './check.ts';
import {
  type Details,
  type Finding,
  FindingError,
  fail,
  findingOfError,
  flaky,
  pass,
  statusText,
} from './finding.ts';
import { documentedResponse, judge } from './judge-answer.ts';
import { faultOfUrl } from './list-checks.ts';
import { jsonId, recordOf } from './records.ts';
import { faultOf } from './round.ts';
import {
  type CreatedRecord,
  currentRecord,
  findInList,
  ownerOf,
  removeTestRecord,
  type TestRecord,
} from './test-records.ts';
import { createName, type WritableNoun, writableNouns } from './writable-nouns.ts';

/** The context of a write check, with the test records of the round. */
interface WriteContext extends CheckContext {
  /** The records that exist, or may exist. */
  readonly records: Set<TestRecord>;
  /** The records that other test records refer to, by noun. Each is created once in a round. */
  readonly parents: Map<WritableNoun, Promise<CreatedRecord>>;
}

/**
 * Makes a check for each noun: a record is created, read back, found in its list, updated, read back and deleted.
 *
 * @param records gets the records that the creates made, or may have made.
 */
export function createWriteChecks(contract: Contract, records: Set<TestRecord>): Check[] {
  const parents = new Map<WritableNoun, Promise<CreatedRecord>>();
  return [...writableNouns(contract)].map(([name, noun]) => {
    const id = `write/${name}`;
    if (typeof noun === 'string') return createSkippedCheck(id, noun);
    const needs = ancestorsOf(noun).map((ancestor) => `write/${ancestor.name}`);
    return {
      id,
      operation: noun.create,
      needs,
      run: (context) => checkRecordLife({ ...context, records, parents }, noun),
    };
  });
}

/** Returns the parent of a noun, the parent of the parent, and so on. */
function ancestorsOf({ parent }: WritableNoun): WritableNoun[] {
  return parent ? [parent, ...ancestorsOf(parent)] : [];
}

async function checkRecordLife(context: WriteContext, noun: WritableNoun): Promise<Finding[]> {
  const parent = await parentFor(context, noun);
  // A service may create an inventory entry together with its pet.
  if (noun.name === 'inventory' && parent)
    await removeTestRecord(context, { noun, body: {}, parent, id: parent.id });
  const created = await createRecord(context, noun, parent);
  const delays = await checkListed(context, created);
  const isUpdated = await updateRecord(context, created);
  await requireOwnership(context, created);
  await checkRemoval(context, created);
  context.records.delete(created);
  return [
    pass(isUpdated ? 'created, read, updated, read, deleted, gone' : 'created, read, deleted, gone'),
    ...delays,
  ];
}

/** Returns the record that the records of a noun refer to, and creates it if the round has none yet. */
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

/** Creates a record, and checks the answer and the record that is read back. */
async function createRecord(
  context: WriteContext,
  noun: WritableNoun,
  parent: CreatedRecord | undefined,
): Promise<CreatedRecord> {
  const { create, isNamed, fields } = noun;
  const { records, createSignal, now } = context;
  const name = isNamed && { name: createName(create, now()) };
  const reference = parent && { [nouns[parent.noun.nounName].idName]: parent.id };
  const input = toAcceptedInput(create, { body: { ...name, ...reference, ...fields } });
  const body = input.body as JsonObject;
  const record: TestRecord = { noun, body, parent };
  records.add(record);
  const answer = await context.ask(create, { body }, { signal: createSignal }).catch((error) => {
    if (!mayHaveBeenApplied(create.method, attemptsOf(error))) records.delete(record);
    throw error;
  });
  const id = answer.status < 300 ? createdIdOf(answer) : undefined;
  records.delete(record);
  const created = id === undefined ? undefined : { ...record, id };
  if (created) records.add(created);
  else if (mayHaveBeenApplied(create.method, answer.attempts))
    records.add({ ...record, otherId: answer.status < 300 ? otherIdOf(answer) : undefined });
  compare(noun, answer, 'create', body);
  if (!created)
    throw fault(answer, 'create: the answer does not say what was created', { expected: 'its id' });
  checkLocation(answer, created.id);
  await checkReadBack(context, created, body);
  return created;
}

function fault(answer: CheckAnswer, reason: string, details: Details): FindingError {
  return new FindingError(faultOf(answer, reason, details));
}

/** Returns the id of a new record, from the body of the answer, or from its Location if the body has none. */
function createdIdOf(answer: CheckAnswer): bigint | undefined {
  return jsonId(recordOf(answer)?.[nouns[answer.operation.noun].idField]) ?? idInLocation(answer);
}

/** Returns the id in the body of an answer as text, if it is no integer. */
function otherIdOf(answer: CheckAnswer): string | undefined {
  const value = recordOf(answer)?.[nouns[answer.operation.noun].idField];
  return value === undefined || value === null ? undefined : printJson(value);
}

/** Returns the id in the last segment of the Location header. */
function idInLocation({ headers }: CheckAnswer): bigint | undefined {
  const segment = /\/(\d{1,19})\/?(?:[?#].*)?$/.exec(headerValue(headers, 'location') ?? '')?.[1];
  return segment === undefined ? undefined : BigInt(segment);
}

function checkLocation(answer: CheckAnswer, id: bigint): void {
  const location = headerValue(answer.headers, 'location');
  const expected = `a Location that ends with ${id}`;
  if (location === undefined) {
    if (!documentedResponse(answer)?.hasLocation) return;
    throw fault(answer, 'create: the answer has no Location', { expected });
  }
  const here = new URL(answer.url);
  const urlFault = URL.canParse(location, here.href) && faultOfUrl(new URL(location, here), here);
  if (urlFault)
    throw fault(answer, `create: the Location ${urlFault.reason}`, { ...urlFault.details, got: location });
  if ((idInLocation(answer) ?? id) === id) return;
  throw fault(answer, 'create: the Location names another record', { expected, got: location });
}

/** How often a list is searched for a new record. */
const maxSearches = 3;
/** The pause between two searches. */
const searchPauseMs = 1000;

/** Checks that a new record is in its list. A service may take a moment to show it. */
async function checkListed(context: CheckContext, { noun, id }: CreatedRecord): Promise<Finding[]> {
  const { list, name } = noun;
  if (!list) return [];
  for (let search = 0; search < maxSearches; search += 1) {
    if (search > 0) await sleep(searchPauseMs, context.signal);
    const { record, isComplete } = await findInList(context, noun, id);
    if (record && search > 0) return [flaky(`create: ${list.id} shows the ${name} only after a while`)];
    if (record || !isComplete) return [];
  }
  throw new FindingError(fail(`create: ${list.id} does not show ${name} ${id}`, { operation: list }));
}

/**
 * Updates a record as the other commands do: fields of the service that have none of our names are sent back unchanged.
 *
 * @returns false if the contract has no update, or the update does not take the changed fields.
 */
async function updateRecord(context: CheckContext, created: CreatedRecord): Promise<boolean> {
  const { noun, id, body } = created;
  const { update: operation, change: fields } = noun;
  if (!operation) return false;
  const entries = Object.entries(fields).filter(([field]) => takesField(operation, field));
  if (entries.length === 0) return false;
  const change: JsonObject = Object.fromEntries(entries);
  const before = operation.takesChangesOnly ? undefined : (await currentRecord(context, noun, id))?.record;
  const changed = { ...body, ...change };
  compare(noun, await context.ask(operation, { id, body: change, before }), 'update', changed);
  await checkReadBack(context, created, changed);
  return true;
}

/** Checks that a record shows the name that the create sent, because only such a record may be deleted. */
async function requireOwnership(context: CheckContext, created: CreatedRecord): Promise<void> {
  if ((await ownerOf(context, created)) !== 'smoke')
    throw new FindingError(fail(`${created.noun.name} ${created.id} does not show the name that we gave`));
}

/** Deletes a record whose ownership was just checked, and checks that its GET and its list no longer have it. */
async function checkRemoval(context: CheckContext, { noun, id }: CreatedRecord): Promise<void> {
  const { remove, get, list, name } = noun;
  const answer = await context.ask(remove, { id });
  // The client counts a 404 as a success if an earlier attempt may have been applied.
  const isGone = answer.status === 404 && answer.error === undefined;
  if (!isGone) judge(answer, { step: 'delete' });
  const getAnswer = get && (await context.ask(get, { id }));
  if (getAnswer && getAnswer.status !== 404 && getAnswer.status !== 410)
    throw fault(getAnswer, `gone: answered ${statusText(getAnswer.status)}`, { expected: '404 or 410' });
  if ((await findInList(context, noun, id)).record)
    throw new FindingError(fail(`gone: ${list?.id} still has ${name} ${id}`, { operation: list }));
}

/** Reads a record and compares it with the fields of a request. */
async function checkReadBack(
  context: CheckContext,
  created: CreatedRecord,
  fields: JsonObject,
): Promise<void> {
  const { get } = created.noun;
  const answer = get && (await context.ask(get, { id: created.id }));
  // If the contract has no such GET, or the GET is retired, only the list shows the record.
  if (!answer || (answer.status === 410 && get.isDeprecated)) return requireOwnership(context, created);
  compare(created.noun, answer, 'read back', fields);
}

/** Whether no answer has a field, because the description calls it write-only. */
function isWriteOnly({ create, update }: WritableNoun, name: string): boolean {
  const bodies = [create.body, update?.body].filter((body) => body !== undefined);
  return bodies.some(({ fields }) => Object.hasOwn(fields, name) && fields[name]?.isWriteOnly === true);
}

/**
 * Checks that an answer has each field of a request, unchanged. The service may add other fields. If the description
 * documents no body, the answer passes.
 */
function compare(noun: WritableNoun, answer: CheckAnswer, step: string, fields: JsonObject): void {
  judge(answer, { step });
  const record = recordOf(answer);
  if (!record) return;
  for (const [name, value] of Object.entries(fields)) {
    if (isWriteOnly(noun, name)) continue;
    const { expected, actual } = comparedValues(name, value, record);
    if (isSameValue(expected, actual)) continue;
    const got = actual === undefined ? 'no such field' : printJson(actual);
    const details = { pointer: `/${name}`, expected: printJson(expected), got };
    throw fault(answer, `${step}: ${name} is not what was sent`, details);
  }
}

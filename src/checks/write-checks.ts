import type { Contract } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import { comparedValues, isSameValue } from '../api/values.ts';
import { sleep } from '../process/deadline.ts';
import { type JsonObject, printJson } from '../process/exact-json.ts';
import { type Check, type CheckContext, createSkippedCheck } from './check.ts';
import { type Finding, FindingError, failure, findingOfError, flaky, pass } from './finding.ts';
import {
  type CreatedRecord,
  isListed,
  judgeSettled,
  readTestRecord,
  removeRecord,
  type TestRecord,
  writeRecord,
} from './test-records.ts';
import { createName, type WritableNoun, writableNouns } from './writable-nouns.ts';

/**
 * Makes a check for each noun: a record is created, read back, found in its list, updated, read back and deleted.
 *
 * @param records gets the records that exist, or may exist.
 */
export function createWriteChecks(contract: Contract, records: Set<TestRecord>): Check[] {
  return [...writableNouns(contract)].map(([name, noun]) => {
    const id = `write/${name}`;
    if (typeof noun === 'string') return createSkippedCheck(id, noun);
    const needs = ancestorsOf(noun).map((ancestor) => `write/${ancestor.name}`);
    return { id, operation: noun.create, needs, run: (context) => checkLife(context, records, noun) };
  });
}

/** Returns the parent of a noun, the parent of the parent, and so on. */
function ancestorsOf({ parent }: WritableNoun): WritableNoun[] {
  return parent ? [parent, ...ancestorsOf(parent)] : [];
}

async function checkLife(
  context: CheckContext,
  records: Set<TestRecord>,
  noun: WritableNoun,
): Promise<Finding[]> {
  const { change, name } = noun;
  const { created, findings } = await createRecord(context, records, noun);
  findings.push(...(await checkListed(context, created)));
  const isUpdated = Object.keys(change).length > 0;
  if (isUpdated) {
    const value = noun.nounName === 'inventory' ? Number(change.quantity) : change;
    const settled = await writeRecord(context, created, { kind: 'set', value });
    findings.push(...judgeSettled(context, created, 'update', settled));
    await checkShown(context, created, { ...created.fields, ...change });
  }
  const removal = await removeRecord(context, created);
  if (!removal) throw failure(`delete: ${name} ${created.id} was not there any more`);
  records.delete(created);
  const words = isUpdated ? 'created, read, updated, read, deleted, gone' : 'created, read, deleted, gone';
  return [pass(words), ...findings, ...removal];
}

/**
 * Creates a record, after the record that it refers to, and reads it back. Whatever becomes of it, the records of the round
 * have it if it may exist, and the parent stays until the cleanup.
 */
async function createRecord(
  context: CheckContext,
  records: Set<TestRecord>,
  noun: WritableNoun,
): Promise<{ readonly created: CreatedRecord; readonly findings: Finding[] }> {
  const parent = noun.parent && (await createRecord(context, records, noun.parent)).created;
  const isEntry = noun.nounName === 'inventory';
  // A service may create an inventory entry together with its pet.
  if (isEntry && parent) await removeRecord(context, { noun, fields: {}, parent, id: parent.id });
  const fields = {
    ...(noun.isNamed && { name: createName(context.now()) }),
    ...(parent && { [nouns[parent.noun.nounName].idName]: parent.id }),
    ...noun.fields,
  };
  const record: TestRecord = { noun, fields, parent, id: isEntry ? parent?.id : undefined };
  records.add(record);
  const settled = await writeRecord(context, record, { kind: 'create', fields }).finally(() =>
    records.delete(record),
  );
  const { state, reason, made } = settled.outcome;
  const id = made?.id ?? record.id ?? settled.attempted?.id;
  const created = id === undefined ? undefined : { ...record, id };
  if (state !== 'failed') records.add(created ?? { ...record, why: reason?.message });
  const findings = judgeSettled(context, record, 'create', settled);
  if (!created) throw failure('create: the answer does not say what was created', { expected: 'its id' });
  await checkShown(context, created, fields);
  return { created, findings };
}

/** Checks that a reading has each field that was sent, unchanged. The service may add other fields. */
async function checkShown(context: CheckContext, created: CreatedRecord, sent: JsonObject): Promise<void> {
  const { noun, id } = created;
  const { record, missing } = await readTestRecord(context, created);
  if (!record)
    throw new FindingError({
      ...findingOfError(missing),
      state: 'fail',
      reason: `read back: ${missing?.message ?? `${noun.name} ${id} is not there`}`,
    });
  for (const [name, value] of Object.entries(sent)) {
    if (noun.create.body?.fields[name]?.isWriteOnly) continue;
    const { expected, actual } = comparedValues(name, value, record);
    if (isSameValue(expected, actual)) continue;
    const got = actual === undefined ? 'no such field' : printJson(actual);
    const details = { pointer: `/${name}`, expected: printJson(expected), got };
    throw failure(`read back: ${name} of ${noun.name} ${id} is not what was sent`, details);
  }
}

/** The pause before a list is searched once more for a new record. */
const searchPauseMs = 1000;

/** Checks that a new record is in its list. A service may take a moment to show it. */
async function checkListed(context: CheckContext, { noun, id }: CreatedRecord): Promise<Finding[]> {
  const { list, name } = noun;
  if ((await isListed(context, noun, id)) !== false) return [];
  await sleep(searchPauseMs, context.signal);
  if (await isListed(context, noun, id))
    return [flaky(`create: ${list?.id} shows the ${name} only after a while`)];
  throw failure(`create: ${list?.id} does not show ${name} ${id}`, { operation: list });
}

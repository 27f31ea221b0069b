import type { Contract } from '../api/contract.ts';
import { nouns } from '../api/nouns.ts';
import { comparedValues, isSameValue } from '../api/values.ts';
import { type JsonObject, printJson } from '../process/exact-json.ts';
import { type Check, type CheckContext, createSkippedCheck } from './check.ts';
import { type Finding, FindingError, failure, findingOfError, pass } from './finding.ts';
import {
  type CreatedRecord,
  isListed,
  judgeSettled,
  recordPortOf,
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
    return { id, operation: noun.create, run: (context) => checkLife(context, records, noun) };
  });
}

async function checkLife(
  context: CheckContext,
  records: Set<TestRecord>,
  noun: WritableNoun,
): Promise<Finding[]> {
  const { change, name, list } = noun;
  const [created, findings] = await createRecord(context, records, noun);
  if ((await isListed(context, created)) === false)
    throw failure(`create: ${list?.id} does not show ${name} ${created.id}`, { operation: list });
  const isUpdated = Object.keys(change).length > 0;
  if (isUpdated) {
    const value = noun.nounName === 'inventory' ? Number(change.quantity) : change;
    const settled = await writeRecord(context, created, { kind: 'set', value });
    findings.push(...judgeSettled(context, noun, 'update', settled));
    await checkShown(context, created, { ...created.fields, ...change });
  }
  const removal = await removeRecord(context, created);
  if (!removal) throw failure(`delete: ${name} ${created.id} was not there any more`);
  records.delete(created);
  const words = isUpdated ? 'created, read, updated, read, deleted, gone' : 'created, read, deleted, gone';
  return [pass(words), ...findings, ...removal];
}

/**
 * Creates a record, after the record that it refers to, and reads it back. The set has it if it may exist, and the parent
 * stays until the cleanup.
 */
async function createRecord(
  context: CheckContext,
  records: Set<TestRecord>,
  noun: WritableNoun,
): Promise<[CreatedRecord, Finding[]]> {
  const [parent] = noun.parent ? await createRecord(context, records, noun.parent) : [];
  const isEntry = noun.nounName === 'inventory';
  // A service may create an inventory entry together with its pet.
  if (isEntry && parent) await removeRecord(context, { noun, fields: {}, parent, id: parent.id });
  const fields = {
    ...(noun.isNamed && { name: createName(context.now()) }),
    ...(parent && { [nouns[parent.noun.nounName].idName]: parent.id }),
    ...noun.fields,
  };
  const record: TestRecord = { noun, fields, parent, id: isEntry ? parent?.id : undefined };
  const settled = await writeRecord(context, record, { kind: 'create', fields });
  const { state, reason, made } = settled.outcome;
  const id = made?.id ?? record.id ?? settled.attempted?.id;
  const created = id === undefined ? undefined : { ...record, id };
  if (state !== 'failed') records.add(created ?? { ...record, why: reason?.message });
  const findings = judgeSettled(context, noun, 'create', settled);
  if (!created) throw failure('create: the answer does not say what was created', { expected: 'its id' });
  await checkShown(context, created, fields);
  return [created, findings];
}

/** Checks that a reading has each field that was sent, unchanged. The service may add other fields. */
async function checkShown(
  context: CheckContext,
  { noun, id }: CreatedRecord,
  sent: JsonObject,
): Promise<void> {
  const { record, missing } = await recordPortOf(context, noun).read(id);
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

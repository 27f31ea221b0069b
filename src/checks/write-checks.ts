import { absentFields, type Contract } from '../api/contract.ts';
import type { WriteVerb } from '../api/nouns.ts';
import { differencesOf, isShown } from '../api/same-values.ts';
import { readFromList } from '../client/client.ts';
import { writeDetails } from '../client/judge-write.ts';
import { CutListError } from '../client/lists/read-list.ts';
import { followUpCommand, showCommand } from '../context.ts';
import { CliError, messageOf } from '../process/errors.ts';
import { type JsonObject, printJson } from '../process/exact-json.ts';
import { graceMs } from '../process/signals.ts';
import { countText } from '../process/text.ts';
import { createRecordPort, type RecordPort } from '../writes/port.ts';
import { type Intent, type Outcome, reasonOf } from '../writes/row.ts';
import { type SettleResult, settle } from '../writes/settle.ts';
import {
  type Check,
  type CheckContext,
  type Finding,
  FindingError,
  fail,
  flaky,
  pass,
  skip,
  statusText,
  warn,
} from './check.ts';
import { createName, type RecordKind, recordKinds } from './record-kinds.ts';

/** A record whose create answered with its id. It is deleted only if a read right before the delete shows the name that the create sent. */
interface TestRecord {
  readonly kind: RecordKind;
  readonly id: bigint;
  /** The fields that the create sent. */
  readonly fields: JsonObject;
  /** The record that this record refers to. A record without a name belongs to smoke if its parent does. */
  readonly parent: TestRecord | undefined;
}

/** A record that the checks may leave in the service. If its id is unknown, it may not exist. */
type Leftover = Omit<TestRecord, 'id'> & { readonly id: bigint | undefined };

/** Makes a check of the life of a record for each noun, and the check that deletes the records that they have left. */
export function createWriteChecks(contract: Contract): {
  readonly checks: readonly Check[];
  readonly cleanUp: Check;
} {
  const leftovers = new Set<Leftover>();
  const kinds = [...recordKinds(contract)];
  const checks = kinds.map(([name, kind]): Check => {
    const id = `write/${name}`;
    if (typeof kind === 'string') return { id, run: async () => skip(kind) };
    return { id, operation: kind.create, run: (context) => checkLife(context, leftovers, kind) };
  });
  const isNothingWritten = kinds.every(([, kind]) => typeof kind === 'string');
  const run = async (context: CheckContext) =>
    isNothingWritten ? [warn('no write was checked')] : cleanUp(context, leftovers);
  return { checks, cleanUp: { id: 'write/cleanup', run } };
}

/**
 * Checks the life of a record: it is created, read back, found in its list, updated, read back and deleted.
 *
 * @param leftovers gets what exists, or may exist.
 */
async function checkLife(
  context: CheckContext,
  leftovers: Set<Leftover>,
  kind: RecordKind,
): Promise<Finding[]> {
  const { change, name, list } = kind;
  const [created, findings] = await createTestRecord(context, leftovers, kind);
  if ((await isListed(context, created)) === false)
    throw new FindingError(
      fail(`create: ${list?.id} does not show ${name} ${created.id}`, { operation: list }),
    );
  let isUpdated = false;
  if (Object.keys(change).length > 0) {
    const value = kind.noun.isCount ? Number(change.quantity) : change;
    const settled = await writeTestRecord(context, kind, created.id, { kind: 'set', value });
    findings.push(...judgeSettled(context, kind, 'update', settled));
    // The service may have a single word for the status.
    isUpdated = settled.outcome.kind === 'applied';
    await checkShown(context, created, { ...created.fields, ...change });
  }
  findings.push(...(await removeTestRecord(context, created, true)));
  leftovers.delete(created);
  const steps = isUpdated ? 'created, read, updated, read, deleted, gone' : 'created, read, deleted, gone';
  return [pass(steps), ...findings];
}

/** Creates a record, after the record that it refers to, and reads it back. The parent stays until the cleanup. */
async function createTestRecord(
  context: CheckContext,
  leftovers: Set<Leftover>,
  kind: RecordKind,
): Promise<[TestRecord, Finding[]]> {
  const [parent, findings = []] = kind.parent ? await createTestRecord(context, leftovers, kind.parent) : [];
  const entryId = kind.noun.isCount ? parent?.id : undefined;
  // A service may create an inventory entry together with its pet.
  const entry = entryId === undefined ? undefined : { kind, fields: {}, parent, id: entryId };
  if (entry) findings.push(...(await removeTestRecord(context, entry)));
  const fields = {
    ...(kind.isNamed && { name: createName(new Date()) }),
    ...(parent && { [parent.kind.noun.idName]: parent.id }),
    ...kind.fields,
  };
  const settled = await writeTestRecord(context, kind, entryId, { kind: 'create', fields });
  const { outcome } = settled;
  const made = outcome.kind === 'applied' ? outcome.made : undefined;
  const id = made?.id ?? entryId ?? settled.state.lastAttempt?.id;
  const created = id === undefined ? undefined : { kind, fields, parent, id };
  // A gateway may have sent the create twice, and the second was refused because of the first.
  const { verdict } = settled.state.lastAttempt ?? {};
  if (outcome.kind !== 'failed' || verdict === 'conflict' || verdict === 'condition-failed')
    leftovers.add(created ?? { kind, fields, parent, id: undefined });
  findings.push(...judgeSettled(context, kind, 'create', settled));
  if (!created)
    throw new FindingError(fail('create: the answer does not say what was created', { expected: 'its id' }));
  await checkShown(context, created, fields);
  return [created, findings];
}

function labelOf({ kind, fields, parent, id }: Leftover): string {
  const name = kind.isNamed ? `${fields.name} ` : parent ? `of ${parent.kind.name} ${parent.id} ` : '';
  return `${kind.name} ${name}(id ${id ?? 'unknown'})`;
}

/** Checks that a reading has each field that was sent, unchanged. The service may add other fields. */
async function checkShown(context: CheckContext, { kind, id }: TestRecord, sent: JsonObject): Promise<void> {
  const { record, notFound } = await recordPortOf(context, kind).read(id);
  if (!record) throw notFound ?? new FindingError(fail(`read back: ${kind.name} ${id} is not there`));
  const absent = absentFields(context.client.contract, kind.noun.name);
  const [difference] = differencesOf(sent, record.fields, isShown, absent);
  if (!difference) return;
  const { name, expected, actual } = difference;
  const got = actual === undefined ? 'no such field' : printJson(actual);
  const wireName = kind.create.body?.fields[name]?.wireName ?? name;
  const details = { pointer: `/${wireName}`, expected: printJson(expected), got };
  throw new FindingError(fail(`read back: ${wireName} of ${kind.name} ${id} is not what was sent`, details));
}

/** The end of a write of a test record. */
type SettledTestRecord = SettleResult & { readonly outcome: Outcome };

/**
 * Writes a test record by the loop of all writes.
 *
 * @param id undefined if the write creates a record that gets its id from the service.
 * @throws an interruption if it was stopped before anything was sent.
 */
async function writeTestRecord(
  context: CheckContext,
  kind: RecordKind,
  id: bigint | undefined,
  intent: Intent,
): Promise<SettledTestRecord> {
  const { signal: stopped } = context;
  // The cleanup can only remove a record whose id has been answered. It gets the other half of the time.
  const signal = intent.kind === 'create' ? abortLater(stopped, graceMs / 2) : stopped;
  const port = createRecordPort(context.client.withOptions({ signal }), kind.noun.name);
  const { outcome, ...settled } = await settle(port, { id, intent }, stopped);
  if (!outcome) throw stopped.reason;
  return { ...settled, outcome };
}

/** Returns a signal that is aborted some time after another one. */
function abortLater(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener('abort', () => setTimeout(abort, ms).unref());
  return controller.signal;
}

function recordPortOf({ client }: CheckContext, { noun }: RecordKind): RecordPort {
  return createRecordPort(client, noun.name);
}

/**
 * Judges how a write was answered.
 *
 * @returns a warning if a success does not show what was written, and a flaky finding if it took several attempts.
 * @throws FindingError if the record was not written, may not have been, or was written although the answer is an error.
 */
function judgeSettled(
  { client }: CheckContext,
  { name, noun }: RecordKind,
  step: WriteVerb,
  { state: { lastAttempt, attempts }, outcome }: SettledTestRecord,
): Finding[] {
  const { kind } = outcome;
  const reason = reasonOf(outcome);
  const operation = client.contract.operations.get(noun.operations[step]);
  const isWritten = kind === 'applied' || kind === 'unchanged';
  if (isWritten && !lastAttempt?.error) {
    // An operation whose description states another answer than a record has no result, and neither has a DELETE.
    if (lastAttempt?.verdict === 'unclear' && operation?.result !== undefined)
      return [warn(`${step}: ${lastAttempt.reason?.message}`)];
    return attempts > 1 ? [flaky(`${step}: the write needed ${attempts} requests`)] : [];
  }
  const { hint } = lastAttempt?.error?.details ?? {};
  const details = { status: reason?.status, ...writeDetails(lastAttempt), hint };
  const { status } = details;
  const message = reason?.message ?? lastAttempt?.error?.message ?? 'it was not written';
  // The message of an answer that is not the service's begins with the status.
  const isStated = status === undefined || message.startsWith(`the answer is ${status}`);
  const answered = isStated ? '' : `answered ${statusText(status)}: `;
  const suffix = isWritten ? `, although the ${name} was written` : '';
  throw new FindingError(fail(`${step}: ${answered}${message}${suffix}`, { ...details, operation }));
}

/**
 * Deletes a test record if it exists.
 *
 * @param mustBeThere true if it was read before. Then it is a fault if it is missing.
 * @returns warnings about the answer.
 * @throws FindingError if the record may belong to another client, or still exists afterwards. CliError if it cannot be read.
 */
async function removeTestRecord(
  context: CheckContext,
  created: TestRecord,
  mustBeThere = false,
): Promise<Finding[]> {
  const { kind, id, fields, parent } = created;
  const { name, isNamed, list } = kind;
  const foreign = new FindingError(fail(`not deleted: ${name} ${id} may not be the one that smoke created`));
  if (!isNamed) {
    const parentFields = parent && (await recordPortOf(context, parent.kind).read(parent.id)).record?.fields;
    if (!parentFields || parentFields.name !== parent.fields.name) throw foreign;
  }
  const ours = isNamed ? { name: fields.name } : { petId: parent?.id };
  const settled = await writeTestRecord(context, kind, id, { kind: 'remove', created: ours });
  const { outcome } = settled;
  if (outcome.kind === 'failed' && reasonOf(outcome)?.code === 'changed') throw foreign;
  if (outcome.kind === 'unchanged' && mustBeThere)
    throw new FindingError(fail(`delete: ${name} ${id} was not there, so nothing was sent`));
  const findings = judgeSettled(context, kind, 'delete', settled);
  if ((await recordPortOf(context, kind).read(id)).record)
    throw new FindingError(fail(`gone: ${name} ${id} can still be read after its deletion`));
  if (await isListed(context, created))
    throw new FindingError(
      fail(`gone: ${name} ${id} is deleted, and ${list?.id} still has it`, { operation: list }),
    );
  return findings;
}

/** Returns true if its list shows a record. Returns undefined if the service has no such list, or if the list may be cut. */
async function isListed(
  { client }: CheckContext,
  { kind: { noun, list }, id }: TestRecord,
): Promise<boolean | undefined> {
  if (!list) return undefined;
  try {
    await readFromList(client, noun.name, id);
    return true;
  } catch (error) {
    if (error instanceof CutListError) return undefined;
    if (error instanceof CliError && error.kind === 'not-found') return false;
    throw error;
  }
}

/** Deletes the test records. The finding names each record that is left, or may be left because its id is unknown. */
async function cleanUp(context: CheckContext, leftovers: Set<Leftover>): Promise<Finding[]> {
  if (leftovers.size === 0) return [skip('nothing is left to remove')];
  const findings = [pass(`${leftovers.size} removed`)];
  const remaining: string[] = [];
  // The newest come first, because a record may refer to an older one.
  for (const record of [...leftovers].reverse()) {
    const { kind, id, fields } = record;
    const look = showCommand(context, kind.noun, { id, intent: { kind: 'create', fields } });
    try {
      if (id === undefined) remaining.push(`perhaps ${labelOf(record)}: \`${look}\``);
      else findings.push(...(await removeTestRecord(context, { ...record, id })));
    } catch (error) {
      const remove = followUpCommand(context, [kind.noun.name, 'delete', `${id}`]);
      remaining.push(`${labelOf(record)}: ${messageOf(error)}: \`${look}\`, then \`${remove}\``);
    }
  }
  if (remaining.length === 0) return findings;
  const request = countText(
    remaining.length,
    'record may be left: look at it, and delete it by hand',
    'records may be left: look at each, and delete them by hand',
  );
  return [fail(`${request}: ${remaining.join('; ')}`)];
}

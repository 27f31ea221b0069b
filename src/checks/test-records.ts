import { nouns } from '../api/nouns.ts';
import { readFromList } from '../client/read-record.ts';
import { CliError, messageOf, UsageError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { StoppedError } from '../process/signals.ts';
import { counted } from '../process/text.ts';
import { type Intent, newState, type Outcome } from '../writes/decide.ts';
import { attemptDetails, createRecordPort, type RecordPort } from '../writes/port.ts';
import { type Settled, settle } from '../writes/settle.ts';
import type { CheckContext } from './check.ts';
import { type Finding, fail, failure, flaky, pass, statusText, warn } from './finding.ts';
import type { WritableNoun } from './writable-nouns.ts';

/**
 * A record that the write checks created, or may have created. A record is deleted only if its create answered with its id,
 * and a read right before the delete shows the name that the create sent.
 */
export interface TestRecord {
  readonly noun: WritableNoun;
  /** The fields that the create sends. */
  readonly fields: JsonObject;
  /** The record that this record refers to. A record without a name belongs to smoke if its parent does. */
  readonly parent: CreatedRecord | undefined;
  /** Undefined if no answer has told it. */
  readonly id?: bigint | undefined;
  /** Why it is not known whether it was made, a clause. */
  readonly why?: string | undefined;
}

/** A test record whose create answered with the id. */
export interface CreatedRecord extends TestRecord {
  readonly id: bigint;
}

/** What became of a write of a test record. */
type SettledRecord = Settled & { readonly outcome: Outcome };

/** Writes a test record by the loop of all writes. @throws StoppedError if it was stopped before anything was sent. */
export async function writeRecord(
  context: CheckContext,
  { noun, id }: Pick<TestRecord, 'noun' | 'id'>,
  intent: Intent,
): Promise<SettledRecord> {
  const { signal, timeoutMs, retries } = context;
  const port = recordPortOf(context, noun);
  const stop = {
    stopped: signal,
    get reason(): unknown {
      return signal.reason;
    },
  };
  // As in an undo, a record is removed if it has what is expected, whatever else it has got since.
  const rules = { mayCreate: false, isUndo: true, createsByPut: port.createsByPut };
  const limits = { rules, retries, retriesUnreachable: false, stop, timeoutMs };
  const settled = await settle(port, { line: 0, id, intent, state: newState }, limits);
  const { outcome } = settled;
  if (!outcome) throw settled.error ?? new StoppedError();
  return { ...settled, outcome };
}

export function recordPortOf({ client, sendsEtags }: CheckContext, { nounName }: WritableNoun): RecordPort {
  return createRecordPort(client, nounName, { sendsEtags });
}

/**
 * Judges how a write was answered.
 *
 * @returns a warning if a success does not show what was written, and a flaky finding if it took several attempts.
 * @throws FindingError if the record was not written, may not have been, or was written although the answer is an error.
 */
export function judgeSettled(
  { client }: CheckContext,
  { name, nounName }: WritableNoun,
  step: 'create' | 'update' | 'delete',
  { outcome: { state, reason }, attempted, retries }: SettledRecord,
): Finding[] {
  const isWritten = state === 'applied' || state === 'unchanged';
  if (isWritten && !attempted?.error) {
    // The body of the answer to a DELETE is not a record.
    if (attempted?.verdict === 'unclear' && step !== 'delete')
      return [warn(`${step}: ${attempted.reason?.message}`)];
    return retries > 0 ? [flaky(`${step}: written in ${retries + 1} attempts`)] : [];
  }
  const details = { status: reason?.status, ...attemptDetails(attempted) };
  const answered = details.status === undefined ? '' : `answered ${statusText(details.status)}: `;
  const message = reason?.message ?? attempted?.error?.message ?? 'it was not written';
  const suffix = isWritten ? `, although the ${name} was written` : '';
  throw failure(`${step}: ${answered}${message}${suffix}`, {
    ...details,
    operation: client.contract.operations.get(nouns[nounName].operations[step]),
  });
}

/**
 * Deletes a test record if it exists.
 *
 * @returns what was seen of it; undefined if it did not exist.
 * @throws FindingError if the record may belong to another client, or still exists afterwards. CliError if it cannot be
 * read.
 */
export async function removeRecord(
  context: CheckContext,
  created: CreatedRecord,
): Promise<Finding[] | undefined> {
  const { noun, id, fields, parent } = created;
  const { name, isNamed, list } = noun;
  const foreign = failure(`not deleted, because ${name} ${id} is not certainly ours`);
  if (!isNamed) {
    const shown = parent && (await recordPortOf(context, parent.noun).read(parent.id)).record;
    if (!shown || shown.name !== parent.fields.name) throw foreign;
  }
  const expected = isNamed ? { name: fields.name } : { petId: parent?.id };
  const settled = await writeRecord(context, created, { kind: 'remove', expected });
  const { state, reason } = settled.outcome;
  if (state === 'failed' && reason?.code === 'changed') throw foreign;
  const findings = judgeSettled(context, noun, 'delete', settled);
  if ((await recordPortOf(context, noun).read(id)).record)
    throw failure(`gone: ${name} ${id} is deleted, and a read still shows it`);
  if (await isListed(context, created))
    throw failure(`gone: a read does not find ${name} ${id}, and ${list?.id} still has it`, {
      operation: list,
    });
  return state === 'unchanged' ? undefined : findings;
}

/** Returns true if its list shows a record. Undefined if the service has no such list, or if it may be cut. */
export async function isListed(
  { client }: CheckContext,
  { noun: { nounName, list }, id }: CreatedRecord,
): Promise<boolean | undefined> {
  if (!list) return undefined;
  try {
    await readFromList(client, nounName, id, { whole: true });
    return true;
  } catch (error) {
    if (error instanceof CliError && error.kind === 'not-found') return false;
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

/** Deletes the test records. The finding names each record that is left, or may be left because its id is unknown. */
export async function cleanUp(context: CheckContext, records: ReadonlySet<TestRecord>): Promise<Finding> {
  const left: string[] = [];
  let removed = 0;
  // The newest come first, because a record may refer to an older one.
  for (const record of [...records].reverse()) {
    const { noun, fields, id, parent, why } = record;
    const name = noun.isNamed ? `${fields.name} ` : parent ? `of ${parent.noun.name} ${parent.id} ` : '';
    const label = `${noun.name} ${name}(id ${id ?? 'unknown'})`;
    if (id === undefined) {
      left.push(`perhaps ${label}: ${why ?? 'no answer to its create says whether it was made'}`);
      continue;
    }
    try {
      if (await removeRecord(context, { ...record, id })) removed += 1;
    } catch (error) {
      left.push(`${label}: ${messageOf(error)}`);
    }
  }
  if (left.length === 0) return pass(removed === 0 ? 'nothing was left to remove' : `${removed} removed`);
  const count = counted(left.length, 'record is', 'records are');
  return fail(`${count} or may be left: ${left.join('; ')}`, {
    hint: 'delete the records that are named here',
    left,
  });
}

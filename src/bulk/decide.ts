import { isSameValue } from '../api/values.ts';
import { isJsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';

/** The fields of a record that an input names, by our names. */
export type Fields = Readonly<Record<string, JsonValue>>;

/** The part of a record that a run reads and writes: a count or some fields. Null if there is no record. */
export type Value = number | bigint | Fields | null;

/** The change that an input asks for: set a value, perhaps only if the record has an expected value now; or add to a count. */
export type Intent =
  | { readonly kind: 'set'; readonly value: Value; readonly expected?: Value | undefined }
  | { readonly kind: 'add'; readonly change: number };

/** Why a row failed, is unknown, or needed no write. Secrets in texts of the service are masked. */
export interface Reason {
  /** A fixed word of this program, or the code that the service sent. */
  readonly code: string;
  /** A clause without a full stop. */
  readonly message: string;
  /** The status of the last answer. */
  readonly status?: number | undefined;
  readonly attempts?: number | undefined;
  readonly requestId?: string | undefined;
  /** Whether the same row may succeed later without a change to it. */
  readonly passes?: boolean | undefined;
  /** The command that settles a row that waits for another run, as words: `resume`, `r7`. */
  readonly settledBy?: readonly string[] | undefined;
}

/** The fate of a row. */
export interface Outcome {
  readonly state: 'unchanged' | 'applied' | 'failed' | 'unknown';
  readonly reason?: Reason | undefined;
}

/** What a run is to do with one record. */
export interface Row {
  /** The line of the input, from 1; 0 in an undo. */
  readonly line: number;
  readonly id: bigint;
  readonly intent: Intent;
  /** Whether a record that does not exist is created. */
  readonly mayCreate: boolean;
  /** In an undo, if nobody knows whether the undone row was applied: that row. */
  readonly undoneRow?: Row | undefined;
  /** If another run has booked or written the record: the outcome that the row gets instead of a write. */
  obstacle?: Outcome | undefined;
  /** The value that the last plan read. Undefined if no plan has the row to write. */
  before: Value | undefined;
  /** The value to write, from the last plan. */
  after: Value | undefined;
  /** True while answers and readings leave it possible that an attempt since the last plan has written the row, or will. */
  mayBeWritten: boolean;
  /** Whether answers alone leave it possible that the service applied an attempt since the last plan. */
  mayBeApplied: boolean;
  /** If another run planned this record after the row may have been written: the value that its plan read. */
  laterReading?: Value | undefined;
  /** Undefined until the run has settled the row. */
  outcome: Outcome | undefined;
}

/** The next step for a row: it gets an outcome, or a value is written. */
export type Decision = Outcome | { readonly state: 'write'; readonly after: Value };

type SetIntent = Extract<Intent, { kind: 'set' }>;

const unchanged: Decision = { state: 'unchanged' };
const applied: Decision = { state: 'applied' };
const maxCount = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Decides the next step for a row by the value that its record has now. Knows nothing of HTTP, files or time.
 *
 * Another run may have planned to write the record after a row that adds was sent. Then the reading of that plan decides,
 * because that run may have changed the count since. If the reading shows that the row was not applied, the value now
 * decides it as a row that was never sent.
 */
export function decide(row: Row, now: Value): Decision {
  const decision = decideByValues(row, now);
  const isDone = decision.state === 'unchanged' || decision.state === 'applied';
  return row.obstacle && !row.mayBeWritten && !isDone ? row.obstacle : decision;
}

function decideByValues(row: Row, now: Value): Decision {
  const { intent, undoneRow, laterReading } = row;
  if (undoneRow && !row.mayBeWritten) {
    const undone = decideByValues(undoneRow, now);
    if (undone.state === 'unknown') return undone;
    if (undone.state !== 'applied') return unchanged;
  }
  if (intent.kind === 'set')
    return row.mayBeWritten ? decideUncertainSet(row, intent, now) : decideUnwrittenSet(row, intent, now);
  if (intent.change === 0) return unchanged;
  if (!row.mayBeWritten) return decideUnwrittenAdd(row, intent.change, now);
  const decision = decideUncertainAdd(row, laterReading === undefined ? now : laterReading);
  const isUnapplied = decision.state === 'write' || decision.state === 'failed';
  return laterReading !== undefined && isUnapplied ? decideUnwrittenAdd(row, intent.change, now) : decision;
}

function decideUnwrittenSet(row: Row, { value, expected }: SetIntent, now: Value): Decision {
  if (isSame(value, now)) return unchanged;
  if (now === null)
    return row.mayCreate && expected === undefined ? writeValue(value) : failWithoutRecord(row);
  if (expected === undefined || isSame(expected, now)) return writeValue(value);
  return fail('changed', `${describeValue(now)} now, not ${describeValue(expected)} as expected`);
}

function decideUncertainSet(row: Row, { value, expected }: SetIntent, now: Value): Decision {
  if (isValueAfter(row, now)) return applied;
  if (now === null) return decideWithoutRecord(row, value);
  return expected === undefined || isValueBefore(row, now)
    ? writeValue(value)
    : leaveUnknown(row, now, 'changed');
}

function decideUnwrittenAdd(row: Row, change: number, now: Value): Decision {
  if (now === null && !row.mayCreate) return failWithoutRecord(row);
  const count = BigInt((now ?? 0) as number | bigint);
  const sum = count + BigInt(change);
  const sumText = `${count} ${change < 0 ? '-' : '+'} ${Math.abs(change)}`;
  if (sum < 0n) return fail('below_zero', `${sumText} is below 0`);
  if (sum > maxCount) return fail('too_large', `${sumText} is above ${maxCount}`);
  return writeValue(Number(sum));
}

function decideUncertainAdd(row: Row, now: Value): Decision {
  if (isValueAfter(row, now)) return row.mayBeApplied ? applied : leaveUnknown(row, now, 'changed');
  if (now === null) return decideWithoutRecord(row, row.after ?? null);
  return isValueBefore(row, now) ? writeValue(row.after ?? null) : leaveUnknown(row, now, 'changed');
}

/** Decides a row that may be written and whose record does not exist now. */
function decideWithoutRecord(row: Row, value: Value): Decision {
  if (!isValueBefore(row, null)) return leaveUnknown(row, null, 'gone');
  return row.mayCreate ? writeValue(value) : failWithoutRecord(row);
}

/** The facts of an attempt that tell whether it may have written the row. */
export interface RowAttempt {
  /** Whether the service may have received the request. */
  readonly isSent: boolean;
  /** The status of the answer. Undefined if no answer came. */
  readonly status?: number | undefined;
  /** The last value that was read after the answer. Undefined if no value was read. */
  readonly readBack?: Value | undefined;
}

/**
 * Whether these attempts may have written a row, or still will.
 *
 * They may if a request has no answer, because it can still arrive. They may if a request was answered and no reading since
 * has found the value before. A 412 says that the request wrote nothing. After a 412 alone the row may be written only if
 * the record has the value that was sent, because a proxy may have sent the request twice, or if the row expects a value
 * and the record has another value than before.
 */
export function mayBeWrittenAfter(row: Row, attempts: readonly RowAttempt[]): boolean {
  const expectsValue = row.intent.kind === 'set' && row.intent.expected !== undefined;
  let mayBeWritten = false;
  for (const { isSent, status, readBack } of attempts) {
    if (status === undefined) {
      if (isSent) return true;
      continue;
    }
    const isRefused: boolean = status === 412 && !mayBeWritten && !expectsValue;
    mayBeWritten =
      readBack === undefined || (isRefused ? isValueAfter(row, readBack) : !isValueBefore(row, readBack));
  }
  return mayBeWritten;
}

/** Whether a reading equals the value that the last plan read. */
export function isValueBefore({ before }: Row, now: Value): boolean {
  return before !== undefined && isSame(before, now);
}

/** Whether a reading equals the value that the last plan wants to write. */
function isValueAfter({ after }: Row, now: Value): boolean {
  return after !== undefined && isSame(after, now);
}

function isSame(value: Value, now: Value): boolean {
  if (value === null || now === null) return value === now;
  if (isFields(value)) return isFields(now) && isSameValue(value, now);
  // A count may come as a bigint if it is large: 5 and 5n are the same.
  // biome-ignore lint/suspicious/noDoubleEquals: it compares a number with a bigint by their values.
  return !isFields(now) && value == now;
}

function isFields(value: Value): value is Fields {
  return isJsonObject(value as JsonValue);
}

function failWithoutRecord({ intent }: Row): Outcome {
  if (intent.kind === 'set' && isFields(intent.value)) return fail('no_entry', 'there is no such record');
  const message = 'the pet has no inventory entry: check the id, or create the entry with --create-missing';
  return { state: 'failed', reason: { status: 404, code: 'no_entry', message } };
}

function writeValue(after: Value): Decision {
  return { state: 'write', after };
}

function fail(code: string, message: string): Outcome {
  return { state: 'failed', reason: { code, message } };
}

function leaveUnknown({ before, after }: Row, now: Value, code: 'changed' | 'gone'): Outcome {
  const [was, sent, is] = [before, after, now].map((value) => describeValue(value ?? null));
  const message = `it was ${was} before, ${sent} was sent, and it is ${is} now`;
  return { state: 'unknown', reason: { code, message } };
}

/** Describes a value in a message: `12`, `no record`, `name "Rex", status "sold"`. */
export function describeValue(value: Value): string {
  if (value === null) return 'no record';
  if (!isFields(value)) return String(value);
  const fields = Object.entries(value).map(([name, field]) => `${name} ${printJson(field)}`);
  return shorten(fields.join(', '), 120);
}

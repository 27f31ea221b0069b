import { isSameValue } from '../api/values.ts';
import { isJsonObject, type JsonValue, printJson } from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';

/** The fields of a record that an input names, by our names. */
export type Fields = Readonly<Record<string, JsonValue>>;

/** What a run reads and writes of one record: a count, some fields, or null if there is no record. */
export type Value = number | bigint | Fields | null;

/** What an input wants of one record: to set its value, perhaps only if it has an expected one now; or to add to its count. */
export type Intent =
  | { readonly kind: 'set'; readonly value: Value; readonly expected?: Value | undefined }
  | { readonly kind: 'add'; readonly change: number };

/** Why a row failed, is unknown, or needed no write. Secrets are masked in the texts of the service. */
export interface Reason {
  /** A fixed word of this program, or the service's own code. */
  readonly code: string;
  /** A clause without a full stop. */
  readonly message: string;
  /** The status of the last answer. */
  readonly status?: number | undefined;
  readonly attempts?: number | undefined;
  readonly requestId?: string | undefined;
  /** True if the same row may succeed later without a change to it. */
  readonly passes?: boolean | undefined;
  /** The command that settles a row which waits for another run, as words: `resume`, `r7`. */
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
  /** True if a record that does not exist is created. */
  readonly mayCreate: boolean;
  /** The row that an undo takes back, if it is unknown whether that row was applied. */
  readonly undoneRow?: Row | undefined;
  /** The outcome in place of a write, if another run has booked or written the record. */
  obstacle?: Outcome | undefined;
  /** The value that the last plan read; undefined if no plan wants to write the row. */
  before: Value | undefined;
  /** The value that the last plan wants. */
  after: Value | undefined;
  /** True if answers and readings leave it open whether the row was written since the last plan. */
  isSent: boolean;
  /** True if an attempt since the last plan may have been applied. */
  mayBeApplied: boolean;
  /** The value that the next plan of another run read, if the row was sent and there is such a plan. */
  laterReading?: Value | undefined;
  /** Undefined until the row is settled. */
  outcome: Outcome | undefined;
}

/** What is to become of a row: its outcome, or the value to write. */
export type Decision = Outcome | { readonly state: 'write'; readonly after: Value };

type SetIntent = Extract<Intent, { kind: 'set' }>;

const unchanged: Decision = { state: 'unchanged' };
const applied: Decision = { state: 'applied' };
const maxCount = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Decides what is to become of a row by the value of its record now. Knows nothing of HTTP, files or time.
 *
 * If another run has planned to write the record since a row that adds was sent, the reading of that plan decides, because
 * that run may have changed the count. If the row was not applied by then, it is decided again as a row that was not sent.
 */
export function decide(row: Row, now: Value): Decision {
  const decision = decideByValues(row, now);
  const isDone = decision.state === 'unchanged' || decision.state === 'applied';
  return row.obstacle && !row.isSent && !isDone ? row.obstacle : decision;
}

function decideByValues(row: Row, now: Value): Decision {
  const { intent, undoneRow, laterReading } = row;
  if (undoneRow && !row.isSent) {
    const past = decideByValues(undoneRow, now);
    if (past.state === 'unknown') return past;
    if (past.state !== 'applied') return unchanged;
  }
  if (intent.kind === 'set')
    return row.isSent ? decideSentSet(row, intent, now) : decideSet(row, intent, now);
  if (intent.change === 0) return unchanged;
  if (!row.isSent) return decideAdd(row, intent.change, now);
  const decision = decideSentAdd(row, laterReading === undefined ? now : laterReading);
  const isUnapplied = decision.state === 'write' || decision.state === 'failed';
  return laterReading !== undefined && isUnapplied ? decideAdd(row, intent.change, now) : decision;
}

function decideSet(row: Row, { value, expected }: SetIntent, now: Value): Decision {
  if (isSame(value, now)) return unchanged;
  if (now === null) return row.mayCreate && expected === undefined ? write(value) : missing(row);
  if (expected === undefined || isSame(expected, now)) return write(value);
  return failed('changed', `${textOf(now)} now, not ${textOf(expected)} as expected`);
}

function decideSentSet(row: Row, { value, expected }: SetIntent, now: Value): Decision {
  if (isAfter(row, now)) return applied;
  if (now === null) return decideGone(row, value);
  return expected === undefined || isBefore(row, now) ? write(value) : unknown(row, now, 'changed');
}

function decideAdd(row: Row, change: number, now: Value): Decision {
  if (now === null && !row.mayCreate) return missing(row);
  const count = BigInt((now ?? 0) as number | bigint);
  const sum = count + BigInt(change);
  const words = `${count} ${change < 0 ? '-' : '+'} ${Math.abs(change)}`;
  if (sum < 0n) return failed('below_zero', `${words} is below 0`);
  if (sum > maxCount) return failed('too_large', `${words} is above ${maxCount}`);
  return write(Number(sum));
}

function decideSentAdd(row: Row, now: Value): Decision {
  if (isAfter(row, now)) return row.mayBeApplied ? applied : unknown(row, now, 'changed');
  if (now === null) return decideGone(row, row.after ?? null);
  return isBefore(row, now) ? write(row.after ?? null) : unknown(row, now, 'changed');
}

/** The decision for a row that was sent, if there is no record now. */
function decideGone(row: Row, value: Value): Decision {
  if (!isBefore(row, null)) return unknown(row, null, 'gone');
  return row.mayCreate ? write(value) : missing(row);
}

/** The facts of one attempt to write a row that tell whether the row is sent. */
export interface RowAttempt {
  /** True if the service may have received it. */
  readonly isSent: boolean;
  /** The status of its answer; undefined if none came. */
  readonly status?: number | undefined;
  /** The last value that was read after its answer; undefined if none was. */
  readonly readBack?: Value | undefined;
}

/**
 * Whether a row is sent after these attempts. It is if one has no answer, because that one may still arrive, or if one was
 * answered and its record was not read as before since.
 *
 * After a 412 alone the row is not sent, unless its record has the value that was sent (a proxy has sent the request
 * twice), or the row expects a value and its record has another one.
 */
export function isSentBy(row: Row, attempts: readonly RowAttempt[]): boolean {
  const isBound = row.intent.kind === 'set' && row.intent.expected !== undefined;
  let isSent = false;
  for (const { status, readBack, ...attempt } of attempts) {
    if (status === undefined) {
      if (attempt.isSent) return true;
      continue;
    }
    const isRefusal: boolean = status === 412 && !isSent && !isBound;
    isSent = readBack === undefined || (isRefusal ? isAfter(row, readBack) : !isBefore(row, readBack));
  }
  return isSent;
}

/** Whether a value that was read is the one that the last plan read. */
export function isBefore({ before }: Row, now: Value): boolean {
  return before !== undefined && isSame(before, now);
}

/** Whether a value that was read is the one that the last plan wants. */
function isAfter({ after }: Row, now: Value): boolean {
  return after !== undefined && isSame(after, now);
}

function isSame(wanted: Value, now: Value): boolean {
  if (wanted === null || now === null) return wanted === now;
  if (isFields(wanted)) return isFields(now) && isSameValue(wanted, now);
  // A count may come as a bigint if it is large: 5 and 5n are the same.
  // biome-ignore lint/suspicious/noDoubleEquals: it compares a number with a bigint by their values.
  return !isFields(now) && wanted == now;
}

function isFields(value: Value): value is Fields {
  return isJsonObject(value as JsonValue);
}

function missing({ intent }: Row): Outcome {
  if (intent.kind === 'set' && isFields(intent.value)) return failed('no_entry', 'there is no such record');
  const message = 'the pet has no inventory entry: check the id, or create the entry with --create-missing';
  return { state: 'failed', reason: { status: 404, code: 'no_entry', message } };
}

function write(after: Value): Decision {
  return { state: 'write', after };
}

function failed(code: string, message: string): Outcome {
  return { state: 'failed', reason: { code, message } };
}

function unknown({ before, after }: Row, now: Value, code: 'changed' | 'gone'): Outcome {
  const [was, sent, is] = [before, after, now].map((value) => textOf(value ?? null));
  const message = `it was ${was} before, ${sent} was sent, and it is ${is} now`;
  return { state: 'unknown', reason: { code, message } };
}

/** A value in a message: `12`, `no record`, `name "Rex", status sold`. */
export function textOf(value: Value): string {
  if (value === null) return 'no record';
  if (!isFields(value)) return String(value);
  const fields = Object.entries(value).map(([name, field]) => `${name} ${printJson(field)}`);
  return shorten(fields.join(', '), 120);
}

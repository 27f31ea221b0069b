import { attemptsOf, mayHaveBeenApplied, retryDelay, shouldRetry } from '../client/attempt.ts';
import type { Judgement } from '../client/judge-write.ts';
import { sleep } from '../process/deadline.ts';
import { CliError, type UnavailableReason } from '../process/errors.ts';
import { printJson } from '../process/exact-json.ts';
import { StoppedError } from '../process/signals.ts';
import { isSentAfter, type Outcome, type Reason, type Row, textOf } from './decide.ts';
import { decideInRun } from './plan.ts';
import type { Run } from './run.ts';
import type { Reading } from './run-nouns.ts';

/** What one attempt to write a row has brought. */
interface Answer {
  /** Undefined if none came. */
  readonly status: number | undefined;
  /** Of a status of success. */
  readonly judgement?: Judgement | undefined;
  readonly error?: CliError | undefined;
  /** True if the run was stopped before an answer came. */
  readonly isInterrupted?: boolean;
  readonly isSent: boolean;
  /** The delay before a further attempt; undefined if there must be none. */
  readonly delayMs?: number | undefined;
  readonly requestId?: string | undefined;
}

/**
 * Writes one row: as many attempts as are safe and may help. After each answer that does not show the row as it should
 * be, the record is read, and `decide` says how to go on.
 *
 * @returns undefined if the row is left for a further session: nothing of it was sent, or it must be planned again.
 */
export async function writeRow(run: Run, row: Row): Promise<Outcome | undefined> {
  const { noun, stop } = run;
  // A request without an answer may still arrive, whatever is read; one with an answer has ended.
  let isLost = false;
  let isAnswered = false;
  let reading: Reading | undefined;
  for (let number = 1; ; number += 1) {
    if (needsReading(run, row)) {
      try {
        reading = await noun.read(row.id, run.options);
      } catch (error) {
        if (!(error instanceof CliError || error instanceof StoppedError)) throw error;
        if (error instanceof StoppedError) return row.isSent ? interrupted(number - 1) : undefined;
        stopIfFatal(run, error);
        return row.isSent ? unread(undefined, error, number - 1) : failedBy(error, number - 1);
      }
      const decision = decideInRun(run, row, noun.valueOf(row, reading.record));
      if (decision.state !== 'write') return decision;
      // The new value of a row that adds must be on the disk first.
      if (row.intent.kind === 'add' && decision.after !== row.after) return undefined;
    }
    const answer = await send(run, row, reading, number);
    const { status, judgement, error } = answer;
    if (answer.isSent && status === undefined) isLost = true;
    row.isSent = isLost || isAnswered || answer.isSent;
    if (judgement) run.transportFailures = 0;
    if (judgement?.shows === 'intent') return { state: 'applied' };
    if (judgement?.shows === 'accepted') return acceptedLater(answer, number);
    if (judgement?.shows === 'other' && noun.name === 'inventory')
      return distrust(run, row, judgement, number);
    if (answer.isInterrupted) return row.isSent ? interrupted(number) : undefined;
    let mayGoOn = answer.delayMs !== undefined;
    if (status !== undefined) {
      const last = reading;
      try {
        reading = await noun.read(row.id, run.options);
      } catch (failure) {
        if (!(failure instanceof CliError || failure instanceof StoppedError)) throw failure;
        if (error) stopIfFatal(run, error);
        return unread(answer, failure, number);
      }
      const now = noun.valueOf(row, reading.record);
      // A 412 takes nothing back of an earlier answer.
      isAnswered = isSentAfter(row, isAnswered ? undefined : status, now);
      row.isSent = isLost || isAnswered;
      const decision = decideInRun(run, row, now);
      if (decision.state !== 'write') return withAnswer(decision, answer, number);
      if (row.intent.kind === 'add' && decision.after !== row.after) return undefined;
      if (status === 412) {
        const isAsBefore = last ? isSameRecord(last, reading) : !isSentAfter(row, undefined, now);
        // Then the tags of this service cannot be relied on.
        if (isAsBefore) run.sendsTags = false;
        mayGoOn = true;
      }
    }
    if (error) stopIfFatal(run, error);
    if (!mayGoOn || number > run.retries || stop.reason) {
      if (stop.reason && !row.isSent && isBusy(status)) return undefined;
      const outcome =
        row.isSent && status === undefined ? await lookAfter(run, row, answer, number) : undefined;
      if (outcome) return outcome;
      return row.isSent ? unsettled(answer, number) : failedBy(error, number, answer);
    }
    run.retried += 1;
    try {
      await sleep(answer.delayMs ?? 0, stop.stopped);
    } catch {
      return row.isSent ? unsettled(answer, number) : undefined;
    }
  }
}

/** The outcome of a row whose last attempt got no answer, if a reading of its record tells it. */
async function lookAfter(run: Run, row: Row, answer: Answer, attempts: number): Promise<Outcome | undefined> {
  if (run.stop.reason) return undefined;
  const reading = await run.noun.read(row.id, run.options).catch((error) => {
    if (error instanceof CliError || error instanceof StoppedError) return undefined;
    throw error;
  });
  if (!reading) return undefined;
  const decision = decideInRun(run, row, run.noun.valueOf(row, reading.record));
  return decision.state === 'write' ? undefined : withAnswer(decision, answer, attempts);
}

/** Whether the record of a row must be read right before an attempt. */
function needsReading({ noun, sendsTags, etags }: Run, row: Row): boolean {
  return noun.readsFirst || (isBound(row) && noun.canGet && !(sendsTags && etags.has(row)));
}

/** Whether a row may only be written if its record has the value that the plan read. */
function isBound({ intent }: Row): boolean {
  return intent.kind === 'add' || intent.expected !== undefined;
}

async function send(run: Run, row: Row, reading: Reading | undefined, number: number): Promise<Answer> {
  const { noun, sendsTags, etags, options } = run;
  const isConditional = sendsTags && (noun.readsFirst || isBound(row));
  const ifMatch = isConditional ? (reading?.etag ?? etags.get(row)) : undefined;
  const isThere = (reading ? noun.valueOf(row, reading.record) : row.before) !== null;
  // A reading is only known to have no record; that there is one shows in the value.
  const last = reading ?? { record: isThere ? {} : undefined };
  try {
    const { status, judgement, attempts } = await noun.write(row, row.after ?? null, last, {
      ...options,
      retries: 0,
      ifMatch,
    });
    row.mayBeApplied = true;
    return { status, judgement, isSent: true, requestId: attempts.at(-1)?.requestId };
  } catch (error) {
    const attempts = attemptsOf(error);
    const last = attempts.at(-1);
    const method = last?.request.method ?? 'PUT';
    if (mayHaveBeenApplied(method, attempts)) row.mayBeApplied = true;
    const isSent = attempts.some((attempt) => attempt.isSent && attempt.request.method !== 'GET');
    const requestId = last?.requestId;
    if (error instanceof StoppedError) return { status: undefined, isInterrupted: true, isSent };
    if (!(error instanceof CliError)) throw error;
    const mayRetry = last !== undefined && shouldRetry(method, last, { retriesUnreachable: true });
    const delayMs = mayRetry ? retryDelay(number, last?.retryAfterMs) : undefined;
    return { status: last?.response?.status, error, isSent, requestId, delayMs };
  }
}

function isSameRecord({ record }: Reading, { record: other }: Reading): boolean {
  return printJson(record ?? null) === printJson(other ?? null);
}

/** Failures that every remaining row would hit too. */
const fatalReasons: Partial<Record<UnavailableReason, string>> = {
  tls: 'TLS failed',
  redirect: 'the service redirects writes',
};

const maxTransportFailures = 20;

/** Stops the run if every remaining row would fail as this one. */
function stopIfFatal(run: Run, error: CliError): void {
  const { stop } = run;
  const { message, kind, details } = error;
  const { hint, status, reason } = details;
  run.transportFailures = reason !== undefined && status === undefined ? run.transportFailures + 1 : 0;
  const fatal = reason && fatalReasons[reason];
  if (fatal) stop.stop({ kind, message: `${fatal}: ${message}`, hint });
  else if (kind === 'auth') stop.stop({ kind, message, hint });
  else if (run.transportFailures >= maxTransportFailures)
    stop.stop({
      kind: 'unavailable',
      message: `${maxTransportFailures} rows in a row got no answer: ${message}`,
    });
}

/** The service shows another count than the one that was sent: it may add what it is told to set. */
function distrust(run: Run, row: Row, { reason }: Judgement, attempts: number): Outcome {
  const { before, after } = row;
  run.stop.stop({
    kind: 'partial',
    message: `${reason}: the service does not set what it is told`,
    hint: 'look at these counts, and ask the owner of the service what updateInventory does',
  });
  const message = `it was ${textOf(before ?? null)} before, ${textOf(after ?? null)} was sent, and ${reason}`;
  return { state: 'unknown', reason: { code: otherCount, message, attempts } };
}

/** The code of a row whose answer shows another count than the one that was sent. */
export const otherCount = 'other_count';

const uncertainty = 'it may or may not have been applied';

function acceptedLater({ status, requestId }: Answer, attempts: number): Outcome {
  const message = `the service accepted it, and has not done it yet; ${uncertainty}`;
  return { state: 'unknown', reason: { code: 'accepted', message, status, attempts, requestId } };
}

function interrupted(attempts: number): Outcome {
  const message = `the run stopped before the answer came; ${uncertainty}`;
  return { state: 'unknown', reason: { code: 'interrupted', message, attempts } };
}

/** Nothing could be read after an answer that does not show the row as it should be. */
function unread(answer: Answer | undefined, failure: Error, attempts: number): Outcome {
  const { status, requestId } = answer ?? {};
  const why = failure instanceof StoppedError ? 'the run stopped' : failure.message;
  const message = `${said(answer)}the record could not be read afterwards: ${why}; ${uncertainty}`;
  return { state: 'unknown', reason: { code: 'unread', message, status, attempts, requestId } };
}

function unsettled(answer: Answer, attempts: number): Outcome {
  const { status, requestId, error } = answer;
  const code = error ? codeOf(error) : 'not_stored';
  const words = error ? error.message : (answer.judgement?.reason ?? 'no answer');
  const message = `${words}; ${uncertainty}`;
  return { state: 'unknown', reason: { code, message, status, attempts, requestId } };
}

function failedBy(error: CliError | undefined, attempts: number, answer?: Answer): Outcome {
  const { requestId } = answer ?? {};
  if (!error) {
    const message = `${said(answer)}the record is as it was before`;
    const reason = { code: 'not_stored', message, status: answer?.status, attempts, requestId, passes: true };
    return { state: 'failed', reason };
  }
  const { status } = error.details;
  const message = error.message;
  const reason = { code: codeOf(error), message, status, attempts, requestId, passes: mayPass(error) };
  return { state: 'failed', reason };
}

/** The decision with what the answer says, if the row is not as it should be. */
function withAnswer(outcome: Outcome, answer: Answer, attempts: number): Outcome {
  const { reason } = outcome;
  if (!reason) return outcome;
  const { status, requestId } = answer;
  return { ...outcome, reason: { ...reason, status, attempts, requestId } satisfies Reason };
}

function said(answer: Answer | undefined): string {
  const words = answer?.error?.message ?? answer?.judgement?.reason;
  return words === undefined ? '' : `${words}; `;
}

/** Refusals that may pass, or that end with the cause of the stop. */
const passingStatuses: ReadonlySet<number> = new Set([401, 403, 408, 412, 425, 429]);

function isBusy(status: number | undefined): boolean {
  return status === 429 || status === 503;
}

/** Whether the same row may succeed later without a change to it. */
function mayPass(error: CliError): boolean {
  const { status } = error.details;
  if (status === undefined) return error.kind !== 'usage';
  return passingStatuses.has(status) || status < 400 || status >= 500;
}

function codeOf(error: CliError): string {
  return error.details.reason ?? error.details.code ?? String(error.details.status ?? error.kind);
}

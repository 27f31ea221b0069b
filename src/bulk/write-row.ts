import { attemptsOf, mayHaveBeenApplied, retryDelay, shouldRetry } from '../client/attempt.ts';
import type { StopReason } from '../client/pace.ts';
import { sleep } from '../process/deadline.ts';
import { CliError, type UnavailableReason } from '../process/errors.ts';
import { printJson } from '../process/exact-json.ts';
import { type Stop, StoppedError } from '../process/signals.ts';
import {
  decide,
  describeValue,
  isValueBefore,
  mayBeWrittenAfter,
  type Outcome,
  type Row,
  type RowAttempt,
} from './decide.ts';
import type { Reading, ValueAccess } from './value-access.ts';

/** An attempt to write a row, and its result. */
interface WriteAttempt extends RowAttempt {
  /** Whether the answer leaves it possible that the service applied the request. */
  readonly mayBeApplied: boolean;
  /** What the answer shows of the record. Undefined for an error, and if no answer came. */
  readonly shows?: 'intent' | 'accepted' | 'other' | 'nothing' | undefined;
  /** Why the record is not as the row wants, as a code and as a clause. */
  readonly code: string;
  readonly why: string | undefined;
  readonly error?: CliError | undefined;
  /** The delay before a further attempt. Undefined if there must be no further attempt. */
  readonly delayMs?: number | undefined;
  readonly requestId?: string | undefined;
}

/**
 * The result of a reading. It has the reading if the row must still be written, or the outcome if the row is settled. It has
 * neither if the row is left for a further session.
 */
interface Comparison {
  readonly reading?: Reading;
  readonly outcome?: Outcome | undefined;
}

/** Writes the rows of a session. */
export class RowWriter {
  /** The number of further attempts so far, of all rows. */
  retryCount = 0;
  private readonly access: ValueAccess;
  private readonly stop: Stop<StopReason>;
  private readonly retries: number;
  private readonly etags: ReadonlyMap<Row, string>;
  /** False after an ETag has proved to be unreliable. */
  private sendsEtags = true;
  private transportFailures = 0;

  /**
   * @param retries the most further attempts of a row.
   * @param etags the strong ETags that the plan has read.
   */
  constructor(access: ValueAccess, stop: Stop<StopReason>, retries: number, etags: ReadonlyMap<Row, string>) {
    this.access = access;
    this.stop = stop;
    this.retries = retries;
    this.etags = etags;
  }

  /**
   * Writes a row, in as many attempts as are safe and may help. After an answer that does not show the intended value, it
   * reads the record, and `decide` decides the next step.
   *
   * @returns undefined if the row is left for a further session, because it is not written or must be planned again.
   */
  async write(row: Row): Promise<Outcome | undefined> {
    const { stop } = this;
    const attempts: WriteAttempt[] = [];
    let reading: Reading | undefined;
    for (;;) {
      if (this.needsReading(row)) {
        const comparison = await this.compare(row, attempts);
        if (!comparison.reading) return comparison.outcome;
        reading = comparison.reading;
      }
      const attempt = await this.send(row, reading, attempts.length + 1);
      const { status, shows, error, delayMs } = attempt;
      attempts.push(attempt);
      markRow(row, attempts);
      if (shows) this.transportFailures = 0;
      if (shows === 'intent') return { state: 'applied' };
      if (shows === 'accepted') return unknownAfter(attempts);
      if (shows === 'other' && this.access.noun === 'inventory')
        return this.stopAfterOtherCount(row, attempts);
      const mayGoOn = delayMs !== undefined && attempts.length <= this.retries && !stop.reason;
      // Without an answer, the record is read only after the last attempt, because the request may still arrive.
      if (status !== undefined || (row.mayBeWritten && !mayGoOn && !stop.reason)) {
        const comparison = await this.compare(row, attempts);
        if (error && comparison.outcome?.state !== 'applied') this.stopIfFatal(error);
        if (!comparison.reading) return comparison.outcome;
        if (status === 412 && this.isAsBefore(row, reading, comparison.reading)) this.sendsEtags = false;
        reading = comparison.reading;
      } else if (error) this.stopIfFatal(error);
      if (mayGoOn) await sleep(delayMs, stop.stopped).catch(() => {});
      if (!mayGoOn || stop.reason) return this.giveUp(row, attempts);
      this.retryCount += 1;
    }
  }

  /** The outcome of a row without a further attempt. Undefined if the run has stopped and the row is left. */
  private giveUp(row: Row, attempts: readonly WriteAttempt[]): Outcome | undefined {
    if (row.mayBeWritten) return unknownAfter(attempts);
    const { code, status } = attempts.at(-1) ?? {};
    const isForNextSession = code === interruptedCode || status === 429 || status === 503;
    return this.stop.reason && isForNextSession ? undefined : failedAfter(attempts);
  }

  /** Whether a record has not changed since the reading before the attempt. If so after a 412, its ETag is unreliable. */
  private isAsBefore(row: Row, reading: Reading | undefined, now: Reading): boolean {
    if (!reading) return isValueBefore(row, this.access.valueOf(row, now.record));
    return printJson(reading.record ?? null) === printJson(now.record ?? null);
  }

  /** Whether the record of a row must be read right before an attempt. */
  private needsReading(row: Row): boolean {
    const { access, sendsEtags, etags } = this;
    return access.readsFirst || (isConditional(row) && access.canGet && !(sendsEtags && etags.has(row)));
  }

  /** Reads the record of a row, and decides the row. */
  private async compare(row: Row, attempts: WriteAttempt[]): Promise<Comparison> {
    let reading: Reading;
    try {
      reading = await this.access.read(row.id);
    } catch (error) {
      if (!(error instanceof CliError || error instanceof StoppedError)) throw error;
      if (row.mayBeWritten) return { outcome: unknownAfter(attempts, error) };
      if (error instanceof StoppedError) return {};
      this.stopIfFatal(error);
      return { outcome: failedAfter(attempts, error) };
    }
    const now = this.access.valueOf(row, reading.record);
    const last = attempts.pop();
    if (last) attempts.push({ ...last, readBack: now });
    markRow(row, attempts);
    const decision = decide(row, now);
    if (decision.state !== 'write') return { outcome: withAttempts(decision, attempts) };
    // The new sum of a row that adds must be in the journal before it is sent, so the row is left and planned again.
    if (row.intent.kind === 'add' && decision.after !== row.after) return {};
    return { reading };
  }

  private async send(row: Row, reading: Reading | undefined, number: number): Promise<WriteAttempt> {
    const { access, sendsEtags, etags } = this;
    const sendsEtag = sendsEtags && (access.readsFirst || isConditional(row));
    const ifMatch = sendsEtag ? (reading?.etag ?? etags.get(row)) : undefined;
    // A plan does not keep the record, only whether it exists.
    const last = reading ?? { record: row.before === null ? undefined : {} };
    try {
      const answer = await access.write(row, row.after ?? null, last, ifMatch);
      const { status, judgement, attempts } = answer;
      const shows = judgement?.shows;
      return {
        isSent: true,
        mayBeApplied: true,
        status,
        shows,
        requestId: attempts.at(-1)?.requestId,
        code: shows === 'accepted' ? 'accepted' : 'not_stored',
        why: shows === 'accepted' ? 'the service accepted it, and has not done it yet' : judgement?.reason,
      };
    } catch (error) {
      return toFailedAttempt(error, number);
    }
  }

  /** Stops the run if every remaining row would fail in the same way. */
  private stopIfFatal(error: CliError): void {
    const { message, kind, details } = error;
    const { hint, status, reason } = details;
    this.transportFailures = reason !== undefined && status === undefined ? this.transportFailures + 1 : 0;
    const fatalClause = reason && fatalReasons[reason];
    if (fatalClause) this.stop.stop({ kind, message: `${fatalClause}: ${message}`, hint });
    else if (kind === 'auth') this.stop.stop({ kind, message, hint });
    else if (this.transportFailures >= maxTransportFailures)
      this.stop.stop({
        kind: 'unavailable',
        message: `${maxTransportFailures} rows in a row got no answer: ${message}`,
      });
  }

  /** Stops the run after an answer with another count than was sent: the service may add the count instead of setting it. */
  private stopAfterOtherCount(
    { before = null, after = null }: Row,
    attempts: readonly WriteAttempt[],
  ): Outcome {
    const why = attempts.at(-1)?.why;
    this.stop.stop({
      kind: 'partial',
      message: `${why}: the service does not set what it is told`,
      hint: 'look at these counts, and ask the owner of the service what updateInventory does',
    });
    const message = `it was ${describeValue(before)} before, ${describeValue(after)} was sent, and ${why}`;
    return { state: 'unknown', reason: { code: otherCountCode, message, attempts: attempts.length } };
  }
}

/** The code of a row whose answer shows another count than was sent. */
export const otherCountCode = 'other_count';

/** The code of a row without an answer when the run stopped. */
const interruptedCode = 'interrupted';

/** The reasons of failures that every remaining row would have too, each with a clause for the message. */
const fatalReasons: Partial<Record<UnavailableReason, string>> = {
  tls: 'TLS failed',
  redirect: 'the service redirects writes',
};

const maxTransportFailures = 20;

function toFailedAttempt(error: unknown, number: number): WriteAttempt {
  const requests = attemptsOf(error);
  const last = requests.at(-1);
  const method = last?.request.method ?? 'PUT';
  const isSent = requests.some(({ isSent, request }) => isSent && request.method !== 'GET');
  const facts = { isSent, mayBeApplied: mayHaveBeenApplied(method, requests), requestId: last?.requestId };
  if (error instanceof StoppedError)
    return { ...facts, code: interruptedCode, why: 'the run stopped before the answer came' };
  if (!(error instanceof CliError)) throw error;
  const status = last?.response?.status;
  // After a 412 the reading decides whether the row is written again.
  const mayRetry = last && shouldRetry(method, last, { retriesUnreachable: true });
  const delayMs = mayRetry ? retryDelay(number, last.retryAfterMs) : status === 412 ? 0 : undefined;
  return { ...facts, status, error, delayMs, code: errorCodeOf(error), why: error.message };
}

/** Keeps on a row whether its attempts may have written it. */
function markRow(row: Row, attempts: readonly WriteAttempt[]): void {
  row.mayBeWritten = mayBeWrittenAfter(row, attempts);
  row.mayBeApplied = attempts.some(({ mayBeApplied }) => mayBeApplied);
}

/** Whether a row may be written only if its record has the value that the plan read. */
function isConditional({ intent }: Row): boolean {
  return intent.kind === 'add' || intent.expected !== undefined;
}

/** The outcome of a row that may be written. @param failure why its record could not be read after the last attempt. */
function unknownAfter(attempts: readonly WriteAttempt[], failure?: Error): Outcome {
  const { status, code = 'unread', why } = attempts.at(-1) ?? {};
  const clauses = [
    why ?? (failure ? undefined : 'no answer'),
    failure &&
      `the record could not be read afterwards: ${failure instanceof StoppedError ? 'the run stopped' : failure.message}`,
    'it may or may not have been applied',
  ];
  const message = clauses.filter((clause) => clause !== undefined).join('; ');
  const isUnread = failure !== undefined && status !== undefined;
  return withAttempts({ state: 'unknown', reason: { code: isUnread ? 'unread' : code, message } }, attempts);
}

/** The outcome of a row that is not written. @param failure why its record could not be read before the next attempt. */
function failedAfter(attempts: readonly WriteAttempt[], failure?: CliError): Outcome {
  const last = attempts.at(-1);
  const error = failure ?? last?.error;
  if (!error) {
    const message = `${last?.why ? `${last.why}; ` : ''}the record is as it was before`;
    return withAttempts({ state: 'failed', reason: { code: 'not_stored', message, passes: true } }, attempts);
  }
  const { message, details } = error;
  const { status, requestId } = details;
  const facts = { status, attempts: attempts.length, requestId, passes: mayPass(error) };
  return { state: 'failed', reason: { code: errorCodeOf(error), message, ...facts } };
}

/** Adds the facts of the last attempt to the reason of an outcome, if it has a reason. */
function withAttempts(outcome: Outcome, attempts: readonly WriteAttempt[]): Outcome {
  const { reason } = outcome;
  const last = attempts.at(-1);
  if (!reason || !last) return outcome;
  const { status, requestId } = last;
  return { ...outcome, reason: { ...reason, status, attempts: attempts.length, requestId } };
}

/** The statuses of refusals that may pass, or that end when the cause of the stop is removed. */
const passingStatuses: ReadonlySet<number> = new Set([401, 403, 408, 412, 425, 429]);

/** Whether the same row may succeed later without a change to it. */
function mayPass(error: CliError): boolean {
  const { status } = error.details;
  if (status === undefined) return error.kind !== 'usage';
  return passingStatuses.has(status) || status < 400 || status >= 500;
}

function errorCodeOf(error: CliError): string {
  return error.details.reason ?? error.details.code ?? String(error.details.status ?? error.kind);
}

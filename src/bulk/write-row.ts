import { attemptsOf, mayHaveBeenApplied, retryDelay, shouldRetry } from '../client/attempt.ts';
import type { StopReason } from '../client/pace.ts';
import { sleep } from '../process/deadline.ts';
import { CliError, type UnavailableReason } from '../process/errors.ts';
import { printJson } from '../process/exact-json.ts';
import { type Stop, StoppedError } from '../process/signals.ts';
import { decide, isBefore, isSentBy, type Outcome, type Row, type RowAttempt, textOf } from './decide.ts';
import type { Reading, RunNoun } from './run-nouns.ts';

/** One attempt to write a row, and its result. */
interface WriteAttempt extends RowAttempt {
  readonly mayBeApplied: boolean;
  /** What the answer shows; undefined if it is an error, or if none came. */
  readonly shows?: 'intent' | 'accepted' | 'other' | 'nothing' | undefined;
  /** Why the row is not as it should be, as a code and as a clause. */
  readonly code: string;
  readonly why: string | undefined;
  readonly error?: CliError | undefined;
  /** The delay before a further attempt; undefined if there must be none. */
  readonly delayMs?: number | undefined;
  readonly requestId?: string | undefined;
}

/** The result of a reading: the reading if the row is still to be written, else its outcome; neither for a row that is left. */
interface Comparison {
  readonly reading?: Reading;
  readonly outcome?: Outcome | undefined;
}

/** Writes the rows of a session. */
export class RowWriter {
  /** The number of further attempts so far. */
  retried = 0;
  private readonly noun: RunNoun;
  private readonly stop: Stop<StopReason>;
  private readonly retries: number;
  private readonly etags: ReadonlyMap<Row, string>;
  /** False once a tag has turned out not to be reliable. */
  private sendsTags = true;
  private transportFailures = 0;

  /**
   * @param retries most further attempts of a row.
   * @param etags the strong tags that the plan has read.
   */
  constructor(noun: RunNoun, stop: Stop<StopReason>, retries: number, etags: ReadonlyMap<Row, string>) {
    this.noun = noun;
    this.stop = stop;
    this.retries = retries;
    this.etags = etags;
  }

  /**
   * Writes one row: as many attempts as are safe and may help. After each answer that does not show the row as it should
   * be, the record is read, and `decide` says how to go on.
   *
   * @returns undefined if the row is left for a further session: nothing of it was sent, or it must be planned again.
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
      markSent(row, attempts);
      if (shows) this.transportFailures = 0;
      if (shows === 'intent') return { state: 'applied' };
      if (shows === 'accepted') return unknownAfter(attempts);
      if (shows === 'other' && this.noun.name === 'inventory') return this.distrust(row, attempts);
      const mayGoOn = delayMs !== undefined && attempts.length <= this.retries && !stop.reason;
      // A row without an answer is only read if nothing follows, because its request may arrive after the reading.
      if (status !== undefined || (row.isSent && !mayGoOn && !stop.reason)) {
        const comparison = await this.compare(row, attempts);
        if (error && comparison.outcome?.state !== 'applied') this.stopIfFatal(error);
        if (!comparison.reading) return comparison.outcome;
        if (status === 412 && this.isAsRead(row, reading, comparison.reading)) this.sendsTags = false;
        reading = comparison.reading;
      } else if (error) this.stopIfFatal(error);
      if (mayGoOn) await sleep(delayMs, stop.stopped).catch(() => {});
      if (!mayGoOn || stop.reason) return this.giveUp(row, attempts);
      this.retried += 1;
    }
  }

  /** The outcome of a row without a further attempt; undefined if the run has stopped before its request was answered. */
  private giveUp(row: Row, attempts: readonly WriteAttempt[]): Outcome | undefined {
    if (row.isSent) return unknownAfter(attempts);
    const { code, status } = attempts.at(-1) ?? {};
    const isLeft = code === interrupted || status === 429 || status === 503;
    return this.stop.reason && isLeft ? undefined : failedAfter(attempts);
  }

  /** Whether a record is as it was read before the attempt. If it is after a 412, its tags cannot be relied on. */
  private isAsRead(row: Row, reading: Reading | undefined, now: Reading): boolean {
    if (!reading) return isBefore(row, this.noun.valueOf(row, now.record));
    return printJson(reading.record ?? null) === printJson(now.record ?? null);
  }

  /** Whether the record of a row must be read right before an attempt. */
  private needsReading(row: Row): boolean {
    const { noun, sendsTags, etags } = this;
    return noun.readsFirst || (isBound(row) && noun.canGet && !(sendsTags && etags.has(row)));
  }

  /** Reads the record of a row, and decides what is to become of the row. */
  private async compare(row: Row, attempts: WriteAttempt[]): Promise<Comparison> {
    let reading: Reading;
    try {
      reading = await this.noun.read(row.id);
    } catch (error) {
      if (!(error instanceof CliError || error instanceof StoppedError)) throw error;
      if (row.isSent) return { outcome: unknownAfter(attempts, error) };
      if (error instanceof StoppedError) return {};
      this.stopIfFatal(error);
      return { outcome: failedAfter(attempts, error) };
    }
    const now = this.noun.valueOf(row, reading.record);
    const last = attempts.pop();
    if (last) attempts.push({ ...last, readBack: now });
    markSent(row, attempts);
    const decision = decide(row, now);
    if (decision.state !== 'write') return { outcome: withAttempts(decision, attempts) };
    // The new value of a row that adds must be on the disk first.
    if (row.intent.kind === 'add' && decision.after !== row.after) return {};
    return { reading };
  }

  private async send(row: Row, reading: Reading | undefined, number: number): Promise<WriteAttempt> {
    const { noun, sendsTags, etags } = this;
    const isConditional = sendsTags && (noun.readsFirst || isBound(row));
    const ifMatch = isConditional ? (reading?.etag ?? etags.get(row)) : undefined;
    // A plan does not keep the record, only whether there is one.
    const last = reading ?? { record: row.before === null ? undefined : {} };
    try {
      const answer = await noun.write(row, row.after ?? null, last, ifMatch);
      const { status, judgement, attempts } = answer;
      const shows = judgement?.shows;
      return {
        ...{ isSent: true, mayBeApplied: true, status, shows, requestId: attempts.at(-1)?.requestId },
        ...(shows === 'accepted'
          ? { code: 'accepted', why: 'the service accepted it, and has not done it yet' }
          : { code: 'not_stored', why: judgement?.reason }),
      };
    } catch (error) {
      return toFailedAttempt(error, number);
    }
  }

  /** Stops the run if every remaining row would fail as this one. */
  private stopIfFatal(error: CliError): void {
    const { message, kind, details } = error;
    const { hint, status, reason } = details;
    this.transportFailures = reason !== undefined && status === undefined ? this.transportFailures + 1 : 0;
    const fatal = reason && fatalReasons[reason];
    if (fatal) this.stop.stop({ kind, message: `${fatal}: ${message}`, hint });
    else if (kind === 'auth') this.stop.stop({ kind, message, hint });
    else if (this.transportFailures >= maxTransportFailures)
      this.stop.stop({
        kind: 'unavailable',
        message: `${maxTransportFailures} rows in a row got no answer: ${message}`,
      });
  }

  /** The service shows another count than the one that was sent: it may add what it is told to set. */
  private distrust({ before = null, after = null }: Row, attempts: readonly WriteAttempt[]): Outcome {
    const why = attempts.at(-1)?.why;
    this.stop.stop({
      kind: 'partial',
      message: `${why}: the service does not set what it is told`,
      hint: 'look at these counts, and ask the owner of the service what updateInventory does',
    });
    const message = `it was ${textOf(before)} before, ${textOf(after)} was sent, and ${why}`;
    return { state: 'unknown', reason: { code: otherCount, message, attempts: attempts.length } };
  }
}

/** The code of a row whose answer shows another count than the one that was sent. */
export const otherCount = 'other_count';

/** The code of a row whose answer had not come when the run stopped. */
const interrupted = 'interrupted';

/** Failures that every remaining row would hit too. */
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
    return { ...facts, code: interrupted, why: 'the run stopped before the answer came' };
  if (!(error instanceof CliError)) throw error;
  const status = last?.response?.status;
  // After a 412 the reading decides whether the row is written again.
  const mayRetry = last && shouldRetry(method, last, { retriesUnreachable: true });
  const delayMs = mayRetry ? retryDelay(number, last.retryAfterMs) : status === 412 ? 0 : undefined;
  return { ...facts, status, error, delayMs, code: codeOf(error), why: error.message };
}

/** Keeps on a row what its attempts say. */
function markSent(row: Row, attempts: readonly WriteAttempt[]): void {
  row.isSent = isSentBy(row, attempts);
  row.mayBeApplied = attempts.some(({ mayBeApplied }) => mayBeApplied);
}

/** Whether a row may only be written if its record has the value that the plan read. */
function isBound({ intent }: Row): boolean {
  return intent.kind === 'add' || intent.expected !== undefined;
}

/** The outcome of a row that is sent. @param failure why its record could not be read after the last attempt */
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

/** The outcome of a row that is not sent. @param failure why its record could not be read before the next attempt */
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
  return { state: 'failed', reason: { code: codeOf(error), message, ...facts } };
}

/** An outcome with what the last attempt says, if the row is not as it should be. */
function withAttempts(outcome: Outcome, attempts: readonly WriteAttempt[]): Outcome {
  const { reason } = outcome;
  const last = attempts.at(-1);
  if (!reason || !last) return outcome;
  const { status, requestId } = last;
  return { ...outcome, reason: { ...reason, status, attempts: attempts.length, requestId } };
}

/** Refusals that may pass, or that end with the cause of the stop. */
const passingStatuses: ReadonlySet<number> = new Set([401, 403, 408, 412, 425, 429]);

/** Whether the same row may succeed later without a change to it. */
function mayPass(error: CliError): boolean {
  const { status } = error.details;
  if (status === undefined) return error.kind !== 'usage';
  return passingStatuses.has(status) || status < 400 || status >= 500;
}

function codeOf(error: CliError): string {
  return error.details.reason ?? error.details.code ?? String(error.details.status ?? error.kind);
}

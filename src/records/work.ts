import { shownUrl } from '../api/http.ts';
import { attemptsOf, mayHaveBeenApplied } from '../client/attempt.ts';
import type { StopReason } from '../client/pace.ts';
import { CliError, InterruptedError, ManyError } from '../process/errors.ts';
import { Stop, StoppedError } from '../process/signals.ts';

/** The place of a record in an input file. */
export interface InputPlace {
  /** `pets.jsonl:3`. */
  readonly text: string;
  readonly line: number;
}

export interface WorkOptions<Item> {
  /** The plural of the items in messages, such as `pets`. */
  readonly unit: string;
  /** Items in progress at the same time; 1 by default. */
  readonly atOnce?: number | undefined;
  /** The place of an item in its file; undefined if it does not come from one. */
  readonly place?: ((item: Item) => InputPlace | undefined) | undefined;
  /** Ends the work early: a signal does, and the pace of its requests. */
  readonly stop?: Stop<StopReason> | undefined;
}

/** How far some work has come, in items. */
export interface Standing {
  /** Failed ones included. */
  readonly done: number;
  readonly failed: number;
  readonly total: number;
}

/** An item that was not done as it should be. */
export interface Failure<Item> {
  readonly item: Item;
  /** The error of the item; undefined if nothing was sent for it. */
  readonly error: CliError | undefined;
}

/** Work on every item of a list, even if others fail. Read all `results`, then ask for `failures` and the `error`. */
export class Work<Item, Result> {
  /**
   * The results of the items that succeeded, in the order of the items; undefined ones are left out. The work goes on
   * only while they are read.
   */
  readonly results: AsyncGenerator<NonNullable<Result>>;
  private readonly items: readonly Item[];
  private readonly workOn: (item: Item) => Promise<Result>;
  private readonly options: WorkOptions<Item>;
  private begun = 0;
  private done = 0;
  private failed = 0;
  /** The items that were begun and whose results are not read yet, in order. */
  private readonly running: Promise<Result | undefined>[] = [];
  /** The failures, by the index of the item. */
  private readonly ended = new Map<number, Failure<Item>>();
  /** Ends the work: once it is stopped, no further item begins. */
  private readonly stopping: Stop<StopReason>;

  constructor(items: readonly Item[], workOn: (item: Item) => Promise<Result>, options: WorkOptions<Item>) {
    this.items = items;
    this.workOn = workOn;
    this.options = options;
    this.stopping = options.stop ?? new Stop();
    this.results = this.succeeded();
  }

  standing(): Standing {
    return { done: this.done, failed: this.failed, total: this.items.length };
  }

  /** Begins no further item. */
  stop(why: CliError): void {
    this.stopping.stop(why);
  }

  /** Waits for the items that were begun, if their results are no longer read: then `standing` is final. */
  async finishBegun(): Promise<void> {
    await Promise.allSettled(this.running);
  }

  /** The items that failed, and those for which nothing was sent. */
  failures(): readonly Failure<Item>[] {
    const unsent = this.items.slice(this.begun);
    return [...this.inOrder(), ...unsent.map((item) => ({ item, error: undefined }))];
  }

  /** The failure of a lone item; a ManyError if some of several items have failed; undefined if none has. */
  error(): CliError | undefined {
    const { reason } = this.stopping;
    const { unit } = this.options;
    const { done, failed, total } = this.standing();
    const errors = this.inOrder().flatMap((failure) => this.placed(failure) ?? []);
    const unsent = total - done;
    if (reason instanceof InterruptedError)
      return new CliError(
        reason.kind,
        `${reason.message}: ${done - failed} of ${total} ${unit} were written`,
      );
    const [first] = errors;
    if (first === undefined || total === 1) return first;
    const stopped = `stopped: the ${unsent} ${unit} after it were not sent`;
    const all = reason && unsent > 0 ? [...errors, new CliError(reason.kind, stopped)] : errors;
    const rest = unsent > 0 ? `, ${unsent} were not sent` : '';
    return new ManyError(`${failed} of ${total} ${unit} failed${rest}`, all, done - failed);
  }

  /** The error of an item with its place in the file. */
  private placed({ item, error }: Failure<Item>): CliError | undefined {
    const place = this.options.place?.(item);
    if (!place || !error) return error;
    const { text, line } = place;
    return new CliError(error.kind, `${text}: ${error.message}`, { ...error.details, place: text, line });
  }

  private inOrder(): Failure<Item>[] {
    return [...this.ended].sort(([a], [b]) => a - b).map(([, failure]) => failure);
  }

  private async *succeeded(): AsyncGenerator<NonNullable<Result>> {
    const { running } = this;
    const { atOnce = 1 } = this.options;
    for (const [index, item] of this.items.entries()) {
      if (this.stopping.reason) break;
      this.begun += 1;
      const next = this.settle(item, index);
      // After an error that ends the command, the others keep running unawaited.
      next.catch(() => {});
      running.push(next);
      const result = running.length < atOnce ? undefined : await running.shift();
      if (result !== undefined && result !== null) yield result;
    }
    for (const next of running) {
      const result = await next;
      if (result !== undefined && result !== null) yield result;
    }
  }

  private async settle(item: Item, index: number): Promise<Result | undefined> {
    try {
      const result = await this.workOn(item);
      this.done += 1;
      return result;
    } catch (error) {
      const failure = error instanceof StoppedError ? stoppedError(error) : error;
      if (failure === undefined) this.ended.set(index, { item, error: failure });
      else if (!(failure instanceof CliError) || failure instanceof InterruptedError) throw failure;
      else {
        this.done += 1;
        this.failed += 1;
        this.ended.set(index, { item, error: failure });
        // Ids from the command line are all tried, whatever happens; a file may have too many records for that.
        if (this.options.place?.(item) && wouldAllFail(failure)) this.stop(failure);
      }
      return undefined;
    }
  }
}

/** The error of a write that was waiting for a further attempt when the work was stopped; undefined before the first. */
function stoppedError(error: StoppedError): CliError | undefined {
  const attempts = attemptsOf(error);
  const request = attempts.at(-1)?.request;
  if (request === undefined) return undefined;
  const details = { method: request.method, url: shownUrl(request.url), attempts };
  return mayHaveBeenApplied(request.method, attempts)
    ? new CliError('unavailable', 'stopped', { ...details, applied: 'unknown' })
    : new CliError('unavailable', 'stopped before a further attempt', details);
}

/** Whether the next item would fail too: the token was refused, or there was no answer after all retries. */
function wouldAllFail({ kind, details: { status } }: CliError): boolean {
  return (
    kind === 'auth' || (kind === 'unavailable' && (status === undefined || status === 429 || status === 503))
  );
}

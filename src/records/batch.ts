import { shownUrl } from '../api/http.ts';
import { attemptsOf, mayHaveBeenApplied } from '../client/attempt.ts';
import { eachAtPace, type Pace, type StopReason } from '../client/pace.ts';
import type { Context } from '../context.ts';
import { CliError, InterruptedError, ManyError } from '../process/errors.ts';
import { Stop, StoppedError } from '../process/signals.ts';

/** The place of a record in an input file. */
export interface InputPlace {
  /** `pets.jsonl:3`. */
  readonly text: string;
  readonly line: number;
}

export interface BatchOptions<Item> {
  /** The plural of the items in messages, such as `pets`. */
  readonly unit: string;
  /** The most items in progress at the same time, if they have no pace. */
  readonly atOnce: number;
  /** The pace of the requests, whose stop ends the batch too. */
  readonly pace?: Pace | undefined;
  /** The place of an item in its file; undefined if the items do not come from one. */
  readonly place?: ((item: Item) => InputPlace) | undefined;
}

/** Work on several records, which goes on if some fail: do it with `inOrder` or `oneByOne`, then ask for the `error`. */
export class Batch<Item, Result> {
  private readonly items: readonly Item[];
  private readonly work: (item: Item) => Promise<Result>;
  private readonly options: BatchOptions<Item>;
  /** Once it is stopped, no further item begins. */
  private readonly stopping: Stop<StopReason>;
  /** The indexes of the items that succeeded, and the errors of those that failed or were interrupted after a request. */
  private readonly succeeded = new Set<number>();
  private readonly errors = new Map<number, CliError>();

  constructor(items: readonly Item[], work: (item: Item) => Promise<Result>, options: BatchOptions<Item>) {
    this.items = items;
    this.work = work;
    this.options = options;
    this.stopping = options.pace?.stop ?? new Stop();
  }

  /**
   * Does the work, and calls `use` with each result in the order of the items, as soon as those before it have ended.
   *
   * @returns the results in this order.
   */
  async inOrder(use?: (result: NonNullable<Result>) => void): Promise<NonNullable<Result>[]> {
    const results = new Map<number, Result | undefined>();
    const ordered: NonNullable<Result>[] = [];
    let next = 0;
    const { atOnce, pace = { max: atOnce } } = this.options;
    await eachAtPace(pace, this.untilStopped(), async ([index, item]) => {
      results.set(index, await this.settle(index, item));
      for (; results.has(next); next += 1) {
        const result = results.get(next);
        results.delete(next);
        if (result === undefined || result === null) continue;
        ordered.push(result);
        use?.(result);
      }
    });
    return ordered;
  }

  /** Does the work for one item after the other. An item begins when the caller has used the result before it. */
  async *oneByOne(): AsyncGenerator<NonNullable<Result>> {
    for (const [index, item] of this.untilStopped()) {
      const result = await this.settle(index, item);
      if (result !== undefined && result !== null) yield result;
    }
  }

  progress(): { readonly done: number; readonly failed: number; readonly total: number } {
    const failed = [...this.errors.values()].filter((error) => !(error instanceof InterruptedError)).length;
    return { done: this.succeeded.size + failed, failed, total: this.items.length };
  }

  /** The items that were not done, each with its error. Nothing was sent for an item without an error. */
  failures(): readonly { readonly item: Item; readonly error: CliError | undefined }[] {
    return this.items.flatMap((item, index) =>
      this.succeeded.has(index) ? [] : [{ item, error: this.errors.get(index) }],
    );
  }

  /** The error of the batch: that of a lone item, or a ManyError for several items. Undefined if none has failed. */
  error(): CliError | undefined {
    const { reason } = this.stopping;
    const { unit } = this.options;
    const { done, failed, total } = this.progress();
    if (reason instanceof InterruptedError)
      return new CliError(
        reason.kind,
        `${reason.message}: ${done - failed} of ${total} ${unit} were written`,
      );
    const errors = this.failures().flatMap(({ item, error }) => (error ? [this.withPlace(item, error)] : []));
    const [first] = errors;
    if (first === undefined || total === 1) return first;
    const unsent = total - done;
    const stopped = `stopped: the ${unsent} ${unit} after it were not sent`;
    const all = reason && unsent > 0 ? [...errors, new CliError(reason.kind, stopped)] : errors;
    const rest = unsent > 0 ? `, ${unsent} were not sent` : '';
    return new ManyError(`${failed} of ${total} ${unit} failed${rest}`, all, done - failed);
  }

  /** Runs `work`. Until it ends, the first signal lets no further of several items begin, and a second one ends the command. */
  async stopAtSignal<Value>({ interrupts, warn }: Context, work: () => Promise<Value>): Promise<Value> {
    if (this.items.length < 2) return work();
    let isStopping = false;
    const release = interrupts.take((signal) => {
      if (isStopping) return interrupts.abort(signal);
      isStopping = true;
      this.stopping.stop(new InterruptedError(signal));
      void warn('note: no further write begins; waiting for those under way; a second signal ends at once');
    });
    try {
      return await work();
    } finally {
      release();
    }
  }

  private *untilStopped(): Generator<[number, Item]> {
    for (const entry of this.items.entries()) {
      if (this.stopping.reason) return;
      yield entry;
    }
  }

  /** The result of an item; undefined if it failed. @throws an error that ends the command */
  private async settle(index: number, item: Item): Promise<Result | undefined> {
    try {
      const result = await this.work(item);
      this.succeeded.add(index);
      return result;
    } catch (thrown) {
      const error = thrown instanceof StoppedError ? stoppedError(thrown) : thrown;
      if (error === undefined) return undefined;
      if (!(error instanceof CliError)) throw error;
      const isInterrupted = error instanceof InterruptedError;
      if (!isInterrupted || error.details.applied) this.errors.set(index, error);
      if (isInterrupted) throw error;
      // Ids from the command line are all tried. A file may have too many records for that.
      if (this.options.place && wouldAllFail(error)) this.stopping.stop(error);
      return undefined;
    }
  }

  private withPlace(item: Item, error: CliError): CliError {
    const place = this.options.place?.(item);
    if (!place) return error;
    const { text, line } = place;
    return new CliError(error.kind, `${text}: ${error.message}`, { ...error.details, place: text, line });
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
